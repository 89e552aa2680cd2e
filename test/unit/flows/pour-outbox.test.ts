import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeOutbox } from '../../../src/flows/outbox/merge-outbox.ts';
import { resolveEntries } from '../../../src/push/resolve.ts';
import { hashSha512 } from '../../../src/http/request-body.ts';
import { addNumber, addPhoto, listEventsOfEntry, schedule } from '../../../src/outbox/entries.ts';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import { foldEvents } from '../../../src/outbox/fold-events.ts';
import { makeLocalIdQuestion } from '../../../src/outbox/merge.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { openContentStore } from '../../../src/store/content-store.ts';
import { acceptEntry } from '../../support/attempted-entries.ts';
import { queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

async function keep(folder: string, text: string): Promise<void> {
  const path = join(tempFolder(), 'photo');
  writeFileSync(path, text);
  await openContentStore(folder).add(path);
}

const photograph = (text: string) => ({
  ...{
    name: `${text}.jpg`,
    mediaType: 'image/jpeg',
    sha512: hashSha512(Buffer.from(text)),
    sizeBytes: text.length,
  },
});

const getContent = (outbox: Outbox) =>
  listAllEntries(outbox).map((entry) => [
    entry.localId ?? entry.identCely,
    entry.kind === 'number'
      ? entry.value
      : entry.kind === 'photo'
        ? entry.photograph.name
        : entry.kind,
    entry.held?.basis ?? '',
  ]);

test('a whole outbox is added to another one, once for repeated copies', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  const folders = { from: join(tempFolder(), 'photos'), to: join(tempFolder(), 'photos') };
  for (const text of ['one', 'two']) await keep(folders.from, text);
  // The same in both, but for a photograph and a number.
  const [here] = [queueImport(from, 'K-1'), queueImport(to, 'K-1')];
  addPhoto(from, { findId: here.findId, identCely: null }, photograph('one'));
  addNumber(from, { findId: here.findId, identCely: null }, 'A 1', null);
  // New.
  const { findId } = queueImport(from, 'K-2');
  addPhoto(from, { findId, identCely: null }, photograph('two'));
  addPhoto(from, { findId, identCely: null }, photograph('gone'));
  // A record that is stored in neither as a find.
  addNumber(from, { findId: null, identCely: 'C-202400101-N00042' }, 'B 7', '');

  expect(await mergeOutbox(from, to, folders)).toEqual({
    added: 1,
    same: 1,
    changes: 4,
    renamed: [],
    lost: ['gone.jpg'],
  });
  const poured = [
    ['K-1', 'import', ''],
    ['K-1', 'one.jpg', ''],
    ['K-1', 'A 1', ''],
    ['K-2', 'import', ''],
    ['K-2', 'two.jpg', ''],
    ['C-202400101-N00042', 'B 7', ''],
  ];
  expect(getContent(to)).toEqual(poured);
  expect(await mergeOutbox(from, to, folders)).toMatchObject({ added: 0, same: 2, changes: 0 });
  expect(getContent(to)).toEqual(poured);
});

test('nothing is added from an outbox that was pushed while a person was asked', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  const { entryId } = queueImport(from, 'K-1');
  acceptEntry(from, entryId, 'C-202400101-N00001');
  await expect(mergeOutbox(from, to, { from: tempFolder(), to: tempFolder() })).rejects.toThrow(
    /Something was sent/,
  );
  expect(getContent(to)).toEqual([]);
});

test('a find with another digest keeps its elements under another local id, and is held', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  queueImport(from, 'K-1');
  queueImport(to, 'K-1');
  to.sql(`update entries set digest = 'another'`).run();
  to.sql('delete from entries').run();
  expect(await mergeOutbox(from, to, { from: tempFolder(), to: tempFolder() })).toMatchObject({
    added: 0,
    renamed: [{ localId: 'K-1', now: 'K-1-2' }],
  });
  expect(getContent(to)).toEqual([['K-1-2', 'import', 'local-id-in-use']]);
});

test('questions and decisions go with the copy, so that nothing is sent unasked or against a decision', async () => {
  using from = tempOutbox();
  using to = tempOutbox();
  const question = makeLocalIdQuestion('K-1');
  const target = (localId: string) => ({
    findId: findByLocalId(from, localId)?.id ?? null,
    identCely: null,
  });
  const decide = (localId: string, decision: Parameters<typeof resolveEntries>[2]) =>
    resolveEntries(from, localId, decision, undefined, (work) => work(false));
  schedule(from, queueImport(from, 'K-1').entryId, { held: question });
  schedule(from, addNumber(from, target('K-1'), 'A 1', null), {
    held: { ...question, basis: 'number-changed' },
  });
  schedule(from, queueImport(from, 'K-2').entryId, { held: question });
  decide('K-2', { kind: 'resend' });
  queueImport(from, 'K-3');
  decide('K-3', { kind: 'drop' });
  schedule(from, queueImport(from, 'K-4').entryId, { held: question });
  decide('K-4', { kind: 'created', identCely: 'C-202400101-N00042' });
  addNumber(from, { ...target('K-4'), identCely: 'C-202400101-N00042' }, 'A 4', null);

  await mergeOutbox(from, to, { from: tempFolder(), to: tempFolder() });
  const facts = (outbox: Outbox) =>
    listAllEntries(outbox).map(({ uuid, localId, kind, state, held, identCely }) => ({
      ...{ localId, kind, state, held, identCely },
      rejected: foldEvents(listEventsOfEntry(outbox, uuid)).rejected,
    }));
  expect(facts(to)).toEqual(facts(from));
});
