import { expect, test } from 'vitest';
import {
  listDraftImports,
  listEntriesNeedingPerson,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import { makeCandidates } from '../../../src/outbox/gate.ts';
import {
  countUnheldQueuedEntries,
  countWaitingEntries,
  getOutboxStatus,
  listDroppedFindsWithDependents,
} from '../../../src/outbox/views/outbox-status.ts';
import { withdrawWish } from '../../../src/outbox/wishes.ts';
import {
  attemptEntry,
  getEntry,
  queueImport,
  queueNumber,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const HELD = {
  basis: 'equal-record',
  question: '?',
  candidates: makeCandidates(['x']),
} as const;

test('waiting entries are counted by the cause of their wait', () => {
  using outbox = tempOutbox();
  const [queued, dropped] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name));
  const [number] = [queued, dropped].map((find) =>
    queueNumber(outbox, find?.findId ?? '', 'A 1', ''),
  );
  withdrawWish(outbox, getEntry(outbox, dropped?.entryId ?? 0), 'dropped');
  storeQuestion(outbox, queueImport(outbox, 'K-3').entryId, HELD);
  attemptEntry(outbox, queueImport(outbox, 'K-4').entryId, {
    state: 'queued',
    reason: 'busy',
    notBeforeAt: outbox.clock.now() + 1000,
  });
  expect(countWaitingEntries(outbox)).toEqual({
    forImport: 1,
    forDropped: 1,
    forPerson: 1,
    forTime: 1,
  });
  expect(listDroppedFindsWithDependents(outbox)).toEqual(['K-2']);
  expect(countUnheldQueuedEntries(outbox, [queued?.subject ?? ''])).toEqual({
    import: 1,
    number: 1,
    photo: 0,
  });
  storeQuestion(outbox, number ?? 0, HELD);
  expect(countWaitingEntries(outbox)).toMatchObject({ forImport: 0, forPerson: 2 });
});

test('entries that need a person are listed with their questions first, and the others by reason', () => {
  using outbox = tempOutbox();
  const [refused, held, busy] = ['K-1', 'K-2', 'K-3'].map(
    (name) => queueImport(outbox, name).entryId,
  ) as [number, number, number];
  attemptEntry(outbox, refused, { state: 'refused', reason: 'no', issues: [] });
  storeQuestion(outbox, held, HELD);
  attemptEntry(outbox, busy, { state: 'queued', reason: 'locked', notBeforeAt: 5 });
  expect(listEntriesNeedingPerson(outbox, 9).map(({ localId }) => localId)).toEqual(['K-2', 'K-1']);
  expect(listEntriesNeedingPerson(outbox, 1).map(({ localId }) => localId)).toEqual(['K-2']);
  expect(getOutboxStatus(outbox).delayed).toMatchObject([{ find: 'K-3', notBeforeAt: 5 }]);
  expect(listDraftImports(outbox, undefined)).toEqual([]);
});
