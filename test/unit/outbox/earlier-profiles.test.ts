import { describe, expect, test } from 'vitest';
import { knownAccount, usernameOf } from '../../../src/outbox/accounts.ts';
import { nextDue } from '../../../src/outbox/claims.ts';
import { countEntries, countsAreRight } from '../../../src/outbox/counts.ts';
import { allEntries } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS } from '../../../src/outbox/entry.ts';
import { evidenceOf } from '../../../src/outbox/evidence.ts';
import { gapsOf } from '../../../src/outbox/gaps.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { pulledRecord, pullWatermarkMs } from '../../../src/outbox/pulled.ts';
import {
  allServices,
  moveService,
  nameServices,
  openService,
  type ServiceRow,
  unnamedServices,
} from '../../../src/outbox/services.ts';
import { findByIdentCely } from '../../../src/outbox/stored-finds.ts';
import type { Database } from '../../../src/store/database.ts';
import { addOldAttempt, addOldEntry, broughtOn, EVA, JAN, OTHER_ADDRESS, PROFILES } from '../../support/earlier-outbox.ts';
import { ADDRESS, asSeenBy, USERNAME } from '../../support/temp-outbox.ts';

function serviceOf(outbox: Outbox, name: string): ServiceRow {
  const row = allServices(outbox).find(({ address, knownAs }) => (address ?? knownAs) === name);
  if (row === undefined) throw new Error(`no service ${name}`);
  return row;
}

describe('an outbox that kept things under the names of profiles', () => {
  test('is brought on with every row', () => {
    using outbox = broughtOn((old) => {
      const made = addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'import', state: 'accepted', identCely: 'C-1' });
      addOldAttempt(old, made, 'U-000001');
      addOldAttempt(old, made, 'U-000009');
      addOldAttempt(old, made, null);
      addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'number', state: 'queued', identCely: 'C-1', value: 'A 1' });
      addOldEntry(old, { find: null, profile: 'field', kind: 'photo', state: 'accepted', identCely: 'C-7', byte: 3 });
      addOldEntry(old, { find: 'K-1', profile: 'training', kind: 'import', state: 'draft' });
      old.exec(`
        insert into evidence (entry_id, found_at, verdict, reason, candidates, basis, server_at) values (1, 7, 'undecided', 'x', '[]', 'y', 8);
        insert into accounts (profile, ident_cely, name, email, organisation, role, seen_at, username)
          values ('field', 'U-000001', 'Eva', '${USERNAME}', 'Museum', 'archivist', 1, '${USERNAME}');
        insert into pulled values ('field', 'C-1', 'shown', 5, 3, '{"a":1}', 1, 2);
        insert into pulls values ('field', 5, 6);
        insert into gaps values ('field', 'C', 3, 4);
        insert into copy_made values (1, 99);
        insert into lease (only, pid, host, process_mark, taken_at, machine) values (1, 2, 'h', 'm', 3, 'n');`);
    });
    expect(allEntries(outbox).map(({ id, kind, state, username }) => [id, kind, state, username])).toEqual([
      ...[
        [1, 'import', 'accepted', USERNAME],
        [2, 'number', 'queued', USERNAME],
        [3, 'photo', 'accepted', USERNAME],
      ],
    ]);
    expect(allEntries(asSeenBy(outbox, { address: OTHER_ADDRESS }))).toMatchObject([{ id: 4, state: 'draft', localId: 'K-1' }]);
    expect(attemptsOf(outbox, 1).map(({ account, startedAt }) => [account, startedAt])).toEqual([
      ...[
        ['U-000001', 5],
        ['U-000009', 5],
        [null, 5],
      ],
    ]);
    expect(evidenceOf(outbox, 1)).toMatchObject([{ verdict: 'undecided', basis: 'y', serverAt: 8 }]);
    expect(knownAccount(outbox)).toMatchObject({ identCely: 'U-000001', role: 'archivist' });
    expect(usernameOf(outbox, 'U-000009')).toBeUndefined();
    expect(pulledRecord(outbox, 'C-1')).toMatchObject({ standing: 'shown', stav: 3, record: { a: 1 }, sinceMs: 1, seenMs: 2 });
    expect(gapsOf(outbox)).toEqual([{ project: 'C', fromMs: 3, untilMs: 4 }]);
    expect(outbox.sql('select made_at from copy_made').pluck().get()).toBe(99);
    expect(outbox.sql('select pid from lease').pluck().get()).toBe(2);
    expect(countsAreRight(outbox)).toBe(true);
    expect(outbox.sql('pragma foreign_key_check').all()).toEqual([]);
    expect(
      outbox.sql('select profile, service, username, attempts, standing from outbox_overview where entry = 1').get(),
    ).toEqual({
      ...{ profile: 'field', service: ADDRESS, username: USERNAME, attempts: 3, standing: 'shown' },
    });
  });

  test('asks for everything again when it pulls: what one account was shown is not what each is', () => {
    using outbox = broughtOn((old) => old.exec(`insert into pulls values ('field', 5, 6)`));
    expect(pullWatermarkMs(outbox)).toBeUndefined();
  });

  test('without any profile yet is brought on as well, and named when there is one', () => {
    using outbox = broughtOn(
      (old) => void addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'import', state: 'queued' }),
      [],
    );
    expect([allEntries(outbox), unnamedServices(outbox)]).toMatchObject([[], [{ knownAs: 'field', sent: 0 }]]);
    nameServices(outbox, PROFILES);
    expect(unnamedServices(outbox)).toEqual([]);
    expect(allEntries(openService(outbox, EVA))).toMatchObject([{ localId: 'K-1', username: USERNAME }]);
  });

  test('is given to its services once: a profile that is pointed elsewhere later takes nothing along', () => {
    using outbox = broughtOn((old) => void addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'import', state: 'queued' }));
    nameServices(outbox, [{ profile: 'field', address: OTHER_ADDRESS, username: JAN.username }]);
    expect(allEntries(outbox)).toMatchObject([{ localId: 'K-1', username: USERNAME }]);
    expect(allEntries(asSeenBy(outbox, { address: OTHER_ADDRESS }))).toEqual([]);
  });
});

