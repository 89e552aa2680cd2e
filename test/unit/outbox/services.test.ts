import { describe, expect, test } from 'vitest';
import { knownAccount } from '../../../src/outbox/accounts.ts';
import { countsAreRight } from '../../../src/outbox/counts.ts';
import { addImport, entryById, importOfFind, move } from '../../../src/outbox/entries.ts';
import type { EntryState } from '../../../src/outbox/entry.ts';
import { addGap, gapsOf } from '../../../src/outbox/gaps.ts';
import type { Outbox, ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { completePull, pulledRecord, pullWatermarkMs, rememberStanding } from '../../../src/outbox/pulled.ts';
import { allServices, moveService, notePointing, type ServiceRow } from '../../../src/outbox/services.ts';
import { findById, insertFind } from '../../../src/outbox/stored-finds.ts';
import { addOldEntry, broughtOn, JAN, OTHER_ADDRESS } from '../../support/earlier-outbox.ts';
import { ADDRESS, asSeenBy, queueImport, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const stateOf = (outbox: ServiceOutbox, id: number): EntryState | undefined => entryById(outbox, id)?.state;

function serviceOf(outbox: Outbox, name: string): ServiceRow {
  const row = allServices(outbox).find(({ address, knownAs }) => (address ?? knownAs) === name);
  if (row === undefined) throw new Error(`no service ${name}`);
  return row;
}

describe('a find has one import at a service', () => {
  const content = { document: null, documentSha512: null, project: null, issues: [] };

  test('whichever profile and account queued it', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    for (const username of [USERNAME, JAN.username, ''])
      expect(() => addImport(asSeenBy(outbox, { username }), findId, content)).toThrow(/unique/i);
    expect(importOfFind(asSeenBy(outbox, { username: JAN.username }), findId)?.id).toBe(entryId);
  });

  test('and one more at each other service, or after it was given up', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const elsewhere = asSeenBy(outbox, { address: OTHER_ADDRESS });
    addImport(elsewhere, findId, content);
    const entry = entryById(outbox, entryId);
    if (entry === undefined) throw new Error('the entry is gone');
    move(outbox, entry, 'dropped');
    const again = addImport(outbox, findId, content);
    expect([importOfFind(outbox, findId)?.id, importOfFind(elsewhere, findId)?.serviceId]).toEqual([again, elsewhere.serviceId]);
  });

  test('is a rule of the file itself, so that no other program breaks it', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const copied = `insert into entries (find_id, service_id, username, kind, state, record_key, document, document_sha512, created_at, updated_at)
      select find_id, service_id, 'somebody@example.org', kind, state, record_key, document, document_sha512, 1, 1 from entries`;
    expect(() => outbox.sql(copied).run()).toThrow(/unique/i);
  });
});

describe('a service that has moved', () => {
  test('to an address where none was yet keeps all that is known of it', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    notePointing(outbox, 'field');
    completePull(outbox, 5);
    moveService(outbox, serviceOf(outbox, ADDRESS), 'https://new.example.org');
    const moved = asSeenBy(outbox, { address: 'https://new.example.org' });
    expect(moved.serviceId).toBe(outbox.serviceId);
    expect([importOfFind(moved, 1)?.id, pullWatermarkMs(moved)]).toEqual([entryId, 5]);
    expect(knownAccount(moved)?.identCely).toBe('U-000001');
    expect(serviceOf(outbox, 'https://new.example.org').profiles).toEqual(['field']);
    expect(allServices(outbox)).toHaveLength(1);
  });

  test('to the address of another one becomes one with it, and what was sent to it is not sent again', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set state = 'accepted', ident_cely = 'C-1'`).run();
    rememberStanding(outbox, { identCely: 'C-1', standing: 'missing', datestampMs: null });
    addGap(outbox, { project: null, fromMs: 1, untilMs: 2 });
    const now = asSeenBy(outbox, { address: 'https://new.example.org' });
    const queuedThere = addImport(now, findId, { document: null, documentSha512: null, project: null, issues: [] });
    moveService(outbox, serviceOf(outbox, ADDRESS), now.address);
    expect(allServices(outbox).map(({ address }) => address)).toEqual([now.address]);
    expect([stateOf(outbox, entryId), stateOf(outbox, queuedThere)]).toEqual(['accepted', 'dropped']);
    expect([importOfFind(now, findId)?.id, pulledRecord(now, 'C-1')?.standing, gapsOf(now).length]).toEqual([
      entryId,
      'missing',
      1,
    ]);
    expect(countsAreRight(outbox)).toBe(true);
  });

  test('moves as a whole or not at all', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    insertFind(outbox, { localId: 'K-2', elements: {} });
    const now = asSeenBy(outbox, { address: 'https://new.example.org' });
    outbox.sql(`create trigger full_disk before delete on services begin select raise(abort, 'disk full'); end`).run();
    expect(() => moveService(outbox, serviceOf(outbox, ADDRESS), now.address)).toThrow('disk full');
    expect(allServices(outbox).map(({ address, entries }) => [address, entries])).toEqual([
      [ADDRESS, 1],
      [now.address, 0],
    ]);
    expect(findById(outbox, 1)?.localId).toBe('K-1');
  });
});

describe('a profile that comes to name another service', () => {
  test('is noticed once, with the address that it named before', () => {
    using outbox = tempOutbox();
    const elsewhere = asSeenBy(outbox, { address: OTHER_ADDRESS });
    expect(notePointing(outbox, 'field')).toBeUndefined();
    expect(notePointing(outbox, 'field')).toBeUndefined();
    expect(notePointing(elsewhere, 'field')).toBe(ADDRESS);
    expect(notePointing(elsewhere, 'field')).toBeUndefined();
    expect(notePointing(outbox, 'field')).toBe(OTHER_ADDRESS);
    expect(serviceOf(outbox, ADDRESS).profiles).toEqual(['field']);
  });

  test('is not noticed where only its account is another, or another profile names the service', () => {
    using outbox = tempOutbox();
    notePointing(outbox, 'field');
    expect(notePointing(asSeenBy(outbox, { username: JAN.username }), 'field')).toBeUndefined();
    expect(notePointing(asSeenBy(outbox, { address: OTHER_ADDRESS }), 'training')).toBeUndefined();
    expect(serviceOf(outbox, OTHER_ADDRESS).profiles).toEqual(['training']);
  });

  test('is not noticed where it is its service that has moved', () => {
    using outbox = tempOutbox();
    notePointing(outbox, 'field');
    moveService(outbox, serviceOf(outbox, ADDRESS), 'https://new.example.org');
    expect(notePointing(asSeenBy(outbox, { address: 'https://new.example.org' }), 'field')).toBeUndefined();
  });

  test('after an earlier pas kept things under its name, is noticed too', () => {
    using outbox = broughtOn((old) => void addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'import', state: 'queued' }));
    expect(notePointing(outbox, 'field')).toBeUndefined();
    expect(notePointing(asSeenBy(outbox, { address: OTHER_ADDRESS }), 'field')).toBe(ADDRESS);
  });
});
