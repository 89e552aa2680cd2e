import { asMonotonicMs, asWallMs, type Clock } from '../../src/base/clock.ts';

export type ManualClock = Clock & {
  /** Advances time and wakes the sleepers that are due. */
  advance(ms: number): Promise<void>;
  readonly sleeping: number;
};

type Sleeper = { readonly untilMs: number; readonly wake: () => void };

/** Time that stands still until it is moved. */
export function manualClock(startMs = Date.UTC(2024, 5, 1)): ManualClock {
  let elapsedMs = 0;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => asWallMs(Math.floor(startMs + elapsedMs)),
    monotonicMs: () => asMonotonicMs(1_000_000 + elapsedMs),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper = {
          untilMs: elapsedMs + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal?.addEventListener('abort', onAbort);
        sleepers.add(sleeper);
      }),
    hold: (ms) => {
      elapsedMs += Math.max(0, ms);
    },
    get sleeping() {
      return sleepers.size;
    },
    async advance(ms) {
      const targetMs = elapsedMs + ms;
      for (;;) {
        await settled();
        const [next] = [...sleepers]
          .filter((sleeper) => sleeper.untilMs <= targetMs)
          .sort((a, b) => a.untilMs - b.untilMs);
        if (next === undefined) break;
        elapsedMs = Math.max(elapsedMs, next.untilMs);
        next.wake();
      }
      elapsedMs = Math.max(elapsedMs, targetMs);
      await settled();
    },
  };
}

/** Moves time on until this is over. */
export async function playOut<T>(
  clock: ManualClock,
  work: Promise<T>,
  stepMs = 10_000,
): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) await clock.advance(stepMs);
  return work;
}

/** Lets all that waits for nothing but its turn go on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
