import { describe, expect, test } from 'vitest';
import { asServerMs, asWallMs } from '../../../src/base/clock.ts';
import { DatabaseError } from '../../../src/base/errors.ts';
import { makeErrorIssue } from '../../../src/base/issue.ts';
import { hashSha512 } from '../../../src/http/request-body.ts';
import {
  type Claim,
  claim,
  clampFutureBackoff,
  clearBackoff,
  type Departure,
  moveToBack,
  recoverInFlight,
  requeue,
  type Settlement,
  settle,
  unpackContent,
} from '../../../src/outbox/claims.ts';
import {
  addNumber,
  addPhoto,
  listEventsOfEntry,
  replaceImport,
  schedule,
} from '../../../src/outbox/entries.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import {
  type ClaimableQuery,
  countOpen,
  findEntryById,
  findImportOfFind,
  findNextClaimable,
  findNextClaimableAt,
  findNextScheduled,
} from '../../../src/outbox/entry-queries.ts';
import { mergeJournal } from '../../../src/outbox/merge.ts';
import { type Outbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { supersedeEarlierNumbers } from '../../../src/outbox/ownership.ts';
import { listAttempts, makeDecision, recordEvents } from '../../../src/outbox/record-events.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT_ID,
  openAnew,
  queueImport,
  type TempOutbox,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const ALL: ClaimableQuery = {
  kinds: ['import', 'number', 'photo'],
  recordKeys: undefined,
  busyRecords: [],
  busyProjects: [],
  openCircuits: [],
};
const SERVER_NOW = asServerMs(1_700_000_000_000);
const POST: Departure = {
  method: 'POST',
  path: '/api/pas/import-xml',
  account: ACCOUNT_ID,
  serverMs: SERVER_NOW,
  sentByMs: null,
  settleMs: 60_000,
};
const IDENT = 'C-202400101-N00001';
const PHOTOGRAPH = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1),
  sizeBytes: 3,
};
const BUSY: Settlement = { state: 'queued', reason: 'lock', notBeforeAt: 0 };
const LOST: Settlement = { state: 'uncertain', reason: 'no answer' };

function due(outbox: Outbox, query: Partial<ClaimableQuery> = {}): Entry {
  const entry = findNextClaimable(outbox, { ...ALL, ...query });
  if (entry === undefined) throw new Error('nothing is due');
  return entry;
}

function claimed(outbox: Outbox, query: Partial<ClaimableQuery> = {}): Claim {
  const taken = claim(outbox, due(outbox, query).id, () => POST);
  if (taken === undefined) throw new Error('the entry is no longer queued');
  return taken;
}

function accept(outbox: Outbox, query: Partial<ClaimableQuery> = {}, identCely = IDENT): Claim {
  const taken = claimed(outbox, query);
  settle(outbox, taken, { state: 'accepted', identCely }, { outcome: 'accepted', status: 201 });
  return taken;
}

function getEntry(outbox: Outbox, id: number): Entry {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('the entry is gone');
  return entry;
}

const state = (outbox: Outbox, id: number): string => getEntry(outbox, id).state;

function abandon(outbox: Outbox, id: number): void {
  recordEvents(outbox, [
    makeDecision(
      outbox,
      getEntry(outbox, id),
      { answer: 'abandon', by: 'person', group: 'g' },
      'dropped',
    ),
  ]);
}

function kindsInJournal(outbox: TempOutbox): string[] {
  return outbox.journal
    .listEventsSince(readHeader(outbox).outbox, 0)
    .map(({ event }) => (event.kind === 'answered' ? event.body.outcome : event.kind));
}

