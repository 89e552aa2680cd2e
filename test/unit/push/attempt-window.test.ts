import { expect, test } from 'vitest';
import { asServerMs, asWallMs } from '../../../src/base/clock.ts';
import {
  type AnswerDetails,
  type AttemptSettlement,
  claimQueuedEntry,
  recordAnswer,
  recordOrphanedAttempts,
} from '../../../src/outbox/attempts.ts';
import { getAttemptWindow } from '../../../src/push/judge-import.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { getEntry, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const NOON = Date.UTC(2024, 5, 1, 12);
const DAY = 86_400_000;
const SETTLE = 600_000;
/** All of a request has left so long after it was claimed. */
const SENT_BY = 60_000;
const UNCERTAIN: AttemptSettlement = { state: 'uncertain', reason: 'no answer' };

/** A find, on a machine whose clock is wrong by this much. */
function story(aheadMs = 0) {
  const outbox = {
    ...tempOutbox(),
    clock: { ...manualClock(), now: () => asWallMs(NOON + aheadMs) },
  };
  const { entryId } = queueImport(outbox, 'K-1');
  const entry = () => getEntry(outbox, entryId);
  const begin = (fromMs: number | null) => {
    const times = {
      fromMs: fromMs === null ? null : asServerMs(fromMs),
      sentByMs: fromMs === null ? null : asServerMs(fromMs + SENT_BY),
    };
    const claimed = claimQueuedEntry(outbox, entryId, () => ({
      ...times,
      method: 'POST',
      path: '/',
      account: 'U-000001',
      settleMs: SETTLE,
    }));
    if (claimed === undefined) throw new Error('the entry is not queued');
    return claimed;
  };
  return {
    begin,
    kill: () => recordOrphanedAttempts(outbox),
    /** One attempt, from and until these times of the server. */
    attempt: (
      fromMs: number | null,
      endedMs: number | undefined,
      settlement: AttemptSettlement,
      answer: Partial<AnswerDetails> = {},
    ) =>
      recordAnswer(outbox, begin(fromMs), settlement, {
        outcome: settlement.state === 'queued' ? 'throttled' : settlement.state,
        ...(endedMs === undefined ? {} : { endedAt: asServerMs(endedMs) }),
        ...answer,
      }),
    window: () => getAttemptWindow(outbox, entry()),
    earliest: () => getAttemptWindow(outbox, entry()).bounds?.fromMs,
  };
}

const bounds = (fromMs: number, untilMs: number, settledMs: number) => ({
  fromMs,
  untilMs,
  settledMs,
});

test.each([0, -2 * DAY, 2 * DAY])(
  'the wall clock decides nothing, even if it is wrong by %s ms',
  (aheadMs) => {
    const { attempt, window } = story(aheadMs);
    attempt(NOON, NOON + 5000, UNCERTAIN);
    expect(window()).toEqual({
      bounds: bounds(NOON, NOON + 5000 + SETTLE, NOON + 5000 + SETTLE),
      accounts: new Set(['U-000001']),
    });
  },
);

test('an attempt before the service first sent its time has no bounds', () => {
  const { attempt, earliest, window } = story();
  attempt(null, NOON, UNCERTAIN);
  expect([window().bounds, earliest()]).toEqual([undefined, undefined]);
});

test('a write that the service itself reported as failed is over', () => {
  const { attempt, window } = story();
  attempt(NOON, NOON + 2000, UNCERTAIN, { status: 500 });
  expect(window().bounds).toEqual(bounds(NOON, NOON + 2000, NOON + 2000 + SETTLE));
});

test('a write that another party reported as failed may still be made', () => {
  const { attempt, window } = story();
  attempt(NOON, NOON + 2000, UNCERTAIN, { status: 502 });
  expect(window().bounds?.untilMs).toBe(NOON + 2000 + SETTLE);
});

test('a service whose clock went back during the attempt needs no less time', () => {
  const { attempt, window } = story();
  attempt(NOON, NOON - DAY, UNCERTAIN);
  expect(window().bounds).toEqual(bounds(NOON, NOON + SETTLE, NOON + SETTLE));
});

test('an attempt of a killed push may have departed late, and takes effect as long as the service may work on it', () => {
  const { begin, kill, earliest, window } = story();
  begin(NOON);
  const open = bounds(NOON, NOON + SENT_BY + SETTLE, NOON + SENT_BY + SETTLE);
  expect(window().bounds).toEqual(open);
  kill();
  expect([window().bounds, earliest()]).toEqual([open, NOON]);
});

test('the bounds of an accepted attempt end at its answer', () => {
  const { attempt, window } = story();
  attempt(
    NOON,
    NOON + 2000,
    { state: 'accepted', identCely: 'C-202400101-N00001' },
    { status: 201 },
  );
  expect(window().bounds).toEqual(bounds(NOON, NOON + 2000, NOON + 2000 + SETTLE));
});

test('an attempt that the service did not process has no bounds', () => {
  const { attempt, window } = story();
  attempt(
    NOON - DAY,
    NOON - DAY,
    { state: 'queued', reason: 'said', notBeforeAt: 0 },
    { status: 429 },
  );
  expect(window()).toEqual({ bounds: undefined, accounts: new Set() });
  attempt(NOON, NOON, UNCERTAIN);
  expect(window().bounds?.fromMs).toBe(NOON);
});
