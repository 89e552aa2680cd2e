#!/usr/bin/env node
/**
 * Records per second of `pas harvest` against other harvesters, on one mock server, in one run; then a million records, to
 * see whether memory stays flat. What is not installed is left out; `oai-pmh` is fetched from npm into a temporary folder.
 *
 *   npm run build && node bench/harvest.mjs [--records 100000] [--million 1000000] [--rounds 2]
 */
import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const PAS = join(ROOT, 'bin', 'pas.js');
const SET = 'samostatny_nalez';
const FORMATS = ['oai_dc', 'oai_svc'];
/** Harvesters that need minutes for all records are given this share of them: their rate does not depend on it. */
const SHARE_OF_SLOW_ONES = 0.1;
/** What stands behind each record in an output. */
const [LINE_FEED, FORM_FEED] = [10, 12];

const { values: flags } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    million: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '2' },
  },
});
const [records, million, rounds] = [flags.records, flags.million, flags.rounds].map(Number);

const folder = mkdtempSync(join(tmpdir(), 'pas-bench-harvest-'));
const servers = [];
try {
  await compareHarvesters();
  if (million > 0) await harvestAMillion();
} finally {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function compareHarvesters() {
  const mock = await startServer(join(ROOT, 'bin', 'pas-mock-server.js'), [
    ...['--port', '0', '--json', '--min-interval', '0', '--page-size', '100', '--records', String(records)],
  ]);
  const home = makeHome('compare', mock);
  const harvesters = knownHarvesters(mock.oai_base, home);
  console.log(`${records} synthetic records and the demo's, pages of 100, best of ${rounds} rounds\n`);
  for (const format of FORMATS) {
    const results = new Map();
    for (let round = 0; round < rounds; round++) {
      for (const [name, command] of harvesters) {
        const run = await measured(command(format, join(folder, `${name.replace(/\W/g, '')}-${format}-${round}.jsonl`)));
        const best = results.get(name);
        if (best === undefined || run.perSecond > best.perSecond) results.set(name, run);
      }
    }
    printResults(format, results);
  }
}

/** Each gives the command that writes the records of a format into a file. */
function knownHarvesters(oaiBase, home) {
  const endpoint = `${oaiBase}/2.2/oai`;
  const harvesters = [
    [
      'pas',
      (format, out) => ({ argv: [process.execPath, PAS, 'harvest', SET, '--format', format, '--out', out], env: home, out }),
    ],
  ];
  const npm = installed('oai-pmh');
  if (npm !== undefined) {
    harvesters.push([
      'oai-pmh (npm)',
      (format, out) => ({ argv: [process.execPath, npm, 'list-records', '-p', format, '-s', SET, endpoint], stdout: out, out }),
    ]);
  }
  if (onPath('oai_pmh')) {
    harvesters.push([
      'HTTP::OAI',
      (format, out) => ({
        argv: ['oai_pmh', '-X', 'ListRecords', '--metadataPrefix', format, '--set', SET, ...untilShare(), endpoint],
        stdout: out,
        end: FORM_FEED,
        out,
      }),
    ]);
  }
  if (onPath('catmandu')) {
    harvesters.push([
      'Catmandu',
      (format, out) => ({
        argv: [
          ...['catmandu', 'convert', 'OAI', '--url', endpoint, '--metadataPrefix', format, '--set', SET, ...untilShare()],
          ...['--handler', 'raw', 'to', 'JSON', '--line_delimited', '1'],
        ],
        stdout: out,
        out,
      }),
    ]);
  }
  return harvesters;
}

/** The mock's synthetic records are spread evenly over these years. */
function untilShare() {
  const [first, last] = [Date.UTC(2010, 0, 4, 8), Date.UTC(2023, 11, 22, 16)];
  return ['--until', new Date(first + (last - first) * SHARE_OF_SLOW_ONES).toISOString().slice(0, 10)];
}

function printResults(format, results) {
  const own = results.get('pas');
  const rows = [...results].map(([name, run]) => [
    name,
    String(run.records),
    `${run.seconds.toFixed(1)} s`,
    `${Math.round(run.perSecond)}/s`,
    `${Math.round(run.peakMiB)} MiB`,
    `${(own.perSecond / run.perSecond).toFixed(2)} ×`,
  ]);
  printTable([[`${format}`, 'records', 'time', 'rate', 'peak RSS', 'pas is faster by'], ...rows]);
  expectAtLeast('against oai-pmh (npm)', results.get('oai-pmh (npm)'), own, 1.3);
  expectAtLeast('against HTTP::OAI', results.get('HTTP::OAI'), own, 10);
  expectAtLeast('against Catmandu', results.get('Catmandu'), own, 1);
  console.log('');
}

function expectAtLeast(what, other, own, target) {
  if (other === undefined) return;
  const ratio = own.perSecond / other.perSecond;
  verdict(`${what}: ${ratio.toFixed(2)} × (target ${target})`, ratio >= target);
}

async function harvestAMillion() {
  const server = await startServer(join(import.meta.dirname, 'harvest-server.mjs'), ['--records', String(million)]);
  const home = makeHome('million', server);
  const out = join(folder, 'million.jsonl');
  const run = await measured({ argv: [process.execPath, PAS, 'harvest', 'projekt', '--out', out], env: home, out });
  console.log(`${million} records of oai_svc from a server that repeats its pages`);
  printTable([
    ['after records', 'RSS'],
    ...[0.01, 0.1, 0.25, 0.5, 0.75, 1].map((share) => {
      const sample = run.samples[Math.max(0, Math.ceil(run.samples.length * share) - 1)];
      return [String(Math.round(run.records * share)), `${Math.round(sample ?? 0)} MiB`];
    }),
  ]);
  console.log(`  ${run.records} lines in ${run.seconds.toFixed(1)} s (${Math.round(run.perSecond)}/s)`);
  verdict(`peak ${Math.round(run.peakMiB)} MiB (target under 200)`, run.peakMiB < 200 && run.records === million);
}

/** A profile of its own for the server. */
function makeHome(name, { base_url, oai_base, schema_base }) {
  const home = join(folder, name);
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, PAS_HOME: join(home, 'pas'), XDG_STATE_HOME: join(home, 'state') };
  const addresses = ['--base-url', base_url, '--oai-base', oai_base, '--schema-base', schema_base];
  const init = spawnSync(process.execPath, [PAS, 'init', '--name', 'bench', '--kind', 'training', ...addresses], { env });
  if (init.status !== 0) throw new Error(`pas init failed: ${init.stderr}`);
  return env;
}