describe('the next entry to send', () => {
  test('is the oldest one first', () => {
    using outbox = tempOutbox();
    const first = queueImport(outbox, 'K-1');
    queueImport(outbox, 'K-2');
    expect(due(outbox).id).toBe(first.entryId);
  });

  test('is not a photograph or a number before its find is imported', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const number = addNumber(outbox, { findId, identCely: null }, 'A 1', '');
    expect(findNextClaimable(outbox, { ...ALL, kinds: ['number'] })).toBeUndefined();
    accept(outbox);
    expect(due(outbox)).toMatchObject({ id: number, identCely: IDENT });
  });

  test('is not one with an open question', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    schedule(outbox, entryId, {
      held: { basis: 'equal-record', question: 'is it this one?', candidates: [IDENT] },
    });
    expect(findNextClaimable(outbox, ALL)).toBeUndefined();
    expect(claim(outbox, entryId, () => POST)).toBeUndefined();
    schedule(outbox, entryId, { held: null });
    expect(due(outbox).id).toBe(entryId);
  });

  test('does not wait for days because a clock was ahead when it was requeued', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const waitUntil = (ms: number) =>
      schedule(outbox, entryId, { notBeforeAt: outbox.clock.now() + ms });
    waitUntil(30_000);
    clampFutureBackoff(outbox, 3_600_000);
    expect(findNextClaimable(outbox, ALL)).toBeUndefined();
    waitUntil(3 * 24 * 3_600_000);
    clampFutureBackoff(outbox, 3_600_000);
    expect(due(outbox).id).toBe(entryId);
  });

  test('does not wait for minutes because a clock was a few minutes ahead when it was requeued', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const thenMs = asWallMs(outbox.clock.now() + 180_000);
    schedule({ ...outbox, clock: { ...outbox.clock, now: () => thenMs } }, entryId, {
      notBeforeAt: thenMs + 1000,
    });
    clampFutureBackoff(outbox, 3_600_000);
    expect(due(outbox).id).toBe(entryId);
  });

  test('excludes busy records and projects, and finds that were not requested', () => {
    using outbox = tempOutbox();
    const first = queueImport(outbox, 'K-1', 'C-1');
    const second = queueImport(outbox, 'K-2', 'C-2');
    expect(due(outbox, { busyRecords: [`find:${first.findId}`] }).id).toBe(second.entryId);
    expect(due(outbox, { busyProjects: ['C-1'] }).id).toBe(second.entryId);
    expect(due(outbox, { recordKeys: [`find:${second.findId}`] }).id).toBe(second.entryId);
  });

  test('is the one with the shortest wait first', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const [, second] = ['K-1', 'K-2', 'K-3'].map((name, at) => {
      const { entryId } = queueImport(outbox, name);
      schedule(outbox, entryId, { notBeforeAt: outbox.clock.now() + (at === 1 ? 1000 : 5000) });
      return entryId;
    });
    expect(findNextScheduled(outbox, ALL)?.id).toBe(second);
    await clock.advance(6000);
    expect(due(outbox).id).toBe(second);
  });

  test('is due at its time', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const untilMs = clock.now() + 5000;
    settle(outbox, claimed(outbox), { ...BUSY, notBeforeAt: untilMs }, { outcome: 'busy' });
    expect(findNextClaimable(outbox, ALL)).toBeUndefined();
    expect(findNextClaimableAt(outbox, ALL)).toBe(untilMs);
    await clock.advance(5000);
    expect(due(outbox).localId).toBe('K-1');
  });
});

