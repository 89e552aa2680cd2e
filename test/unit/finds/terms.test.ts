import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { openVocabulary } from '../../../src/finds/vocabulary/term-lookup.ts';
import {
  countTermsBySet,
  findTermByIdent,
  findTermsByName,
  listTermsAbove,
  listTermsOfSet,
  storeHiddenTerm,
  storeTerm,
  storeTombstone,
} from '../../../src/finds/vocabulary/terms.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { aTerm, fill, tempSource, tempVocabulary } from '../../support/temp-vocabulary.ts';

/** Path of the SQLite of this Node, as `src/base/disk/database.ts` chooses it. */
const SQLITE = createRequire(import.meta.url).resolve(
  Number(process.versions['napi']) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12',
);
const JANUARY = Date.UTC(2025, 0, 1);
const MARCH = Date.UTC(2025, 2, 1);

describe('a term that is read again', () => {
  test('gets the newer record with all its names', () => {
    using store = tempVocabulary();
    const vocabulary = fill(store, aTerm('HES-000001', 'spona', { labelEn: 'brooch' }));
    vocabulary.change(() => storeTerm(vocabulary, aTerm('HES-000001', 'fibule'), MARCH));
    expect(findTermByIdent(vocabulary, 'HES-000001')).toMatchObject({
      label: 'fibule',
      labelEn: null,
      datestampMs: MARCH,
    });
    expect([
      findTermsByName(vocabulary, 'SPÓNA'),
      findTermsByName(vocabulary, 'Fibule').length,
    ]).toEqual([[], 1]);
  });

  test('is as before if the service restored that', () => {
    using store = tempVocabulary();
    const vocabulary = fill(store, aTerm('HES-000001', 'spona'));
    vocabulary.change(() => storeTerm(vocabulary, aTerm('HES-000001', 'stará spona'), JANUARY - 1));
    expect(findTermByIdent(vocabulary, 'HES-000001')).toMatchObject({
      label: 'stará spona',
      datestampMs: JANUARY - 1,
    });
  });

  test('moves to its current set', () => {
    using store = tempVocabulary();
    const vocabulary = fill(store, aTerm('HES-000001', 'spona'));
    vocabulary.change(() =>
      storeTerm(vocabulary, aTerm('HES-000001', 'spona', { setSpec: 'heslo:nalez_typ' }), MARCH),
    );
    expect(countTermsBySet(vocabulary)).toEqual([
      { setSpec: 'heslo:nalez_typ', terms: 1, gone: 0 },
    ]);
  });
});

describe('a term that is deleted', () => {
  test.each([
    ['shown', JANUARY],
    ['shown', MARCH + 1],
    ['hidden', JANUARY],
  ])('returns when it is listed again, %s, whatever its datestamp', (how, datestampMs) => {
    using vocabulary = tempSource();
    vocabulary.change(() =>
      storeTombstone(vocabulary, {
        ident: 'HES-000001',
        setSpec: 'heslo',
        goneAtMs: MARCH,
        why: 'deleted',
      }),
    );
    vocabulary.change(() => {
      if (how === 'shown') storeTerm(vocabulary, aTerm('HES-000001', 'spona'), datestampMs);
      else storeHiddenTerm(vocabulary, 'HES-000001', 'heslo', datestampMs);
    });
    expect(findTermByIdent(vocabulary, 'HES-000001')).toMatchObject({ gone: null, goneAtMs: null });
  });
});

test('a set is listed with its subsets in its own order, and not with sets that merely begin alike', () => {
  using store = tempVocabulary();
  const vocabulary = fill(
    store,
    aTerm('HES-000003', 'c', { setSpec: 'heslo:obdobi', sortOrder: 1 }),
    aTerm('HES-000001', 'a', { setSpec: 'heslo:obdobi', sortOrder: 2 }),
    aTerm('HES-000002', 'b', { setSpec: 'heslo:obdobi_kat', sortOrder: 1 }),
    aTerm('OS-000001', 'd', { setSpec: 'osoba' }),
  );
  const listed = (set: string): string[] =>
    listTermsOfSet(vocabulary, set).map(({ label }) => label);
  expect([listed('heslo:obdobi'), listed('heslo'), listed('osoba'), listed('hesl')]).toEqual([
    ['c', 'a'],
    ['c', 'a', 'b'],
    ['d'],
    [],
  ]);
});

test('the path to a term starts at the top, and a cycle in the data ends it', () => {
  using store = tempVocabulary();
  const below = (ident: string) => ({ superiors: [{ ident, kind: 'podřízenost' }] });
  const vocabulary = fill(
    store,
    aTerm('HES-000001', 'pravěk'),
    aTerm('HES-000002', 'doba bronzová', below('HES-000001')),
    aTerm('HES-000003', 'starší doba bronzová', below('HES-000002')),
    aTerm('HES-000004', 'vejce', below('HES-000005')),
    aTerm('HES-000005', 'slepice', below('HES-000004')),
  );
  expect(listTermsAbove(vocabulary, 'HES-000003').map(({ label }) => label)).toEqual([
    'pravěk',
    'doba bronzová',
  ]);
  expect(listTermsAbove(vocabulary, 'HES-000004').map(({ label }) => label)).toEqual(['slepice']);
});

test('data of two services are never mixed', () => {
  using store = tempVocabulary();
  const here = fill(store, aTerm('HES-000001', 'spona'));
  const there = store.openSource('https://elsewhere.example.org');
  there.change(() => storeTerm(there, aTerm('HES-000001', 'jehlice'), JANUARY));
  expect([
    findTermByIdent(here, 'HES-000001')?.label,
    findTermByIdent(there, 'HES-000001')?.label,
  ]).toEqual(['spona', 'jehlice']);
  expect(findTermsByName(here, 'jehlice')).toEqual([]);
});

test('a failed change leaves nothing behind', () => {
  using store = tempVocabulary();
  const vocabulary = fill(store, aTerm('HES-000001', 'spona'));
  const failing = (): void => {
    storeTerm(vocabulary, aTerm('HES-000002', 'prsten'), MARCH);
    throw new Error('cut off');
  };
  expect(() => vocabulary.change(failing)).toThrow('cut off');
  expect(findTermByIdent(vocabulary, 'HES-000002')).toBeUndefined();
});

/** Holds a transaction of another thread, which ends while this one meets its lock. */
async function startWriter(path: string, change: string): Promise<Worker> {
  const writer = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     const [path, library, change] = workerData;
     const database = new (require(library))(path);
     database.exec(change);
     parentPort.postMessage('begun');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
     database.exec('commit');`,
    { eval: true, workerData: [path, SQLITE, change] },
  );
  await once(writer, 'message');
  return writer;
}

test('a source that another process adds at the same time is opened', async () => {
  const path = join(tempFolder(), 'vocabulary.sqlite');
  openVocabulary(path, manualClock()).close();
  const writer = await startWriter(
    path,
    "begin immediate; insert into sources (oai_base) values ('https://a/oai')",
  );
  const store = openVocabulary(path, manualClock());
  expect(store.openSource('https://a/oai').source).toBe(1);
  store.close();
  await once(writer, 'exit');
});

test('a new file that another process writes to is opened', async () => {
  const path = join(tempFolder(), 'vocabulary.sqlite');
  const writer = await startWriter(path, 'begin immediate; create table other (a)');
  const store = openVocabulary(path, manualClock());
  expect(store.openSource('https://a/oai').source).toBe(1);
  store.close();
  await once(writer, 'exit');
});
