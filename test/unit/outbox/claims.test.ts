import { describe, expect, test } from 'vitest';
import { asServerMs } from '../../../src/base/clock.ts';
import { makeErrorIssue } from '../../../src/base/issue.ts';
import {
  type AttemptRequest,
  type AttemptSettlement,
  type Claim,
  claimQueuedEntry,
  listAttempts,
  recordAnswer,
  recordDecision,
  recordOrphanedAttempts,
} from '../../../src/outbox/attempts.ts';
import { removeSubject } from '../../../src/outbox/changes/remove-finds.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import {
  type ClaimableQuery,
  clearBackoff,
  clearImplausibleBackoff,
  findEntryById,
  findNextClaimableEntry,
  listEntriesOfSubject,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import { unpackAttempt } from '../../../src/outbox/facts.ts';
import { makeCandidates } from '../../../src/outbox/gate.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { findByUuid } from '../../../src/outbox/stored-finds.ts';
import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import { recordFindWish, withdrawWish } from '../../../src/outbox/wishes.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT_ID,
  acceptEntry,
  attemptEntry,
  getEntry,
  listFactsInLedger,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  type TempOutbox,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const ALL: ClaimableQuery = {
  kinds: ['import', 'number', 'photo'],
  subjects: undefined,
  busyRecords: [],
  closed: [],
};
const SERVER_NOW = asServerMs(1_700_000_000_000);
const POST: AttemptRequest = {
  method: 'POST',
  path: '/api/pas/import-xml',
  account: ACCOUNT_ID,
  fromMs: SERVER_NOW,
  sentByMs: SERVER_NOW,
  settleMs: 60_000,
};
const IDENT = 'C-202400101-N00001';
const RECORD = makeRecordSubject(IDENT);
const LOST: AttemptSettlement = { state: 'uncertain', reason: 'no answer' };
const REFUSED: AttemptSettlement = {
  state: 'refused',
  reason: 'no',
  issues: [makeErrorIssue('server', 'no such period')],
};

function waitUntil(notBeforeAt: number): AttemptSettlement {
  return { state: 'queued', reason: 'busy', notBeforeAt };
}

function nextId(outbox: Outbox, query: Partial<ClaimableQuery> = {}): number | undefined {
  const next = findNextClaimableEntry(outbox, { ...ALL, ...query });
  return next === undefined || next.notBeforeAt > outbox.clock.now() ? undefined : next.id;
}

function claimed(outbox: Outbox, id: number): Claim {
  const taken = claimQueuedEntry(outbox, id, () => POST);
  if (taken === undefined) throw new Error('the entry is no longer queued');
  return taken;
}

function drop(outbox: Outbox, id: number): void {
  const entry = getEntry(outbox, id);
  recordDecision(outbox, entry, { kind: 'abandon' }, 'dropped');
  withdrawWish(outbox, entry, 'dropped');
}

function kindsInLedger(outbox: TempOutbox, { subject }: Entry): string[] {
  return listFactsInLedger(outbox, subject).map((fact) =>
    fact.kind === 'answered' ? fact.body.outcome : fact.kind,
  );
}

