import { describe, expect, test } from 'vitest';
import { sha512Of } from '../../../src/http/digest.ts';
import {
  type Claim,
  claim,
  type DueQuery,
  forgetImpossibleWaits,
  nextDue,
  nextDueAt,
  recoverInterrupted,
  settle,
} from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, entryById, importOfFind, move, replaceImport } from '../../../src/outbox/entries.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import { dropOutdated } from '../../../src/outbox/latest-number.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const ALL: DueQuery = {
  kinds: ['import', 'number', 'photo'],
  anyAccount: false,
  recordKeys: undefined,
  busyRecords: [],
  busyProjects: [],
  leftOut: [],
};
const POST = { method: 'POST', path: '/api/pas/import-xml', accountId: ACCOUNT_ID };
const IDENT = 'C-202400101-N00001';

function due(outbox: ServiceOutbox, query: Partial<DueQuery> = {}): Entry {
  const entry = nextDue(outbox, { ...ALL, ...query });
  if (entry === undefined) throw new Error('nothing is due');
  return entry;
}

function claimed(outbox: ServiceOutbox, query: Partial<DueQuery> = {}): Claim {
  const made = claim(outbox, due(outbox, query).id, () => POST);
  if (made === undefined) throw new Error('the entry is no longer queued');
  return made;
}

function state(outbox: ServiceOutbox, id: number): string | undefined {
  return entryById(outbox, id)?.state;
}

describe('what is due', () => {
  test('is the oldest entry first', () => {
    using outbox = tempOutbox();
    const first = queueImport(outbox, 'K-1');
    queueImport(outbox, 'K-2');
    expect(due(outbox).id).toBe(first.entryId);
  });

  test('is no photograph and no number before its find is imported, and then it is', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const number = addNumber(outbox, { findId, identCely: null }, 'A 1');
    expect(nextDue(outbox, { ...ALL, kinds: ['number'] })).toBeUndefined();
    settle(outbox, claimed(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted', status: 201 });
    expect(due(outbox)).toMatchObject({ id: number, identCely: IDENT });
  });

  test('does not wait for days because a clock ran ahead when it was put back', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const wait = (aheadMs: number) =>
      outbox.sql('update entries set not_before_at = ? where id = ?').run(outbox.clock.now() + aheadMs, entryId);
    wait(30_000);
    forgetImpossibleWaits(outbox);
    expect(nextDue(outbox, ALL)).toBeUndefined();
    wait(3 * 24 * 3_600_000);
    forgetImpossibleWaits(outbox);
    expect(due(outbox).id).toBe(entryId);
  });

  test('does not wait for minutes because a clock was a few minutes ahead when it was put back', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const thenMs = outbox.clock.now() + 180_000;
    outbox.sql('update entries set not_before_at = ?, updated_at = ? where id = ?').run(thenMs + 1000, thenMs, entryId);
    forgetImpossibleWaits(outbox);
    expect(due(outbox).id).toBe(entryId);
  });

  test('leaves out records and projects that are busy, and finds that were not asked for', () => {
    using outbox = tempOutbox();
    const first = queueImport(outbox, 'K-1', 'C-1');
    const second = queueImport(outbox, 'K-2', 'C-2');
    expect(due(outbox, { busyRecords: [`find:${first.findId}`] }).id).toBe(second.entryId);
    expect(due(outbox, { busyProjects: ['C-1'] }).id).toBe(second.entryId);
    expect(due(outbox, { recordKeys: [`find:${second.findId}`] }).id).toBe(second.entryId);
  });

  test('comes when its time does', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const untilMs = clock.now() + 5000;
    settle(outbox, claimed(outbox), { state: 'queued', reason: 'lock', notBeforeAt: untilMs }, { outcome: 'busy' });
    expect(nextDue(outbox, ALL)).toBeUndefined();
    expect(nextDueAt(outbox, ALL)).toBe(untilMs);
    await clock.advance(5000);
    expect(due(outbox).localId).toBe('K-1');
  });
});

