import { describe, expect, test } from 'vitest';
import { type AttemptOutcome, computeEntryBackoffMs } from '../../../src/base/outcomes.ts';
import { listAttempts, recordAnswer } from '../../../src/outbox/attempts.ts';
import { countAttemptsInARow, listFailuresInARow } from '../../../src/outbox/entry.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { claimEntry, getEntry, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

/** An entry that was tried with these outcomes, a second apart; null: the attempt is open. */
async function tried(outcomes: readonly (AttemptOutcome | null)[]) {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { entryId } = queueImport(outbox, 'K-1');
  for (const outcome of outcomes) {
    const claimed = claimEntry(outbox, entryId);
    if (outcome !== null)
      recordAnswer(outbox, claimed, { state: 'queued', reason: 'x', notBeforeAt: 0 }, { outcome });
    await clock.advance(1000);
  }
  const entry = getEntry(outbox, entryId);
  const attempts = listAttempts(outbox, entry);
  const refused = countAttemptsInARow(attempts, 'unauthorised');
  return {
    failures: listFailuresInARow(attempts).length,
    refused,
  };
}

test('a failing entry waits longer each time, half a minute at most, and from the eighth time on for minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(computeEntryBackoffMs)).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect(
    [8, 9, 10, 11, 12, 20].map((failures) => computeEntryBackoffMs(failures) / 60_000),
  ).toEqual([5, 10, 20, 40, 60, 60]);
});

describe('consecutive failures', () => {
  test.each<AttemptOutcome>(['busy', 'cut', 'uncertain', 'orphaned', 'refused-by-intermediary'])(
    'include those without effect: %s',
    async (outcome) => {
      expect((await tried(['accepted', outcome, outcome])).failures).toBe(2);
    },
  );

  test.each<AttemptOutcome>(['accepted', 'refused', 'already-applied'])(
    'count from the last conclusive answer: %s',
    async (outcome) => {
      expect((await tried(['busy', 'busy', outcome, 'busy'])).failures).toBe(1);
      expect((await tried(['busy', outcome])).failures).toBe(0);
    },
  );

  test.each<AttemptOutcome>(['throttled', 'closed', 'not-delivered', 'not-sent', 'unauthorised'])(
    'do not include failures unrelated to the entry: %s',
    async (outcome) => {
      expect((await tried(['busy', outcome, 'cut', outcome])).failures).toBe(2);
    },
  );

  test('do not include those under way', async () => {
    expect((await tried(['busy', null])).failures).toBe(1);
  });
});

test.each<[readonly (AttemptOutcome | null)[], number]>([
  [[], 0],
  [['unauthorised'], 1],
  [['unauthorised', 'unauthorised'], 2],
  [['unauthorised', 'cut'], 0],
  [['unauthorised', 'cut', 'unauthorised'], 1],
  [['unauthorised', 'unauthorised', null], 2],
  [[null], 0],
])('of %j, %i in a row ended for want of a sign-in', async (outcomes, count) => {
  expect((await tried(outcomes)).refused).toBe(count);
});