describe('the next entry to send', () => {
  test('is the oldest one that is not busy, closed or unnamed', () => {
    using outbox = tempOutbox();
    const first = queueImport(outbox, 'K-1', 'C-1');
    const second = queueImport(outbox, 'K-2', 'C-2');
    expect(nextId(outbox)).toBe(first.entryId);
    for (const query of [
      { busyRecords: [first.subject] },
      { closed: [{ kind: 'import', project: 'C-1' }] },
      { subjects: [second.subject] },
    ] as const)
      expect(nextId(outbox, query)).toBe(second.entryId);
  });

  test('is no number or photograph before its find is imported, and no other find’s then', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const other = queueImport(outbox, 'K-2');
    const target = findId;
    const number = queueNumber(outbox, target, 'A 1');
    const photo = queuePhoto(outbox, target, PHOTOGRAPH);
    const strange = queueNumber(outbox, other.findId, 'A 2');
    expect(nextId(outbox, { kinds: ['number', 'photo'] })).toBeUndefined();
    acceptEntry(outbox, entryId, IDENT);
    expect(
      [number, photo, strange].map((id) => findEntryById(outbox, id)?.identCely),
    ).toStrictEqual([IDENT, IDENT, null]);
    expect(nextId(outbox, { kinds: ['number'] })).toBe(number);
  });

  test('is none with an open question', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    storeQuestion(outbox, entryId, {
      basis: 'equal-record',
      question: 'is it this one?',
      candidates: makeCandidates([IDENT]),
    });
    expect(nextId(outbox)).toBeUndefined();
    expect(claimQueuedEntry(outbox, entryId, () => POST)).toBeUndefined();
    storeQuestion(outbox, entryId, null);
    expect(nextId(outbox)).toBe(entryId);
  });

  test('is the one with the shortest wait, when its time has come or a person named it', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const [first, second] = [5000, 1000].map((waitMs, at) => {
      const queued = queueImport(outbox, `K-${at}`);
      attemptEntry(outbox, queued.entryId, waitUntil(clock.now() + waitMs));
      return queued;
    });
    expect(nextId(outbox)).toBeUndefined();
    expect(findNextClaimableEntry(outbox, ALL)?.id).toBe(second?.entryId);
    await clock.advance(1000);
    expect(nextId(outbox)).toBe(second?.entryId);
    clearBackoff(outbox, [first?.subject ?? '']);
    expect(nextId(outbox)).toBe(first?.entryId);
  });

  test('does not wait for days because a clock was ahead when it was requeued', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, waitUntil(outbox.clock.now() + 3 * 24 * 3_600_000));
    clearImplausibleBackoff(outbox, 3_600_000);
    expect(nextId(outbox)).toBe(entryId);
  });
});

describe('of two numbers for one record', () => {
  test('the later waits while the earlier may still arrive, which cannot be removed', () => {
    using outbox = tempOutbox();
    const earlier = queueNumber(outbox, RECORD, 'A 1');
    attemptEntry(outbox, earlier, LOST);
    const later = queueNumber(outbox, RECORD, 'A 2', 'A 1');
    expect(nextId(outbox)).toBeUndefined();
    expect(removeSubject(outbox, RECORD)).toMatchObject({
      because: { value: 'A 1' },
    });
    recordDecision(outbox, getEntry(outbox, earlier), { kind: 'abandon' }, 'dropped');
    expect(nextId(outbox)).toBe(later);
  });

  test('one is under way at a time, even if one was set for the find and one for its record', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    acceptEntry(outbox, entryId, IDENT);
    const { entry } = claimed(outbox, queueNumber(outbox, findId, 'A 1'));
    queueNumber(outbox, RECORD, 'A 2');
    const busyRecords = [entry.subject, entry.identCely ?? ''];
    expect(nextId(outbox, { busyRecords })).toBeUndefined();
  });
});

