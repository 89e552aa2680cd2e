import { expect, test } from 'vitest';
import { hashSha512 } from '../../../src/base/disk/files.ts';
import type { Find } from '../../../src/finds/find.ts';
import { type EnqueueContext, enqueueFinds } from '../../../src/outbox/changes/enqueue-finds.ts';
import { planRemoval, removeFinds } from '../../../src/outbox/changes/remove-finds.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import { findImportOfFind, listEntriesOfSubject } from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { countVisibleFinds, findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { recordFindWish } from '../../../src/outbox/wishes.ts';
import { resolveEntries } from '../../../src/push/resolve-entries.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { acceptEntry, attemptEntry, tempOutbox } from '../../support/temp-outbox.ts';

/** @param bytes of each photograph; otherwise its path */
function context(outbox: Outbox, bytes?: string): EnqueueContext {
  return {
    outbox,
    validate: ({ elements }) => ({ document: Buffer.from(JSON.stringify(elements)), issues: [] }),
    inspectPhotograph: async (path) => ({
      photograph: {
        name: path,
        source: path,
        mediaType: 'image/jpeg',
        sizeBytes: path.length,
        sha512: hashSha512(Buffer.from(bytes ?? path)),
      },
      issues: [],
    }),
    storePhotograph: async () => {},
    dryRun: false,
  };
}

const FIND: Find = { localId: 'K-1', elements: { poznamka: 'přezka' }, photos: ['a.jpg'] };

function uuidOf(outbox: Outbox): string {
  return findByLocalId(outbox, 'K-1')?.uuid ?? '';
}

function states(outbox: Outbox): string[] {
  return listEntriesOfSubject(outbox, uuidOf(outbox)).map(({ kind, state }) => `${kind} ${state}`);
}

function drop(outbox: Outbox, { id }: Entry): void {
  resolveEntries(outbox, 'K-1', { kind: 'drop' }, id, true);
}

function edit(outbox: Outbox, elements: Find['elements']): void {
  const find = findByLocalId(outbox, 'K-1');
  if (find === undefined) throw new Error('there is no K-1');
  const document = Buffer.from(JSON.stringify(elements));
  recordFindWish(outbox, find, { ...find.wish, elements }, { document, issues: [] });
}

function importId(outbox: Outbox): number {
  return findImportOfFind(outbox, uuidOf(outbox))?.id ?? 0;
}

test('a dropped find and photograph stay dropped when the table is imported again', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  for (const entry of listEntriesOfSubject(outbox, uuidOf(outbox))) drop(outbox, entry);
  const { finds, issues } = await enqueueFinds(
    [{ ...FIND, elements: { poznamka: 'edited' } }],
    context(outbox),
  );
  expect(states(outbox)).toEqual(['import dropped', 'photo dropped']);
  expect(finds).toMatchObject([{ change: 'kept', photosAdded: 0 }]);
  expect(issues).toMatchObject([
    { severity: 'warning', rule: 'given-up', message: expect.stringContaining('--resend') },
  ]);
});

test('a photograph that the table names later is queued, although the find was sent and its row differs', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  acceptEntry(outbox, importId(outbox), 'C-1-N00001');
  const edited = { ...FIND, elements: { poznamka: 'edited' }, photos: ['a.jpg', 'b.jpg'] };
  const { finds } = await enqueueFinds([edited], context(outbox));
  expect(finds).toMatchObject([{ change: 'sent', photosAdded: 1 }]);
  expect(
    listEntriesOfSubject(outbox, uuidOf(outbox)).filter(({ kind }) => kind === 'photo'),
  ).toMatchObject([{ identCely: 'C-1-N00001' }, { identCely: 'C-1-N00001' }]);
});

test.each([
  ['dropped and removed, since its end was not known', true],
  ['removed after the service had refused it', false],
])('a find that was %s is not created again by its table', async (_how, isUncertain) => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  attemptEntry(
    outbox,
    importId(outbox),
    isUncertain
      ? { state: 'uncertain', reason: 'no answer' }
      : { state: 'refused', reason: 'no', issues: [] },
  );
  const entry = findImportOfFind(outbox, uuidOf(outbox));
  if (isUncertain && entry !== undefined) drop(outbox, entry);
  expect(removeFinds(outbox, planRemoval(outbox, ['K-1']), tempFolder())).toMatchObject([
    { because: undefined, name: 'K-1' },
  ]);
  const { finds, issues } = await enqueueFinds(
    [{ ...FIND, elements: { poznamka: 'edited' } }],
    context(outbox),
  );
  expect(finds).toMatchObject([{ change: 'kept', photosAdded: 0 }]);
  expect(issues).toMatchObject([
    { rule: 'given-up', message: expect.stringContaining('pas resolve K-1 --resend') },
  ]);
  expect([countVisibleFinds(outbox), ...states(outbox)]).toEqual([0, 'import dropped']);
});

test('finds are read in batches, and a batch is on disk before the next is read', async () => {
  using outbox = tempOutbox();
  const stored: number[] = [];
  const finds = function* (): Generator<Find> {
    for (let index = 1; index <= 251; index++) {
      stored.push(countVisibleFinds(outbox));
      yield { localId: `K-${index}`, elements: {}, photos: [] };
    }
  };
  await enqueueFinds(finds(), context(outbox));
  expect([...new Set(stored)]).toEqual([0, 100, 200]);
  expect(countVisibleFinds(outbox)).toBe(251);
});

test('a find that a person enters again has the entered values, whatever was edited before', async () => {
  using outbox = tempOutbox();
  const enter = (elements: Find['elements']) =>
    enqueueFinds([{ ...FIND, elements, photos: [] }], context(outbox));
  await enter({
    poznamka: 'first',
    druh_nalezu: { id: 'HES-000605', text: '' },
    datum_nalezu: '2024-06-01',
  });
  edit(outbox, { poznamka: 'edited', hloubka: 20 });
  const entered = {
    poznamka: 'third',
    druh_nalezu: { id: 'HES-000691', text: '' },
    datum_nalezu: '2024-07-01',
  };
  expect((await enter(entered)).finds).toMatchObject([{ change: 'updated' }]);
  expect(findByLocalId(outbox, 'K-1')?.elements).toEqual(entered);
});

test('a find that changes while its row is prepared, or that comes twice, is merged with what is stored by then', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([{ ...FIND, photos: [] }], context(outbox));
  const edited: EnqueueContext = {
    ...context(outbox),
    table: { path: undefined, planRow: ({ localId }) => ({ kind: 'new', localId, others: [] }) },
    storePhotograph: async () => edit(outbox, { ...FIND.elements, hloubka: 20 }),
  };
  await enqueueFinds([{ ...FIND, elements: { poznamka: 'spona' } }], edited);
  expect(findByLocalId(outbox, 'K-1')?.elements).toEqual({ poznamka: 'spona', hloubka: 20 });
  const twice = { ...FIND, localId: 'K-2', photos: [] };
  const { finds } = await enqueueFinds([twice, twice], context(outbox));
  expect(finds.map(({ change }) => change)).toEqual(['added', 'kept']);
});
