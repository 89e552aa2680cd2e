import { expect, test } from 'vitest';
import { asWallMs } from '../../../src/base/clock.ts';
import type { StopCause } from '../../../src/push/push-context.ts';
import { runWatchLoop, type WatchEvent, type WatchRound } from '../../../src/push/watch.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A watch over rounds that end as they are told to; after the last one nothing is due. */
function watching(
  rounds: readonly (StopCause | 'sent' | undefined)[],
  open: readonly boolean[] = [],
) {
  const time = manualClock();
  const set = { aheadMs: 0 };
  const clock = { ...time, now: () => asWallMs(time.now() + set.aheadMs) };
  const stopper = new AbortController();
  const events: WatchEvent[] = [];
  const pushedAt: number[] = [];
  const probedAt: number[] = [];
  const startedMs = clock.now();
  const due: { atMs: number | undefined } = { atMs: undefined };
  const ended = runWatchLoop({
    clock,
    stop: stopper.signal,
    push: async (): Promise<WatchRound> => {
      const round = rounds[pushedAt.length];
      pushedAt.push(clock.now() - startedMs);
      due.atMs = undefined;
      return round === 'sent' || round === undefined
        ? { accepted: 1, stopCause: undefined }
        : { accepted: 0, stopCause: round };
    },
    probeService: async () => {
      probedAt.push(clock.now() - startedMs);
      return open[probedAt.length - 1] ?? true;
    },
    dueAtMs: () => due.atMs,
    report: (event) => void events.push(event),
  });
  return {
    clock,
    due,
    ended,
    set,
    events,
    probedAt,
    pushedAt,
    startedMs,
    stop: () => stopper.abort(),
  };
}

const AWAY: StopCause = { kind: 'unreachable', reason: 'no network' };

test('a service out of reach is probed after growing pauses, at most once a minute, and pushed to when it returns', async () => {
  const run = watching(
    [AWAY, 'sent'],
    [false, false, false, false, false, false, false, false, true],
  );
  await run.clock.advance(600_000);
  expect(run.probedAt.map((ms) => ms / 1000)).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
  expect(run.pushedAt).toEqual([0, 243_000]);
  run.stop();
  expect(await run.ended).toEqual({ kind: 'interrupted' });
});

test('a reachable service that leaves finds uncertain each time is left alone for longer and longer', async () => {
  const doubt: StopCause = { kind: 'in-doubt', reason: 'two in a row' };
  const run = watching(Array(500).fill(doubt));
  await run.clock.advance(12 * 3_600_000);
  expect(run.pushedAt.length).toBeLessThan(30);
  expect(run.pushedAt.slice(0, 4)).toEqual([0, 1000, 3000, 7000]);
  run.stop();
  await run.ended;
});

test('an entry that must wait does not wait longer where the clock is set back meanwhile', async () => {
  const run = watching(['sent']);
  await run.clock.advance(0);
  run.due.atMs = run.startedMs + 90_000;
  await run.clock.advance(30_000);
  run.set.aheadMs = -86_400_000;
  await run.clock.advance(62_000);
  expect(run.pushedAt).toHaveLength(2);
  run.stop();
  await run.ended;
});

test('an entry that must wait is sent when its time has come', async () => {
  const run = watching(['sent']);
  await run.clock.advance(0);
  run.due.atMs = run.startedMs + 90_000;
  await run.clock.advance(89_000);
  expect(run.pushedAt).toEqual([0]);
  await run.clock.advance(2000);
  expect(run.pushedAt).toEqual([0, 90_000]);
  run.stop();
  await run.ended;
});

test('a refused account ends the watch', async () => {
  const refused: StopCause = { kind: 'not-allowed', reason: 'blocked' };
  const run = watching([refused]);
  await run.clock.advance(0);
  expect(await run.ended).toEqual(refused);
});

test('a stop during a wait ends the watch at once', async () => {
  const run = watching([AWAY]);
  await run.clock.advance(500);
  run.stop();
  expect(await run.ended).toEqual({ kind: 'interrupted' });
  expect(run.pushedAt).toEqual([0]);
});
