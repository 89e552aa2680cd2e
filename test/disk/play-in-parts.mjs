import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs, stripVTControlCharacters } from 'node:util';

/**
 * Shares numbered rounds out among processes, `--NAME N --seed S [--from R] [--jobs J]`, and adds
 * up the tallies that they print.
 * @param {string} project the vitest project, which is told by PROJECT_NAME, PROJECT_SEED and
 * PROJECT_FROM what to play
 * @param {string} name what is played
 * @param {number} most how many by default
 * @param {number} jobs how many processes by default
 */
export async function playInParts(project, name, most, jobs) {
  const { values } = parseArgs({
    options: {
      [name]: { type: 'string', default: String(most) },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: '0' },
      jobs: { type: 'string', default: String(jobs) },
    },
  });
  const rounds = Number(values[name]);
  const parts = Math.max(1, Math.min(Number(values.jobs), rounds));
  // A round is the same in any process, so each process takes a part of them.
  const bounds = Array.from(
    { length: parts + 1 },
    (_, part) => Number(values.from) + Math.round((rounds * part) / parts),
  );
  const projectName = project.toUpperCase();
  const played = await Promise.all(
    bounds.slice(1).map((until, part) => {
      const from = bounds[part] ?? 0;
      const env = {
        [`${projectName}_${name.toUpperCase()}`]: String(until - from),
        [`${projectName}_FROM`]: String(from),
      };
      return playPart(project, { ...env, [`${projectName}_SEED`]: String(values.seed) });
    }),
  );
  if (parts > 1) {
    const tallies = played.map(({ tally }) => tally);
    process.stdout.write(
      `in all: ${JSON.stringify(tallies.reduce((all, tally) => sum(all, tally)))}\n`,
    );
  }
  process.exitCode = played.every(({ status }) => status === 0) ? 0 : 1;
}

/** @typedef {number | { [key: string]: Tally }} Tally */

/**
 * @param {string} project
 * @param {Record<string, string>} env
 * @returns {Promise<{ status: number, tally: Tally }>} the exit code, and the sum of the tallies
 * that a process prints
 */
async function playPart(project, env) {
  const child = spawn('npx', ['vitest', 'run', '--project', project], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  /** @type {Promise<number>} */
  const ended = new Promise((resolve) => child.on('close', resolve));
  /** @type {Tally} */
  let tally = {};
  for await (const coloured of createInterface({ input: child.stdout })) {
    process.stdout.write(`${coloured}\n`);
    const line = stripVTControlCharacters(coloured);
    if (line.startsWith(`${project}: `))
      tally = sum(tally, JSON.parse(line.slice(`${project}: `.length)));
  }
  return { status: await ended, tally };
}

/**
 * Subtracts two tallies, key by key; a key that one of them lacks counts as 0.
 * @param {Tally} some
 * @param {Tally} tally
 * @returns {Tally}
 */
function sum(some = 0, tally = 0) {
  if (typeof some === 'number' && typeof tally === 'number') return some + tally;
  const keys = new Set([...Object.keys(some), ...Object.keys(tally)]);
  return Object.fromEntries([...keys].map((key) => [key, sum(some[key], tally[key])]));
}