describe('a profile that is gone', () => {
  const fill = (old: Database): void => {
    addOldEntry(old, { find: 'K-1', profile: 'gone', kind: 'import', state: 'accepted', identCely: 'C-1' });
    addOldEntry(old, { find: 'K-2', profile: 'gone', kind: 'import', state: 'uncertain' });
    addOldEntry(old, { find: 'K-3', profile: 'gone', kind: 'import', state: 'sending' });
    addOldEntry(old, { find: 'K-4', profile: 'gone', kind: 'import', state: 'queued' });
    addOldEntry(old, { find: 'K-5', profile: 'gone', kind: 'import', state: 'refused' });
    addOldEntry(old, { find: 'K-5', profile: 'gone', kind: 'photo', state: 'queued' });
  };

  test('leaves its service without an address, and what was sent there is counted', () => {
    using outbox = broughtOn(fill);
    expect(unnamedServices(outbox)).toMatchObject([{ knownAs: 'gone', sent: 3 }]);
    expect(serviceOf(outbox, 'gone')).toMatchObject({ address: null, profiles: ['gone'], entries: 6, accepted: 1 });
    expect(allEntries(outbox)).toEqual([]);
    expect(
      nextDue(outbox, {
        kinds: ENTRY_KINDS,
        anyAccount: true,
        recordKeys: undefined,
        busyRecords: [],
        busyProjects: [],
        leftOut: [],
      }),
    ).toBe(undefined);
  });

  test('gets an address when a person says where that was', () => {
    using outbox = broughtOn(fill);
    moveService(outbox, serviceOf(outbox, 'gone'), ADDRESS);
    expect(unnamedServices(outbox)).toEqual([]);
    expect(allEntries(outbox).map(({ localId }) => localId)).toEqual(['K-1', 'K-2', 'K-3', 'K-4', 'K-5', 'K-5']);
    expect(findByIdentCely(outbox, 'C-1')?.localId).toBe('K-1');
  });

  test('gets the address of the profile of that name that is made anew', () => {
    using outbox = broughtOn(fill);
    nameServices(outbox, [{ profile: 'gone', address: 'https://third.example.org', username: 'x' }]);
    expect(unnamedServices(outbox)).toEqual([]);
    expect(countEntries(asSeenBy(outbox, { address: 'https://third.example.org' })).import.accepted).toBe(1);
  });
});

