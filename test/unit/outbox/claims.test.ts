import { describe, expect, test } from 'vitest';
import { errorIssue } from '../../../src/base/issue.ts';
import { sha512Of } from '../../../src/http/digest.ts';
import {
  applySettlement,
  type Claim,
  claim,
  countOpen,
  type DueQuery,
  forgetImpossibleWaits,
  forgetWaits,
  holdFollowers,
  nextDue,
  nextDueAt,
  nextInTime,
  recoverInterrupted,
  settle,
  waitBehind,
} from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, entryById, importOfFind, move, replaceImport } from '../../../src/outbox/entries.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import { dropOutdated } from '../../../src/outbox/latest-number.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { MOST_TRIES, waitAfter } from '../../../src/outbox/tries.ts';
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

  test('is first what had to wait least', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const [, second] = ['K-1', 'K-2', 'K-3'].map((name, at) => {
      const { entryId } = queueImport(outbox, name);
      const aheadMs = at === 1 ? 1000 : 5000;
      outbox.sql('update entries set not_before_at = ? where id = ?').run(outbox.clock.now() + aheadMs, entryId);
      return entryId;
    });
    expect(nextInTime(outbox, ALL)?.id).toBe(second);
    await clock.advance(6000);
    expect(due(outbox).id).toBe(second);
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

  test('none is given up when a photograph of the record is sent', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1');
    const office = asSeenBy(outbox, { username: 'office@example.org' });
    addNumber(office, target, 'A 2');
    settle(outbox, claimed(office), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    addPhoto(outbox, target, { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 });
    claimed(outbox, { kinds: ['photo'] });
    expect(state(outbox, earlier)).toBe('queued');
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

  test('is not made of an entry that is no more', () => {
    using outbox = tempOutbox();
    expect(claim(outbox, 7, () => POST)).toBeUndefined();
  });

  test('takes away what was said of the entry before', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set issues = '[{}]', reason = '"before"' where id = ?`).run(entryId);
    claimed(outbox);
    expect(entryById(outbox, entryId)).toMatchObject({ reason: null, issues: [] });
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
    for (const id of Object.values(ids)) expect(String(entryById(outbox, id)?.reason)).toContain('pas stopped while');
  });

  test('that dead processes left again and again has a number wait', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const number = addNumber(outbox, { findId: null, identCely: IDENT }, 'A 1');
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      expect(entryById(outbox, number)?.notBeforeAt).toBeLessThanOrEqual(clock.now());
      claimed(outbox);
      recoverInterrupted(outbox);
    }
    expect(entryById(outbox, number)?.notBeforeAt).toBe(clock.now() + waitAfter(MOST_TRIES));
  });
});

describe('what became of an attempt stands with its entry:', () => {
  const attempted = (outbox: ServiceOutbox): Claim => {
    queueImport(outbox, 'K-1');
    return claimed(outbox);
  };

  test('that it was accepted, and what it was refused for before is gone', () => {
    using outbox = tempOutbox();
    const { entry } = attempted(outbox);
    outbox.sql(`update entries set issues = '[]', reason = '"before"' where id = ?`).run(entry.id);
    applySettlement(outbox, entry, { state: 'accepted', identCely: IDENT });
    expect(entryById(outbox, entry.id)).toMatchObject({ state: 'accepted', identCely: IDENT, reason: null, issues: [] });
  });

  test('why it was refused, with what the service found', () => {
    using outbox = tempOutbox();
    const { entry } = attempted(outbox);
    const issues = [errorIssue('server', 'no such period')];
    applySettlement(outbox, entry, { state: 'refused', reason: 'refused', issues });
    expect(entryById(outbox, entry.id)).toMatchObject({ state: 'refused', reason: 'refused', issues: [{ rule: 'server' }] });
  });

  test('why it waits, until when, and whether it met another import', () => {
    using outbox = tempOutbox();
    const { entry } = attempted(outbox);
    applySettlement(outbox, entry, { state: 'queued', reason: 'lock', notBeforeAt: 7.5 });
    expect(entryById(outbox, entry.id)).toMatchObject({ state: 'queued', reason: 'lock', notBeforeAt: 8, collisions: 0 });
    const again = claimed(outbox).entry;
    applySettlement(outbox, again, { state: 'queued', reason: 'number taken', notBeforeAt: 9, collisions: 1 });
    expect(entryById(outbox, entry.id)).toMatchObject({
      state: 'queued',
      reason: 'number taken',
      notBeforeAt: 9,
      collisions: 1,
    });
  });

  test('why nobody knows', () => {
    using outbox = tempOutbox();
    const { entry } = attempted(outbox);
    applySettlement(outbox, entry, { state: 'uncertain', reason: 'no answer' });
    expect(entryById(outbox, entry.id)).toMatchObject({ state: 'uncertain', reason: 'no answer' });
  });

  test('and the attempt has the answer’s status, date and reason', () => {
    using outbox = tempOutbox();
    const claim = attempted(outbox);
    settle(outbox, claim, { state: 'uncertain', reason: 'no answer' }, { outcome: 'uncertain', status: 500, serverDateAt: 5 });
    expect(attemptsOf(outbox, claim.entry.id)).toMatchObject([
      { outcome: 'uncertain', status: 500, serverDateAt: 5, reason: 'no answer', endedAt: outbox.clock.now() },
    ]);
  });
});

describe('followers', () => {
  test('of an import get its identifier, those of a photograph do not', () => {
    using outbox = tempOutbox();
    const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const other = queueImport(outbox, 'K-2');
    const followers = [
      addNumber(outbox, { findId, identCely: null }, 'A 1'),
      addPhoto(outbox, { findId, identCely: null }, photograph),
    ];
    const strange = addNumber(outbox, { findId: other.findId, identCely: null }, 'A 2');
    const identOf = (id: number) => entryById(outbox, id)?.identCely;
    settle(outbox, claimed(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect([...followers, strange].map(identOf)).toEqual([IDENT, IDENT, null]);

    const accepted = entryById(outbox, entryId);
    if (accepted === undefined) throw new Error('the entry is gone');
    holdFollowers(outbox, accepted);
    expect([entryId, ...followers].map(identOf)).toEqual([IDENT, null, null]);

    // A photograph is accepted with the identifier of its record, which says nothing of another number.
    const later = addPhoto(outbox, { findId: other.findId, identCely: IDENT }, photograph);
    settle(outbox, claimed(outbox, { kinds: ['photo'] }), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect([later, strange].map(identOf)).toEqual([IDENT, null]);
  });
});

describe('a part of what is queued', () => {
  test('is counted with what is under way, and can be left out or put behind the rest', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const ids = ['C-1', 'C-2', 'C-2'].map((project, at) => queueImport(outbox, `K-${at}`, project).entryId);
    addNumber(outbox, { findId: null, identCely: 'C-1-N00001' }, 'A 1');
    const part = { kind: 'import', project: 'C-2' } as const;
    expect([countOpen(outbox, part), countOpen(outbox, { kind: 'import', project: null })]).toEqual([2, 3]);
    expect(countOpen(outbox, { kind: 'number', project: 'C-1' })).toBe(1);
    const leftOut = [{ kind: 'import', project: 'C-1' } as const];
    expect(due(outbox, { leftOut }).id).toBe(ids[1]);
    claimed(outbox, { leftOut });
    expect(countOpen(outbox, part)).toBe(2);

    await clock.advance(1000);
    waitBehind(outbox, part, 'a wall');
    expect(entryById(outbox, ids[2] ?? 0)).toMatchObject({ notBeforeAt: clock.now(), reason: 'a wall' });
    expect(entryById(outbox, ids[0] ?? 0)).toMatchObject({ reason: null });
    expect(nextInTime(outbox, { ...ALL, kinds: ['number'] })?.kind).toBe('number');
    expect(nextInTime(outbox, { ...ALL, leftOut })?.kind).toBe('number');
  });

  test('that is asked for by name waits no longer', () => {
    using outbox = tempOutbox();
    const [first, second] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name));
    outbox.sql('update entries set not_before_at = ?').run(outbox.clock.now() + 5000);
    forgetWaits(outbox, [`find:${second?.findId}`]);
    expect(due(outbox).id).toBe(second?.entryId);
    expect(nextInTime(outbox, ALL)?.id).toBe(second?.entryId);
    expect(entryById(outbox, first?.entryId ?? 0)?.notBeforeAt).toBe(outbox.clock.now() + 5000);
    expect(nextDueAt(outbox, { ...ALL, kinds: ['photo'] })).toBeUndefined();
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
