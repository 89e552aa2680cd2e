// npm run simulate:planted -- [--seeds N] [--jobs J]: looks for each planted fault in so many stories, and says in which it was found.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, jobs: { type: 'string', default: String(availableParallelism()) } },
});

// Node reads no TypeScript before version 22.18.
const source = readFileSync(new URL('planted.ts', import.meta.url), 'utf8');
const PLANTED = [...source.matchAll(/^ {4}name: '(.*)',$/gm)].map(([, name = '']) => name);
const left = [...PLANTED];
let missed = 0;
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.stdout.write(`${PLANTED.length - missed} of ${PLANTED.length} planted faults were found\n`);
process.exitCode = missed === 0 ? 0 : 1;

async function work() {
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const found = await find(name);
    if (found === undefined) missed += 1;
    process.stdout.write(
      found === undefined
        ? `NOT FOUND in ${values.seeds} stories: ${name}\n`
        : `seed ${found.seed}, ${found.steps} steps: ${name} (${found.violation})\n`,
    );
  }
}

/** @param {string} name @returns {Promise<{ seed: number, steps: number, violation: string } | undefined>} */
async function find(name) {
  const env = { ...process.env, SIMULATION_PLANTED: name, SIMULATION_SEEDS: values.seeds };
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
