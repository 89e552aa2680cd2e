// npm run chaos -- --rounds N --seed S [--from R] [--jobs J]
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const rounds = Number(values.rounds);
const jobs = Math.max(1, Math.min(Number(values.jobs), rounds));

// A round is the same whoever plays it, so each process takes a part of them.
const bounds = Array.from({ length: jobs + 1 }, (_, job) => Number(values.from) + Math.round((rounds * job) / jobs));
const played = await Promise.all(bounds.slice(1).map((until, job) => playPart(bounds[job], until)));
if (jobs > 1)
  process.stdout.write(`in all: ${JSON.stringify(played.map(({ tally }) => tally).reduce((all, tally) => sum(all, tally)))}\n`);
process.exitCode = played.every(({ status }) => status === 0) ? 0 : 1;

/** @typedef {number | { [key: string]: Tally }} Tally */

/**
 * @param {number} from
 * @param {number} until
 * @returns {Promise<{ status: number, tally: Tally }>} the exit code and the tally that a process prints at its end
 */
async function playPart(from, until) {
  const env = { ...process.env, CHAOS_ROUNDS: String(until - from), CHAOS_SEED: values.seed, CHAOS_FROM: String(from) };
  const child = spawn('npx', ['vitest', 'run', '--project', 'chaos'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  /** @type {Promise<number>} */
  const ended = new Promise((resolve) => child.on('close', resolve));
  let tally = {};
  for await (const line of createInterface({ input: child.stdout })) {
    process.stdout.write(`${line}\n`);
    if (line.startsWith('chaos: ')) tally = JSON.parse(line.slice('chaos: '.length));
  }
  return { status: await ended, tally };
}

/**
 * Of two tallies, key by key; a key that one of them lacks counts as 0.
 * @param {Tally} some
 * @param {Tally} others
 * @returns {Tally}
 */
function sum(some = 0, others = 0) {
  if (typeof some === 'number' && typeof others === 'number') return some + others;
  const keys = new Set([...Object.keys(some), ...Object.keys(others)]);
  return Object.fromEntries([...keys].map((key) => [key, sum(some[key], others[key])]));
}
