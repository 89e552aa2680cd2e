import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { assertUndamaged } from '../../src/base/disk/database-file.ts';
import { DatabaseError } from '../../src/base/errors.ts';
import { openOutbox } from '../../src/outbox/open-outbox.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { type Home, makeHome, settledAfter, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { compare, finish } from './finish.ts';
import { ledgerIn, outboxFolder, outboxIn } from './places.ts';
import { type Image, imagesAfter, lay, makeDisk, readTrace, type Step } from './recorded-disk.ts';
import { finds } from './scenarios.ts';
import { IMAGES, SEED } from './shares.ts';
import { openStage, type Stage } from './stage.ts';
import { canWatchCalls, pasWatched } from './watched-disk.ts';

/** One of so many images is continued to the end with the real program. */
const GOES_ON_EVERY = 100;
const FINDS = 2;
/** State on disk of an entry whose request has begun. */
const BEGUN = ['sending', 'uncertain', 'accepted'];

/**
 * Knowledge at a moment: the program's output, and the requests that have begun to leave, by their
 * digest or number.
 */
type Known = {
  readonly promised: number;
  readonly begun: readonly string[];
  readonly hasJustBegun: boolean;
};
const NOTHING: Known = { promised: 0, begun: [], hasJustBegun: false };
type Cut = { readonly image: Image; readonly known: Known };

/** Continuous integration must have a compiler. */
test.skipIf(!canWatchCalls && process.env['CI'] === undefined)(
  'after a power cut during an import and a push, nothing is lost and nothing is sent twice',
  async () => {
    let served = 0;
    const stage = await openStage((path) => {
      if (!/import-xml|evidencni-cislo|upload-foto/.test(path)) return;
      served += 1;
      stage.mark(`served_${served}`);
    });
    const home = await signedIn(stage, [...settledAfter(0, 0), '--set', 'max_in_flight=1']);
    const season = writeSeason(home, FINDS, { photos: true });
    const disk = makeDisk(home.folder);
    const trace = `${home.folder}.trace`;
    stage.mark('served_0');
    let older = Buffer.alloc(0);
    for (const args of [['import', season], ['number', 'set', 'K-1', 'A 1'], ['push']]) {
      if (args[0] === 'push')
        older = readFileSync(join(outboxFolder(home.folder), 'outbox.sqlite'));
      expect(await pasWatched(home, args, { trace })).toMatchObject({ code: 0 });
    }
    const steps = readTrace(trace, home.folder);

    const startedMs = performance.now();
    const random = seededRandom(SEED);
    const knownAfter = listKnown(steps);
    const tally = {
      steps: steps.length,
      images: 0,
      damaged: 0,
      went_on: 0,
      with_older_copy: 0,
      problems: 0,
    };
    const problems: string[] = [];
    const going: Cut[] = [];
    for (const { index, image } of imagesAfter(steps, disk, 1.2 * IMAGES, random)) {
      const known = knownAfter[index] ?? NOTHING;
      tally.images += 1;
      const found = look(image, known, random);
      if (found === 'damaged') tally.damaged += 1;
      else problems.push(...found.map((problem) => `after step ${index}: ${problem}`));
      if (tally.images % GOES_ON_EVERY === 0) going.push({ image, known });
    }
    // Changes of the service are undone in reverse order.
    going.sort((one, other) => servedAt(other.known) - servedAt(one.known));
    for (const { image, known } of going) {
      stage.rewind(`served_${servedAt(known)}`);
      problems.push(...(await goOn(image, home, stage)));
      tally.went_on += 1;
      if (known.begun.length === 0) continue;
      stage.rewind(`served_${servedAt(known)}`);
      const outbox = outboxIn(image) ?? '';
      const putBack = new Map(
        [...image].filter(([path]) => !path.startsWith(outbox)).concat([[outbox, older]]),
      );
      problems.push(
        ...(await goOn(putBack, home, stage)).map(
          (problem) => `with an older copy of the outbox: ${problem}`,
        ),
      );
      tally.with_older_copy += 1;
    }
    await stage.close();
    tally.problems = problems.length;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    process.stdout.write(`disk: ${JSON.stringify({ 'power cut': { ...tally, seconds } })}\n`);
    expect([...new Set(problems)].slice(-20)).toEqual([]);
    expect(tally.damaged).toBe(0);
  },
);

