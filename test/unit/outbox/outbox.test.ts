import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import { openOutbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { countEntriesByState } from '../../../src/outbox/views/outbox-status.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { BINDING, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

function newFile(): string {
  return join(tempFolder(), 'outbox.sqlite');
}

test('an outbox belongs to the service that it was made for, whatever opens it later', () => {
  const path = newFile();
  openOutbox(path, manualClock(), { binding: BINDING }).close();
  const again = openOutbox(path, manualClock(), {
    binding: { ...BINDING, address: 'https://other.example.org' },
  });
  expect(readHeader(again)).toMatchObject({
    ...BINDING,
    ledger: '',
    account: null,
    mustLook: false,
    copyMadeAt: null,
  });
  again.close();
});

test('an outbox without a service reports it', () => {
  const outbox = openOutbox(newFile(), manualClock());
  expect(() => readHeader(outbox)).toThrow(DatabaseError);
  outbox.close();
});

test('a partial change is rolled back', () => {
  using outbox = tempOutbox();
  expect(() =>
    outbox.change(() => {
      queueImport(outbox, 'K-1');
      throw new Error('power cut');
    }),
  ).toThrow('power cut');
  expect(countEntriesByState(outbox).queued).toBe(0);
});

test('a disk error during a statement is an error that names the file', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  outbox.sql('pragma query_only = on').run();
  expect(() => outbox.sql(`update entries set reason = '"x"'`).run()).toThrow(DatabaseError);
  outbox.sql('pragma query_only = off').run();
  expect([...outbox.sql('select local_id from finds').pluck().iterate()]).toEqual(['K-1']);
  expect(() => outbox.sql('select such_thing from finds')).toThrow(
    expect.objectContaining({ damaged: true }) as Error,
  );
});

test.each([
  [
    `state in ('draft', 'refused', 'sending', 'uncertain') and +state = 'uncertain'`,
    'entries_unsettled',
  ],
  [`held is not null and state = 'queued'`, 'entries_held'],
  [`ident_cely = 'C-1-N1'`, 'entries_of_ident'],
])('%s is found without a scan of all entries', (condition, index) => {
  using outbox = tempOutbox();
  const plan = outbox.sql(`explain query plan select * from entries where ${condition}`).all() as {
    detail: string;
  }[];
  expect(plan.map(({ detail }) => detail).join()).toContain(index);
});

test('Other programs find the entries of a local id without a scan of all entries.', () => {
  using outbox = tempOutbox();
  const plan = outbox
    .sql(`explain query plan select * from outbox_overview where local_id = 'K-1'`)
    .all() as { detail: string }[];
  expect(plan.map(({ detail }) => detail).join()).not.toContain('SCAN entries');
});
