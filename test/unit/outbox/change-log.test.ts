import { join } from 'node:path';
import { expect, test } from 'vitest';
import { msg } from '../../../src/base/message.ts';
import { undoCommand } from '../../../src/flows/queue/undo-command.ts';
import { backUpOutbox, replaceContents } from '../../../src/outbox/backup-copy.ts';
import {
  finishUndo,
  listChangesOfCommand,
  listLoggedCommands,
  recordNew,
  undoChange,
} from '../../../src/outbox/change-log.ts';
import { addNumber, addPhoto, schedule } from '../../../src/outbox/entries.ts';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import {
  openAnew,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const PHOTOGRAPH = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64),
  sizeBytes: 3,
};

function addFind(outbox: Outbox, localId: string): void {
  outbox.change(() => recordNew(outbox, queueImport(outbox, localId).findId, localId));
}

/** A command of another process. */
function runOther(outbox: TempOutbox, localId: string): void {
  addFind({ ...outbox, command: { words: 'import' } }, localId);
}

const listLog = (outbox: Outbox) =>
  listLoggedCommands(outbox).map(({ command, seq }) => [
    command,
    ...[...listChangesOfCommand(outbox, seq)].map(({ localId }) => localId),
  ]);

function addBySession(outbox: TempOutbox): void {
  outbox.command.words = 'add';
  addFind(outbox, 'K-1');
}

test('a long session logs its finds after so many commands of other processes that its first row is deleted', () => {
  using outbox = tempOutbox();
  addBySession(outbox);
  for (let index = 0; index < 60; index += 1) runOther(outbox, `L-${index}`);
  addFind(outbox, 'K-2');
  expect(listLog(outbox).slice(0, 2)).toEqual([
    ['add', 'K-2'],
    ['import', 'L-59'],
  ]);
});

test('a command logs its finds by itself after its first transaction failed', () => {
  using outbox = tempOutbox();
  outbox.command.words = 'add';
  const failing = (): void =>
    outbox.change(() => {
      addFind(outbox, 'K-1');
      throw new Error('the disk is full');
    });
  expect(failing).toThrow('the disk is full');
  runOther(outbox, 'L-1');
  addFind(outbox, 'K-2');
  expect(listLog(outbox)).toEqual([
    ['add', 'K-2'],
    ['import', 'L-1'],
  ]);
});

test('the finds that a command adds after it was undone can be undone as well', () => {
  using outbox = tempOutbox();
  addBySession(outbox);
  const [running] = listLoggedCommands(outbox);
  undoChange(outbox, running?.seq ?? 0, findByLocalId(outbox, 'K-1')?.id ?? 0);
  finishUndo(outbox, running?.seq ?? 0);
  addFind(outbox, 'K-2');
  expect(listLog(outbox)).toEqual([['add', 'K-2']]);
});

test('an undone removal asks again what was to be answered about the find, its numbers and its photographs', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  const target = { findId, identCely: null };
  const held = { basis: 'not-searched', candidates: [], question: msg`was it sent?` } as const;
  for (const id of [
    entryId,
    addNumber(outbox, target, 'A 1', null),
    addPhoto(outbox, target, PHOTOGRAPH),
  ])
    schedule(outbox, id, { held });
  outbox.command.words = 'remove';
  removeTarget(outbox, target);
  const [removal] = listLoggedCommands(outbox);
  expect(listAllEntries(outbox)).toEqual([]);
  if (removal !== undefined)
    undoCommand(
      outbox,
      removal,
      () => ({ document: Buffer.from('<x/>'), issues: [] }),
      () => {},
    );
  expect(listAllEntries(outbox).map((entry) => [entry.kind, entry.held?.basis])).toEqual([
    ['number', 'not-searched'],
    ['photo', 'not-searched'],
    ['import', 'not-searched'],
  ]);
});

test('a restored backup has its own log, so that an undo removes none of its finds', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  const backup = join(tempFolder(), 'backup.sqlite');
  backUpOutbox(outbox, backup);
  // Rows of a new file are numbered again.
  using other = openAnew(outbox);
  other.command.words = 'import';
  addFind(other, 'L-1');
  replaceContents(other, backup, join(tempFolder(), 'aside.sqlite'));
  expect([listLog(other), findByLocalId(other, 'K-1')?.id]).toEqual([
    [],
    findByLocalId(outbox, 'K-1')?.id,
  ]);
  addFind(other, 'L-2');
  expect(listLog(other)).toEqual([['import', 'L-2']]);
});