/** Runs a command to its end; RSS is sampled while it runs. */
async function measured({ argv: [command, ...args], env, stdout, out, end = LINE_FEED }) {
  const startedMs = performance.now();
  const child = spawn(command, args, {
    env: env ?? process.env,
    stdio: ['ignore', stdout === undefined ? 'ignore' : openSync(stdout, 'w'), 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const samples = [];
  let peakMiB = 0;
  const sample = () => {
    const memory = memoryOf(child.pid);
    if (memory === undefined) return;
    samples.push(memory.nowMiB);
    peakMiB = Math.max(peakMiB, memory.peakMiB);
  };
  const timer = setInterval(sample, 50);
  const code = await new Promise((ended) => child.on('close', ended));
  clearInterval(timer);
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr}`);
  const found = await countBytes(out, end);
  rmSync(out);
  return { records: found, seconds, perSecond: found / seconds, peakMiB, samples };
}

async function countBytes(path, wanted) {
  let count = 0;
  for await (const chunk of createReadStream(path)) for (const byte of chunk) if (byte === wanted) count++;
  return count;
}

/** Resident now and at its highest; undefined where the process is over. Linux only. */
function memoryOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kibibytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    const [nowMiB, peakMiB] = [kibibytes('VmRSS') / 1024, kibibytes('VmHWM') / 1024];
    return Number.isNaN(nowMiB) ? undefined : { nowMiB, peakMiB };
  } catch {
    return undefined;
  }
}

/** Starts a server and reads the addresses that it prints when it is ready. */
async function startServer(script, args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(child);
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return JSON.parse(text);
}

function installed(name) {
  const home = join(folder, name);
  mkdirSync(home);
  const { status } = spawnSync('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', '--silent', name], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0 ? join(home, 'node_modules', '.bin', name) : undefined;
}

function onPath(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) console.log(`  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`);
}

function verdict(text, met) {
  console.log(`  ${met ? '✓' : '✗'} ${text}`);
  if (!met) process.exitCode = 1;
}