describe('two profiles of one service', () => {
  const account = (profile: string, identCely: string, username: string | null, role: string): string =>
    `insert into accounts (profile, ident_cely, name, email, organisation, role, seen_at, username)
     values ('${profile}', '${identCely}', 'N', 'e', 'o', '${role}', 1, ${username === null ? 'null' : `'${username}'`});`;

  test('have their accounts beside each other, and attempts keep theirs', () => {
    using outbox = broughtOn((old) => {
      for (const [profile, identCely] of [
        ['field', 'U-000001'],
        ['twin', 'U-000002'],
      ] as const) {
        const id = addOldEntry(old, { find: profile, profile, kind: 'import', state: 'accepted', identCely: `C-${profile}` });
        addOldAttempt(old, id, identCely);
        addOldAttempt(old, id, 'U-000009');
      }
      old.exec(account('field', 'U-000001', USERNAME, 'archivist') + account('twin', 'U-000002', JAN.username, 'researcher'));
    });
    expect(knownAccount(outbox)).toMatchObject({ identCely: 'U-000001', role: 'archivist' });
    expect(knownAccount(asSeenBy(outbox, JAN))).toMatchObject({ identCely: 'U-000002', role: 'researcher' });
    const makers = [1, 2].map((id) => attemptsOf(outbox, id).map((each) => each.account));
    expect(makers).toEqual([
      ['U-000001', 'U-000009'],
      ['U-000002', 'U-000009'],
    ]);
    expect(serviceOf(outbox, ADDRESS).accounts).toHaveLength(3);
    expect(outbox.sql('pragma foreign_key_check').all()).toEqual([]);
  });

  test('of one account have it once, with its user name', () => {
    const both = PROFILES.map((each) => ({ ...each, username: USERNAME }));
    using outbox = broughtOn((old) => {
      for (const profile of ['field', 'twin']) {
        const id = addOldEntry(old, { find: profile, profile, kind: 'import', state: 'uncertain' });
        addOldAttempt(old, id, 'U-000001');
      }
      old.exec(account('field', 'U-000001', null, 'archivist') + account('twin', 'U-000001', USERNAME, 'archivist'));
    }, both);
    expect(serviceOf(outbox, ADDRESS).accounts).toMatchObject([{ identCely: 'U-000001', username: USERNAME }]);
    expect([1, 2].map((id) => attemptsOf(outbox, id)[0]?.account)).toEqual(['U-000001', 'U-000001']);
  });

  test('where a user name was another account’s under each, have both accounts, and the name is one’s', () => {
    using outbox = broughtOn((old) =>
      old.exec(account('field', 'U-000001', USERNAME, 'archivist') + account('twin', 'U-000002', USERNAME, 'archivist')),
    );
    const { accounts } = serviceOf(outbox, ADDRESS);
    expect(accounts.map(({ identCely }) => identCely).sort()).toEqual(['U-000001', 'U-000002']);
    expect(accounts.filter(({ username }) => username === USERNAME)).toHaveLength(1);
  });

  test('keep apart what their accounts were shown, and share where nothing is known', () => {
    using outbox = broughtOn((old) =>
      old.exec(`
        insert into pulled values ('field', 'C-1', 'shown', 5, 3, '{"a":1}', 1, 2), ('twin', 'C-2', 'deleted', 6, null, null, 1, 2);
        insert into gaps values ('field', 'C', 3, 4), ('twin', null, 5, 6), ('training', null, 7, 8);`),
    );
    for (const [seen, ...standings] of [
      [outbox, 'shown', undefined],
      [asSeenBy(outbox, JAN), undefined, 'deleted'],
    ] as const) {
      expect(['C-1', 'C-2'].map((identCely) => pulledRecord(seen, identCely)?.standing)).toEqual(standings);
      expect(gapsOf(seen).map(({ fromMs }) => fromMs)).toEqual([3, 5]);
    }
  });

  test('of one account do not lose a record as it was last shown to one of them', () => {
    const both = ['field', 'twin'].map((profile) => ({ profile, ...EVA }));
    using outbox = broughtOn(
      (old) =>
        old.exec(`
        insert into pulled values ('field', 'C-1', 'shown', 5, 3, '{"a":1}', 1, 9), ('twin', 'C-1', 'withheld', 6, null, null, 1, 2);
        insert into pulled values ('field', 'C-2', 'withheld', 5, null, null, 1, 2), ('twin', 'C-2', 'shown', 6, 3, '{"a":2}', 1, 9);`),
      both,
    );
    expect(['C-1', 'C-2'].map((identCely) => pulledRecord(outbox, identCely)?.record)).toEqual([{ a: 1 }, { a: 2 }]);
  });
});
