import { describe, expect, test } from 'vitest';
import { attemptsOf, closeAttempt, openAttempt } from '../../../src/outbox/journal.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { lastAnswer, madeBeforeMs, serverTimeOf } from '../../../src/outbox/server-time.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const NOON = Date.UTC(2024, 5, 1, 12);
const DAY = 86_400_000;
const REQUEST = { method: 'POST', path: '/api/pas/import-xml', accountId: ACCOUNT_ID };

/** An outbox whose machine has whatever time is set; the server's is always right. */
function story() {
  let localMs = NOON;
  const outbox: ServiceOutbox = { ...tempOutbox(), clock: { ...manualClock(), now: () => localMs } };
  const { entryId } = queueImport(outbox, 'K-1');
  return {
    outbox,
    entryId,
    attempt(localStartMs: number, serverDateAt?: number, entry = entryId, tookMs = 1000): number {
      localMs = localStartMs;
      const id = openAttempt(outbox, entry, REQUEST);
      if (serverDateAt !== undefined) {
        localMs += tookMs;
        closeAttempt(outbox, id, { outcome: 'accepted', status: 201, serverDateAt, reason: null });
      }
      return id;
    },
    timeOf(id: number, nowMs: number, offsetMs = 0) {
      const [found] = attemptsOf(outbox, entryId).filter((each) => each.id === id);
      if (found === undefined) throw new Error('no such attempt');
      return serverTimeOf(outbox, found, { nowMs, offsetMs });
    },
  };
}

test('beside an answer, an attempt is timed by how wrong the clock was then', () => {
  const { attempt, timeOf } = story();
  attempt(NOON - DAY, NOON + 1000);
  const lost = attempt(NOON - DAY + 5000);
  expect(timeOf(lost, NOON + 3600_000)).toEqual({ fromMs: NOON + 5000, untilMs: NOON + 5000, sure: true, bounded: true });
});

test('a clock that was days behind during the one attempt without answer narrows nothing', () => {
  const { attempt, timeOf } = story();
  attempt(NOON - 3600_000, NOON - 3600_000);
  const lost = attempt(NOON - 2 * DAY);
  const time = timeOf(lost, NOON + 60_000);
  expect(time.fromMs).toBeLessThanOrEqual(NOON);
  expect(time).toMatchObject({ untilMs: NOON + 60_000, sure: false });
});

test('what was answered afterwards bounds it from above', () => {
  const { attempt, timeOf } = story();
  const lost = attempt(NOON - 2 * DAY);
  attempt(NOON + 3600_000, NOON + 3600_000);
  expect(timeOf(lost, NOON + DAY)).toMatchObject({ untilMs: NOON + 3600_000, sure: true });
});

test('a clock that was years ahead does not hide what happened before', () => {
  const { attempt, timeOf } = story();
  const lost = attempt(NOON + 5 * 365 * DAY);
  const time = timeOf(lost, NOON);
  expect(time.fromMs).toBeLessThanOrEqual(NOON);
  expect(time.untilMs).toBe(NOON);
});

test('the answers of another service say nothing', () => {
  const { outbox, attempt, timeOf } = story();
  const other = queueImport(asSeenBy(outbox, { address: 'https://training.example.org' }), 'K-2').entryId;
  attempt(NOON, NOON - 30 * DAY, other);
  const lost = attempt(NOON + 5000);
  expect(timeOf(lost, NOON + 60_000)).toMatchObject({ fromMs: NOON + 5000, untilMs: NOON + 60_000 });
});

test('the answers to another account of the service are answers of its clock', () => {
  const { outbox, attempt, timeOf } = story();
  const other = queueImport(asSeenBy(outbox, { username: 'jan@example.org' }), 'K-2').entryId;
  attempt(NOON, NOON - 30 * DAY + 1000, other);
  const lost = attempt(NOON + 5000);
  expect(timeOf(lost, NOON + 60_000)).toMatchObject({ fromMs: NOON - 30 * DAY + 5000, sure: true });
});

test.each([
  ['as long as it took', 1000, 1000],
  ['not at all where the clock was set back meanwhile', -5000, 0],
  ['ten minutes at most', DAY, 600_000],
])('an answered attempt began before its answer, %s', (_name, tookMs, beforeMs) => {
  const { entryId, attempt, timeOf } = story();
  const answered = attempt(NOON - DAY, NOON, entryId, tookMs);
  expect(timeOf(answered, NOON + DAY)).toEqual({ fromMs: NOON - beforeMs, untilMs: NOON, sure: true, bounded: true });
});

