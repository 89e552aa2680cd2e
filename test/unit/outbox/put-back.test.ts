import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claim, settle } from '../../../src/outbox/claims.ts';
import { allEntries, entryById } from '../../../src/outbox/entries.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import { openOutbox } from '../../../src/outbox/open-outbox.ts';
import { doubtUnsent, isEmpty, replaceContent } from '../../../src/outbox/put-back.ts';
import { openService } from '../../../src/outbox/services.ts';
import { copyDatabase } from '../../../src/store/database-file.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, ADDRESS, queueImport, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const REQUEST = { method: 'POST', path: '/', accountId: ACCOUNT_ID };

test('what was to be sent from an older copy is in doubt, and what is settled is not', () => {
  using outbox = tempOutbox();
  const [queued, sending, uncertain, draft, refused, accepted] = ['1', '2', '3', '4', '5', '6'].map(
    (id) => queueImport(outbox, `K-${id}`).entryId,
  ) as [number, number, number, number, number, number];
  claim(outbox, sending, () => REQUEST);
  const unanswered = claim(outbox, uncertain, () => REQUEST);
  if (unanswered === undefined) throw new Error('it is not queued');
  settle(outbox, unanswered, { state: 'uncertain', reason: 'no answer' }, { outcome: 'uncertain' });
  for (const [id, state] of [
    [draft, 'draft'],
    [refused, 'refused'],
    [accepted, 'accepted'],
  ] as const)
    outbox.sql(`update entries set state = ?, ident_cely = 'C-1-N' || id where id = ?`).run(state, id);
  expect(doubtUnsent(outbox, { fromMs: 10.7, untilMs: 20.2 }).map(({ id }) => id)).toEqual([queued, sending, uncertain]);
  const doubt = { fromMs: 10, untilMs: 21 };
  expect(allEntries(outbox).map((entry) => [entry.state, entry.doubt])).toEqual([
    ['uncertain', doubt],
    ['uncertain', doubt],
    ['uncertain', doubt],
    ['draft', doubt],
    ['refused', doubt],
    ['accepted', null],
  ]);
  const reason = 'it may have been sent after this copy of the outbox was made';
  expect([queued, sending, uncertain].map((id) => String(entryById(outbox, id)?.reason))).toEqual([reason, reason, 'no answer']);
  // Only what was under way had an attempt that nobody can end any more.
  expect(attemptsOf(outbox, sending).map(({ outcome }) => outcome)).toEqual(['lost']);
  expect(attemptsOf(outbox, uncertain).map(({ outcome }) => outcome)).toEqual(['uncertain']);
});

test('what was added after the copies parted is not in doubt', () => {
  using outbox = tempOutbox();
  const shared = queueImport(outbox, 'K-1').entryId;
  const own = queueImport(outbox, 'K-2').entryId;
  expect(doubtUnsent(outbox, { fromMs: 1, untilMs: 2 }, shared).map(({ id }) => id)).toEqual([shared]);
  expect(entryById(outbox, own)).toMatchObject({ state: 'queued', doubt: null });
});

/** An outbox in a file, and another of the same schema that holds more. */
function twoOutboxes() {
  const folder = tempFolder();
  const [path, brought, aside] = ['outbox', 'brought', 'aside'].map((name) => join(folder, `${name}.sqlite`)) as [
    string,
    string,
    string,
  ];
  const file = openOutbox(path, manualClock());
  const outbox = openService(file, { address: ADDRESS, username: USERNAME });
  queueImport(outbox, 'K-old');
  const bringing = openOutbox(brought, manualClock());
  const other = openService(bringing, { address: ADDRESS, username: USERNAME });
  for (const id of ['K-1', 'K-2']) queueImport(other, id);
  return { file, outbox, bringing, brought, aside };
}

test('the content of another outbox takes the place of the old, which is put aside', () => {
  const { file, outbox, bringing, brought, aside } = twoOutboxes();
  takeLease(outbox);
  const rows = (table: string) => file.sql(`select * from ${table}`).all();
  const kept = ['lease', 'copy_made', 'history'].map((table) => [table, rows(table)] as const);
  takeLease(openService(bringing, { address: ADDRESS, username: USERNAME }));
  copyDatabase(brought, `${brought}.copy`);
  replaceContent(file, `${brought}.copy`, aside);
  expect(allEntries(outbox).map(({ localId }) => localId)).toEqual(['K-1', 'K-2']);
  for (const [table, before] of kept) expect([table, rows(table)]).toEqual([table, before]);
  expect(file.sql(`select name from pragma_database_list`).pluck().all()).not.toContain('brought');
  const old = openOutbox(aside, manualClock());
  expect(old.sql('select local_id from finds').pluck().all()).toEqual(['K-old']);
  old.close();
  bringing.close();
  file.close();
});

test('nothing is put aside where there is nothing worth keeping', () => {
  const { file, outbox, bringing, brought, aside } = twoOutboxes();
  replaceContent(file, brought, undefined);
  expect(allEntries(outbox)).toHaveLength(2);
  expect(existsSync(aside)).toBe(false);
  bringing.close();
  file.close();
});

test('an outbox that could not be replaced holds what it held, and can be tried again', () => {
  const { file, outbox, bringing, brought } = twoOutboxes();
  expect(() => replaceContent(file, brought, join(tempFolder(), 'no', 'folder', 'aside.sqlite'))).toThrow();
  expect(allEntries(outbox).map(({ localId }) => localId)).toEqual(['K-old']);
  replaceContent(file, brought, undefined);
  expect(allEntries(outbox)).toHaveLength(2);
  bringing.close();
  file.close();
});

test('an outbox is empty that holds neither finds nor entries', () => {
  using outbox = tempOutbox();
  expect(isEmpty(outbox)).toBe(true);
  const { entryId } = queueImport(outbox, 'K-1');
  expect(isEmpty(outbox)).toBe(false);
  outbox.sql('delete from entries where id = ?').run(entryId);
  expect(isEmpty(outbox)).toBe(false);
});