describe('of two numbers for one record', () => {
  const target = { findId: null, identCely: IDENT };

  test('the last one alone is sent, and the ones before it are given up when it is', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1');
    settle(outbox, claimed(outbox), { state: 'queued', reason: 'lock', notBeforeAt: 0 }, { outcome: 'busy' });
    const later = addNumber(outbox, target, 'A 2');
    expect(due(outbox).id).toBe(later);
    expect(state(outbox, earlier)).toBe('queued');
    claimed(outbox);
    expect([state(outbox, earlier), state(outbox, later)]).toEqual(['dropped', 'sending']);
  });

  test('the earlier is sent where a person gave the later up', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1');
    const later = addNumber(outbox, target, 'A 2');
    const entry = entryById(outbox, later);
    if (entry !== undefined) move(outbox, entry, 'dropped');
    expect(due(outbox).id).toBe(earlier);
  });

  test('only one is under way at a time, also where one was set for the find and one for its identifier', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const find = claimed(outbox);
    settle(outbox, find, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    addNumber(outbox, { ...target, findId: find.entry.findId }, 'A 1');
    const { entry } = claimed(outbox);
    addNumber(outbox, target, 'A 2');
    expect(nextDue(outbox, { ...ALL, busyRecords: [entry.recordKey, entry.identCely ?? ''] })).toBeUndefined();
  });

  test('one that may have arrived is not taken away, so that it is known what may still come to stand', () => {
    using outbox = tempOutbox();
    addNumber(outbox, target, 'A 1');
    settle(outbox, claimed(outbox), { state: 'queued', reason: 'no answer', notBeforeAt: 0 }, { outcome: 'uncertain' });
    expect(removeTarget(outbox, target)).toMatchObject({ kind: 'kept', because: { value: 'A 1' } });
  });

  test('one that another account sent later is not undone by an earlier one', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1');
    const office = asSeenBy(outbox, { username: 'office@example.org' });
    const later = addNumber(office, target, 'A 2');
    expect(due(outbox).id).toBe(earlier);
    settle(outbox, claimed(office), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect(state(outbox, later)).toBe('accepted');
    expect(nextDue(outbox, ALL)).toBeUndefined();
    dropOutdated(outbox, outbox.serviceId);
    expect(state(outbox, earlier)).toBe('dropped');
  });
});

describe('a claim', () => {
  test('is on disk with its attempt before anything is sent', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    claimed(outbox);
    expect(state(outbox, entryId)).toBe('sending');
    expect(attemptsOf(outbox, entryId)).toMatchObject([{ method: 'POST', path: '/api/pas/import-xml', endedAt: null }]);
  });

  test('cannot be made twice', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    claimed(outbox);
    expect(claim(outbox, id, () => POST)).toBeUndefined();
  });

  test('holds what the entry is to send now, not what it was when it was looked at', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    const entry = importOfFind(outbox, findId);
    if (entry === undefined) throw new Error('the entry is gone');
    const document = Buffer.from('<document>edited</document>');
    replaceImport(outbox, entry, { document, documentSha512: sha512Of(document), project: 'C-202400101', issues: [] });
    expect(claim(outbox, id, () => POST)?.entry).toMatchObject({ document });
  });

  test('is not made of an entry that became a draft meanwhile', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    const entry = importOfFind(outbox, findId);
    if (entry === undefined) throw new Error('the entry is gone');
    replaceImport(outbox, entry, { document: null, documentSha512: null, project: null, issues: [] });
    expect(claim(outbox, id, () => POST)).toBeUndefined();
    expect(attemptsOf(outbox, id)).toEqual([]);
  });

  test('that a dead process left makes an import and a photograph uncertain, and queues a number again', () => {
    using outbox = tempOutbox();
    const target = { findId: null, identCely: IDENT };
    const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
    const ids = {
      import: queueImport(outbox, 'K-1').entryId,
      number: addNumber(outbox, target, 'A 1'),
      photo: addPhoto(outbox, target, photograph),
    };
    for (const kind of ['import', 'number', 'photo'] as const) claimed(outbox, { kinds: [kind] });
    recoverInterrupted(outbox);
    expect(state(outbox, ids.import)).toBe('uncertain');
    expect(state(outbox, ids.photo)).toBe('uncertain');
    expect(state(outbox, ids.number)).toBe('queued');
    expect(attemptsOf(outbox, ids.import)).toMatchObject([{ outcome: 'lost' }]);
  });
});

test('no way leads from accepted back to the queue', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  settle(outbox, claimed(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
  const entry = entryById(outbox, entryId);
  if (entry === undefined) throw new Error('the entry is gone');
  expect(() => move(outbox, entry, 'queued')).toThrow(/may not go/);
});

test('the same photograph is not queued twice for one record', () => {
  using outbox = tempOutbox();
  const target = { findId: null, identCely: IDENT };
  const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
  addPhoto(outbox, target, photograph);
  expect(() => addPhoto(outbox, target, photograph)).toThrow(/unique/i);
});
