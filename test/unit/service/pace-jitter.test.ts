import { expect, test } from 'vitest';
import { makePace } from '../../../src/service/http/pacer.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/random.ts';
import { memoryPaceStore } from './memory-pace-store.ts';

const INTERVAL_MS = 100;
const RETRY_AFTER_MS = 1000;
const BASE_MS = 60;
const SPREAD_MS = 30;

type Link = (sinceLastMs: number) => number;
type Counted = { readonly throttledShare: number; readonly shareOfLimit: number };

/**
 * Sends until `count` requests are let through by a service that measures gaps where they arrive.
 * No real time passes.
 */
async function sendOver(link: Link, count: number): Promise<Counted> {
  const clock = manualClock();
  const pace = makePace({
    store: memoryPaceStore(clock),
    clock,
    scopes: ['address:a'],
    intervalMs: INTERVAL_MS,
  });
  const passed: number[] = [];
  let throttled = 0;
  let leftAt = clock.monotonicMs();
  const sendAll = async (): Promise<void> => {
    while (passed.length < count) {
      (await pace.acquire()).depart();
      const now = clock.monotonicMs();
      const arrivesAt = now + link(now - leftAt);
      leftAt = now;
      if (arrivesAt - (passed.at(-1) ?? -Infinity) >= INTERVAL_MS) {
        passed.push(arrivesAt);
        continue;
      }
      throttled += 1;
      void clock
        .sleep(arrivesAt + BASE_MS - now)
        .then(() => pace.pauseAfterThrottle(now, RETRY_AFTER_MS));
    }
  };
  const done = sendAll();
  await clock.advance(10 * count * INTERVAL_MS);
  await done;
  const spanMs = (passed.at(-1) ?? 0) - (passed[0] ?? 0);
  return {
    throttledShare: throttled / (count + throttled),
    shareOfLimit: ((count - 1) * INTERVAL_MS) / spanMs,
  };
}

/** Moves by `stepMs` in root mean square per 100 ms, and turns round at the bounds. */
function wandering(stepMs: number, seed: number): Link {
  const random = seededRandom(seed).next;
  let offsetMs = 0;
  return (sinceLastMs) => {
    offsetMs += stepMs * Math.sqrt((3 * Math.min(sinceLastMs, 1000)) / 100) * (2 * random() - 1);
    while (Math.abs(offsetMs) > SPREAD_MS)
      offsetMs = 2 * SPREAD_MS * Math.sign(offsetMs) - offsetMs;
    return BASE_MS + offsetMs;
  };
}

function drawnAnew(seed: number): Link {
  const random = seededRandom(seed).next;
  return () => BASE_MS + SPREAD_MS * (2 * random() - 1);
}

test('an undisturbed link is used to 95 % of the limit and more', async () => {
  const { throttledShare, shareOfLimit } = await sendOver(() => BASE_MS, 600);
  expect(throttledShare).toBe(0);
  expect(shareOfLimit).toBeGreaterThan(1 / 1.05);
});

test.each([2, 3, 4])(
  'a latency that drifts by 30 ms, %i ms in each tenth of a second, costs few throttles and little rate',
  async (stepMs) => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { throttledShare, shareOfLimit } = await sendOver(wandering(stepMs, seed), 600);
      expect(throttledShare).toBeLessThan(0.01);
      expect(shareOfLimit).toBeGreaterThan(0.85);
    }
  },
);

// No pace reaches 85 % here; the bound is in docs/decisions/0005-own-pace.md.
test('a random latency for each request is paced down to what is accepted', async () => {
  for (const seed of [1, 2, 3]) {
    const { throttledShare, shareOfLimit } = await sendOver(drawnAnew(seed), 2000);
    expect(throttledShare).toBeLessThan(0.01);
    expect(shareOfLimit).toBeGreaterThan(0.5);
  }
});
