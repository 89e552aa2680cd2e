import { describe, expect, test } from 'vitest';
import { type KnownAccount, knownAccount, rememberAccount, usernameOf } from '../../../src/outbox/accounts.ts';
import { nextDue } from '../../../src/outbox/claims.ts';
import { countOfOthers } from '../../../src/outbox/counts.ts';
import { entryById } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS } from '../../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { ACCOUNT_ID, ADDRESS, asSeenBy, queueImport, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const EVA: KnownAccount = { identCely: 'U-000001', name: 'Eva', email: USERNAME, organisation: 'Museum', role: 'archaeologist' };
const JAN: KnownAccount = { ...EVA, identCely: 'U-000002', name: 'Jan', email: 'jan@example.org' };
const OTHER_ADDRESS = 'https://training.example.org';

describe('what the service said of an account', () => {
  test('is known again to whoever signs in with its user name, and to nobody else', () => {
    using outbox = tempOutbox();
    expect(knownAccount(outbox)).toEqual(EVA);
    for (const other of [{ username: 'jan@example.org' }, { username: '' }, { address: OTHER_ADDRESS }])
      expect(knownAccount(asSeenBy(outbox, other))).toBeUndefined();
  });

  test('is brought up to date in the row that its attempts name', () => {
    using outbox = tempOutbox();
    const promoted = { ...EVA, role: 'archivist', organisation: 'Institute' };
    expect(rememberAccount(outbox, promoted)).toBe(ACCOUNT_ID);
    expect(knownAccount(outbox)).toEqual(promoted);
  });

  test('is one service’s: the same identifier and user name at another one are another account', () => {
    using outbox = tempOutbox();
    const elsewhere = asSeenBy(outbox, { address: OTHER_ADDRESS });
    expect(rememberAccount(elsewhere, { ...EVA, role: 'researcher' })).not.toBe(ACCOUNT_ID);
    expect(knownAccount(outbox)?.role).toBe('archaeologist');
    expect(knownAccount(elsewhere)?.role).toBe('researcher');
  });

  test('is not known where only its identifier is, as in attempts of an earlier pas', () => {
    using outbox = tempOutbox();
    outbox.sql('update accounts set name = null, email = null, organisation = null, role = null').run();
    expect(knownAccount(outbox)).toBeUndefined();
    rememberAccount(outbox, EVA);
    expect(knownAccount(outbox)).toEqual(EVA);
  });
});

describe('a user name', () => {
  test('that signs in another account than before is that one’s from then on', () => {
    using outbox = tempOutbox();
    const moved = rememberAccount(outbox, JAN);
    expect(moved).not.toBe(ACCOUNT_ID);
    expect(knownAccount(outbox)).toEqual(JAN);
    expect([usernameOf(outbox, JAN.identCely), usernameOf(outbox, EVA.identCely)]).toEqual([USERNAME, undefined]);
  });

  test('of an account that got a new one is the one that it signed in with last', () => {
    using outbox = tempOutbox();
    const renamed = asSeenBy(outbox, { username: 'eva.nova@example.org' });
    expect(rememberAccount(renamed, EVA)).toBe(ACCOUNT_ID);
    expect(usernameOf(outbox, EVA.identCely)).toBe('eva.nova@example.org');
    expect(knownAccount(outbox)).toBeUndefined();
  });

  test('is kept when the account comes with a token alone, and is not known before there was one', () => {
    using outbox = tempOutbox();
    const tokenOnly = asSeenBy(outbox, { username: '' });
    rememberAccount(tokenOnly, EVA);
    rememberAccount(tokenOnly, JAN);
    expect(usernameOf(outbox, EVA.identCely)).toBe(USERNAME);
    expect([usernameOf(outbox, JAN.identCely), usernameOf(outbox, 'U-000003')]).toEqual([undefined, undefined]);
  });

  test('of two accounts that come with a token alone is neither’s', () => {
    using outbox = tempOutbox();
    const tokenOnly = asSeenBy(outbox, { username: '' });
    expect(rememberAccount(tokenOnly, JAN)).not.toBe(rememberAccount(tokenOnly, { ...JAN, identCely: 'U-000003' }));
    expect(knownAccount(tokenOnly)).toBeUndefined();
  });
});

describe('what an account queued', () => {
  const due = (outbox: ServiceOutbox, anyAccount: boolean) =>
    nextDue(outbox, { kinds: ENTRY_KINDS, anyAccount, recordKeys: undefined, busyRecords: [], busyProjects: [], leftOut: [] })
      ?.localId;

  test('is sent by it, or by another account of the service that is told to', () => {
    using outbox = tempOutbox();
    const jan = asSeenBy(outbox, { username: JAN.email });
    const { entryId } = queueImport(jan, 'K-1');
    expect(entryById(outbox, entryId)?.username).toBe(JAN.email);
    expect([due(jan, false), due(outbox, false), due(outbox, true)]).toEqual(['K-1', undefined, 'K-1']);
    expect(due(asSeenBy(jan, { address: OTHER_ADDRESS }), true)).toBeUndefined();
  });

  test('without a user name is sent by whoever pushes', () => {
    using outbox = tempOutbox();
    queueImport(asSeenBy(outbox, { username: '' }), 'K-1');
    expect([due(outbox, false), due(asSeenBy(outbox, { username: JAN.email }), false)]).toEqual(['K-1', 'K-1']);
  });

  test('is counted for the others, by whose it is', () => {
    using outbox = tempOutbox();
    const jan = asSeenBy(outbox, { username: JAN.email });
    for (const name of ['K-1', 'K-2']) queueImport(jan, name);
    queueImport(outbox, 'K-3');
    queueImport(asSeenBy(outbox, { username: '' }), 'K-4');
    queueImport(asSeenBy(outbox, { address: OTHER_ADDRESS, username: JAN.email }), 'K-5');
    expect([...countOfOthers(outbox)]).toEqual([[JAN.email, 2]]);
    expect([...countOfOthers(jan)]).toEqual([[USERNAME, 1]]);
    expect([...countOfOthers(asSeenBy(outbox, { address: ADDRESS, username: '' }))]).toEqual([
      [USERNAME, 1],
      [JAN.email, 2],
    ]);
  });
});
