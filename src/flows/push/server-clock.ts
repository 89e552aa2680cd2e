import { type Clock, elapsedMs, type Moment, momentOf, type ServerMs, serverMs } from '../../base/clock.ts';
import type { Exchange } from '../../http/exchange.ts';

/** The time of the service, as this process has heard it last, and the time that has passed since. Undefined before it was heard. */
export type ServerClock = {
  /**
   * Lower bound: a `Date` header counts whole seconds and was written before it arrived, and the monotonic clock stands still while the
   * machine sleeps.
   */
  now(): ServerMs | undefined;
  /** Upper bound: uses the wall clock where it advanced more, as through a sleep of the machine. */
  latest(): ServerMs | undefined;
  /** Takes the time from the answers of an exchange. */
  observing(send: Exchange): Exchange;
};

/** A `Date` header counts whole seconds. */
const HEADER_PRECISION_MS = 1000;

export function createServerClock(clock: Clock): ServerClock {
  let heard: { readonly at: ServerMs; readonly on: Moment } | undefined;
  return {
    now: () => (heard === undefined ? undefined : serverMs(heard.at + clock.monotonicMs() - heard.on.monotonicMs)),
    latest: () => (heard === undefined ? undefined : serverMs(heard.at + HEADER_PRECISION_MS + elapsedMs(clock, heard.on))),
    observing: (send) => async (request) => {
      const response = await send(request);
      const at = parseDate(response.headers['date']);
      if (at !== undefined) heard = { at, on: momentOf(clock) };
      return response;
    },
  };
}

/** A `Date` header (RFC 9110, 6.6.1); undefined for what is none. */
export function parseDate(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : serverMs(at);
}
