import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openDatabase } from '../../../src/base/disk/database.ts';
import { openPaceStore, type PaceStore, UNSEEN } from '../../../src/service/http/pace-store.ts';
import { makePace, type Pace, type Turn } from '../../../src/service/http/pacer.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { memoryPaceStore } from './memory-pace-store.ts';

const TWO_SCOPES = ['address:a', 'account:b'];

/** The pace of one address, with a departure each 100 ms. */
function paceOf(
  clock: ManualClock,
  more: { store?: PaceStore; scopes?: readonly string[]; intervalMs?: number } = {},
): Pace {
  const store = memoryPaceStore(clock);
  return makePace({ store, clock, scopes: ['address:a'], intervalMs: 100, ...more });
}

/** Processes that share the pace of one address. */
function sharedPace() {
  const clock = manualClock();
  const store = memoryPaceStore(clock);
  return { clock, of: (scopes = ['address:a']) => paceOf(clock, { store, scopes }) };
}

/** A request that leaves at once; resolves when its bytes are out. */
async function leave(pace: Pace): Promise<void> {
  const turn = await pace.acquire();
  expect(turn.depart()).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
}

async function departures(
  pace: Pace,
  clock: ManualClock,
  count: number,
  withinMs = 60_000,
  prepare: (index: number) => Promise<void> = async () => {},
): Promise<number[]> {
  const times: number[] = [];
  const all = (async () => {
    for (let index = 0; index < count; index += 1) {
      await prepare(index);
      await leave(pace);
      times.push(clock.monotonicMs());
    }
  })();
  await clock.advance(withinMs);
  await all;
  return times;
}

