import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { expectEnded, makeHome, settledAfter, signedIn } from '../support/run-pas.ts';
import { type Image, imagesAfter, lay, makeDisk, readTrace } from './recorded-disk.ts';
import { goOn, SCENARIOS, type Scenario } from './scenarios.ts';
import { IMAGES, SEED } from './shares.ts';
import { openStage, type Stage } from './stage.ts';
import { canWatchCalls, pasWatched } from './watched-disk.ts';

/** The others have tests of their own. */
const CUT = SCENARIOS.filter(({ command }) => /^(add|reconcile|backup|harvest )/.test(command));

/** One of so many different images is continued to the end. */
const GOES_ON_EVERY = 8;

/** Continuous integration must have a compiler. */
test.skipIf(!canWatchCalls && process.env['CI'] === undefined).each(CUT)(
  'after a power cut at any moment of pas $command, the same command succeeds',
  async (scenario) => {
    const stage = await openStage();
    const home = await signedIn(stage, settledAfter(0, 0));
    await scenario.prepare(home, stage);
    stage.mark();
    stage.rewind();
    const disk = makeDisk(home.folder);
    const trace = `${home.folder}.trace`;
    const run = await pasWatched(home, scenario.args, { trace });
    await expectEnded(run, 0);
    const steps = readTrace(trace, home.folder);
    const lastSaid = steps.findLastIndex(({ kind }) => kind === 'said');

    const random = seededRandom(SEED);
    const startedMs = performance.now();
    const seen = new Set<string>();
    let wentOn = 0;
    const problems: string[] = [];
    for (const { index, image } of imagesAfter(steps, disk, IMAGES, random)) {
      const hasSaidAll = index >= lastSaid;
      const digest = hashDigest(image, hasSaidAll);
      if (seen.has(digest)) continue;
      seen.add(digest);
      if (seen.size % GOES_ON_EVERY !== 0) continue;
      wentOn += 1;
      const found = await play(scenario, stage, image, hasSaidAll);
      problems.push(...found.map((problem) => `after step ${index}: ${problem}`));
    }
    await stage.close();
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const tally = {
      steps: steps.length,
      images: seen.size,
      went_on: wentOn,
      problems: problems.length,
      seconds,
    };
    process.stdout.write(
      `disk: ${JSON.stringify({ [`power cut in ${scenario.command}`]: tally })}\n`,
    );
    expect(problems.slice(0, 20)).toEqual([]);
  },
);

/** A changed file after the program has said all is another state. */
function hashDigest(image: Image, hasSaidAll: boolean): string {
  const hash = createHash('sha256').update(String(hasSaidAll));
  for (const [path, bytes] of [...image].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`\0${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex');
}

/** With the real program, to the end. @returns what is wrong, in words */
async function play(
  scenario: Scenario,
  stage: Stage,
  image: Image,
  hasSaidAll: boolean,
): Promise<string[]> {
  stage.rewind();
  const home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  lay(home.folder, image, () => true, seededRandom(SEED));
  const problems = [
    ...((await scenario.look?.(home, hasSaidAll)) ?? []),
    ...(await goOn(scenario, home, stage)),
  ];
  rmSync(home.folder, { recursive: true, force: true });
  return problems;
}
