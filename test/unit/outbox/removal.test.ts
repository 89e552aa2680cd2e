import { describe, expect, test } from 'vitest';
import { removeSubject } from '../../../src/outbox/changes/remove-finds.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import {
  countVisibleFinds,
  findByLocalId,
  iterateFinds,
  listLatestFinds,
} from '../../../src/outbox/stored-finds.ts';
import { countEntriesByState } from '../../../src/outbox/views/outbox-status.ts';
import {
  attemptEntry,
  listAllEntries,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const REFUSED = { state: 'refused', reason: 'no', issues: [] } as const;

function queued(outbox: Outbox) {
  const { findId, entryId } = queueImport(outbox, 'K-1');
  const target = findId;
  const photo = queuePhoto(outbox, target, PHOTOGRAPH);
  queueNumber(outbox, target, 'A 1', '');
  return { findId, entryId, photo, target };
}

describe('a find with an attempt', () => {
  test('is hidden and dropped, its local id stays used, and what waits for it is removed', () => {
    using outbox = tempOutbox();
    const { target, entryId } = queued(outbox);
    attemptEntry(outbox, entryId, REFUSED);
    expect(removeSubject(outbox, target).because).toBeUndefined();
    expect(listAllEntries(outbox).map(({ kind, state }) => [kind, state])).toEqual([
      ['import', 'dropped'],
    ]);
    expect(findByLocalId(outbox, 'K-1')).toMatchObject({ isHidden: true });
    expect([
      [...iterateFinds(outbox)],
      listLatestFinds(outbox, 9),
      countVisibleFinds(outbox),
    ]).toEqual([[], [], 0]);
    expect(countEntriesByState(outbox).dropped).toBe(0);
    queueImport(outbox, 'K-1');
    expect(listLatestFinds(outbox, 9).map(({ localId }) => localId)).toEqual(['K-1-2']);
  });
});

test('removing entries of a record alone removes no find', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  queueNumber(outbox, makeRecordSubject(IDENT), 'A 1', '');
  expect(removeSubject(outbox, makeRecordSubject(IDENT)).because).toBeUndefined();
  expect([listAllEntries(outbox).length, countVisibleFinds(outbox)]).toEqual([1, 1]);
});
