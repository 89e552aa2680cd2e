import { asMonotonicMs, type MonotonicMs } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import { computeCircuitOpenMs, RETRY_POLICY } from '../../base/retry-policy.ts';
import type { EntryKind } from '../../outbox/entry.ts';

/**
 * Counts equal failures without a success between them. Immutable: a failure makes another one. Circuits of projects and kinds are kept
 * from push to push. A counter of failures that stop the push opens no circuit and counts for one push. Of a record, photographs alone
 * have one; for the rest the backoff of its entries is enough, which the journal keeps.
 */
export type CircuitBreaker = {
  /** Name of what the failures have in common; one of another class starts the count again. */
  readonly failureClass: string;
  /** Failures in a row; those about a subject count once. */
  readonly failures: number;
  readonly subjects: ReadonlySet<string>;
  /** Entries that were refused on the way to the threshold. */
  readonly refused: ReadonlySet<number>;
  readonly lastFailureAt: MonotonicMs;
  /** The circuit as it was opened last; half-open from `untilAt` on. */
  readonly opened: OpenCircuit | undefined;
};

type CircuitScope = {
  readonly kind: EntryKind;
  /** Project of the entries; null for all of the kind. */
  readonly project: string | null;
  /** Record of the entries; null for all of the project. */
  readonly record: string | null;
  /** Status of the answers; null where none came. */
  readonly status: number | null;
  readonly reason: Message;
};

/** Entries that are not sent for a while, since those before them failed in one way. They stay queued. */
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
  /** Marks a repeated request: of several that were under way at once, one counts, since they may have failed for one cause. */
  readonly isRepeated: boolean;
};

type CircuitStatus = 'closed' | 'open' | 'half-open';

export function getCircuitStatus(breaker: CircuitBreaker | undefined, now: MonotonicMs): CircuitStatus {
  if (breaker?.opened === undefined) return 'closed';
  return breaker.opened.untilAt > now ? 'open' : 'half-open';
}

export function recordFailure(breaker: CircuitBreaker | undefined, failure: Failure): CircuitBreaker {
  const { failureClass, subject, entryId, at } = failure;
  const isSame = breaker?.failureClass === failureClass;
  const before = isSame ? breaker : withoutCount(breaker, failureClass);
  if (failure.isRepeated && failure.departedAt < before.lastFailureAt) return before;
  const subjects = subject === undefined ? before.subjects : new Set([...before.subjects, subject]);
  const failures = subject === undefined ? before.failures + 1 : subjects.size;
  return { ...before, failures, subjects, refused: new Set([...before.refused, entryId]), lastFailureAt: at };
}

/** A half-open circuit trips with the next failure, since its count stands. */
export function isTripping(breaker: CircuitBreaker, threshold: number, now: MonotonicMs): boolean {
  return breaker.failures >= threshold && getCircuitStatus(breaker, now) !== 'open';
}

/** Opens for twice as long as the last time. Entries that were refused on the way are the caller's to queue again. */
export function openCircuit(
  breaker: CircuitBreaker,
  scope: CircuitScope,
  now: MonotonicMs,
): CircuitBreaker & { readonly opened: OpenCircuit } {
  const openMs = computeCircuitOpenMs(breaker.opened?.openMs ?? 0);
  return { ...breaker, refused: new Set(), opened: { ...scope, untilAt: asMonotonicMs(now + openMs), openMs } };
}

/** Starts the count again; how long the circuit was open last is remembered. */
export function withoutCount(breaker: CircuitBreaker | undefined, failureClass = ''): CircuitBreaker {
  const none = { failures: 0, subjects: new Set<string>(), refused: new Set<number>(), lastFailureAt: asMonotonicMs(0) };
  return { failureClass, ...none, opened: breaker?.opened };
}

/** All breakers by their keys. One that is missing is closed and has counted nothing. */
export type Breakers = ReadonlyMap<string, CircuitBreaker>;

/** The breakers as they are handed from one push to the next. */
export type BreakerMemory = { breakers: Breakers };

export function createBreakers(): BreakerMemory {
  return { breakers: new Map() };
}

export const makeKindKey = (kind: EntryKind): string => kind;
export const makeRecordBreakerKey = (kind: EntryKind, record: string): string => `${kind} of ${record}`;
export const makeProjectKey = (kind: EntryKind, project: string): string => `${kind} ${project}`;
export type StoppingFailure = keyof typeof RETRY_POLICY.stopAfter;
export const makeStopKey = (failure: StoppingFailure): string => `stop ${failure}`;

export function withBreaker(breakers: Breakers, key: string, breaker: CircuitBreaker | undefined): Breakers {
  if (breaker === undefined && !breakers.has(key)) return breakers;
  const next = new Map(breakers);
  if (breaker === undefined) next.delete(key);
  else next.set(key, breaker);
  return next;
}

/** Removes the counters of failures that stop the push, which count for one push. */
export function withoutStopCounters(breakers: Breakers): Breakers {
  const ofService = Object.keys(RETRY_POLICY.stopAfter).map((failure) => makeStopKey(failure as StoppingFailure));
  return new Map([...breakers].filter(([key]) => !ofService.includes(key)));
}

export function openCircuitsAt(breakers: Breakers, now: MonotonicMs): OpenCircuit[] {
  return [...breakers.values()].flatMap((breaker) =>
    breaker.opened !== undefined && getCircuitStatus(breaker, now) === 'open' ? [breaker.opened] : [],
  );
}
