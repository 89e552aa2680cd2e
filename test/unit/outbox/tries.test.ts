import { describe, expect, test } from 'vitest';
import { closeAttempt, openAttempt } from '../../../src/outbox/journal.ts';
import { againAt, triesInVain, waitAfter } from '../../../src/outbox/tries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

/** An entry that was tried with these outcomes, a second apart; null: the attempt is open. */
async function tried(outcomes: readonly (string | null)[]) {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { entryId } = queueImport(outbox, 'K-1');
  for (const outcome of outcomes) {
    const id = openAttempt(outbox, entryId, { method: 'POST', path: '/x', accountId: ACCOUNT_ID });
    if (outcome !== null) closeAttempt(outbox, id, { outcome, reason: null });
    await clock.advance(1000);
  }
  return { vain: triesInVain(outbox, entryId), againInMs: againAt(outbox, entryId) - clock.now() + 1000 };
}

test('what is tried in vain waits longer each time, half a minute at most, and from the eighth time on for minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(waitAfter)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect([8, 9, 10, 11, 12, 20].map((tries) => waitAfter(tries) / 60_000)).toEqual([5, 10, 20, 40, 60, 60]);
});

describe('tries in vain', () => {
  test.each(['busy', 'cut', 'uncertain', 'lost'])('are those that came to nothing: %s', async (outcome) => {
    expect((await tried(['accepted', outcome, outcome])).vain).toBe(2);
  });

  test.each(['accepted', 'refused', 'already-current'])('count from the last clear answer: %s', async (outcome) => {
    expect((await tried(['busy', 'busy', outcome, 'busy'])).vain).toBe(1);
    expect((await tried(['busy', outcome])).vain).toBe(0);
  });

  test.each(['throttled', 'closed', 'never-arrived', 'never-left', 'unauthorised', 'asked'])(
    'are not those that were no matter of the entry: %s',
    async (outcome) => {
      expect((await tried(['busy', outcome, 'cut', outcome])).vain).toBe(2);
    },
  );

  test('are not those that are still under way', async () => {
    expect((await tried(['busy', null])).vain).toBe(1);
  });
});

test('what is to be sent again may be at once, but after eight tries in vain waits from the last of them on', async () => {
  const busy = (times: number): string[] => Array.from({ length: times }, () => 'busy');
  expect((await tried(busy(7))).againInMs).toBeLessThan(0);
  expect((await tried(busy(8))).againInMs).toBe(300_000);
  expect((await tried([...busy(8), 'throttled'])).againInMs).toBe(299_000);
  expect((await tried(busy(9))).againInMs).toBe(600_000);
});
