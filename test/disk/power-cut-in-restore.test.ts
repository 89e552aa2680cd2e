import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { damage } from '../support/hostile-disk.ts';
import { seededRandom } from '../support/random.ts';
import { type Home, homeWithoutNetwork } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { outboxFolder } from './places.ts';
import { type Image, imagesAfter, lay, makeDisk, readTrace } from './recorded-disk.ts';
import { IMAGES, SEED } from './shares.ts';
import { canWatchCalls, pasWatched } from './watched-disk.ts';

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
  const folder = mkdtempSync(join(tmpdir(), 'pas-cut-'));
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
