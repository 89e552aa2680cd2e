import { type Message, msg } from './message.ts';

type AttemptTraits = {
  /** Text for people. */
  readonly word: Message;
  /** True lengthens the backoff of the entry, false resets it, `neutral` leaves it. */
  readonly countsAsFailure: boolean | 'neutral';
};

/**
 * Meanings of answers of the service, or of a missing one. The compiler names the places that must
 * handle a new kind.
 */
export const OUTCOMES = {
  accepted: { word: msg`accepted`, countsAsFailure: false },
  'already-applied': { word: msg`already applied`, countsAsFailure: false },
  refused: { word: msg`refused`, countsAsFailure: false },
  /**
   * Refused without findings; repeated only where two imports of one project may have requested the
   * same number at once.
   */
  'refused-unspecified': { word: msg`refused`, countsAsFailure: false },
  /** Refused by a server between pas and the service, so the entry need not be at fault. */
  'refused-by-intermediary': { word: msg`refused before the service`, countsAsFailure: true },
  forbidden: { word: msg`not allowed`, countsAsFailure: false },
  unauthorised: { word: msg`not signed in`, countsAsFailure: 'neutral' },
  throttled: { word: msg`too many requests`, countsAsFailure: 'neutral' },
  busy: { word: msg`record busy`, countsAsFailure: true },
  closed: { word: msg`service closed`, countsAsFailure: 'neutral' },
  'not-delivered': { word: msg`not delivered`, countsAsFailure: 'neutral' },
  /** A part of the request was sent, and the connection was lost before its last byte. */
  cut: { word: msg`interrupted`, countsAsFailure: true },
  'content-changed': { word: msg`file changed`, countsAsFailure: false },
  uncertain: { word: msg`uncertain`, countsAsFailure: true },
} as const satisfies Record<string, AttemptTraits>;

/** Meaning of an answer, or of a missing one. */
export type OutcomeKind = keyof typeof OUTCOMES;

/** End of an attempt, including ends without an answer that could be judged. */
export type AttemptOutcome = OutcomeKind | 'not-sent' | 'orphaned';

/** Traits of each end of an attempt. */
export const ATTEMPT_OUTCOMES: Readonly<Record<AttemptOutcome, AttemptTraits>> = {
  ...OUTCOMES,
  /** The push ended before the request was sent. */
  'not-sent': { word: msg`not sent`, countsAsFailure: 'neutral' },
  /** The push process died while the request was in flight. */
  orphaned: { word: msg`lost`, countsAsFailure: true },
};

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Limits of retries and backoffs, in milliseconds and counts. How long a 429 pauses is the pace's:
 * `pauseAfterThrottle` in service/http/pacer.ts.
 *
 * | pause that the service asks for | limit | in |
 * |---|---|---|
 * | any `Retry-After`, as parsed | 31 years | service/http/exchange.ts |
 * | of all processes, after a throttle | 1 h | service/http/pace-store.ts |
 * | for which a request to the service waits, else the command ends | 2 min | service/http/pacer.ts |
 * | for which a push waits, else it ends | 2 min | `push` below |
 * | for which a harvest waits, else it ends | 5 min | service/http/exchange.ts |
 */
export const RETRY_POLICY = {
  /**
   * Backoff of one entry by its consecutive failures: it doubles, and from `slowAfter` failures on
   * it is that of `slow`.
   */
  entry: { minMs: SECOND_MS, maxMs: 30 * SECOND_MS, slowAfter: 8 },
  /** Backoff of an entry that a quick repeat would not help. */
  slow: { minMs: 5 * MINUTE_MS, maxMs: HOUR_MS },
  /** Repeats of an import that was refused without findings, though it was not sent alone. */
  collision: { maxRepeats: 4 },
  /** New tokens for one entry. */
  token: { maxRenewals: 3 },
  /** Backoff of all entries after consecutive connection failures. */
  connection: { minMs: SECOND_MS, maxMs: 10 * SECOND_MS },
  /**
   * Busy answers that slow down the pace as a throttle does: for different records within
   * `windowMs`, or for an entry that has failed `maxQuick` times in a row before.
   */
  lock: { windowMs: 2 * SECOND_MS, maxQuick: 3 },
  /** Throttles in a row that end the push. */
  throttle: { maxInRow: 20 },
  /** Failures of the service in a row, of any kind, at which one of this kind ends the push. */
  stopAfter: {
    uncertain: 5,
    cut: 5,
    'refused-by-intermediary': 5,
    'not-delivered': 4,
    closed: 1,
  },
  /** Equal refusals in a row, of different finds, that end their kind and project for a push. */
  refusal: { maxEqual: 5 },
  /** A push ends when its queue must wait longer. */
  push: { maxWaitMs: 2 * MINUTE_MS },
  /**
   * Pauses of a watch between probes of an unreachable or uncertain service, and its polling
   * interval for the outbox.
   */
  watch: {
    minPauseMs: SECOND_MS,
    maxPauseMs: MINUTE_MS,
    maxUncertainPauseMs: HOUR_MS,
    pollMs: SECOND_MS,
    minSearchMs: MINUTE_MS,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * Returns the backoff of an entry in milliseconds after so many consecutive failures, at least 1.
 */
export function computeEntryBackoffMs(failures: number): number {
  const { entry, slow } = RETRY_POLICY;
  return failures < entry.slowAfter
    ? computeBackoffMs(entry, failures)
    : computeBackoffMs(slow, failures - entry.slowAfter + 1);
}

/**
 * Returns the backoff in milliseconds after so many consecutive failures, at least 1: `minMs` after
 * the first, then doubled each time up to `maxMs`.
 */
export function computeBackoffMs(
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
  failures: number,
): number {
  return Math.min(minMs * 2 ** (failures - 1), maxMs);
}