/** Waits for a turn where no other task advances the time. */
async function departing(pace: Pace, clock: ManualClock): Promise<Turn> {
  const taken = pace.acquire();
  while ((await Promise.race([taken, clock.advance(0.5)])) === undefined);
  return taken;
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

test('departures are 102 ms apart to the microsecond, despite claiming and connecting', async () => {
  const clock = manualClock();
  const pace = paceOf(clock, { scopes: TWO_SCOPES });
  const times: number[] = [];
  const all = (async () => {
    for (let index = 0; index < 120; index += 1) {
      await pace.waitUntilNear();
      await clock.sleep(index % 7);
      const turn = await pace.acquire();
      await clock.sleep(0.25 * (index % 4));
      expect(turn.depart()).toBe(true);
      times.push(clock.monotonicMs());
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await clock.advance(60_000);
  await all;
  for (const gap of gaps(times).slice(-50)) expect(gap).toBeCloseTo(102, 3);
});

test.each([
  [
    'a commit that takes 25 ms now and then, as on a busy disk, makes no departure late',
    (index: number) => (index % 5 === 0 ? 25 : 1),
  ],
  ['a disk that takes long is given its time before the turn, from the second claim on', () => 30],
])('%s', async (_, getCommitMs) => {
  const clock = manualClock();
  const pace = paceOf(clock);
  const times = await departures(pace, clock, 90, 60_000, async (index) => {
    await pace.waitUntilNear();
    clock.hold(getCommitMs(index));
  });
  for (const gap of gaps(times).slice(-50)) expect(gap).toBeCloseTo(102, 3);
});

test.each([0.1, 2, 3, 6, 12, 24, 60])(
  'a process suspended for %s ms around its first byte may have departed before or after it',
  async (asideMs) => {
    const clock = manualClock();
    const pace = paceOf(clock);
    await departures(pace, clock, 120, 13_000);
    const turn = await departing(pace, clock);
    expect(turn.depart()).toBe(true);
    const earliestMs = clock.monotonicMs();
    clock.hold(asideMs);
    const latestMs = clock.monotonicMs();
    const [next = 0] = await departures(pace, clock, 1);
    expect(next - latestMs).toBeGreaterThanOrEqual(100 - 0.01);
    expect(next - earliestMs).toBeLessThan(102 + asideMs);
  },
);

test('a turn is taken before its time, and leaving blocks the process until then', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  await leave(pace);
  const leftMs = clock.monotonicMs();
  const waitMs = await pace.getWaitMs();
  const turn = await departing(pace, clock);
  expect(clock.monotonicMs() - leftMs).toBeLessThan(waitMs);
  expect(turn.depart()).toBe(true);
  expect(clock.monotonicMs() - leftMs).toBeCloseTo(waitMs, 3);
});

test('no other process takes the turn of a request that is about to depart', async () => {
  const { clock, of } = sharedPace();
  await leave(of());
  const turn = await departing(of(), clock);
  let otherMs = 0;
  const other = of()
    .acquire()
    .then((taken) => {
      taken.depart();
      otherMs = clock.monotonicMs();
    });
  turn.depart();
  const leftMs = clock.monotonicMs();
  await clock.advance(500);
  await other;
  expect(otherMs - leftMs).toBeGreaterThanOrEqual(100);
});

test('a caller stopped shortly before the turn releases it', async () => {
  const { clock, of } = sharedPace();
  await leave(of());
  const stop = new AbortController();
  const stopped = of().acquire(stop.signal);
  const refused = expect(stopped).rejects.toThrow('stopped');
  await clock.advance((await of().getWaitMs()) - 5);
  stop.abort(new Error('stopped'));
  await refused;
  await departing(of(), clock);
  expect(await of().getWaitMs()).toBeLessThan(125);
});

/** A store in the network that answers only when it is let. */
function slowStore(
  clock: ManualClock,
): PaceStore & { readonly waiting: number; answer(): Promise<void> } {
  const store = memoryPaceStore(clock);
  const waiting: (() => void)[] = [];
  return {
    update: async (scopes, change) => {
      await new Promise<void>((go) => waiting.push(go));
      return store.update(scopes, change);
    },
    get waiting() {
      return waiting.length;
    },
    async answer() {
      for (const go of waiting.splice(0)) go();
      await clock.advance(0);
    },
  };
}

test.each(['getWaitMs', 'waitUntilNear', 'acquire'] as const)(
  'a caller stopped while a network store is slow is released at once (%s)',
  async (wait) => {
    const clock = manualClock();
    const pace = paceOf(clock, { store: slowStore(clock) });
    const stop = new AbortController();
    const stopped = pace[wait](stop.signal);
    const refused = expect(stopped).rejects.toThrow('stopped');
    await clock.advance(0);
    stop.abort(new Error('stopped'));
    await refused;
  },
);

test('a turn that a network store gives to a stopped caller is released', async () => {
  const clock = manualClock();
  const store = slowStore(clock);
  const pace = paceOf(clock, { store });
  const stop = new AbortController();
  const refused = expect(pace.acquire(stop.signal)).rejects.toThrow('stopped');
  await clock.advance(0);
  stop.abort(new Error('stopped'));
  await refused;
  await store.answer();
  expect(store.waiting).toBe(1);
  await store.answer();
  const startedMs = clock.monotonicMs();
  let isNext = false;
  const next = pace.acquire().finally(() => {
    isNext = true;
  });
  while (!isNext) {
    await store.answer();
    await clock.advance(0.5);
  }
  await next;
  expect(clock.monotonicMs() - startedMs).toBeLessThan(125);
});

test('a throttle that arrives shortly before the turn is obeyed', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  await leave(pace);
  let leftMs = 0;
  const leaving = leave(pace).then(() => {
    leftMs = clock.monotonicMs();
  });
  await clock.advance((await pace.getWaitMs()) - 5);
  const heardMs = clock.monotonicMs();
  pace.pauseAfterThrottle(heardMs, 1000);
  await clock.advance(2000);
  await leaving;
  expect(leftMs - heardMs).toBeGreaterThanOrEqual(1000);
});

test('an interval of many seconds lets requests depart, and keeps them apart', async () => {
  const clock = manualClock();
  const pace = paceOf(clock, { intervalMs: 8000 });
  const gapsMs = gaps(await departures(pace, clock, 4));
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(8000);
});

test('the first intervals after a pause are a little longer, and cost less than half a second in total', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  const times = await departures(pace, clock, 120);
  expect(gaps(times)[0]).toBeGreaterThan(110);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(119 * 104 + 500);
});

test('no other process departs while a request with a turn is connecting, unless that never departs', async () => {
  const { clock, of } = sharedPace();
  const slow = of();
  const other = of();
  const turn = await slow.acquire();
  let left = false;
  const waiting = other.acquire().then(() => {
    left = true;
  });
  await clock.advance(400);
  expect(left).toBe(false);
  turn.depart();
  await clock.advance(99);
  expect(left).toBe(false);
  await clock.advance(50);
  expect(left).toBe(true);
  await waiting;
  const after = of().acquire();
  await clock.advance(3005);
  await after;
});

test('a request that took too long to connect may not depart, and does not disturb the holder of the next turn', async () => {
  const { clock, of } = sharedPace();
  const late = await of().acquire();
  const next = of().acquire();
  await clock.advance(3005);
  const turn = await next;
  expect(late.depart()).toBe(false);
  late.release();
  await clock.advance(200);
  let third = false;
  void of()
    .acquire()
    .then(() => {
      third = true;
    });
  await clock.advance(500);
  expect(third).toBe(false);
  expect(turn.depart()).toBe(true);
  await clock.advance(150);
  expect(third).toBe(true);
});

test('a released turn delays others by one interval at most', async () => {
  const { clock, of } = sharedPace();
  const turn = await of().acquire();
  turn.release();
  expect(turn.depart()).toBe(false);
  await clock.advance(0);
  expect(await of().getWaitMs()).toBeLessThan(125);
});

test('two accounts at one address share the pace of the address, two addresses share nothing', async () => {
  const { of } = sharedPace();
  await leave(of(['address:a', 'account:eva']));
  expect(await of(['address:a', 'account:jan']).getWaitMs()).toBeGreaterThanOrEqual(100);
  expect(await of(['address:b', 'account:eva at b']).getWaitMs()).toBe(0);
});

test('after a throttle all requests wait as long as the service asked, then go slower, and slowly recover', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  await leave(pace);
  expect(pace.pauseAfterThrottle(clock.monotonicMs(), 1000)).toBe(1000);
  expect(await pace.getWaitMs()).toBe(1000);
  await clock.advance(1000);
  const gapsMs = gaps(await departures(pace, clock, 500, 120_000));
  expect(gapsMs[50]).toBeGreaterThan(110);
  expect(gapsMs[350]).toBeLessThan(110);
  expect(gapsMs.at(-1)).toBeGreaterThan(104);
  await clock.advance(600_000);
  const later = gaps(await departures(pace, clock, 100));
  expect(later.at(-1)).toBeLessThanOrEqual(104);
});

