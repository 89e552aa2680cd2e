import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePace, type PaceState, type PaceStore } from '../../../src/http/pace.ts';
import { openPaceStore } from '../../../src/http/pace-store.ts';
import { manualClock } from '../../support/manual-clock.ts';

function memoryStore(states = new Map<string, PaceState>()): PaceStore {
  return {
    update: (scopes, change) => {
      const { result, next } = change(
        scopes.map((scope) => states.get(scope) ?? { lastDepartureMs: 0, blockedUntilMs: 0, extraMs: 0 }),
      );
      next?.forEach((state, index) => {
        states.set(scopes[index] ?? '', state);
      });
      return result;
    },
  };
}

async function departures(
  pace: ReturnType<typeof makePace>,
  clock: ReturnType<typeof manualClock>,
  count: number,
): Promise<number[]> {
  const times: number[] = [];
  const all = (async () => {
    for (let index = 0; index < count; index += 1) {
      await pace.depart();
      times.push(clock.monotonicMs());
    }
  })();
  await clock.advance(60_000);
  await all;
  return times;
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

test('departures are never closer than the interval, and hardly further apart', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a', 'account:b'], intervalMs: 100 });
  const found = gaps(await departures(pace, clock, 120));
  expect(Math.min(...found)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...found.slice(-20))).toBeLessThanOrEqual(104);
});

test('the first gaps after a pause are a little wider, and cost less than half a second in all', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 100 });
  const times = await departures(pace, clock, 120);
  expect(gaps(times)[0]).toBeGreaterThan(110);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(119 * 104 + 500);
});

test('a departure that was late pushes the next one on', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 100 });
  await pace.depart();
  await clock.advance(30);
  pace.departed();
  expect(pace.waitMs()).toBeGreaterThanOrEqual(100);
});

test('two accounts at one address share the address, two addresses share nothing', async () => {
  const clock = manualClock();
  const store = memoryStore();
  const of = (...scopes: string[]) => makePace({ store, clock, scopes, intervalMs: 100 });
  await of('address:a', 'account:eva').depart();
  expect(of('address:a', 'account:jan').waitMs()).toBeGreaterThanOrEqual(100);
  expect(of('address:b', 'account:eva at b').waitMs()).toBe(0);
});

test('after a throttle everybody waits as long as the service asked, then slower, and recovers', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 100 });
  await pace.depart();
  pace.slowDown(clock.monotonicMs(), 1000);
  expect(pace.waitMs()).toBe(1000);
  await clock.advance(1000);
  const found = gaps(await departures(pace, clock, 200));
  expect(found[0]).toBeGreaterThan(105);
  expect(found.at(-1)).toBeLessThanOrEqual(104);
});

test('several throttles of the same moment slow down once', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 100 });
  const leftAt = clock.monotonicMs();
  for (let answer = 0; answer < 10; answer += 1) pace.slowDown(leftAt, undefined);
  await clock.advance(5000);
  const [gap] = gaps(await departures(pace, clock, 2));
  expect(gap).toBeLessThan(125);
});

test('approach returns shortly before the slot', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 100 });
  await pace.depart();
  let near = false;
  const approached = pace.approach().then(() => {
    near = true;
  });
  await clock.advance(90);
  expect(near).toBe(false);
  await clock.advance(20);
  expect(near).toBe(true);
  await approached;
});

test('a pace left by a machine that has restarted since holds nobody up', () => {
  const clock = manualClock();
  const before = new Map([['address:a', { lastDepartureMs: 9e12, blockedUntilMs: 9e12, extraMs: 0 }]]);
  const pace = makePace({ store: memoryStore(before), clock, scopes: ['address:a'], intervalMs: 100 });
  expect(pace.waitMs()).toBe(0);
});

test('an interval of 0 switches the pace off', async () => {
  const clock = manualClock();
  const pace = makePace({ store: memoryStore(), clock, scopes: ['address:a'], intervalMs: 0 });
  await pace.depart();
  expect(pace.waitMs()).toBe(0);
});

test('processes that open the same file share it', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'pas-pace-')), 'pace.sqlite');
  const clock = manualClock();
  const [first, second] = [openPaceStore(path), openPaceStore(path)];
  makePace({ store: first, clock, scopes: ['address:a'], intervalMs: 100 }).departed();
  expect(makePace({ store: second, clock, scopes: ['address:a'], intervalMs: 100 }).waitMs()).toBeGreaterThanOrEqual(100);
  first.close();
  second.close();
});
