import { expect, test } from 'vitest';
import { attemptsOf, closeAttempt, openAttempt } from '../../../src/outbox/journal.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { serverTimeOf } from '../../../src/outbox/server-time.ts';
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
    attempt(localStartMs: number, serverDateAt?: number, entry = entryId): number {
      localMs = localStartMs;
      const id = openAttempt(outbox, entry, REQUEST);
      if (serverDateAt !== undefined) {
        localMs += 1000;
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