describe('an answer beside an attempt', () => {
  const MINUTES = 60_000;
  const UNSURE = { fromMs: NOON, untilMs: NOON + DAY, sure: false, bounded: true };

  test('is one within two minutes of it, before or after', () => {
    for (const [afterMs, isNear] of [
      [120_000, true],
      [120_001, false],
    ] as const) {
      const before = story();
      before.attempt(NOON - 1000, NOON);
      const lost = before.attempt(NOON + afterMs);
      const time = before.timeOf(lost, NOON + DAY);
      expect(time).toMatchObject(isNear ? { fromMs: NOON + afterMs, untilMs: NOON + afterMs } : { untilMs: NOON + DAY });
      const after = story();
      const early = after.attempt(NOON - DAY - afterMs);
      after.attempt(NOON - DAY, NOON + 1000);
      expect(after.timeOf(early, NOON + DAY)).toMatchObject(
        isNear ? { fromMs: NOON - afterMs, untilMs: NOON - afterMs, bounded: true } : { untilMs: NOON + 1000, bounded: false },
      );
    }
  });

  test('says nothing where it would be two minutes later than the answer after it', () => {
    const at = (latestMs: number) => {
      const { attempt, timeOf } = story();
      attempt(NOON - 1000, NOON + 10 * MINUTES);
      const lost = attempt(NOON + 5000);
      attempt(NOON + DAY, latestMs);
      return timeOf(lost, NOON + 2 * DAY);
    };
    const guessed = NOON + 5000 + 10 * MINUTES;
    expect(at(guessed - 120_000)).toMatchObject({ fromMs: guessed, untilMs: guessed });
    expect(at(guessed - 120_001)).toMatchObject({ untilMs: guessed - 120_001 });
  });

  test('says nothing where it would be two minutes earlier than the answer before it', () => {
    const at = (earliestMs: number) => {
      const { entryId, attempt, timeOf } = story();
      attempt(NOON - DAY, earliestMs, entryId, 0);
      const lost = attempt(NOON);
      attempt(NOON + 5000, NOON + 6000);
      return timeOf(lost, NOON + DAY);
    };
    expect(at(NOON + 120_000)).toMatchObject({ fromMs: NOON, untilMs: NOON });
    expect(at(NOON + 120_001)).toMatchObject({ untilMs: NOON + 6000, bounded: true });
  });

  test('that is not near leaves the attempt between the answers around it, and this machine’s clock', () => {
    const { entryId, attempt, timeOf } = story();
    attempt(NOON - 9 * DAY, NOON, entryId, 0);
    const lost = attempt(NOON - 2 * DAY);
    expect(timeOf(lost, NOON + DAY, 3 * DAY)).toEqual(UNSURE);
    expect(timeOf(lost, NOON + DAY, DAY)).toEqual({ ...UNSURE, fromMs: NOON - DAY });
  });
});

test('the last answer is the last one that says when it was given, and an attempt was made before the first one after it', () => {
  const { outbox, attempt } = story();
  expect(lastAnswer(outbox)).toBeUndefined();
  const first = attempt(NOON, NOON);
  const lost = attempt(NOON + 5000);
  expect(lastAnswer(outbox)).toMatchObject({ id: first, serverDateAt: NOON });
  const attemptOf = (id: number) => {
    const [found] = outbox
      .sql('select entry_id from attempts where id = ?')
      .pluck()
      .all(id)
      .flatMap((entry) => attemptsOf(outbox, entry as number).filter((each) => each.id === id));
    if (found === undefined) throw new Error('no such attempt');
    return found;
  };
  expect([madeBeforeMs(outbox, attemptOf(first)), madeBeforeMs(outbox, attemptOf(lost))]).toEqual([NOON, undefined]);
  attempt(NOON + 60_000, NOON + 61_000);
  attempt(NOON + 70_000, NOON + 71_000);
  expect(madeBeforeMs(outbox, attemptOf(lost))).toBe(NOON + 61_000);
  expect(lastAnswer(outbox)).toMatchObject({ serverDateAt: NOON + 71_000 });
});
