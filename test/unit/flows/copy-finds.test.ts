import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Find } from '../../../src/find/find.ts';
import { copyFinds } from '../../../src/flows/queue/copy-finds.ts';
import { addImport, addNumber, addPhoto } from '../../../src/outbox/entries.ts';
import { listEntriesOfFind } from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId, insertFind, iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { openContentStore } from '../../../src/store/content-store.ts';
import { acceptEntry } from '../../support/attempted-entries.ts';
import { tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const validate = (find: Find) => ({
  document: Buffer.from(JSON.stringify(find.elements)),
  issues: [],
});

async function sentFind(outbox: Outbox, folder: string): Promise<void> {
  const elements = { projekt: { id: 'C-202400101', text: 'C-202400101' }, poznamka: 'přezka' };
  const findId = insertFind(outbox, { localId: 'K-1', elements });
  const document = Buffer.from('<document/>');
  const content = {
    document,
    documentSha512: Buffer.alloc(64),
    digest: 'd',
    project: 'C-202400101',
    issues: [],
  };
  acceptEntry(outbox, addImport(outbox, findId, content), IDENT);
  const stored = await openContentStore(folder).add(Readable.from([Buffer.from('picture')]));
  addPhoto(
    outbox,
    { findId, identCely: IDENT },
    { name: 'a.jpg', mediaType: 'image/jpeg', ...stored },
  );
  addPhoto(
    outbox,
    { findId, identCely: IDENT },
    { name: 'lost.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 9), sizeBytes: 1 },
  );
  addNumber(outbox, { findId, identCely: IDENT }, 'A 1', '');
}

test('finds are copied to another outbox with their photographs, but without number, identifier and history', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  const photosFolders = { from: tempFolder(), to: tempFolder() };
  await sentFind(from, photosFolders.from);
  const projects = new Map([['C-202400101', 'C-199900001']]);
  const copied = await copyFinds(from, to, [...iterateFinds(from)], {
    validate,
    photosFolders,
    projects,
  });
  expect(copied).toMatchObject([
    { kind: 'copied', localId: 'K-1', state: 'queued', photographs: 1, lost: ['lost.jpg'] },
  ]);
  const find = findByLocalId(to, 'K-1');
  expect(find?.elements).toEqual({
    projekt: { id: 'C-199900001', text: 'C-199900001' },
    poznamka: 'přezka',
  });
  expect(find?.uuid).not.toBe(findByLocalId(from, 'K-1')?.uuid);
  const entries = listEntriesOfFind(to, find?.id ?? 0);
  expect(entries).toMatchObject([
    { kind: 'import', state: 'queued', project: 'C-199900001', identCely: null },
    { kind: 'photo', state: 'queued', identCely: null },
  ]);
  const [, photo] = entries;
  expect(
    photo?.kind === 'photo' &&
      existsSync(openContentStore(photosFolders.to).getPath(photo.photograph.sha512)),
  ).toBe(true);
});

test('a find whose local id is used is left out', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  const photosFolders = { from: tempFolder(), to: tempFolder() };
  await sentFind(from, photosFolders.from);
  insertFind(to, { localId: 'K-1', elements: { poznamka: 'jiný' } });
  const copied = await copyFinds(from, to, [...iterateFinds(from)], { validate, photosFolders });
  expect(copied).toEqual([{ kind: 'taken', localId: 'K-1' }]);
  expect(findByLocalId(to, 'K-1')?.elements).toEqual({ poznamka: 'jiný' });
});
