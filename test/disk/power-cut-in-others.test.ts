import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { damage } from '../support/hostile-disk.ts';
import { seededRandom } from '../support/random.ts';
import {
  expectEnded,
  type Home,
  homeWithoutNetwork,
  makeHome,
  settledAfter,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { outboxFolder } from './places.ts';
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

/** Three finds in the outbox, two in the backup. */
async function homeWithBackup(): Promise<Home> {
  const home = await homeWithoutNetwork();
  for (const count of [2, 3]) {
    await importSeason(home, count, { photos: false });
    if (count === 2) await home.do('backup', 'copy.sqlite');
  }
  return home;
}

/**
 * Some of it stands in its log only, as a push leaves it that was killed, and the rest is damaged.
 */
function damageBesideLog(home: Home): void {
  const path = join(outboxFolder(home.folder), 'outbox.sqlite');
  const database = openSqlite(path);
  database.pragma('wal_autocheckpoint = 0');
  database.exec('update entries set updated_at = updated_at + 1');
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${path}.kept${suffix}`);
  database.close();
  for (const suffix of ['', '-wal']) copyFileSync(`${path}.kept${suffix}`, `${path}${suffix}`);
  damage(path);
}

const KINDS = [
  {
    what: 'a sound outbox',
    prepare: (): void => {},
    old: ['K-1 queued', 'K-2 queued', 'K-3 queued'],
  },
  { what: 'a damaged one with a log', prepare: damageBesideLog, old: undefined },
];
const RESTORED = ['K-1 queued', 'K-2 queued'];

/** Continuous integration must have a compiler. */
test.skipIf(!canWatchCalls && process.env['CI'] === undefined).each(KINDS)(
  'a power cut during a restore over $what leaves the old outbox or the new one, and the old one is kept',
  async ({ what, prepare, old }) => {
    const home = await homeWithBackup();
    prepare(home);
    const disk = makeDisk(home.folder);
    const outbox = relative(home.folder, join(outboxFolder(home.folder), 'outbox.sqlite'));
    const before = readFileSync(join(home.folder, outbox));
    const isOld = (image: Image, path: string): boolean =>
      old === undefined
        ? image.get(path)?.equals(before) === true
        : String(entriesIn(image, path)) === String(old);
    const trace = `${home.folder}.trace`;
    const run = await pasWatched(home, ['restore', 'copy.sqlite', '--replace'], { trace });
    expect([run.code, run.stderr]).toEqual([0, expect.anything()]);
    const steps = readTrace(trace, home.folder);
    const random = seededRandom(SEED);
    const problems: string[] = [];
    const seen = { images: 0, old: 0, restored: 0 };
    for (const { index, image } of imagesAfter(steps, disk, IMAGES / 4, random)) {
      seen.images += 1;
      if (isOld(image, outbox)) {
        seen.old += 1;
        continue;
      }
      seen.restored += 1;
      const held = entriesIn(image, outbox);
      if (String(held) !== String(RESTORED))
        problems.push(`after step ${index} the outbox has ${held}`);
      const keptPaths = [...image.keys()].filter((path) =>
        /outbox-replaced-[\dTZ-]+\.sqlite$/.test(path),
      );
      if (!keptPaths.some((path) => isOld(image, path)))
        problems.push(`after step ${index} the old one is not among ${keptPaths}`);
    }
    process.stdout.write(
      `disk: ${JSON.stringify({ [`power cut in a restore over ${what}`]: seen })}\n`,
    );
    expect(problems.slice(0, 20)).toEqual([]);
    expect(seen.images).toBeGreaterThan(0);
  },
);

/** The imports of an outbox, with their states; `damaged` where SQLite cannot use it. */
function entriesIn(image: Image, path: string): string[] {
  const folder = tempFolder();
  try {
    lay(
      folder,
      image,
      (each) => each.startsWith(path) && !each.endsWith('.tmp'),
      seededRandom(SEED),
    );
    if (!readdirSync(folder).includes('pas')) return ['nothing'];
    const database = openSqlite(join(folder, path));
    try {
      if (database.pragma('integrity_check', { simple: true }) !== 'ok') return ['damaged'];
      return database
        .prepare(
          `select finds.local_id || ' ' || entries.state from entries join finds on uuid = subject order by 1`,
        )
        .pluck()
        .all() as string[];
    } finally {
      database.close();
    }
  } catch {
    return ['damaged'];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
