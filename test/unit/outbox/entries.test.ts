import { expect, test } from 'vitest';
import { makeErrorIssue, makeWarningIssue } from '../../../src/base/issue.ts';
import { rebuildEntries } from '../../../src/outbox/append-facts.ts';
import { findEntryById, findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject, type PreparedDocument } from '../../../src/outbox/intents.ts';
import { recordNewFind } from '../../../src/outbox/wishes.ts';
import { acceptEntry, queueImport, queueNumber, tempOutbox } from '../../support/temp-outbox.ts';

test.each([
  ['C-202400101-N00001', 'C-202400101'],
  ['X-C-123456789A-N00001', 'X-C-123456789A'],
])('the project of %s is %s', (identCely, project) => {
  using outbox = tempOutbox();
  const entry = findEntryById(outbox, queueNumber(outbox, makeRecordSubject(identCely), 'A 1'));
  expect(entry?.project).toBe(project);
});

test('the project of an import is the one that it names', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1', 'C-7');
  acceptEntry(outbox, entryId, 'C-8-N1');
  const entry = findImportOfFind(outbox, findId);
  expect(entry?.project).toBe('C-7');
});

test.each<[string, PreparedDocument]>([
  [
    'complete',
    { document: Buffer.from('<document/>'), issues: [makeWarningIssue('w', 'doubt', {})] },
  ],
  ['a draft', { document: null, issues: [makeErrorIssue('e', 'wrong', {})] }],
])('the entry of a new find that is %s is that of its facts', (_, prepared) => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  outbox.command.words = 'import';
  const elements = { projekt: { id: 'C-7', text: '' }, poznamka: 'x' };
  const rows = [{ path: '/t.csv', file: 't.csv', row: 2, key: 'row 1', photos: {} }];
  const find = recordNewFind(outbox, { localId: 'K-1', elements, rows }, prepared);
  const read = (): unknown => outbox.sql('select * from entries where subject = ?').get(find);
  const stored = read();
  rebuildEntries(outbox, find);
  expect(read()).toEqual(stored);
  outbox.sql('delete from entries where subject = ?').run(find);
  rebuildEntries(outbox, find);
  expect(read()).toEqual({ ...(stored as object), id: expect.any(Number) });
  expect(stored).toMatchObject({ local_id: 'K-1-2', project: 'C-7' });
});
