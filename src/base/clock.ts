import { setTimeout as delay } from 'node:timers/promises';

/** Time, passed in so that tests need no sleeping. Milliseconds since 1970 UTC, with fractions where the system has them. */
export type Clock = {
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
  },
};
