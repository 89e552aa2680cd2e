import { type MonotonicMs, type WallMs, wallMs } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Entry, EntryKind } from '../../outbox/entry.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { type Breakers, type OpenCircuit, storedBreakers } from './circuit-breaker.ts';
import type { StopCause } from './push-context.ts';

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

export function initialState(breakers: Breakers): PushState {
  return {
    peer: 'unverified',
    breakers: storedBreakers(breakers),
    serialProjects: new Set(),
    counts: { accepted: 0, refused: 0, requests: 0, throttled: 0, locked: 0 },
    backoffUntil: wallMs(0),
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
