import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processorMsSince } from '../support/processor-time.ts';
import { answerAtOnce, drawUuids } from './at-once.ts';
import { openStage, play, type Stage } from './play.ts';
import { makeScenario } from './scenario.ts';
import { shrink } from './shrink.ts';

/**
 * Scenarios from one seed up to, not including, another one; or only those of them that are made on
 * purpose about one of these themes, or in which no lookup runs.
 */
type Part = {
  readonly from: number;
  readonly until: number;
  readonly themes?: readonly string[];
  readonly anonymous?: true;
};

/** Outcomes. `digest` is of all events: the same on any machine. */
type Played = {
  readonly scenarios: number;
  readonly steps: number;
  readonly sent: number;
  readonly left: number;
  readonly digest: string;
  readonly processorMs: number;
  readonly found?: Found;
};

/** A scenario that went wrong, cut down; none of the part was played after it. */
type Found = {
  readonly seed: number;
  readonly steps: number;
  readonly violation: string;
  readonly text: string;
};

const PLAYED_TWICE = 50;
/** A disk of memory flushes at once. */
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function playPart(stage: Stage, { from, until, themes, anonymous }: Part): Promise<Played> {
  const before = process.cpuUsage();
  const tally = { scenarios: 0, steps: 0, sent: 0, left: 0 };
  const all = createHash('sha256');
  let found: Found | undefined;
  for (let seed = from; seed < until && found === undefined; seed += 1) {
    const scenario = makeScenario(seed);
    if (themes?.includes(scenario.theme ?? '') === false) continue;
    if (anonymous === true && scenario.steps[0]?.kind !== 'anonymous') continue;
    const { violations, left, sent, trace } = await play(stage, scenario);
    all.update(`${seed}\n${trace.join('\n')}\n`);
    if (violations.length > 0) found = await cutDown(stage, seed);
    // One seed is one scenario, to the last tenth of a millisecond.
    else if (
      seed % PLAYED_TWICE === 0 &&
      (await play(stage, scenario)).trace.join('\n') !== trace.join('\n')
    )
      found = {
        seed,
        steps: scenario.steps.length,
        violation: 'it is another scenario when it is played again',
        text: trace.join('\n'),
      };
    tally.scenarios += 1;
    tally.steps += scenario.steps.length;
    tally.sent += sent;
    tally.left += left;
  }
  const played = { ...tally, digest: all.digest('hex'), processorMs: processorMsSince(before) };
  return found === undefined ? played : { ...played, found };
}

async function cutDown(stage: Stage, seed: number): Promise<Found> {
  const least = await shrink(
    makeScenario(seed),
    async (smaller) => (await play(stage, smaller)).violations.length > 0,
  );
  const { violations, trace } = await play(stage, least);
  const steps = least.steps.map((step) => JSON.stringify(step)).join('\n');
  const text = `seed ${seed}: ${violations.join('; ')}\n${steps}\n\n${trace.join('\n')}`;
  return { seed, steps: least.steps.length, violation: violations[0] ?? '', text };
}

answerAtOnce();
const folder = mkdtempSync(join(DISK, 'pas-simulation-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// The mock keeps its photographs there.
process.env['TMPDIR'] = folder;
const stage = await openStage(folder, drawUuids());
process.on('message', async (part: Part) => process.send?.(await playPart(stage, part)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
