// npm run simulate:planted -- [--seeds N] [--jobs J] [--known]: looks for each planted fault in so many stories, and says in which it
// was found. `--known`: only in the story in which it was found before, for those that were.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    known: { type: 'boolean', default: false },
  },
});

// Node reads no TypeScript before version 22.18.
const source = readFileSync(new URL('planted.ts', import.meta.url), 'utf8');
const rows = [...source.matchAll(/^ {4}name: '(.*)',\n(?: {4}seed: (\d+),\n)?/gm)].map(([, name = '', seed]) => ({ name, seed }));
const PLANTED = values.known ? rows.filter(({ seed }) => seed !== undefined) : rows;
const left = [...PLANTED];
let missed = 0;
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.stdout.write(`${PLANTED.length - missed} of ${PLANTED.length} planted faults were found\n`);
process.exitCode = missed === 0 ? 0 : 1;

async function work() {
  for (let row = left.shift(); row !== undefined; row = left.shift()) {
    const { name } = row;
    const found = await find(row);
    if (found === undefined) missed += 1;
    process.stdout.write(
      found === undefined
        ? `NOT FOUND in ${values.known ? `story ${row.seed}` : `${values.seeds} stories`}: ${name}\n`
        : `seed ${found.seed}, ${found.steps} steps: ${name} (${found.violation})\n`,
    );
  }
}

/**
 * @param {{ name: string, seed?: string }} row
 * @returns {Promise<{ seed: number, steps: number, violation: string } | undefined>}
 */
async function find({ name, seed }) {
  const told = values.known ? { SIMULATION_FROM: seed, SIMULATION_SEEDS: '1' } : { SIMULATION_SEEDS: values.seeds };
  const env = { ...process.env, SIMULATION_PLANTED: name, ...told };
  const child = spawn('npx', ['vitest', 'run', '--project', 'simulation', 'test/simulation/simulation.test.ts'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
  });
  let found;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('found: ')) found = JSON.parse(line.slice('found: '.length));
  }
  return found;
}
