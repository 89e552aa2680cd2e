import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
<<<<<<< HEAD
import { listNumberEntries } from '../../../src/outbox/entry-queries.ts';
=======
import { undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import { listCommands } from '../../../src/outbox/command-log.ts';
import {
  findEntryById,
  findImportOfFind,
  listEntriesOfSubject,
  listNumberEntries,
} from '../../../src/outbox/entry-queries.ts';
import { makeFindSlot } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId, findByUuid } from '../../../src/outbox/stored-finds.ts';
>>>>>>> 3205865f (outbox: undo in one file, remove finds as a change of what is wanted)
import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import { wantNumber } from '../../../src/outbox/wishes.ts';
import { acceptEntry } from '../../support/attempted-entries.ts';
import {
  openAt,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

<<<<<<< HEAD
=======
const QUEUED = { state: 'queued', reason: 'closed', notBeforeAt: 0 } as const;

function stateOf(outbox: Outbox, localId: string): string | undefined {
  const find = findByLocalId(outbox, localId);
  return find === undefined ? undefined : findImportOfFind(outbox, find.uuid)?.state;
}

function run<T>(outbox: Outbox, words: string, work: () => T): T {
  outbox.command.words = words;
  outbox.command.id = undefined;
  return work();
}

function undoLast(outbox: Outbox) {
  outbox.command.id = undefined;
  return undoCommand(outbox);
}

function editNote(outbox: Outbox, localId: string, poznamka: string): void {
  const find = findByLocalId(outbox, localId);
  if (find === undefined) throw new Error(localId);
  wantFind(
    outbox,
    find,
    { ...find.wish, elements: { ...find.elements, poznamka } },
    { document: Buffer.from(`<document>${poznamka}</document>`), issues: [] },
  );
}

>>>>>>> 3205865f (outbox: undo in one file, remove finds as a change of what is wanted)
function copyOf(outbox: TempOutbox): string {
  outbox.sql('pragma wal_checkpoint(truncate)').all();
  const path = join(tempFolder(), 'outbox.sqlite');
  copyFileSync(outbox.path, path);
  return path;
}

test('X, Y, X, Y are four numbers, and a restored copy knows which were sent', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  const path = copyOf(outbox);
  for (const value of ['X', 'Y', 'X', 'Y']) {
    wantNumber(outbox, findId, value, null, false);
    const last = listNumberEntries(outbox, findId).find(({ state }) => state === 'queued');
    acceptEntry(outbox, last?.id ?? 0, 'C-202400101-N00001');
  }
  wantNumber(outbox, findId, 'Y', null, false);
  using older = openAt(path, outbox.ledger.path, { clock: outbox.clock });
  uniteWithLedger(older);
  for (const each of [outbox, older]) {
    const numbers = listNumberEntries(each, findId);
    expect(numbers.map(({ value, state }) => [value, state])).toStrictEqual([
      ['X', 'accepted'],
      ['Y', 'accepted'],
      ['X', 'accepted'],
      ['Y', 'accepted'],
    ]);
  }
});
<<<<<<< HEAD
=======

test('a lost data home comes back from the ledger with its content', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  const { entryId: second } = queueImport(outbox, 'K-2');
  attemptEntry(outbox, second, QUEUED);
  queueImport(outbox, 'K-3');
  using anew = openAnew(outbox);
  expect(stateOf(anew, 'K-1')).toBe('accepted');
  expect(stateOf(anew, 'K-2')).toBe('queued');
  expect(stateOf(anew, 'K-3')).toBeUndefined();
  expect(findByLocalId(anew, 'K-2')?.elements).toMatchObject({ poznamka: 'K-2' });
});

test('a find that was removed after an attempt comes back from the ledger as removed', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  attemptEntry(outbox, entryId, QUEUED);
  const uuid = findByUuid(outbox, findId)?.uuid ?? '';
  withdrawWish(outbox, makeFindSlot(uuid), true);
  using anew = openAnew(outbox);
  expect(stateOf(anew, 'K-1')).toBe('dropped');
});

test('undo of a removal after a failed attempt sends the find again', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  attemptEntry(outbox, entryId, QUEUED);
  const uuid = findByUuid(outbox, findId)?.uuid ?? '';
  run(outbox, 'remove', () => withdrawWish(outbox, makeFindSlot(uuid), true));
  expect(stateOf(outbox, 'K-1')).toBe('dropped');
  expect(undoLast(outbox)).toMatchObject({ finds: 1, kept: new Map() });
  expect(stateOf(outbox, 'K-1')).toBe('queued');
  claimEntry(outbox, findImportOfFind(outbox, findId)?.id ?? 0);
});

