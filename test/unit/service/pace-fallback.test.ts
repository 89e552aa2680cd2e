import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { openFallbackPaceStore } from '../../../src/service/http/fallback-pace-store.ts';
import {
  type PaceState,
  type PaceStore,
  PaceStoreError,
} from '../../../src/service/http/pace-store.ts';
import { makePace } from '../../../src/service/http/pacer.ts';
import { eventually } from '../../support/eventually.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { memoryPaceStore } from './memory-pace-store.ts';

type Health = 'up' | 'unavailable' | 'rejected';

/** A shared store whose health can be changed, with its fallback, and a pace on top. */
async function scene(health: Health = 'up') {
  const clock = manualClock();
  const state = { health, latencyMs: 0, connections: 0 };
  const texts: string[] = [];
  const shared = new Map<string, PaceState>();
  const inMemory = memoryPaceStore(clock, shared);
  const failing = <T>(work: () => Promise<T>): Promise<T> =>
    state.health === 'up' ? work() : Promise.reject(new PaceStoreError(state.health, state.health));
  const update: PaceStore['update'] = async (scopes, change) => {
    if (state.latencyMs > 0) await clock.sleep(state.latencyMs);
    return failing(() => inMemory.update(scopes, change));
  };
  const open = () =>
    openFallbackPaceStore({
      connect: () => {
        if (state.health === 'rejected') return Promise.reject(new ConfigError('refused'));
        return failing(async () => {
          state.connections += 1;
          const close = (): void => {
            state.connections -= 1;
          };
          return { update, close };
        });
      },
      local: memoryPaceStore(clock),
      fallbackIntervalMs: 2000,
      clock,
      random: () => 0.5,
      onLost: (reason) => texts.push(`lost: ${reason}`),
      onBack: () => texts.push('back'),
    });
  const store = await open();
  const pace = makePace({ store, clock, scopes: ['address:a'], intervalMs: 100 });
  const left: number[] = [];
  const leaveFor = async (ms: number): Promise<number[]> => {
    const from = left.length;
    const stop = new AbortController();
    const leaving = (async () => {
      while (!stop.signal.aborted) {
        (await pace.acquire(stop.signal)).depart();
        left.push(clock.monotonicMs());
      }
    })();
    await clock.advance(ms);
    stop.abort(new DOMException('stopped', 'AbortError'));
    await leaving.catch(() => undefined);
    return left.slice(from);
  };
  return { clock, state, said: texts, store, pace, left, leaveFor, inMemory };
}

function smallestGap(times: readonly number[]): number {
  return Math.min(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
}

test('a lost store is reported once, slows requests at once, is probed, and is reported when it returns', async () => {
  const { leaveFor, said: texts, state, left } = await scene();
  await leaveFor(1000);
  state.health = 'unavailable';
  const alone = await leaveFor(20_000);
  expect(texts).toEqual(['lost: unavailable']);
  expect(smallestGap(alone)).toBeGreaterThanOrEqual(2000);
  expect(alone.length).toBeGreaterThanOrEqual(8);
  state.health = 'up';
  await leaveFor(2500);
  expect(texts).toEqual(['lost: unavailable', 'back']);
  expect((await leaveFor(5000)).length).toBeGreaterThan(40);
  expect(smallestGap(left)).toBeGreaterThanOrEqual(100);
});

test('the first request without the store waits for a whole interval and a random part of one', async () => {
  const { clock, leaveFor, state } = await scene();
  await leaveFor(1000);
  state.health = 'unavailable';
  const lostAt = clock.monotonicMs();
  const [first = 0] = await leaveFor(6000);
  expect(first - lostAt).toBeGreaterThanOrEqual(2900);
});

test('a store that is missing from the start is waited for without delaying requests', async () => {
  const { leaveFor, said: texts, state } = await scene('unavailable');
  expect((await leaveFor(10_000)).length).toBeGreaterThanOrEqual(3);
  state.health = 'up';
  await leaveFor(3000);
  expect(texts).toEqual(['lost: unavailable', 'back']);
});

test('a store that refuses at the start is an error; one that refuses later is lost', async () => {
  await expect(scene('rejected')).rejects.toThrow(ConfigError);
  const { leaveFor, said: texts, state } = await scene();
  await leaveFor(1000);
  state.health = 'rejected';
  await leaveFor(3000);
  expect(texts).toEqual(['lost: rejected']);
});

test('the store is not used again while a request of this machine is about to depart', async () => {
  const { clock, pace, said: texts, state } = await scene('unavailable');
  const taking = pace.acquire();
  await clock.advance(4000);
  const turn = await taking;
  state.health = 'up';
  await clock.advance(1500);
  await pace.getWaitMs();
  await clock.advance(10);
  await pace.getWaitMs();
  expect(texts).toEqual(['lost: unavailable']);
  turn.depart();
  await clock.advance(10);
  await eventually(async () => {
    await pace.getWaitMs();
    return texts;
  }).toEqual(['lost: unavailable', 'back']);
  expect(await pace.getWaitMs()).toBeGreaterThan(90);
});

test('a store that answers again is connected to once, however long a request delays its use', async () => {
  const { clock, pace, state } = await scene('unavailable');
  const taking = pace.acquire();
  await clock.advance(3000);
  const turn = await taking;
  state.health = 'up';
  for (let looks = 0; looks < 4; looks += 1) {
    await clock.advance(1100);
    await pace.getWaitMs();
  }
  expect(state.connections).toBe(1);
  turn.release();
});

test('while the store is being used again, no request of this machine departs without it', async () => {
  const { clock, state, said: texts, store } = await scene();
  const look = () =>
    store.update(['address:a'], (_states, _nowMs, minIntervalMs) => ({ result: minIntervalMs }));
  state.health = 'unavailable';
  expect(await look()).toBe(2000);
  state.health = 'up';
  await clock.advance(1000);
  expect(await look()).toBe(2000);
  await clock.advance(1);
  state.latencyMs = 5;
  const looks = Promise.all([look(), look(), look()]);
  await clock.advance(100);
  expect(await looks).toEqual([undefined, undefined, undefined]);
  expect(texts).toEqual(['lost: unavailable', 'back']);
});

test('a programming error is not mistaken for a lost store', async () => {
  const { store, said: texts } = await scene();
  const mistaken = store.update(['address:a'], () => {
    throw new TypeError('ours');
  });
  await expect(mistaken).rejects.toThrow('ours');
  expect(texts).toEqual([]);
});