describe('of two numbers for one record', () => {
  const target = { findId: null, identCely: IDENT };

  test('only the last one is sent, and the ones before it are dropped then', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1', '');
    settle(outbox, claimed(outbox), BUSY, { outcome: 'busy' });
    const later = addNumber(outbox, target, 'A 2', '');
    expect(due(outbox).id).toBe(later);
    expect(state(outbox, earlier)).toBe('queued');
    claimed(outbox);
    expect([state(outbox, earlier), state(outbox, later)]).toEqual(['dropped', 'sending']);
  });

  test('none is dropped when a photograph of the record is sent', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1', '');
    addPhoto(outbox, target, PHOTOGRAPH);
    claimed(outbox, { kinds: ['photo'] });
    expect(state(outbox, earlier)).toBe('queued');
  });

  test('the earlier is sent if a person dropped the later, or must answer a question about it', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1', '');
    const later = addNumber(outbox, target, 'A 2', '');
    schedule(outbox, later, {
      held: { basis: 'number-changed', question: '?', candidates: ['B'] },
    });
    expect(due(outbox).id).toBe(earlier);
    schedule(outbox, later, { held: null });
    expect(due(outbox).id).toBe(later);
    abandon(outbox, later);
    expect(due(outbox).id).toBe(earlier);
  });

  test('the later waits while the earlier may still arrive, and no longer once a person dropped that', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1', '');
    settle(outbox, claimed(outbox), LOST, { outcome: 'uncertain' });
    const later = addNumber(outbox, target, 'A 2', 'A 1');
    expect(findNextClaimable(outbox, ALL)).toBeUndefined();
    abandon(outbox, earlier);
    expect(due(outbox).id).toBe(later);
  });

  test('only one is under way at a time, even if one was set for the find and one for its identifier', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const find = accept(outbox);
    addNumber(outbox, { ...target, findId: find.entry.findId }, 'A 1', '');
    const { entry } = claimed(outbox);
    addNumber(outbox, target, 'A 2', '');
    expect(
      findNextClaimable(outbox, { ...ALL, busyRecords: [entry.recordKey, entry.identCely ?? ''] }),
    ).toBeUndefined();
  });

  test('one that may have arrived is not removed, so that the possible values stay known', () => {
    using outbox = tempOutbox();
    addNumber(outbox, target, 'A 1', '');
    settle(outbox, claimed(outbox), LOST, { outcome: 'uncertain' });
    expect(removeTarget(outbox, target)).toMatchObject({ kind: 'kept', because: { value: 'A 1' } });
  });

  test('an earlier one that waited is dropped if the later was accepted', () => {
    using outbox = tempOutbox();
    const earlier = addNumber(outbox, target, 'A 1', '');
    schedule(outbox, earlier, { notBeforeAt: Number.MAX_SAFE_INTEGER });
    const later = addNumber(outbox, target, 'A 2', '');
    expect(due(outbox).id).toBe(later);
    accept(outbox);
    supersedeEarlierNumbers(outbox);
    expect([state(outbox, earlier), findNextScheduled(outbox, ALL)]).toEqual([
      'dropped',
      undefined,
    ]);
  });
});

