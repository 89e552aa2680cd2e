import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError, DatabaseTooNewError } from '../../../src/base/errors.ts';
import { countEntries } from '../../../src/outbox/counts.ts';
import { addImport, UNSETTLED } from '../../../src/outbox/entries.ts';
import { openOutbox, type ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { needingPerson } from '../../../src/outbox/overview.ts';
import { openService } from '../../../src/outbox/services.ts';
import { insertFind } from '../../../src/outbox/stored-finds.ts';
import { openSqlite } from '../../../src/store/database.ts';
import { earlierOutbox } from '../../support/earlier-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ADDRESS, asSeenBy, queueImport, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

test('the outbox can be read by its owner alone', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  openOutbox(path, manualClock()).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('an outbox written by a newer pas is left alone', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  openOutbox(path, manualClock()).close();
  const database = openSqlite(path);
  database.pragma('user_version = 999');
  database.close();
  expect(() => openOutbox(path, manualClock())).toThrow(DatabaseTooNewError);
});

test('a file that is no database is refused, not replaced', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  writeFileSync(path, 'these are my notes, not a database, and they are longer than a page header would be\n'.repeat(20));
  expect(() => openOutbox(path, manualClock())).toThrow(DatabaseError);
  expect(statSync(path).size).toBeGreaterThan(1000);
});

test('a large outbox of an earlier pas says that it is brought up to date, once', () => {
  const folder = tempFolder();
  const upgrades = (path: string, sizeBytes: number): number => {
    const database = earlierOutbox(path, 7);
    database.exec('create table ballast (bytes blob)');
    database.prepare('insert into ballast values (zeroblob(?))').run(sizeBytes);
    database.close();
    let told = 0;
    for (const _ of ['first', 'second']) openOutbox(path, manualClock(), () => told++).close();
    return told;
  };
  expect(upgrades(join(folder, 'large.sqlite'), 33 * 1024 * 1024)).toBe(1);
  expect(upgrades(join(folder, 'small.sqlite'), 1)).toBe(0);
});

test('what is in the outbox survives closing it', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  const open = (): ServiceOutbox => openService(openOutbox(path, manualClock()), { address: ADDRESS, username: USERNAME });
  const first = open();
  queueImport(first, 'K-1');
  first.close();
  const second = open();
  expect(countEntries(second).import.queued).toBe(1);
  second.close();
});

test('entries for another service are none of ours, those of another account of the same service are', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  const draft = { document: null, documentSha512: null, project: null, issues: [] };
  addImport(outbox, insertFind(outbox, { localId: 'K-2', elements: {} }), draft);
  const ours = (other: Parameters<typeof asSeenBy>[1]) => {
    const seen = asSeenBy(outbox, other);
    return [countEntries(seen).import.queued, needingPerson(seen, 10).map(({ localId }) => localId)];
  };
  expect(ours({ address: 'https://other.example.org' })).toEqual([0, []]);
  expect(ours({ username: 'jan@example.org' })).toEqual([1, ['K-2']]);
});

test('half of a change is no change', () => {
  using outbox = tempOutbox();
  expect(() =>
    outbox.change(() => {
      queueImport(outbox, 'K-1');
      throw new Error('power cut');
    }),
  ).toThrow('power cut');
  expect(countEntries(outbox).import.queued).toBe(0);
});

test('what is not settled is found without reading every entry of a service', () => {
  using outbox = tempOutbox();
  const plan = outbox
    .sql(`explain query plan select * from entries where service_id = 1 and ${UNSETTLED} and state = 'uncertain'`)
    .all() as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('entries_unsettled (service_id=? AND state=?')]);
});
