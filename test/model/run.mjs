// npm run model -- --traces N [--from S] [--jobs J]
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, playSeeds, WHOLE } from '../support/built-players.mjs';

/**
 * @typedef {{ traces: number, steps: number, digest: string, processorMs: number, found?: { seed:
 * number, text: string } }} Played
 */

const { values } = parseArgs({
  options: {
    traces: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const [traces, from, jobs] = [Number(values.traces), Number(values.from), Number(values.jobs)];
const TOLD_EVERY = 1000;

build('test/model');
const begun = performance.now();
const tally = { traces: 0, steps: 0 };
let usedMs = 0;
/** @type {Map<number, string>} */
const digests = new Map();
const player = join(WHOLE, 'test/model/player.js');
const found = await playSeeds(
  player,
  from,
  traces,
  { jobs },
  (/** @type {Played} */ played, first) => {
    const before = tally.traces;
    tally.traces += played.traces;
    tally.steps += played.steps;
    usedMs += played.processorMs;
    digests.set(first, played.digest);
    if (Math.floor(tally.traces / TOLD_EVERY) > Math.floor(before / TOLD_EVERY))
      process.stdout.write(`${toldSoFar()}\n`);
  },
);
if (found !== undefined) process.stdout.write(`${found.text}\n\n`);
// Events of all seeds, in their order: the same on every machine.
const ordered = [...digests].sort(([one], [other]) => one - other).map(([, digest]) => digest);
const digest = createHash('sha256').update(ordered.join('\n')).digest('hex').slice(0, 16);
process.stdout.write(`${toldSoFar()}; steps ${digest}\n`);
process.stdout.write(
  `model: ${JSON.stringify({ from, ...tally, disagreements: found === undefined ? 0 : 1 })}\n`,
);
process.exitCode = found === undefined ? 0 : 1;

function toldSoFar() {
  const seconds = (performance.now() - begun) / 1000;
  return `${tally.traces} traces from seed ${from} in ${seconds.toFixed(1)} s, ${(usedMs / tally.traces).toFixed(1)} ms of processor time each`;
}
