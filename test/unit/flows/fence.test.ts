import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  adopt,
  findEarlierOutboxes,
  getFence,
  isUnattempted,
  passFence,
  storeSeparate,
} from '../../../src/flows/outbox/fence.ts';
import { bindAccount } from '../../../src/outbox/bound-account.ts';
import { claim } from '../../../src/outbox/claims.ts';
import { readHeader, updateHeader } from '../../../src/outbox/open-outbox.ts';
import {
  ACCOUNT_ID,
  openAt,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

/** As a push does before its request leaves. */
function attempt(outbox: TempOutbox, localId: string): void {
  const { entryId } = queueImport(outbox, localId);
  claim(outbox, entryId, () => ({
    method: 'POST',
    path: '/import-xml',
    account: ACCOUNT_ID,
    serverMs: null,
    sentByMs: null,
    settleMs: 1000,
  }));
}

describe('the fence', () => {
  test.each([
    { journal: 'own', header: '', machine: '', kind: 'own' },
    { journal: 'own', header: 'A', machine: 'A', kind: 'own' },
    // A machine that is a copy of another one has its journal as well.
    { journal: 'own', header: 'A', machine: 'B', kind: 'foreign' },
    { journal: 'own', header: 'A', machine: '', kind: 'own' },
    { journal: 'other', header: 'A', machine: 'A', kind: 'lost-journal' },
    { journal: 'other', header: 'A', machine: 'B', kind: 'foreign' },
    { journal: 'other', header: '', machine: '', kind: 'foreign' },
    { journal: 'none', header: '', machine: 'A', kind: 'new' },
  ])(
    'is $kind where the journal is $journal, the machine of the outbox "$header" and this one "$machine"',
    (given) => {
      using outbox = tempOutbox();
      const own = outbox.journal.id;
      updateHeader(outbox, {
        journal: { own, other: 'J-2', none: '' }[given.journal] ?? '',
        machine: given.header,
      });
      expect(getFence(outbox, given.machine).kind).toBe(given.kind);
    },
  );

  test('lets a new outbox and one with a lost journal pass, and leaves a foreign one unchanged', () => {
    using outbox = tempOutbox();
    const { id: journal } = outbox.journal;
    updateHeader(outbox, { journal: '' });
    expect(passFence(outbox, 'A').kind).toBe('new');
    expect(readHeader(outbox)).toMatchObject({ journal, machine: 'A', mustLook: false });
    updateHeader(outbox, { journal: 'J-2' });
    expect(passFence(outbox, 'B').kind).toBe('foreign');
    expect(readHeader(outbox)).toMatchObject({ journal: 'J-2', machine: 'A', mustLook: false });
    expect(passFence(outbox, 'A').kind).toBe('lost-journal');
    expect(readHeader(outbox)).toMatchObject({ journal, machine: 'A', mustLook: true });
  });
});

test('an adopted outbox keeps all of its events', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  {
    using outbox = openAt(path, join(tempFolder(), 'journal.sqlite'));
    passFence(outbox, '');
    bindAccount(outbox, ACCOUNT_ID);
    attempt(outbox, 'K-1');
  }
  using moved = openAt(path, join(tempFolder(), 'journal.sqlite'));
  const { outbox: id } = readHeader(moved);
  expect(getFence(moved, '').kind).toBe('foreign');
  adopt(moved, '');
  expect(getFence(moved, '').kind).toBe('own');
  expect(moved.journal.listEventsSince(id, 0).map(({ event }) => event.kind)).toEqual([
    'bound',
    'attempted',
  ]);
});

test('earlier outboxes of the account are reported until a person declares them separate', () => {
  using earlier = tempOutbox();
  attempt(earlier, 'K-1');
  using outbox = openAt(join(tempFolder(), 'outbox.sqlite'), earlier.journal.path);
  const { outbox: id } = readHeader(earlier);
  expect([isUnattempted(outbox), isUnattempted(earlier)]).toEqual([true, false]);
  expect(findEarlierOutboxes(outbox, ACCOUNT_ID)).toMatchObject([{ outbox: id, attempts: 1 }]);
  expect(findEarlierOutboxes(outbox, 'U-999999')).toEqual([]);
  storeSeparate(outbox, [id]);
  storeSeparate(outbox, [id]);
  expect([findEarlierOutboxes(outbox, ACCOUNT_ID), readHeader(outbox).separateFrom]).toEqual([
    [],
    [id],
  ]);
});
