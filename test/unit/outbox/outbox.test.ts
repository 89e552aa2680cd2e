import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import {
  type Header,
  type Outbox,
  openOutbox,
  readHeader,
  updateHeader,
} from '../../../src/outbox/open-outbox.ts';
import { countEntries } from '../../../src/outbox/views/outbox-status.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { BINDING, queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

function newFile(): string {
  return join(tempFolder(), 'outbox.sqlite');
}

test('the outbox can be read by its owner alone', () => {
  const path = newFile();
  openOutbox(path, manualClock()).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that is not a database is refused, not replaced', () => {
  const path = newFile();
  writeFileSync(
    path,
    'these are my notes, not a database, and they are longer than a page header would be\n'.repeat(
      20,
    ),
  );
  expect(() => openOutbox(path, manualClock())).toThrow(DatabaseError);
  expect(statSync(path).size).toBeGreaterThan(1000);
});

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

test('each outbox has an identifier of its own', () => {
  const ids = [1, 2].map(() => {
    const outbox = openOutbox(newFile(), manualClock(), { binding: BINDING });
    const { outbox: id } = readHeader(outbox);
    outbox.close();
    return id;
  });
  expect(new Set(ids).size).toBe(2);
});

test('the header is changed as requested, and no further', () => {
  using outbox = tempOutbox();
  const before = readHeader(outbox);
  const changes: Partial<Header> = {
    ledger: 'l',
    machine: 'm',
    unitedSeq: 7,
    unitedFact: 'f',
    mustLook: true,
    address: 'https://moved.example.org',
  };
  updateHeader(outbox, changes);
  expect(readHeader(outbox)).toEqual({ ...before, ...changes });
  updateHeader(outbox, { account: null, mustLook: false });
  updateHeader(outbox, {});
  expect(readHeader(outbox)).toEqual({ ...before, ...changes, account: null, mustLook: false });
});

test('the content of the outbox survives closing it', () => {
  const path = newFile();
  const open = (): Outbox => openOutbox(path, manualClock(), { binding: BINDING });
  const first = open();
  queueImport(first, 'K-1');
  first.close();
  const second = open();
  expect(countEntries(second).import.queued).toBe(1);
  second.close();
});

test('a partial change is rolled back', () => {
  using outbox = tempOutbox();
  expect(() =>
    outbox.change(() => {
      queueImport(outbox, 'K-1');
      throw new Error('power cut');
    }),
  ).toThrow('power cut');
  expect(countEntries(outbox).import.queued).toBe(0);
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
