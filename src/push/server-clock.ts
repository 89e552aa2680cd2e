import {
  asServerMs,
  type Clock,
  type Moment,
  measureElapsedMs,
  readClock,
  type ServerMs,
} from '../base/clock.ts';
import type { Exchange } from '../http/exchange.ts';

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
  /** Reads the time from the answers of an exchange. */
  observe(send: Exchange): Exchange;
};

const HEADER_PRECISION_MS = 1000;

/** Creates the clock of the service, unknown before the first answer. */
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
      const at = parseDate(response.headers['date']);
      if (at !== undefined) heard = { at, askedOn, readOn: readClock(clock) };
      return response;
    },
  };
}

/** Parses a `Date` header (RFC 9110, 6.6.1); undefined for an invalid one. */
export function parseDate(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : asServerMs(at);
}
