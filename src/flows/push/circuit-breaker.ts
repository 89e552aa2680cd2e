import { asMonotonicMs, type MonotonicMs } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import { computeCircuitOpenMs, RETRY_POLICY } from '../../base/retry-policy.ts';
import type { EntryKind } from '../../outbox/entry.ts';

/**
 * Counts equal failures without a success between them. Immutable. Circuits of projects and kinds
 * survive a push; a counter of failures that stop the push opens no circuit and counts for one
 * push. Only the photographs of a record have a circuit: for other entries the stored backoff is
 * enough.
 */
export type CircuitBreaker = {
  /** Common cause of the failures; a failure of another class restarts the count. */
  readonly failureClass: string;
  /** Consecutive failures; those of one subject count once. */
  readonly failures: number;
  readonly subjects: ReadonlySet<string>;
  /** Entries that were refused before the threshold was reached. */
  readonly refused: ReadonlySet<number>;
  readonly lastFailureAt: MonotonicMs;
  /** The last open circuit; half-open from `untilAt` on. */
  readonly opened: OpenCircuit | undefined;
};

type CircuitScope = {
  readonly kind: EntryKind;
  /** Project of the entries; null for the whole kind. */
  readonly project: string | null;
  /** Record of the entries; null for the whole project. */
  readonly record: string | null;
  /** Status of the answers; null without an answer. */
  readonly status: number | null;
  readonly reason: Message;
};

/** Entries that are skipped for a while after equal failures of earlier ones. They stay queued. */
export type OpenCircuit = CircuitScope & {
  readonly untilAt: MonotonicMs;
  readonly openMs: number;
};

export type Failure = {
  readonly failureClass: string;
  /** Subject that counts once; undefined where each failure counts. */
  readonly subject: string | undefined;
  readonly entryId: number;
  readonly departedAt: MonotonicMs;
  readonly at: MonotonicMs;
  /**
   * The failed request was a repetition: of several simultaneous ones only the first counts, since
   * they may share a cause.
   */
  readonly isRepeated: boolean;
};

type CircuitStatus = 'closed' | 'open' | 'half-open';

/** Returns if the circuit is closed, open, or half-open once its time has passed. */
export function getCircuitStatus(
  breaker: CircuitBreaker | undefined,
  now: MonotonicMs,
): CircuitStatus {
  if (breaker?.opened === undefined) return 'closed';
  return breaker.opened.untilAt > now ? 'open' : 'half-open';
}

/** Returns the breaker after a failure; one of another class restarts the count. */
export function recordFailure(
  breaker: CircuitBreaker | undefined,
  failure: Failure,
): CircuitBreaker {
  const { failureClass, subject, entryId, at } = failure;
  const isSame = breaker?.failureClass === failureClass;
  const before = isSame ? breaker : withoutCount(breaker, failureClass);
  if (failure.isRepeated && failure.departedAt < before.lastFailureAt) return before;
  const subjects = subject === undefined ? before.subjects : new Set([...before.subjects, subject]);
  const failures = subject === undefined ? before.failures + 1 : subjects.size;
  return {
    ...before,
    failures,
    subjects,
    refused: new Set([...before.refused, entryId]),
    lastFailureAt: at,
  };
}

/**
 * Tells if a breaker opens. A half-open circuit opens with the next failure, since its count
 * remains.
 */
export function isTripping(breaker: CircuitBreaker, threshold: number, now: MonotonicMs): boolean {
  return breaker.failures >= threshold && getCircuitStatus(breaker, now) !== 'open';
}

/** Opens the circuit for twice the last time. The caller requeues the refused entries. */
export function openCircuit(
  breaker: CircuitBreaker,
  scope: CircuitScope,
  now: MonotonicMs,
): CircuitBreaker & { readonly opened: OpenCircuit } {
  const openMs = computeCircuitOpenMs(breaker.opened?.openMs ?? 0);
  return {
    ...breaker,
    refused: new Set(),
    opened: { ...scope, untilAt: asMonotonicMs(now + openMs), openMs },
  };
}

/** Restarts the count, and keeps the last open time. */
export function withoutCount(
  breaker: CircuitBreaker | undefined,
  failureClass = '',
): CircuitBreaker {
  const none = {
    failures: 0,
    subjects: new Set<string>(),
    refused: new Set<number>(),
    lastFailureAt: asMonotonicMs(0),
  };
  return { failureClass, ...none, opened: breaker?.opened };
}

/** All breakers by their keys; a missing one is closed. */
export type Breakers = ReadonlyMap<string, CircuitBreaker>;

/** Passes the breakers from one push to the next. */
export type BreakerMemory = { breakers: Breakers };

export function createBreakers(): BreakerMemory {
  return { breakers: new Map() };
}

export const makeKindKey = (kind: EntryKind): string => kind;
export const makeRecordBreakerKey = (kind: EntryKind, record: string): string =>
  `${kind} of ${record}`;
export const makeProjectKey = (kind: EntryKind, project: string): string => `${kind} ${project}`;
export type StoppingFailure = keyof typeof RETRY_POLICY.stopAfter;
export const makeStopKey = (failure: StoppingFailure): string => `stop ${failure}`;

/** Returns a copy with the breaker of a key replaced, or removed where it is undefined. */
export function withBreaker(
  breakers: Breakers,
  key: string,
  breaker: CircuitBreaker | undefined,
): Breakers {
  if (breaker === undefined && !breakers.has(key)) return breakers;
  const next = new Map(breakers);
  if (breaker === undefined) next.delete(key);
  else next.set(key, breaker);
  return next;
}

/** Removes the counters of failures that stop the push, which count for one push. */
export function withoutStopCounters(breakers: Breakers): Breakers {
  const ofService = Object.keys(RETRY_POLICY.stopAfter).map((failure) =>
    makeStopKey(failure as StoppingFailure),
  );
  return new Map([...breakers].filter(([key]) => !ofService.includes(key)));
}

/** Returns the circuits that are open at this time; half-open ones are left out. */
export function openCircuitsAt(breakers: Breakers, now: MonotonicMs): OpenCircuit[] {
  return [...breakers.values()].flatMap((breaker) =>
    breaker.opened !== undefined && getCircuitStatus(breaker, now) === 'open'
      ? [breaker.opened]
      : [],
  );
}