describe('a claim', () => {
  test('is on disk with what is sent, in the ledger and in the outbox, before anything is sent', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const { attempt, entry } = claimed(outbox, entryId);
    expect(entry).toMatchObject({ state: 'sending', attempts: 1, unknownAttempts: 1 });
    expect(listAttempts(outbox, entry)).toMatchObject([
      { id: attempt, path: POST.path, account: ACCOUNT_ID, outcome: null, endedAt: null },
    ]);
    const [stored] = listFactsInLedger(outbox, entry.subject).filter(
      (fact) => fact.kind === 'attempted',
    );
    if (stored === undefined) throw new Error('the ledger has no attempt');
    expect(unpackAttempt(stored).content).toMatchObject({
      document: '<document>K-1</document>',
      intent: expect.stringContaining('K-1'),
    });
  });

  test('contains what is wanted now, and is refused for a draft, what is under way, or is gone', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const edit = (text: string, document: Buffer | null): void => {
      const find = findByUuid(outbox, findId);
      if (find === undefined) throw new Error('the find is gone');
      const elements = { projekt: { id: 'C-1', text: '' }, poznamka: text };
      recordFindWish(outbox, find, { ...find.wish, elements }, { document, issues: [] });
    };
    edit('draft', null);
    expect(claimQueuedEntry(outbox, entryId, () => POST)).toBeUndefined();
    const document = Buffer.from('<document>edited</document>');
    edit('edited', document);
    expect(claimed(outbox, entryId).entry).toMatchObject({ document });
    expect(claimQueuedEntry(outbox, entryId, () => POST)).toBeUndefined();
    expect(claimQueuedEntry(outbox, entryId + 7, () => POST)).toBeUndefined();
  });

  test.each(['accepted', 'uncertain', 'refused', 'dropped'])(
    'is refused if the row says "queued" and the facts say "%s"',
    (state) => {
      using outbox = tempOutbox();
      const { entryId } = queueImport(outbox, 'K-1');
      if (state === 'accepted') acceptEntry(outbox, entryId, IDENT);
      if (state === 'uncertain') attemptEntry(outbox, entryId, LOST);
      if (state === 'refused') attemptEntry(outbox, entryId, REFUSED);
      if (state === 'dropped') drop(outbox, entryId);
      outbox.sql(`update entries set state = 'queued' where id = ?`).run(entryId);
      expect(claimQueuedEntry(outbox, entryId, () => POST)).toBeUndefined();
      expect(getEntry(outbox, entryId).state).toBe(state);
    },
  );

  test('sends what the facts say where the row of a number is damaged', () => {
    using outbox = tempOutbox();
    const id = queueNumber(outbox, RECORD, 'A 1');
    outbox.sql(`update entries set value = 'B 2', ident_cely = 'C-1-N00002'`).run();
    expect(claimed(outbox, id).entry).toMatchObject({ value: 'A 1', identCely: IDENT });
  });

  test.each([
    ['intent', `update intents set content = replace(content, 'K-1', 'K-2')`],
    ['fact', `update facts set body = replace(body, '"hides":false', '"hides":true ')`],
  ])('is refused if its %s is damaged', (_what, damage) => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const entry = getEntry(outbox, entryId);
    outbox.sql(damage).run();
    expect(() => claimQueuedEntry(outbox, entryId, () => POST)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
    expect(kindsInLedger(outbox, entry).filter((kind) => kind !== 'not-sent')).toStrictEqual([]);
  });
});

describe('if the disk refuses', () => {
  test('the outbox, nothing is sent, and the ledger knows that nothing departed', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox
      .sql(
        `create trigger full before insert on facts begin select raise(abort, 'the disk is full'); end`,
      )
      .run();
    expect(() => claimed(outbox, entryId)).toThrow(/the disk is full/);
    const entry = getEntry(outbox, entryId);
    expect(entry).toMatchObject({ state: 'queued', attempts: 0 });
    outbox.sql('drop trigger full').run();
    uniteWithLedger(outbox);
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'queued', unknownAttempts: 0 });
    acceptEntry(outbox, entryId, IDENT);
  });
});

test('entries left by a dead process are uncertain, whatever their kind', () => {
  using outbox = tempOutbox();
  const ids = [
    queueImport(outbox, 'K-1').entryId,
    queueNumber(outbox, RECORD, 'A 1'),
    queuePhoto(outbox, RECORD, PHOTOGRAPH),
  ];
  for (const id of ids) claimed(outbox, id);
  expect(recordOrphanedAttempts(outbox).map(({ id }) => id)).toStrictEqual(ids);
  for (const id of ids) {
    const entry = getEntry(outbox, id);
    expect(entry).toMatchObject({ state: 'uncertain', unknownAttempts: 1 });
    expect(String(entry.reason)).toContain('pas stopped while');
    expect(listAttempts(outbox, entry)).toMatchObject([{ outcome: 'orphaned' }]);
  }
  expect(recordOrphanedAttempts(outbox)).toStrictEqual([]);
});

test.each(['abandon', 'resend'] as const)('a late answer outranks the decision to %s', (answer) => {
  using outbox = tempOutbox();
  const taken = claimed(outbox, queueImport(outbox, 'K-1').entryId);
  recordOrphanedAttempts(outbox);
  const entry = getEntry(outbox, taken.entry.id);
  recordDecision(
    outbox,
    entry,
    answer === 'resend' ? { kind: answer, rejects: [] } : { kind: answer },
    '',
  );
  recordAnswer(outbox, taken, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
  expect(listEntriesOfSubject(outbox, entry.subject)).toMatchObject([
    { state: 'accepted', identCely: IDENT, unknownAttempts: 0 },
  ]);
});