test('each throttle after the pause doubles the jitter margin, up to a limit', async () => {
  const gapAfter = async (throttles: number): Promise<number> => {
    const clock = manualClock();
    const pace = paceOf(clock);
    await leave(pace);
    for (let time = 0; time < throttles; time += 1) {
      await clock.advance(1);
      pace.pauseAfterThrottle(clock.monotonicMs(), 0);
    }
    return pace.getWaitMs();
  };
  const undisturbed = await gapAfter(0);
  expect((await gapAfter(1)) - undisturbed).toBeCloseTo(10 - 1);
  expect((await gapAfter(2)) - undisturbed).toBeCloseTo(20 - 2);
  expect((await gapAfter(3)) - undisturbed).toBeCloseTo(40 - 3);
  expect(await gapAfter(30)).toBeLessThan(100 * 21 + 20);
});

test('several throttles of the same moment slow down once', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  const leftAt = clock.monotonicMs();
  for (let answer = 0; answer < 10; answer += 1) pace.pauseAfterThrottle(leftAt, undefined);
  await clock.advance(5000);
  const [gap] = gaps(await departures(pace, clock, 2));
  expect(gap).toBeLessThan(125);
});

test('a wait for the next turn ends shortly before it', async () => {
  const clock = manualClock();
  const pace = paceOf(clock);
  await leave(pace);
  let near = false;
  const approached = pace.waitUntilNear().then(() => {
    near = true;
  });
  await clock.advance(70);
  expect(near).toBe(false);
  await clock.advance(20);
  expect(near).toBe(true);
  await approached;
});