test('undo takes back a number and a photograph that were tried once and did not arrive', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  run(outbox, 'number set', () => wantNumber(outbox, findId, 'wrong', null, false));
  const photograph = {
    name: 'a.jpg',
    mediaType: 'image/jpeg',
    sizeBytes: 3,
    sha512: 'ab',
  };
  run(outbox, 'photo add', () => wantPhoto(outbox, findId, photograph));
  for (const { id, kind } of listEntriesOfSubject(outbox, findId))
    if (kind !== 'import') attemptEntry(outbox, id, QUEUED);
  undoLast(outbox);
  undoLast(outbox);
  expect(
    listEntriesOfSubject(outbox, findId).map(({ kind, state }) => [kind, state]),
  ).toStrictEqual([
    ['import', 'accepted'],
    ['number', 'dropped'],
    ['photo', 'dropped'],
  ]);
  expect(listCommands(outbox).map(({ words, isUndone }) => [words, isUndone])).toStrictEqual([
    ['undo', false],
    ['undo', false],
    ['photo add', true],
    ['number set', true],
  ]);
});

test('undo of a creation removes the find, and its redo makes it again', () => {
  using outbox = tempOutbox();
  run(outbox, 'import', () => queueImport(outbox, 'K-1'));
  undoLast(outbox);
  expect(findByLocalId(outbox, 'K-1')).toBeUndefined();
  const [undo] = listCommands(outbox);
  outbox.command.id = undefined;
  undoCommand(outbox, undo?.id);
  expect(stateOf(outbox, 'K-1')).toBe('queued');
  expect(undoLast(outbox)?.command.words).toBe('import');
});

test('what is accepted stays with undo, and is named', () => {
  using outbox = tempOutbox();
  const { entryId } = run(outbox, 'import', () => queueImport(outbox, 'K-1'));
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  expect(undoLast(outbox)).toMatchObject({
    finds: 0,
    kept: new Map([['K-1', 'attempted']]),
  });
  expect(stateOf(outbox, 'K-1')).toBe('accepted');
});

test('the undo after one that took nothing back takes an earlier command', () => {
  using outbox = tempOutbox();
  const earlier = run(outbox, 'import', () => queueImport(outbox, 'K-1'));
  const { entryId } = run(outbox, 'import', () => queueImport(outbox, 'K-2'));
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  undoLast(outbox);
  expect(undoLast(outbox)).toMatchObject({ finds: 1, kept: new Map() });
  expect(findByUuid(outbox, earlier.findId)).toBeUndefined();
  expect(stateOf(outbox, 'K-2')).toBe('accepted');
});

test('two copies that were edited differently do not send either version', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  attemptEntry(outbox, entryId, QUEUED);
  const path = copyOf(outbox);
  using copy = openAt(path, outbox.ledger.path, { clock: outbox.clock });
  editNote(outbox, 'K-1', 'here');
  editNote(copy, 'K-1', 'there');
  uniteWithLedger(copy);
  uniteWithLedger(outbox);
  for (const each of [outbox, copy]) expect(stateOf(each, 'K-1')).toBe('queued');
  for (const each of [outbox, copy]) {
    const id = findImportOfFind(each, findByLocalId(each, 'K-1')?.uuid ?? '')?.id ?? 0;
    expect(() => claimEntry(each, id)).toThrow();
  }
});

test('an answer to a first version stays with it, and the edited find is shown as changed', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  const claimed = claimEntry(outbox, entryId);
  const path = copyOf(outbox);
  using copy = openAt(path, outbox.ledger.path, { clock: outbox.clock });
  editNote(copy, 'K-1', 'corrected');
  expect(claimed.entry.state).toBe('sending');
  acceptEntryOf(outbox, claimed);
  uniteWithLedger(copy);
  const find = findByLocalId(copy, 'K-1');
  expect(findImportOfFind(copy, find?.uuid ?? '')).toMatchObject({
    state: 'accepted',
    isChanged: true,
    identCely: 'C-202400101-N00001',
  });
});

import { type Claim, recordAnswer } from '../../../src/outbox/attempts.ts';

function acceptEntryOf(outbox: Outbox, claimed: Claim): void {
  recordAnswer(
    outbox,
    claimed,
    { state: 'accepted', identCely: 'C-202400101-N00001' },
    { outcome: 'accepted' },
  );
}
>>>>>>> 3205865f (outbox: undo in one file, remove finds as a change of what is wanted)
