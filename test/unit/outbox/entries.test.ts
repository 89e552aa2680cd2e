import { expect, test } from 'vitest';
import {
  findEntryById,
  findImportOfFind,
  getProject,
  isDropped,
  listEntriesOfSubject,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { withdrawWish } from '../../../src/outbox/wishes.ts';
import { acceptEntry } from '../../support/attempted-entries.ts';
import { queueImport, queueNumber, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00012';
const RECORD = makeRecordSubject(IDENT);

test('a damaged question is detected', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  storeQuestion(outbox, entryId, {
    basis: 'equal-record',
    question: 'is it this one?',
    candidates: [IDENT],
    near: [],
  });
  outbox.sql('pragma ignore_check_constraints = on').run();
  outbox.sql(`update entries set held = '{' where id = ?`).run(entryId);
  expect(() => findEntryById(outbox, entryId)).toThrow(
    expect.objectContaining({ damaged: true }) as Error,
  );
});

test.each([
  ['C-202400101-N00001', 'C-202400101'],
  ['X-C-123456789A-N00001', 'X-C-123456789A'],
])('the project of %s is %s', (identCely, project) => {
  using outbox = tempOutbox();
  const entry = findEntryById(outbox, queueNumber(outbox, makeRecordSubject(identCely), 'A 1'));
  expect(entry && getProject(entry)).toBe(project);
});

test('the project of an import is the one that it names', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1', 'C-7');
  acceptEntry(outbox, entryId, 'C-8-N1');
  const entry = findImportOfFind(outbox, findId);
  expect(entry && getProject(entry)).toBe('C-7');
});

test('entries are looked up by their find, or else by their record', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  const number = queueNumber(outbox, RECORD, 'A 1');
  const ids = (subject: string) => listEntriesOfSubject(outbox, subject).map(({ id }) => id);
  expect(ids(findId)).toStrictEqual([entryId]);
  expect(ids(RECORD)).toStrictEqual([number]);
});

test('a find is dropped with its import, whatever else is queued for it', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  queueNumber(outbox, findId, 'A 1');
  expect(isDropped(outbox, findId)).toBe(false);
  const entry = findEntryById(outbox, entryId);
  if (entry === undefined) throw new Error('the entry is gone');
  withdrawWish(outbox, entry, false);
  expect([isDropped(outbox, findId), isDropped(outbox, 'another')]).toStrictEqual([true, false]);
});
