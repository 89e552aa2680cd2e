// npm run simulate -- --seeds N --from S [--jobs J]
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { build, playScenarios } from './players.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    // A scenario waits for nothing.
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const seeds = Number(values.seeds);
const from = Number(values.from);
const jobs = Number(values.jobs);
const TOLD_EVERY = 1000;

build();
const begun = performance.now();
const tally = { scenarios: 0, steps: 0, sent: 0, left: 0 };
let usedMs = 0;
/** @type {Map<number, string>} */
const digests = new Map();
const found = await playScenarios(
  from,
  seeds,
  { jobs },
  ({ scenarios, steps, sent, left, digest, processorMs }, first) => {
    const before = tally.scenarios;
    tally.scenarios += scenarios;
    tally.steps += steps;
    tally.sent += sent;
    tally.left += left;
    usedMs += processorMs;
    digests.set(first, digest);
    if (Math.floor(tally.scenarios / TOLD_EVERY) > Math.floor(before / TOLD_EVERY))
      process.stdout.write(`${toldSoFar()}\n`);
  },
);
if (found !== undefined) process.stdout.write(`${found.text}\n\n`);
// Events of all seeds, in their order: the same on every machine.
const ordered = [...digests].sort(([one], [other]) => one - other).map(([, digest]) => digest);
const digest = createHash('sha256').update(ordered.join('\n')).digest('hex').slice(0, 16);
process.stdout.write(`${toldSoFar()}; traces ${digest}\n`);
process.stdout.write(
  `simulation: ${JSON.stringify({ from, ...tally, violations: found === undefined ? 0 : 1 })}\n`,
);
process.exitCode = found === undefined ? 0 : 1;

function toldSoFar() {
  const seconds = (performance.now() - begun) / 1000;
  return `${tally.scenarios} scenarios from seed ${from} in ${seconds.toFixed(1)} s, ${(tally.scenarios / seconds).toFixed(1)} a second, ${(usedMs / tally.scenarios).toFixed(1)} ms of processor time each`;
}
