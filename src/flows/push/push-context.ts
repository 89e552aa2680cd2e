import type { Readable } from 'node:stream';
import { type Clock, elapsedMs, type Moment, readClock, type ServerMs, serverMs } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Pace } from '../../http/pacer.ts';
import type { Entry, EntryKind, EntryState, Photograph } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { ReadIdentCely } from '../../pas-api/outcome.ts';
import type { Session } from '../../pas-api/session.ts';
import type { BreakerMemory } from './circuit-breaker.ts';

export type PushSettings = {
  readonly kinds: readonly EntryKind[];
  /** Keys of the records to send; undefined for all. */
  readonly recordKeys: readonly string[] | undefined;
  /** Most requests to send. */
  readonly limit: number | undefined;
  readonly maxInFlight: number;
  readonly answerTimeoutMs: number;
  /** Time after an attempt without answer in which the service may still be working on it. */
  readonly settleMs: number;
  /** Circuit breakers, also of the pushes before this one. */
  readonly breakerMemory: BreakerMemory;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly report: (event: PushEvent) => void;
  /** Stops new requests; those under way are awaited. */
  readonly stop: AbortSignal;
  /** Aborts requests under way as well. */
  readonly abort: AbortSignal;
};

export type PushContext = PushSettings & {
  readonly outbox: Outbox;
  /** The service's identifier of the account that sends. */
  readonly account: string;
  readonly baseUrl: string;
  readonly session: Session;
  readonly send: Exchange;
  readonly openPhotograph: (photograph: Photograph) => Readable;
  readonly readIdentCely: ReadIdentCely;
  /** Judges an entry right before it leaves. True where it must not leave now; throws PasError where the service cannot be looked at. */
  readonly holdBeforeDeparture?: ((entry: Entry) => Promise<boolean>) | undefined;
  readonly serverClock: ServerClock;
};

export type PushEvent =
  | {
      readonly type: 'attempt';
      readonly entry: number;
      readonly kind: EntryKind;
      readonly find: string | null;
      readonly status: number | null;
      readonly ms: number;
      readonly paced_ms: number;
    }
  | {
      readonly type: 'settled';
      readonly entry: number;
      readonly kind: EntryKind;
      readonly find: string | null;
      readonly state: EntryState;
      readonly ident_cely: string | null;
      readonly reason: Message | null;
    }
  /** Something that refuses one entry after another: what it concerns stays queued, and is tried again then. */
  | {
      readonly type: 'left_out';
      readonly kind: EntryKind;
      /** Null where it concerns all of the kind. */
      readonly project: string | null;
      /** Set where it concerns one record of the project. */
      readonly record: string | null;
      /** Status of the answers; null where none came. */
      readonly status: number | null;
      readonly reason: Message;
      readonly count: number;
      readonly until: string;
    };

/** Cause for a push to end before everything was sent. */
export type StopCause =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed'; readonly reason: Message }
  | { readonly kind: 'unreachable'; readonly reason: Message }
  | { readonly kind: 'not-allowed'; readonly reason: Message }
  /** The service has asked for a pause, or what is left waits for its time. */
  | { readonly kind: 'waiting' | 'not-yet'; readonly reason: Message; readonly untilMs: number }
  | { readonly kind: 'in-doubt'; readonly reason: Message }
  /** The service would create people that the user has not accepted. */
  | { readonly kind: 'new-people'; readonly reason: Message };

export function isAbort(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

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
      if (at !== undefined) heard = { at, on: readClock(clock) };
      return response;
    },
  };
}

/** A `Date` header (RFC 9110, 6.6.1); undefined for what is none. */
export function parseDate(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : serverMs(at);
}
