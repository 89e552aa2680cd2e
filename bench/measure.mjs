/**
 * Tools of all bench rows: a folder, servers, homes, whole processes measured, and a verdict on
 * each figure.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const PAS = join(ROOT, 'bin', 'pas.js');
export const MOCK = join(ROOT, 'bin', 'pas-mock-server.js');

/**
 * Environment of every measured process, ours and the others: a variable such as
 * NODE_EXTRA_CA_CERTS alone makes each Node slower to start.
 */
export const CLEAN_ENVIRONMENT = { PATH: process.env.PATH, HOME: process.env.HOME };

/** A run of the bench; `verdicts` is what it found. */
export function openBench() {
  const folder = mkdtempSync(join(tmpdir(), 'pas-bench-'));
  const servers = [];
  const verdicts = [];
  return {
    folder,
    verdicts,
    say: (text = '') => console.log(text),
    table: printTable,
    /**
     * @param better `less` where the figure may be at most the target, `more` where it must reach
     * it
     */
    verdict(what, { figure, against, ratio, target, better = 'more' }) {
      const met = better === 'more' ? ratio >= target : ratio <= target;
      const shownTarget = `${better === 'more' ? '≥' : '≤'} ${target}`;
      verdicts.push({ what, figure, against, ratio, target: shownTarget, met });
      const mark = met ? '✓' : '✗';
      console.log(
        `  ${mark} ${what}: ${figure} against ${against}: ${ratio.toFixed(2)} (target ${shownTarget})`,
      );
    },
    /** Starts a server of ours and reads the addresses that it prints when it is ready. */
    async startServer(script, args) {
      const child = spawn(process.execPath, [script, ...args], {
        env: CLEAN_ENVIRONMENT,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      servers.push(child);
      let text = '';
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        text += chunk;
        if (text.includes('\n')) break;
      }
      return { ...JSON.parse(text), pid: child.pid, stop: () => child.kill() };
    },
    startMock(...args) {
      return this.startServer(MOCK, ['--port', '0', '--json', ...args]);
    },
    /** A data home with a profile for the server; the environment that a `pas` of it runs in. */
    makeHome(name, { base_url, oai_base, schema_base }, ...flags) {
      const home = join(folder, name);
      mkdirSync(home);
      const env = {
        ...CLEAN_ENVIRONMENT,
        HOME: home,
        PAS_HOME: join(home, 'pas'),
        XDG_STATE_HOME: join(home, 'state'),
      };
      const init = ['init', '--name', 'bench', '--kind', 'training', '--base-url', base_url];
      expectDone(
        [PAS, ...init, '--oai-base', oai_base, '--schema-base', schema_base, ...flags],
        env,
      );
      return { ...env, PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' };
    },
    close() {
      for (const server of servers) server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a Node script to its end. @throws with what it printed when it fails */
export function expectDone(argv, env = CLEAN_ENVIRONMENT) {
  const run = spawnSync(process.execPath, argv, { env, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (run.status !== 0)
    throw new Error(`${argv.join(' ')} ended with ${run.status}: ${run.stderr}`);
  return run.stdout;
}

/**
 * @typedef {{ readonly argv: readonly string[], readonly env?: NodeJS.ProcessEnv, readonly stdout?:
 * string }} Command
 */

/**
 * Runs a command to its end; resident memory and processor time are sampled while it runs.
 * @param {Command} command `stdout`: the file that gets what it prints
 */
export async function measured({ argv: [command, ...args], env, stdout }) {
  const startedMs = performance.now();
  const child = spawn(command, args, {
    env: env ?? CLEAN_ENVIRONMENT,
    stdio: ['ignore', stdout === undefined ? 'ignore' : openSync(stdout, 'w'), 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const samples = [];
  let peakMiB = 0;
  let cpuSeconds = 0;
  const sample = () => {
    cpuSeconds = readCpuSeconds(child.pid) ?? cpuSeconds;
    const memory = readMemory(child.pid);
    if (memory === undefined) return;
    samples.push(memory.nowMiB);
    peakMiB = Math.max(peakMiB, memory.peakMiB);
  };
  const timer = setInterval(sample, 50);
  const code = await new Promise((ended) => child.on('close', ended));
  clearInterval(timer);
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr}`);
  return { seconds, cpuSeconds, peakMiB, samples };
}

/** Resident now and at its highest; undefined where the process is over. Linux only. */
function readMemory(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kibibytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    const nowMiB = kibibytes('VmRSS') / 1024;
    const peakMiB = kibibytes('VmHWM') / 1024;
    return Number.isNaN(nowMiB) ? undefined : { nowMiB, peakMiB };
  } catch {
    return undefined;
  }
}

/**
 * Processor time of all threads so far, the kernel's share included; undefined where the process is
 * over. Linux only.
 */
export function readCpuSeconds(pid) {
  try {
    // Behind the name, which may hold anything: fields 14 and 15 of proc(5), in hundredths of a
    // second.
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(') ')
      .at(-1)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return (user + system) / 100;
  } catch {
    return undefined;
  }
}

/**
 * Makes a process go before all others, if that is permitted. Not bound to one core: there Linux
 * takes 50 ms of a second from it for what else waits for that core.
 */
export function prefer(pid) {
  return spawnSync('chrt', ['--all-tasks', '--fifo', '--pid', '50', String(pid)]).status === 0;
}

/**
 * The median time of each command in milliseconds. The commands take turns, so that a busy moment
 * meets all of them, and go before other processes, if that is permitted.
 */
export function mediansMs(commands, rounds) {
  const times = commands.map(() => []);
  const first =
    spawnSync('chrt', ['--fifo', '50', 'true']).status === 0 ? ['chrt', '--fifo', '50'] : [];
  for (let round = 0; round < rounds; round++) {
    for (const [index, { argv, env }] of commands.entries()) {
      const [command, ...args] = [...first, ...argv];
      const startedMs = performance.now();
      const { status } = spawnSync(command, args, {
        env: env ?? CLEAN_ENVIRONMENT,
        stdio: 'ignore',
      });
      if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
      times[index].push(performance.now() - startedMs);
    }
  }
  return times.map(median);
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

export function onPath(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}

export function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(`  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`);
}