test('a clock that was set back, or restarted with its machine, delays requests by one interval at most', async () => {
  const clock = manualClock();
  const before = new Map([
    ['address:a', { ...UNSEEN, lastDepartureMs: 9e12, pausedUntilMs: 9e12 }],
  ]);
  const pace = paceOf(clock, { store: memoryPaceStore(clock, before) });
  const [first = 0, second = 0] = await departures(pace, clock, 2);
  expect(first).toBe(1_000_000 + 102);
  expect(second - first).toBeLessThan(125);
});

test('an interval of 0 disables the pace', async () => {
  const clock = manualClock();
  const pace = paceOf(clock, { intervalMs: 0 });
  await leave(pace);
  expect(await pace.getWaitMs()).toBe(0);
});

test('a departure is recorded before its first byte is sent', () => {
  const path = join(tempFolder(), 'pace.sqlite');
  const clock = manualClock();
  const store = openPaceStore(path, clock);
  let recorded = false;
  void store.update(['address:a'], () => {
    recorded = true;
    return { result: undefined };
  });
  expect(recorded).toBe(true);
  store.close();
});

test.each([
  [
    'a damaged file',
    (path: string) =>
      writeFileSync(path, 'no database at all, but long enough to be taken for one'.repeat(100)),
  ],
  [
    'a file of another format',
    (path: string) => {
      const other = openDatabase(path, { synchronous: 'normal' });
      other.exec('create table shared_pace (something text) strict');
      other.close();
    },
  ],
])('%s is replaced silently', async (_, write) => {
  const path = join(tempFolder(), 'pace.sqlite');
  write(path);
  const clock = manualClock();
  const store = openPaceStore(path, clock);
  expect(await paceOf(clock, { store }).getWaitMs()).toBe(0);
  store.close();
});

test('invalid times and margins in the file delay requests by an hour at most', async () => {
  const clock = manualClock();
  const odd = 1e300;
  const none = 0;
  const oddTimes = {
    lastDepartureMs: none,
    reservedUntilMs: odd,
    pausedUntilMs: odd,
  };
  const states = new Map([['address:a', { ...oddTimes, jitterMs: odd, coldStartMs: odd }]]);
  const pace = paceOf(clock, { store: memoryPaceStore(clock, states) });
  await expect(pace.acquire()).rejects.toThrow(/asked for a pause: nothing is sent until \d{4}-/);
  expect(await pace.readPauseMs()).toBeLessThanOrEqual(3_600_000);
});

test('a pause is an hour at most, whatever was requested', async () => {
  const hourMs = 3_600_000;
  const clock = manualClock();
  const pace = paceOf(clock, { scopes: TWO_SCOPES });
  await leave(pace);
  expect(pace.pauseAfterThrottle(clock.monotonicMs(), 1e12)).toBe(hourMs);
  expect(await pace.readPauseMs()).toBe(hourMs);
});

test('a pace file that another process writes to delays the process in short steps, between which it handles events', async () => {
  const path = join(tempFolder(), 'pace.sqlite');
  const store = openPaceStore(path, systemClock);
  const other = openDatabase(path, { synchronous: 'normal' });
  other.exec('begin immediate');
  const pace = makePace({ store, clock: systemClock, scopes: ['address:a'], intervalMs: 0 });
  const stop = new AbortController();
  const refused = expect(pace.acquire(stop.signal)).rejects.toThrow('stopped');
  stop.abort(new Error('stopped'));
  await refused;
  const taken = pace.acquire();
  other.exec('commit');
  expect((await taken).depart()).toBe(true);
  other.close();
  await new Promise((resolve) => setImmediate(resolve));
  store.close();
});
