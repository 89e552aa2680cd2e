import { expect, test } from 'vitest';
import {
  findEntryById,
  findImportOfFind,
  getProject,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { acceptEntry, queueImport, queueNumber, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00012';

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
