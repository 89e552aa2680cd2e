import { setImmediate as letOthersRun } from 'node:timers/promises';

/** Milliseconds since 1970 UTC by the clock of this machine, which may be wrong and may be set. */
export type WallMs = number & { readonly __brand: 'wall' };
/**
 * Milliseconds, with fractions, since an arbitrary moment; never set back, and the same for all
 * processes of the machine.
 */
export type MonotonicMs = number & { readonly __brand: 'monotonic' };
/** Milliseconds since 1970 UTC by the clock of the service. */
export type ServerMs = number & { readonly __brand: 'server' };

// Each marks milliseconds from outside, such as a database or a header, as those of one clock.
export const asWallMs = (ms: number): WallMs => ms as WallMs;
export const asMonotonicMs = (ms: number): MonotonicMs => ms as MonotonicMs;
export const asServerMs = (ms: number): ServerMs => ms as ServerMs;

/** Source of time, passed in so that tests need not sleep. */
export type Clock = {
  /** Whole milliseconds. */
  now(): WallMs;
  monotonicMs(): MonotonicMs;
  /**
   * Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Blocks the event loop for `ms` milliseconds (a few at most), where a timer would be too coarse.
   */
  hold(ms: number): void;
};

/** A moment by both clocks of a machine. */
export type Moment = { readonly monotonicMs: number; readonly at: number };

/** Reads both clocks at once, for {@link measureElapsedMs}. */
export function readClock(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), at: clock.now() };
}

/**
 * Returns the milliseconds since a moment, by the clock that shows more: the monotonic one stops
 * while a machine sleeps, the wall clock may be set back. The result is too large where the wall
 * clock was set forward.
 */
export function measureElapsedMs(clock: Clock, since: Moment): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.now() - since.at);
}

/**
 * Server time, from the last answer and the time elapsed since. Undefined before the first answer.
 */
export type ServerClock = {
  /**
   * Lower bound: a `Date` header has whole seconds, and the monotonic clock stops while the machine
   * sleeps.
   */
  now(): ServerMs | undefined;
  /**
   * Upper bound: the answer may have been written right after the request, and read late by a
   * paused process. Uses the wall clock where it advanced more, as during sleep.
   */
  latest(): ServerMs | undefined;
  /**
   * Wraps `send` to read the time from each answer; one without a valid `Date` leaves the time as
   * it is.
   */
  observe<Request, Response extends DatedAnswer>(
    send: (request: Request) => Promise<Response>,
  ): (request: Request) => Promise<Response>;
};

type DatedAnswer = { readonly headers: Readonly<Record<string, string | undefined>> };

const HEADER_PRECISION_MS = 1000;

/** Creates the clock of the service; its time is undefined before the first dated answer. */
export function createServerClock(clock: Clock): ServerClock {
  let heard:
    | { readonly at: ServerMs; readonly askedOn: Moment; readonly readOn: Moment }
    | undefined;
  return {
    now: () =>
      heard === undefined
        ? undefined
        : asServerMs(heard.at + clock.monotonicMs() - heard.readOn.monotonicMs),
    latest: () =>
      heard === undefined
        ? undefined
        : asServerMs(heard.at + HEADER_PRECISION_MS + measureElapsedMs(clock, heard.askedOn)),
    observe: (send) => async (request) => {
      const askedOn = readClock(clock);
      const response = await send(request);
      const at = parseDateHeader(response.headers['date']);
      if (at !== undefined) heard = { at, askedOn, readOn: readClock(clock) };
      return response;
    },
  };
}

/**
 * Parses a `Date` header (RFC 9110, section 6.6.1) into milliseconds since 1970 UTC; undefined
 * where it is absent or no date. Other forms than those of HTTP are accepted as far as `Date.parse`
 * reads them.
 */
export function parseDateHeader(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : asServerMs(at);
}

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The clocks of this machine. `sleep` is exact to a fraction of a millisecond; for 0 ms or less it
 * resolves at once, even where the signal is aborted.
 */
export const systemClock: Clock = {
  now: () => asWallMs(Date.now()),
  monotonicMs: () => asMonotonicMs(Number(process.hrtime.bigint()) / 1e6),
  sleep: async (ms, signal) => {
    // Timers count whole milliseconds and fire a little early or late, so the last milliseconds are
    // polled on the event loop.
    const endMs = systemClock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - systemClock.monotonicMs()) {
      signal?.throwIfAborted();
      if (leftMs < 2) await letOthersRun();
      else await sleepUntilAborted(Math.min(Math.floor(leftMs) - 1, MAX_TIMER_MS), signal);
      signal?.throwIfAborted();
    }
  },
  hold: (ms) => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  },
};

/**
 * Resolves after `ms` milliseconds, or when the signal is aborted. The timer of Node makes an error
 * with its stack for each abort.
 */
function sleepUntilAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(started);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const started = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/**
 * Formats a moment, in milliseconds since 1970 UTC, as its day in the local time zone: YYYY-MM-DD.
 */
export function formatLocalDate(ms: number): string {
  const moment = new Date(ms);
  const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const month = moment.getMonth() + 1;
  return `${pad(moment.getFullYear(), 4)}-${pad(month, 2)}-${pad(moment.getDate(), 2)}`;
}

/**
 * Settles as the work that `begin` starts, or rejects with the signal's reason as soon as the
 * signal is aborted, even if the work ignores signals. Where it is aborted already, `begin` is not
 * called.
 * @param unwanted called with the result of work that ends after the abort; an error of that work
 * is ignored
 */
export async function rejectOnAbort<T>(
  signal: AbortSignal | undefined,
  begin: () => Promise<T>,
  unwanted: (result: T) => void = () => {},
): Promise<T> {
  if (signal === undefined) return begin();
  signal.throwIfAborted();
  const work = begin();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      work.then(unwanted).catch(() => undefined);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Formats milliseconds since 1970 UTC for programs, in ISO 8601 and UTC; null for null and
 * undefined.
 */
export function formatIso(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
