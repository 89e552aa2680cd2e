import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** Time, passed in so that tests need no sleeping. Milliseconds since 1970 UTC, with fractions where the system has them. */
export type Clock = {
  now(): number;
  /** Milliseconds, with fractions, since some moment before; never set back, and the same for all processes of the machine. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: async (ms, signal) => {
    // Timers count whole milliseconds and fire a little early or late: the last one is waited for in turns of the event loop.
    const endMs = systemClock.monotonicMs() + ms;
    if (ms >= 2) await delay(Math.floor(ms) - 1, undefined, signal === undefined ? {} : { signal });
    while (systemClock.monotonicMs() < endMs) {
      signal?.throwIfAborted();
      await turn();
    }
  },
};