describe('a claim', () => {
  test('is on disk with its attempt, in the journal and in the outbox, before anything is sent', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const { attemptId } = claimed(outbox);
    const entry = getEntry(outbox, entryId);
    expect(entry).toMatchObject({ state: 'sending', attempts: 1, unknownAttempts: 1 });
    expect(listAttempts(outbox, entry)).toMatchObject([
      {
        id: attemptId,
        method: 'POST',
        path: '/api/pas/import-xml',
        account: ACCOUNT_ID,
        endedAt: null,
        outcome: null,
        bounds: { fromMs: SERVER_NOW },
      },
    ]);
    expect(kindsInJournal(outbox)).toEqual(['bound', 'attempted']);
    expect(outbox.journal.has(attemptId)).toBe(true);
  });

  test('records what is sent, and the find, so that both can be restored', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const { entry } = claimed(outbox);
    const [attempted] = listEventsOfEntry(outbox, entry.uuid);
    if (attempted?.kind !== 'attempted' || entry.kind !== 'import') throw new Error('no attempt');
    const content = unpackContent(attempted.body);
    expect(content?.document.equals(entry.document ?? Buffer.alloc(0))).toBe(true);
    expect(content?.find).toEqual({
      localId: 'K-1',
      elements: { poznamka: 'K-1' },
      createdAt: outbox.clock.now(),
    });
    expect(attempted.body).toMatchObject({
      localId: 'K-1',
      digest: entry.digest,
      project: 'C-202400101',
      target: null,
      fromMs: SERVER_NOW,
      settleMs: 60_000,
    });
    expect(getEntry(outbox, entryId).findUuid).toBe(attempted.find);
  });

  test('cannot be made twice', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    claimed(outbox);
    expect(claim(outbox, id, () => POST)).toBeUndefined();
  });

  test('of a removed entry is refused', () => {
    using outbox = tempOutbox();
    expect(claim(outbox, 7, () => POST)).toBeUndefined();
  });

  test('clears the old reason of the entry', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    schedule(outbox, entryId, { issues: '[]', reason: '"before"' });
    claimed(outbox);
    expect(findEntryById(outbox, entryId)).toMatchObject({ reason: null, issues: [] });
  });

  test('contains what the entry is to send now, not when it was selected', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    const entry = findImportOfFind(outbox, findId);
    if (entry === undefined) throw new Error('the entry is gone');
    const document = Buffer.from('<document>edited</document>');
    replaceImport(outbox, entry, {
      document,
      documentSha512: hashSha512(document),
      digest: 'd',
      project: 'C-202400101',
      issues: [],
    });
    expect(claim(outbox, id, () => POST)?.entry).toMatchObject({ document });
  });

  test('of an entry that became a draft meanwhile is refused', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1');
    const { id } = due(outbox);
    const entry = findImportOfFind(outbox, findId);
    if (entry === undefined) throw new Error('the entry is gone');
    replaceImport(outbox, entry, {
      document: null,
      documentSha512: null,
      digest: null,
      project: null,
      issues: [],
    });
    expect(claim(outbox, id, () => POST)).toBeUndefined();
    expect(listAttempts(outbox, entry)).toEqual([]);
  });

  test.each(['accepted', 'uncertain', 'refused', 'dropped'])(
    'is refused if the row says "queued" and the events say "%s"',
    (output) => {
      using outbox = tempOutbox();
      const { entryId } = queueImport(outbox, 'K-1');
      if (output === 'accepted') accept(outbox);
      if (output === 'uncertain') settle(outbox, claimed(outbox), LOST, { outcome: 'uncertain' });
      if (output === 'refused')
        settle(
          outbox,
          claimed(outbox),
          { state: 'refused', reason: 'no', issues: [] },
          { outcome: 'refused' },
        );
      if (output === 'dropped') abandon(outbox, entryId);
      outbox.sql(`update entries set state = 'queued' where id = ?`).run(entryId);
      expect(claim(outbox, entryId, () => POST)).toBeUndefined();
      expect(state(outbox, entryId)).toBe(output);
    },
  );

  test.each([
    ['document', `cast('<document>K-2</document>' as blob)`],
    ['document_sha512', 'zeroblob(64)'],
    ['project', `'C-202400102'`],
    ['digest', `'x'`],
    ['retry_of', `'x'`],
    ['ident_cely', `'C-202400101-N00002'`],
    ['record_key', `'find:7'`],
  ])('is refused if the column %s is damaged', (column, value) => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set ${column} = ${value} where id = ?`).run(entryId);
    expect(() => claim(outbox, entryId, () => POST)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
    expect(kindsInJournal(outbox)).toEqual(['bound']);
  });

  test.each([
    ['number', 'value', `'A 2'`],
    ['number', 'expects', `'B'`],
    ['number', 'ident_cely', `'C-202400101-N00002'`],
    ['photo', 'photo_name', `'b.jpg'`],
    ['photo', 'photo_sha512', 'zeroblob(64)'],
    ['photo', 'ident_cely', `'C-202400101-N00002'`],
  ] as const)('of a %s is refused if its %s is damaged', (kind, column, value) => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const { findId } = accept(outbox).entry;
    const target = { findId, identCely: IDENT };
    const id =
      kind === 'number'
        ? addNumber(outbox, target, 'A 1', '')
        : addPhoto(outbox, target, PHOTOGRAPH);
    outbox.sql(`update entries set ${column} = ${value} where id = ?`).run(id);
    expect(() => claim(outbox, id, () => POST)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
  });

  test('is refused if fewer attempts are found than before', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    settle(outbox, claimed(outbox), LOST, { outcome: 'uncertain' });
    outbox.sql('delete from events where entry is not null').run();
    outbox.sql(`update entries set state = 'queued' where id = ?`).run(entryId);
    expect(() => claim(outbox, entryId, () => POST)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
  });
});

describe('if the disk refuses', () => {
  test('the outbox, the entry is not sent, and the journal records that nothing departed', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox
      .sql(
        `create trigger full before insert on events begin select raise(abort, 'the disk is full'); end`,
      )
      .run();
    expect(() => claimed(outbox)).toThrow(/the disk is full/);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(kindsInJournal(outbox)).toEqual(['bound', 'attempted', 'not-sent']);

    outbox.sql('drop trigger full').run();
    mergeJournal(outbox, { withOpen: true });
    expect(findEntryById(outbox, entryId)).toMatchObject({
      state: 'queued',
      attempts: 1,
      unknownAttempts: 0,
    });
    accept(outbox);
    expect(state(outbox, entryId)).toBe('accepted');
  });

  test('the outbox, later events keep their order: an undone decision stays undone', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox
      .sql(
        `create trigger full before insert on events begin select raise(abort, 'the disk is full'); end`,
      )
      .run();
    expect(() => claimed(outbox)).toThrow(/the disk is full/);
    outbox.sql('drop trigger full').run();
    mergeJournal(outbox, { withOpen: true });
    settle(outbox, claimed(outbox), LOST, { outcome: 'uncertain' });
    const decide = (answer: 'send' | 'undo' | 'abandon', of: string | null = null) =>
      recordEvents(outbox, [
        makeDecision(
          outbox,
          getEntry(outbox, entryId),
          { answer, by: 'person', group: answer, of },
          answer,
        ),
      ]);
    const [sent] = decide('send');
    expect(state(outbox, entryId)).toBe('queued');
    claimed(outbox);
    recoverInFlight(outbox);
    decide('undo', sent?.id ?? '');
    decide('abandon');
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'dropped', unknownAttempts: 1 });
    const positions = listEventsOfEntry(outbox, getEntry(outbox, entryId).uuid).map(
      ({ position }) => position,
    );
    expect(Math.max(...positions)).toBeLessThan(20);
    using anew = openAnew(outbox);
    mergeJournal(anew, { withOpen: true });
    expect(anew.sql('select state, unknown_attempts from entries').raw().all()).toEqual([
      ['dropped', 1],
    ]);
  });

  test('the journal, nothing is written to the outbox', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.journal.close();
    expect(() => claimed(outbox)).toThrow();
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(outbox.sql('select kind from events').pluck().all()).toEqual(['bound']);
  });

  test('the journal, because another program has it locked, the push is told so', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const refusing: Outbox = {
      ...outbox,
      journal: {
        ...outbox.journal,
        append: () => {
          throw new DatabaseError('another program is writing', { passing: true });
        },
      },
    };
    expect(() => claim(refusing, entryId, () => POST)).toThrow(DatabaseError);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(kindsInJournal(outbox)).toEqual(['bound']);
  });

  test('the answer, the entry is uncertain after the next start, since the answer is in neither', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const taken = claimed(outbox);
    const failing: Outbox = {
      ...outbox,
      journal: {
        ...outbox.journal,
        append: () => {
          throw new DatabaseError('full');
        },
      },
    };
    expect(() =>
      settle(failing, taken, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' }),
    ).toThrow('full');
    expect(state(outbox, entryId)).toBe('sending');
    recoverInFlight(outbox);
    expect(state(outbox, entryId)).toBe('uncertain');
  });
});

describe('entries left by a dead process', () => {
  test('are uncertain, whatever their kind: nothing is sent again for want of an answer', () => {
    using outbox = tempOutbox();
    const target = { findId: null, identCely: IDENT };
    const ids = [
      queueImport(outbox, 'K-1').entryId,
      addNumber(outbox, target, 'A 1', ''),
      addPhoto(outbox, target, PHOTOGRAPH),
    ];
    for (const kind of ['import', 'number', 'photo'] as const) claimed(outbox, { kinds: [kind] });
    expect(recoverInFlight(outbox).map(({ id }) => id)).toEqual(ids);
    for (const id of ids) {
      expect(getEntry(outbox, id)).toMatchObject({ state: 'uncertain', unknownAttempts: 1 });
      expect(String(getEntry(outbox, id).reason)).toContain('pas stopped while');
      expect(listAttempts(outbox, getEntry(outbox, id))).toMatchObject([{ outcome: 'orphaned' }]);
    }
    expect(recoverInFlight(outbox)).toEqual([]);
  });
});

describe('an entry shows its last result:', () => {
  const attempted = (outbox: Outbox): Claim => {
    queueImport(outbox, 'K-1');
    return claimed(outbox);
  };

  test('that it was accepted, without an earlier refusal', () => {
    using outbox = tempOutbox();
    const taken = attempted(outbox);
    schedule(outbox, taken.entry.id, { issues: '[]', reason: '"before"' });
    settle(outbox, taken, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'accepted',
      identCely: IDENT,
      reason: null,
      issues: [],
    });
  });

  test('why it was refused, with the findings of the service, and no longer when it is sent again', () => {
    using outbox = tempOutbox();
    const taken = attempted(outbox);
    const issues = [makeErrorIssue('server', 'no such period')];
    settle(
      outbox,
      taken,
      { state: 'refused', reason: 'refused', issues },
      { outcome: 'refused', status: 422 },
    );
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'refused',
      reason: 'refused',
      issues: [{ rule: 'server' }],
    });
    expect(claim(outbox, taken.entry.id, () => POST)).toBeUndefined();
    requeue(outbox, getEntry(outbox, taken.entry.id), 'a person decided: send', 7.5);
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'queued',
      reason: 'a person decided: send',
      issues: [],
      notBeforeAt: 8,
    });
    settle(
      outbox,
      claimed(outbox),
      { state: 'refused', reason: 'again', issues: [] },
      { outcome: 'refused' },
    );
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'refused',
      reason: 'again',
      attempts: 2,
    });
  });

  test('why it waits, and until when', () => {
    using outbox = tempOutbox();
    const taken = attempted(outbox);
    settle(outbox, taken, { ...BUSY, notBeforeAt: 7.5 }, { outcome: 'busy' });
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'queued',
      reason: 'lock',
      notBeforeAt: 8,
      unknownAttempts: 0,
    });
  });

  test('why it is uncertain', () => {
    using outbox = tempOutbox();
    const taken = attempted(outbox);
    settle(outbox, taken, LOST, { outcome: 'uncertain' });
    expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
      state: 'uncertain',
      reason: 'no answer',
    });
  });

  test('with the attempt’s status, date and reason', () => {
    using outbox = tempOutbox();
    const taken = attempted(outbox);
    const serverDateAt = asServerMs(SERVER_NOW + 500);
    settle(outbox, taken, LOST, { outcome: 'uncertain', status: 500, serverDateAt });
    expect(listAttempts(outbox, taken.entry)).toMatchObject([
      {
        outcome: 'uncertain',
        status: 500,
        serverDateAt,
        reason: 'no answer',
        endedAt: outbox.clock.now(),
        bounds: { fromMs: SERVER_NOW, untilMs: serverDateAt },
      },
    ]);
  });

  test('and a late answer accepts what was uncertain, dropped or declared absent', () => {
    for (const before of ['abandon', 'send'] as const) {
      using outbox = tempOutbox();
      const taken = attempted(outbox);
      recoverInFlight(outbox);
      recordEvents(outbox, [
        makeDecision(
          outbox,
          getEntry(outbox, taken.entry.id),
          { answer: before, by: 'person', group: 'g' },
          before,
        ),
      ]);
      settle(outbox, taken, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
      expect(findEntryById(outbox, taken.entry.id)).toMatchObject({
        state: 'accepted',
        identCely: IDENT,
        unknownAttempts: 0,
      });
    }
  });
});

test('entries that wait for an import get its identifier, and no others', () => {
  using outbox = tempOutbox();
  const { findId } = queueImport(outbox, 'K-1');
  const other = queueImport(outbox, 'K-2');
  const dependents = [
    addNumber(outbox, { findId, identCely: null }, 'A 1', ''),
    addPhoto(outbox, { findId, identCely: null }, PHOTOGRAPH),
  ];
  const strange = addNumber(outbox, { findId: other.findId, identCely: null }, 'A 2', '');
  accept(outbox);
  const getIdent = (id: number) => findEntryById(outbox, id)?.identCely;
  expect([...dependents, strange].map(getIdent)).toEqual([IDENT, IDENT, null]);
  // A photograph is accepted with the identifier of its record, which says nothing of another
  // number.
  const later = addPhoto(outbox, { findId: other.findId, identCely: 'C-1-N1' }, PHOTOGRAPH);
  accept(outbox, { kinds: ['photo'], recordKeys: [`find:${other.findId}`] }, 'C-1-N1');
  expect([later, strange].map(getIdent)).toEqual(['C-1-N1', null]);
});

describe('a part of the queue', () => {
  test('is counted with its requests under way, and can be paused or moved to the back', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const ids = ['C-1', 'C-2', 'C-2'].map(
      (project, at) => queueImport(outbox, `K-${at}`, project).entryId,
    );
    addNumber(outbox, { findId: null, identCely: 'C-1-N00001' }, 'A 1', '');
    const part = { kind: 'import', project: 'C-2' } as const;
    expect([countOpen(outbox, part), countOpen(outbox, { kind: 'import', project: null })]).toEqual(
      [2, 3],
    );
    expect(countOpen(outbox, { kind: 'number', project: 'C-1' })).toBe(1);
    const openCircuits = [{ kind: 'import', project: 'C-1' } as const];
    expect(due(outbox, { openCircuits }).id).toBe(ids[1]);
    claimed(outbox, { openCircuits });
    expect(countOpen(outbox, part)).toBe(2);

    await clock.advance(1000);
    moveToBack(outbox, part, 'a wall');
    expect(findEntryById(outbox, ids[2] ?? 0)).toMatchObject({
      notBeforeAt: clock.now(),
      reason: 'a wall',
    });
    expect(findEntryById(outbox, ids[0] ?? 0)).toMatchObject({ reason: null });
    expect(findNextScheduled(outbox, { ...ALL, openCircuits })?.kind).toBe('number');
  });

  test('requested by name waits no longer', () => {
    using outbox = tempOutbox();
    const [first, second] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name));
    for (const each of [first, second])
      schedule(outbox, each?.entryId ?? 0, { notBeforeAt: outbox.clock.now() + 5000 });
    clearBackoff(outbox, [`find:${second?.findId}`]);
    expect(due(outbox).id).toBe(second?.entryId);
    expect(findNextScheduled(outbox, ALL)?.id).toBe(second?.entryId);
    expect(findEntryById(outbox, first?.entryId ?? 0)?.notBeforeAt).toBe(outbox.clock.now() + 5000);
    expect(findNextClaimableAt(outbox, { ...ALL, kinds: ['photo'] })).toBeUndefined();
  });
});
