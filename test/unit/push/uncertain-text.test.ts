import { expect, test } from 'vitest';
import { asServerMs } from '../../../src/base/clock.ts';
import { msg } from '../../../src/base/message.ts';
import { appendFacts } from '../../../src/outbox/append-facts.ts';
import {
  detachSharedRecord,
  listUnsettledAttemptIds,
  recordAnswer,
} from '../../../src/outbox/attempts.ts';
import { storeLookup } from '../../../src/outbox/entry-queries.ts';
import { makeStoredMessage } from '../../../src/outbox/facts.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { explainUncertain } from '../../../src/push/uncertain-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  acceptEntry,
  claimEntry,
  getEntry,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const MINUTE_MS = 60_000;
const SETTLE_MS = 10 * MINUTE_MS;
const DECIDE =
  "The service's data does not show whether it has this find; check its website, and decide.";
const NEXT_PUSH =
  'It is not known yet whether the service has this find; pas checks with the next push.';

/** Ended without an answer, when it had been under way for a minute. */
async function sent(
  outbox: Outbox,
  clock: ReturnType<typeof manualClock>,
  entryId: number,
): Promise<void> {
  const claimed = claimEntry(outbox, entryId);
  await clock.advance(MINUTE_MS);
  recordAnswer(
    outbox,
    claimed,
    { state: 'uncertain', reason: msg`no answer` },
    { outcome: 'uncertain' },
  );
}

function inDoubt() {
  // A day that begins at a full minute in every time zone.
  const clock = manualClock(new Date(2024, 5, 1, 9, 0).getTime());
  const outbox = tempOutbox(clock);
  const { entryId } = queueImport(outbox, 'K-1');
  return { clock, outbox, entryId };
}

function looked(outbox: Outbox, entryId: number, basis: string, candidates: string[] = []): void {
  storeLookup(outbox, entryId, {
    at: outbox.clock.now(),
    serverAt: null,
    basis,
    reason: msg`two are alike`,
    candidates,
  });
}

test('an entry that may still be under way is looked up after the next full minute', async () => {
  const { outbox, clock, entryId } = inDoubt();
  await sent(outbox, clock, entryId);
  const text =
    'It is not known yet whether the service has this find; pas checks again after 09:11.';
  expect(explainUncertain(outbox, entryId, SETTLE_MS)).toEqual([text, 'no answer']);
  expect(explainUncertain(outbox, entryId, SETTLE_MS + 1)[0]).toContain('after 09:12.');
  await clock.advance(SETTLE_MS - 1);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toContain('after 09:11.');
  await clock.advance(1);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)).toEqual([NEXT_PUSH, 'no answer']);
});

test('an entry that is still being sent counts from its start', async () => {
  const { outbox, clock, entryId } = inDoubt();
  claimEntry(outbox, entryId);
  await clock.advance(3 * MINUTE_MS);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toContain('after 09:10.');
});

test('a clock that was ahead at the attempt does not put the date off', async () => {
  const { outbox, clock, entryId } = inDoubt();
  const claimed = claimEntry(outbox, entryId);
  const rightMs = clock.now();
  await clock.advance(365 * 24 * 60 * MINUTE_MS);
  recordAnswer(
    outbox,
    claimed,
    { state: 'uncertain', reason: msg`no answer` },
    { outcome: 'uncertain', serverDateAt: asServerMs(rightMs) },
  );
  outbox.clock.now = () => rightMs;
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toContain('after 09:10.');
});

test('numbers and photographs are named as such', () => {
  const { outbox } = inDoubt();
  const target = makeRecordSubject(IDENT);
  const getSentence = (entryId: number) => explainUncertain(outbox, entryId, SETTLE_MS)[0];
  expect(getSentence(queueNumber(outbox, target, 'A 1', null))).toContain('has this number;');
  expect(getSentence(queuePhoto(outbox, target, PHOTOGRAPH))).toContain('has this photograph;');
});

test('a person decides once a lookup can tell no more', async () => {
  const { outbox, clock, entryId } = inDoubt();
  await sent(outbox, clock, entryId);
  await clock.advance(SETTLE_MS - 1);
  looked(outbox, entryId, 'several-same');
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toContain('pas checks again after');
  await clock.advance(1);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)).toEqual([
    DECIDE,
    'no answer',
    'two are alike',
  ]);
});

test('a person decides at once if there are records to choose from', async () => {
  const { outbox, clock, entryId } = inDoubt();
  await sent(outbox, clock, entryId);
  looked(outbox, entryId, 'similar-new', [IDENT]);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toBe(DECIDE);
});

test.each(['maybe-under-way', 'index-behind', 'index-may-lag', 'not-looked-up'])(
  'a later lookup may tell more than one that ended with %s',
  async (basis) => {
    const { outbox, clock, entryId } = inDoubt();
    await sent(outbox, clock, entryId);
    await clock.advance(SETTLE_MS);
    looked(outbox, entryId, basis, [IDENT]);
    expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toBe(NEXT_PUSH);
  },
);

test('an entry that was looked up and is absent needs no person', async () => {
  const { outbox, clock, entryId } = inDoubt();
  await sent(outbox, clock, entryId);
  await clock.advance(SETTLE_MS);
  const entry = getEntry(outbox, entryId);
  const body = {
    attempts: listUnsettledAttemptIds(outbox, entry),
    identCely: null,
    at: clock.now(),
    serverMs: null,
    basis: 'find-absent',
    reason: makeStoredMessage(msg`two are alike`),
    candidates: [],
    account: null,
  };
  const { slot } = entry;
  appendFacts(outbox, [{ kind: 'absent', subject: entry.subject, slot, body }]);
  expect(explainUncertain(outbox, entryId, SETTLE_MS)[0]).toBe(NEXT_PUSH);
});

test('a reason is given once', async () => {
  const { outbox, clock, entryId } = inDoubt();
  await sent(outbox, clock, entryId);
  storeLookup(outbox, entryId, {
    at: clock.now(),
    serverAt: null,
    basis: 'several-same',
    candidates: [],
    reason: msg`no answer`,
  });
  expect(explainUncertain(outbox, entryId, 0)).toEqual([DECIDE, 'no answer']);
});

test('if the service assigned one record to two finds, only that is reported', () => {
  const { outbox, entryId } = inDoubt();
  acceptEntry(outbox, entryId, IDENT);
  expect(detachSharedRecord(outbox, IDENT)).toEqual([]);
  acceptEntry(outbox, queueImport(outbox, 'K-2').entryId, IDENT);
  detachSharedRecord(outbox, IDENT);
  const reason = `the service gave the record ${IDENT} to several finds (K-1, K-2): one may have been deleted, or lost when the service was restored from a backup`;
  expect(explainUncertain(outbox, entryId, SETTLE_MS)).toEqual([reason]);
  looked(outbox, entryId, 'several-same');
  expect(explainUncertain(outbox, entryId, SETTLE_MS)).toEqual([reason, 'two are alike']);
});
