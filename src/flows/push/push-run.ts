import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Pace } from '../../http/pacer.ts';
import type { DueQuery, Settlement } from '../../outbox/claims.ts';
import type { Entry, EntryKind, EntryState, Photograph } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import type { ReadIdentCely } from '../../pas-api/outcome.ts';
import type { Session } from '../../pas-api/session.ts';
import type { RecordEvidence } from '../reconcile/judge-photograph.ts';
import { leftOutNow, type Walls } from './left-out.ts';

/** What a push is given. */
export type PushContext = {
  readonly outbox: ServiceOutbox;
  /** Row of the account in the outbox. */
  readonly accountId: number;
  /** Also what other accounts of the service have queued. */
  readonly anyAccount: boolean;
  readonly baseUrl: string;
  readonly kinds: readonly EntryKind[];
  /** Only the records of these keys, or all. */
  readonly recordKeys: readonly string[] | undefined;
  /** Most requests to send. */
  readonly limit: number | undefined;
  readonly maxInFlight: number;
  readonly answerTimeoutMs: number;
  /** How long after an attempt without answer the service may still be working on it. */
  readonly settleMs: number;
  /** What stood in the way, also of the pushes before this one. */
  readonly walls: Walls;
  readonly pace: Pace;
  readonly session: Session;
  readonly send: Exchange;
  readonly openPhotograph: (photograph: Photograph) => Readable;
  readonly readIdentCely: ReadIdentCely;
  /** A record as the service shows it now; absent where there is no harvesting. */
  readonly lookAt?: ((identCely: string) => Promise<RecordEvidence>) | undefined;
  readonly clock: Clock;
  /** Told before each request leaves, once it is written down. */
  readonly onClaimed?: () => void;
  readonly report: (event: PushEvent) => void;
  /** Start nothing more, but wait for what is under way. */
  readonly stop: AbortSignal;
  /** Give up what is under way, too. */
  readonly abort: AbortSignal;
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
      /** Of the answers; null where none came. */
      readonly status: number | null;
      readonly reason: Message;
      /** How many entries are left out. */
      readonly count: number;
      readonly until: string;
    };

/** Why a push ended before everything was sent. */
export type StopCause =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed'; readonly reason: Message }
  | { readonly kind: 'unreachable'; readonly reason: Message }
  | { readonly kind: 'not-allowed'; readonly reason: Message }
  /** The service has asked for a pause, or what is left waits for its time. */
  | { readonly kind: 'waiting' | 'not-yet'; readonly reason: Message; readonly untilMs: number }
  | { readonly kind: 'in-doubt'; readonly reason: Message };

/**
 * Whether it is the service that answers. Until it has decided something in this push, and after an answer that may not
 * have been its own, one request is under way at a time: `shaken` asks it before anything more is sent, `asked` tries again.
 */
type Trust = 'untried' | 'proven' | 'shaken' | 'asked';

/** What is known while a push goes on. */
export type PushRun = {
  readonly context: PushContext;
  readonly flights: Map<number, { readonly entry: Entry; readonly done: Promise<void> }>;
  /** Projects in which two imports collided: from then on one at a time. */
  readonly serialProjects: Set<string>;
  readonly counts: { accepted: number; refused: number; requests: number; throttled: number; locked: number };
  /** Setting it ends every wait for something that is not under way yet. */
  stopCause: StopCause | undefined;
  /** The push was stopped, or has a cause to end. */
  readonly halt: AbortSignal;
  trust: Trust;
  /** What broke while an answer was written down: nothing more is sent, and the push ends with it. */
  failure: { readonly thrown: unknown } | undefined;
  /** Nothing is sent before, after the network failed. */
  holdUntilMs: number;
  connectFailures: number;
  inDoubtInARow: number;
  throttledInARow: number;
  /** The last answer that may have been a throttle or a lock, to tell the two apart. */
  lastBusy: { readonly recordKey: string; readonly atMs: number } | undefined;
  /** Entries whose last answer was outside the contract. */
  readonly oddlyAnswered: Set<number>;
  /** A write of this account went through, or a probe did: a refusal then concerns one record. */
  accessProven: boolean;
};

export function startRun(context: PushContext): PushRun {
  const ending = new AbortController();
  const halt = AbortSignal.any([context.stop, ending.signal]);
  // One listener for each request under way: that many is no leak.
  setMaxListeners(0, halt);
  let stopCause: StopCause | undefined;
  return {
    context,
    halt,
    trust: 'untried',
    get stopCause() {
      return stopCause;
    },
    set stopCause(cause) {
      stopCause = cause;
      ending.abort();
    },
    flights: new Map(),
    serialProjects: new Set(),
    counts: { accepted: 0, refused: 0, requests: 0, throttled: 0, locked: 0 },
    failure: undefined,
    holdUntilMs: 0,
    connectFailures: 0,
    inDoubtInARow: 0,
    throttledInARow: 0,
    lastBusy: undefined,
    oddlyAnswered: new Set(),
    accessProven: false,
  };
}

/** What may be sent beside that which is under way. */
export function dueQuery(run: PushRun): DueQuery {
  const flights = [...run.flights.values()];
  const active = new Set(flights.flatMap(({ entry }) => (entry.kind === 'import' ? [entry.project] : [])));
  return {
    anyAccount: run.context.anyAccount,
    kinds: run.context.kinds,
    recordKeys: run.context.recordKeys,
    busyRecords: flights.flatMap(({ entry: { recordKey, identCely } }) => [
      recordKey,
      ...(identCely === null ? [] : [identCely]),
    ]),
    busyProjects: [...run.serialProjects].filter((project) => active.has(project)),
    leftOut: leftOutNow(run.context.walls, run.context.clock),
  };
}

/** Whether another request may be under way beside those that are. */
export function hasRoom(run: PushRun): boolean {
  return run.flights.size < (run.trust === 'proven' ? run.context.maxInFlight : 1);
}

export function limitReached(run: PushRun): boolean {
  return run.context.limit !== undefined && run.counts.requests >= run.context.limit;
}

export function isAbort(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

export function reportSettled(run: PushRun, entry: Entry, settlement: Settlement): void {
  run.context.report({
    type: 'settled',
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    state: settlement.state,
    ident_cely: settlement.state === 'accepted' ? settlement.identCely : entry.identCely,
    reason: settlement.reason ?? null,
  });
}
