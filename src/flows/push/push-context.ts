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
} from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Pace } from '../../http/pacer.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Entry, EntryKind, EntryState, Photograph } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { Outcome, ReadIdentCely } from '../../pas-api/outcome.ts';
import type { Session } from '../../pas-api/session.ts';
import { type BreakerMemory, type Breakers, type OpenCircuit, withoutStopCounters } from './circuit-breaker.ts';

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
  /**
   * Upper bound: an answer may have been written as soon as it was asked for, and was read late where the process was paused. Uses the wall
   * clock where it advanced more, as through a sleep of the machine.
   */
  latest(): ServerMs | undefined;
  /** Takes the time from the answers of an exchange. */
  observe(send: Exchange): Exchange;
};

/** A `Date` header counts whole seconds. */
const HEADER_PRECISION_MS = 1000;

export function createServerClock(clock: Clock): ServerClock {
  let heard: { readonly at: ServerMs; readonly askedOn: Moment; readonly readOn: Moment } | undefined;
  return {
    now: () => (heard === undefined ? undefined : asServerMs(heard.at + clock.monotonicMs() - heard.readOn.monotonicMs)),
    latest: () =>
      heard === undefined ? undefined : asServerMs(heard.at + HEADER_PRECISION_MS + measureElapsedMs(clock, heard.askedOn)),
    observe: (send) => async (request) => {
      const askedOn = readClock(clock);
      const response = await send(request);
      const at = parseDate(response.headers['date']);
      if (at !== undefined) heard = { at, askedOn, readOn: readClock(clock) };
      return response;
    },
  };
}

/** A `Date` header (RFC 9110, 6.6.1); undefined for what is none. */
export function parseDate(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : asServerMs(at);
}

/**
 * Trust that the service itself answers. Until it is `verified`, one request is under way at a time. After an answer that may
 * not have been the service's own the peer is `suspect` until a probe went through; then one entry is tried (`probing`).
 */
export type Peer = 'unverified' | 'verified' | 'suspect' | 'probing';

export type PushCounts = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
};

/** All that earlier answers of a push tell about later ones. Immutable. */
export type PushState = {
  readonly peer: Peer;
  readonly breakers: Breakers;
  /** Projects in which two imports collided: from then on one at a time. */
  readonly serialProjects: ReadonlySet<string>;
  readonly counts: PushCounts;
  /** Nothing is sent before, after the connection failed. */
  readonly backoffUntil: WallMs;
  /** The last answer that may have been a throttle or a lock, to tell the two apart. */
  readonly lastBusy: { readonly recordKey: string; readonly at: WallMs } | undefined;
  /** Entries whose last answer was outside the contract. */
  readonly nonConforming: ReadonlySet<number>;
  /** A write of this account went through, or a probe did: a refusal then concerns one record. */
  readonly accessProven: boolean;
};

export function makeInitialState(breakers: Breakers): PushState {
  return {
    peer: 'unverified',
    breakers: withoutStopCounters(breakers),
    serialProjects: new Set(),
    counts: { accepted: 0, refused: 0, requests: 0, throttled: 0, locked: 0 },
    backoffUntil: asWallMs(0),
    lastBusy: undefined,
    nonConforming: new Set(),
    accessProven: false,
  };
}

export type AttemptFacts = {
  readonly entry: Entry;
  readonly project: string | null;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly token: string;
  readonly departedAt: MonotonicMs;
  readonly endedAt: MonotonicMs;
  readonly now: WallMs;
  /** Consecutive failures of the entry before this attempt. */
  readonly failuresBefore: number;
  /** Attempts in a row that were refused without findings. */
  readonly collisionsBefore: number;
  /** Another import of the project was under way during the attempt. */
  readonly besideImport: boolean;
  /** One of those was accepted meanwhile, so that the two may have been given one number. */
  readonly besideAccepted: boolean;
  /** Answer to the access probe, where one was sent on account of this attempt. */
  readonly access: Outcome | undefined;
};

export type Effect =
  /** Starts nothing more; what is under way is waited for. */
  | { readonly type: 'stop'; readonly cause: StopCause }
  /** Slows the pace down; with `stopReason` the push ends until that pause is over. */
  | {
      readonly type: 'slow-down';
      readonly departedAt: MonotonicMs;
      readonly retryAfterMs: number | undefined;
      readonly stopReason: Message | undefined;
    }
  /** Queues again what was refused before its circuit opened. */
  | { readonly type: 'requeue-refused'; readonly entryIds: ReadonlySet<number>; readonly reason: Message }
  | {
      readonly type: 'move-to-back';
      readonly kind: EntryKind;
      readonly project: string;
      readonly record: string | null;
      readonly reason: Message;
    }
  | { readonly type: 'report-open-circuit'; readonly circuit: OpenCircuit; readonly until: WallMs }
  /** Carried out after the attempt is settled. */
  | { readonly type: 'renew-token'; readonly refused: string }
  /** The attempt is decided once more with the answer ({@link AttemptFacts.access}); the settlement at hand is void. */
  | { readonly type: 'probe-access' }
  /** Carried out before the next request. */
  | { readonly type: 'probe-peer' };

export type Step = {
  readonly state: PushState;
  /** To be carried out in this order. */
  readonly effects: readonly Effect[];
};

export type Decision = Step & { readonly settlement: Settlement };
