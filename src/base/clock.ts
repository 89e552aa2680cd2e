import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** Time, passed in so that tests need no sleeping. Milliseconds since 1970 UTC, with fractions where the system has them. */
export type Clock = {
  now(): number;
  /** Milliseconds, with fractions, since some moment before; never set back, and the same for all processes of the machine. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Keeps the whole process busy for `ms` milliseconds, a few at most: nothing comes in between, and it is exact. */
  hold(ms: number): void;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: async (ms, signal) => {
    // Timers count whole milliseconds and fire a little early or late: the last one is waited for in turns of the event loop.
    const endMs = systemClock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - systemClock.monotonicMs()) {
      signal?.throwIfAborted();
      if (leftMs < 2) await turn();
      else await delay(Math.floor(leftMs) - 1, undefined, signal === undefined ? {} : { signal });
    }
  },
  hold: (ms) => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  },
};

/** YYYY-MM-DD where the user is. */
export function localDate(nowMs: number): string {
  const now = new Date(nowMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${String(now.getFullYear()).padStart(4, '0')}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
