import { expect, test } from 'vitest';
import type { Find } from '../../../src/find/find.ts';
import { type EnqueueContext, enqueueFinds } from '../../../src/flows/queue/enqueue-finds.ts';
import { sha512Of } from '../../../src/http/digest.ts';
import { claim, settle } from '../../../src/outbox/claims.ts';
import { countFinds } from '../../../src/outbox/counts.ts';
import { entriesOfFind, importOfFind, move } from '../../../src/outbox/entries.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { ACCOUNT_ID, ADDRESS, asSeenBy, tempOutbox } from '../../support/temp-outbox.ts';

function context(outbox: ServiceOutbox): EnqueueContext {
  return {
    outbox,
    validate: (find) => ({ document: Buffer.from(JSON.stringify(find.elements)), issues: [] }),
    inspectPhotograph: async (path) => ({
      photograph: {
        path,
        mimeType: 'image/jpeg',
        sizeBytes: path.length,
        sha512Hex: sha512Of(Buffer.from(path)).toString('hex'),
      },
      issues: [],
    }),
    keepPhotograph: async ({ path, mimeType }) => ({
      name: path,
      mediaType: mimeType,
      sha512: sha512Of(Buffer.from(path)),
      sizeBytes: path.length,
    }),
    dryRun: false,
  };
}

const FIND: Find = { localId: 'K-1', elements: { poznamka: 'přezka' }, photos: ['a.jpg'] };

function rowId(outbox: ServiceOutbox): number {
  return findByLocalId(outbox, 'K-1')?.id ?? 0;
}

function states(outbox: ServiceOutbox): string[] {
  return entriesOfFind(outbox, rowId(outbox)).map(({ kind, state }) => `${kind} ${state}`);
}

test('a find and a photograph that were given up stay so when the table is imported again', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  for (const entry of entriesOfFind(outbox, rowId(outbox))) move(outbox, entry, 'dropped');
  const { finds, issues } = await enqueueFinds([{ ...FIND, elements: { poznamka: 'edited' } }], context(outbox));
  expect(states(outbox)).toEqual(['import dropped', 'photo dropped']);
  expect(finds).toMatchObject([{ change: 'kept', photosAdded: 0 }]);
  expect(issues).toMatchObject([{ severity: 'warning', rule: 'given-up', message: expect.stringContaining('--resend') }]);
});

test('a photograph alone that was given up stays so, too', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  for (const entry of entriesOfFind(outbox, rowId(outbox))) {
    if (entry.kind === 'photo') move(outbox, entry, 'dropped');
  }
  await enqueueFinds([FIND], context(outbox));
  expect(states(outbox)).toEqual(['import queued', 'photo dropped']);
});

test('a photograph that the table names only now is queued, although the find was sent and its row differs', async () => {
  using outbox = tempOutbox();
  await enqueueFinds([FIND], context(outbox));
  const claimed = claim(outbox, importOfFind(outbox, rowId(outbox))?.id ?? 0, () => ({
    method: 'POST',
    path: '/',
    accountId: ACCOUNT_ID,
  }));
  if (claimed === undefined) throw new Error('the find is not queued');
  settle(outbox, claimed, { state: 'accepted', identCely: 'C-1-N00001' }, { outcome: 'accepted' });
  const edited = { ...FIND, elements: { poznamka: 'edited' }, photos: ['a.jpg', 'b.jpg'] };
  const { finds } = await enqueueFinds([edited], context(outbox));
  expect(finds).toMatchObject([{ change: 'sent', photosAdded: 1 }]);
  expect(entriesOfFind(outbox, rowId(outbox)).filter(({ kind }) => kind === 'photo')).toMatchObject([
    { identCely: 'C-1-N00001' },
    { identCely: 'C-1-N00001' },
  ]);
});

test.each([
  ['to another service', 'https://training.example.org', ['import queued', 'photo queued']],
  ['to this service by another account', ADDRESS, ['import uncertain', 'photo queued']],
])('a find that was sent %s is queued again only if that is another service', async (_name, address, expected) => {
  using outbox = tempOutbox();
  const other = asSeenBy(outbox, { address, username: 'jan@example.org' });
  await enqueueFinds([FIND], context(other));
  const claimed = claim(outbox, importOfFind(other, rowId(outbox))?.id ?? 0, () => ({
    method: 'POST',
    path: '/',
    accountId: ACCOUNT_ID,
  }));
  if (claimed === undefined) throw new Error('the find is not queued');
  settle(outbox, claimed, { state: 'uncertain', reason: 'no answer' }, { outcome: 'uncertain' });
  await enqueueFinds([FIND], context(outbox));
  expect(states(outbox)).toEqual(expected);
});

test('a waypoint never replaces a find of the same name from another file', async () => {
  using outbox = tempOutbox();
  const waypoint = (file: string, poznamka: string): Find => ({
    localId: '001',
    elements: { poznamka },
    photos: [],
    source: { file, unit: 'waypoint', row: 1 },
  });
  const enqueue = (find: Find) => enqueueFinds([find], context(outbox));
  expect((await enqueue(waypoint('a/monday.gpx', 'přezka'))).finds).toMatchObject([{ change: 'added' }]);
  expect((await enqueue(waypoint('monday.gpx', 'přezka, bronz'))).finds).toMatchObject([{ change: 'updated' }]);
  const tuesday = await enqueue(waypoint('tuesday.gpx', 'mince'));
  expect(tuesday.finds).toMatchObject([{ change: 'kept' }]);
  expect(tuesday.issues).toMatchObject([{ severity: 'error', rule: 'waypoint-namesake', row: 1, unit: 'waypoint' }]);
  expect(findByLocalId(outbox, '001')?.elements).toEqual({ poznamka: 'přezka, bronz' });
  expect((await enqueue(waypoint('tuesday.gpx', 'přezka, bronz'))).issues).toEqual([]);
});

test('a find that was sent is the same when only the label of what it refers to is another', async () => {
  using outbox = tempOutbox();
  const referring = (text: string): Find => ({ ...FIND, elements: { obdobi: { id: 'HES-000274', text } }, photos: [] });
  await enqueueFinds([referring('')], context(outbox));
  const entry = importOfFind(outbox, rowId(outbox));
  const claimed = claim(outbox, entry?.id ?? 0, () => ({ method: 'POST', path: '/import', accountId: ACCOUNT_ID }));
  if (claimed === undefined) throw new Error('the import is not queued');
  settle(outbox, claimed, { state: 'accepted', identCely: 'C-1-N00001' }, { outcome: 'accepted', status: 201 });
  expect((await enqueueFinds([referring('doba bronzová')], context(outbox))).finds).toMatchObject([{ change: 'kept' }]);
  const other: Find = { ...FIND, elements: { obdobi: { id: 'HES-000275', text: '' } }, photos: [] };
  expect((await enqueueFinds([other], context(outbox))).finds).toMatchObject([{ change: 'sent' }]);
});

test('finds are taken as they are needed, and those of a batch are on disk before the next is read', async () => {
  using outbox = tempOutbox();
  const stored: number[] = [];
  const finds = function* (): Generator<Find> {
    for (let index = 1; index <= 1001; index++) {
      stored.push(countFinds(outbox));
      yield { localId: `K-${index}`, elements: {}, photos: [] };
    }
  };
  await enqueueFinds(finds(), context(outbox));
  expect([...new Set(stored)]).toEqual([0, 500, 1000]);
  expect(countFinds(outbox)).toBe(1001);
});
