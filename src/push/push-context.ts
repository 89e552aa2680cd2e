import type { Readable } from 'node:stream';
import {
  asServerMs,
  asWallMs,
  type Clock,
  type Moment,
  type MonotonicMs,
  measureElapsedMs,
  readClock,
  type ServerMs,
  type WallMs,
} from '../base/clock.ts';
import type { Message } from '../base/message.ts';
import type { RETRY_POLICY } from '../base/retry-policy.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Pace } from '../http/pacer.ts';
import type { Settlement } from '../outbox/claims.ts';
import type { Entry, EntryKind, EntryState, Photograph } from '../outbox/entry.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { Outcome } from '../pas-api/outcome.ts';
import type { Session } from '../pas-api/session.ts';
import type { RefusalRow } from './refusals.ts';

export type PushSettings = {
  readonly kinds: readonly EntryKind[];
  /** Keys of the records to send; undefined for all. */
  readonly subjects: readonly string[] | undefined;
  /** Maximum number of requests. */
  readonly limit: number | undefined;
  readonly maxInFlight: number;
  readonly answerTimeoutMs: number;
  /** Maximum time in milliseconds for which the service may work on a request without an answer. */
  readonly settleMs: number;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly report: (event: PushEvent) => void;
  /** Stops new requests; those in flight are awaited. */
  readonly stop: AbortSignal;
  /** Aborts requests in flight as well. */
  readonly abort: AbortSignal;
};

export type PushContext = PushSettings & {
  readonly outbox: Outbox;
  /** The service's identifier of the sending account. */
  readonly account: string;
  readonly baseUrl: string;
  readonly session: Session;
  readonly send: Exchange;
  readonly openPhotograph: (photograph: Photograph) => Readable;
  /**
   * Checks an entry right before it is sent; true where it must not be, a cause where the push must
   * end.
   * @throws PasError where the service cannot be searched
   */
  readonly holdBeforeDeparture?: ((entry: Entry) => Promise<boolean | StopCause>) | undefined;
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
  /** Five of them got the same refusal: the others of the kind and project stay queued. */
  | {
      readonly type: 'left_out';
      readonly kind: EntryKind;
      readonly project: string;
      readonly status: number | null;
      readonly reason: Message;
      readonly count: number;
      readonly refused: readonly string[];
    };

/** Reports an entry whose state has changed: by an answer, by evidence, or after a killed push. */
export function reportSettled({ report }: Pick<PushSettings, 'report'>, entry: Entry): void {
  report({
    type: 'settled',
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason,
  });
}

/** Cause for a push to end before everything was sent. */
export type StopCause =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed'; readonly reason: Message }
  | { readonly kind: 'unreachable'; readonly reason: Message }
  | { readonly kind: 'not-allowed'; readonly reason: Message }
  /** `waiting`: the service has asked for a pause; `not-yet`: the remaining entries are not due. */
  | { readonly kind: 'waiting' | 'not-yet'; readonly reason: Message; readonly untilMs: number }
  | { readonly kind: 'in-doubt'; readonly reason: Message }
  /** The service would create people that the user has not accepted. */
  | { readonly kind: 'new-people'; readonly reason: Message };

export function isAbort(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
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

export type PushCounts = {
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
};

export type StoppingFailure = keyof typeof RETRY_POLICY.stopAfter;

/** Knowledge from earlier answers of a push. Immutable. */
export type PushState = {
  readonly counts: PushCounts;
  readonly refusals: readonly RefusalRow[];
  /** Failures of the service or of the way to it since its last answer. */
  readonly failures: number;
  /** Throttles since its last other answer. */
  readonly throttles: number;
  /** Nothing is sent before this time, after a failed connection. */
  readonly backoffUntil: WallMs;
  /** The last answer that may mean a throttle or a lock. */
  readonly lastBusy: { readonly subject: string; readonly at: WallMs } | undefined;
  /** Entries whose last answer was outside the contract. */
  readonly nonConforming: ReadonlySet<number>;
  /** A write or a probe of this account succeeded: a refusal concerns one record. */
  readonly accessProven: boolean;
};

export const INITIAL_STATE: PushState = {
  counts: { refused: 0, requests: 0, throttled: 0, locked: 0 },
  refusals: [],
  failures: 0,
  throttles: 0,
  backoffUntil: asWallMs(0),
  lastBusy: undefined,
  nonConforming: new Set(),
  accessProven: false,
};

export type AttemptFacts = {
  readonly entry: Entry;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly token: string;
  readonly departedAt: MonotonicMs;
  readonly now: WallMs;
  /** Consecutive failures of the entry before this attempt. */
  readonly failuresBefore: number;
  /** Consecutive refusals without findings. */
  readonly collisionsBefore: number;
  /** Another import of the project was in flight during the attempt. */
  readonly besideImport: boolean;
  /** Answer to the access probe after this attempt; undefined without one. */
  readonly access: Outcome | undefined;
};

export type Effect =
  /** Starts no more requests; those in flight are awaited. */
  | { readonly type: 'stop'; readonly cause: StopCause }
  /** Slows down the pace; with `stopReason` the push ends until the pause is over. */
  | {
      readonly type: 'slow-down';
      readonly departedAt: MonotonicMs;
      readonly retryAfterMs: number | undefined;
      readonly stopReason: Message | undefined;
    }
  /** Runs after the attempt is settled. */
  | { readonly type: 'renew-token'; readonly refused: string }
  /**
   * The attempt is settled again with the answer ({@link AttemptFacts.access}) instead of this
   * settlement.
   */
  | { readonly type: 'probe-access' };

export type Decision = {
  readonly settlement: Settlement;
  readonly state: PushState;
  /** In the order of execution. */
  readonly effects: readonly Effect[];
};