function listKnown(steps: readonly Step[]): Known[] {
  let known = NOTHING;
  return steps.map((step) => {
    known = { ...known, hasJustBegun: false };
    if (step.kind === 'said' && step.text.includes('Imported'))
      known = { ...known, promised: FINDS };
    const carried = step.kind === 'sent' ? carriedBy(step.text) : undefined;
    if (carried !== undefined)
      known = { ...known, begun: [...known.begun, carried], hasJustBegun: true };
    return known;
  });
}

/** The digest or the number in the head of a request that is to change something. */
function carriedBy(text: string): string | undefined {
  const digest = /^POST [\s\S]*content-digest: sha-512=:([^:]+):/i.exec(text)?.[1];
  return digest === undefined
    ? /^PATCH \S*evidencni_cislo=(\S+)/.exec(text)?.[1]?.replace(/\+|%20/g, ' ')
    : Buffer.from(digest, 'base64').toString('hex');
}

/** Requests answered or being answered: one that has just begun may not have arrived. */
function servedAt({ begun, hasJustBegun }: Known): number {
  return begun.length - (hasJustBegun ? 1 : 0);
}

type Stored = {
  localId: string | null;
  kind: string;
  state: string;
  carries: string | null;
  document: Buffer | null;
};

function look(image: Image, { promised, begun }: Known, random: Random): 'damaged' | string[] {
  const folder = tempFolder();
  try {
    lay(folder, image, (path) => /\.sqlite/.test(path), random);
    const inImage = outboxIn(image) ?? '';
    const ledger = ledgerIn(image);
    const path = join(folder, inImage);
    if (inImage === '' || !existsSync(path))
      return promised + begun.length === 0 ? [] : ['there is no outbox'];
    const outbox = openOutbox(path, manualClock());
    assertUndamaged(path);
    const stored = outbox
      .sql(
        `select (select local_id from finds where uuid = entries.subject) as localId, entries.kind, state,
           coalesce(value, photograph ->> 'sha512') as carries, document
         from entries join intents on intents.row = intent`,
      )
      .all() as Stored[];
    const rows = stored.map(({ document, ...row }) => ({
      ...row,
      carries: row.carries ?? sha512Hex(document ?? Buffer.of()),
    }));
    outbox.close();
    const remembered = ledger === undefined ? 0 : attemptsIn(join(folder, ledger));
    return [
      ...finds(promised).flatMap(({ localId, photos: [sha512] }) => {
        const ownRows = rows.filter((row) => row.localId === localId);
        const isWhole =
          ownRows.some(({ kind }) => kind === 'import') &&
          ownRows.some(({ carries }) => carries === sha512);
        return isWhole ? [] : [`${localId} is lost: ${JSON.stringify(ownRows)}`];
      }),
      ...rows.flatMap(({ kind, carries, localId }) => {
        const bytes =
          kind === 'photo'
            ? image.get(join(dirname(inImage), 'photos', carries.slice(0, 2), carries))
            : undefined;
        return kind !== 'photo' || (bytes !== undefined && sha512Hex(bytes) === carries)
          ? []
          : [`a photograph of ${localId} is lost`];
      }),
      ...begun.flatMap((sent) => {
        const row = rows.find(({ carries }) => carries === sent);
        return row !== undefined && BEGUN.includes(row.state)
          ? []
          : [`what has begun to leave is ${row?.state}: ${sent}`];
      }),
      ...(remembered >= begun.length
        ? []
        : [`the ledger has ${remembered} of ${begun.length} requests`]),
    ];
  } catch (thrown) {
    if (thrown instanceof DatabaseError) return 'damaged';
    throw thrown;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function attemptsIn(path: string): number {
  assertUndamaged(path);
  const ledger = openSqlite(path);
  try {
    return ledger
      .prepare(`select count(*) from facts where kind = 'attempted'`)
      .pluck()
      .get() as number;
  } finally {
    ledger.close();
  }
}

function sha512Hex(bytes: Buffer): string {
  return createHash('sha512').update(bytes).digest('hex');
}

/** With the real program, to the end. @returns what is wrong then, in words */
async function goOn(image: Image, recorded: Home, stage: Stage): Promise<string[]> {
  const home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  lay(home.folder, image, () => true, seededRandom(SEED));
  await home.do('import', join(recorded.folder, 'season.csv'));
  await home.pas('number', 'set', 'K-1', 'A 1');
  const problems = [
    ...(await finish(home, stage)),
    ...(await compare(home, stage, finds(FINDS, { numbered: 1 }))),
  ];
  rmSync(home.folder, { recursive: true, force: true });
  return problems;
}
