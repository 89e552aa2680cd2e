import { type Message, msg } from './message.ts';

/** Scope of a failure. `answer`: the status and the findings decide it; `none`: no failure. */
export type FailureScope = 'none' | 'answer' | 'record' | 'project' | 'kind' | 'service';

type AttemptTraits = {
  /** Text for people. */
  readonly word: Message;
  /** True lengthens the backoff of the entry, false resets it, `neutral` leaves it. */
  readonly countsAsFailure: boolean | 'neutral';
  /** The service may have executed the request although no answer confirms it. */
  readonly mayHaveArrived: boolean;
};

type OutcomeTraits = AttemptTraits & {
  /**
   * True: the service itself answered; false: another server may have answered; `neutral`: there is
   * no answer to judge.
   */
  readonly provesPeer: boolean | 'neutral';
  readonly scope: FailureScope;
  /**
   * Position of the entry when it is queued again: `first` before all others, `in-turn` behind
   * those that are due, after the (slow) `backoff` of its consecutive failures, or `never` without
   * a command.
   */
  readonly retry: 'never' | 'first' | 'in-turn' | 'backoff' | 'slow-backoff';
};

const RESULT = {
  countsAsFailure: false,
  mayHaveArrived: false,
  provesPeer: true,
  retry: 'never',
} as const;
const NEUTRAL = { countsAsFailure: 'neutral', mayHaveArrived: false } as const;
const FAILED = { countsAsFailure: true, mayHaveArrived: false, retry: 'backoff' } as const;

const TABLE = {
  accepted: { ...RESULT, word: msg`accepted`, scope: 'none' },
  'already-applied': { ...RESULT, word: msg`already applied`, scope: 'none' },
  refused: { ...RESULT, word: msg`refused`, scope: 'answer' },
  /**
   * Refused without findings; repeated only where two imports of one project may have requested the
   * same number at once.
   */
  'refused-unspecified': { ...RESULT, word: msg`refused`, scope: 'kind', retry: 'backoff' },
  /** Refused by a server between pas and the service, so the entry need not be at fault. */
  'refused-by-intermediary': {
    ...FAILED,
    word: msg`refused before the service`,
    provesPeer: 'neutral',
    scope: 'kind',
    retry: 'slow-backoff',
  },
  forbidden: { ...RESULT, word: msg`not allowed`, scope: 'answer' },
  unauthorised: {
    ...NEUTRAL,
    word: msg`not signed in`,
    provesPeer: true,
    scope: 'none',
    retry: 'in-turn',
  },
  throttled: {
    ...NEUTRAL,
    word: msg`too many requests`,
    provesPeer: true,
    scope: 'service',
    retry: 'first',
  },
  busy: { ...FAILED, word: msg`record busy`, provesPeer: true, scope: 'record' },
  closed: {
    ...NEUTRAL,
    word: msg`service closed`,
    provesPeer: true,
    scope: 'service',
    retry: 'first',
  },
  'not-delivered': {
    ...NEUTRAL,
    word: msg`not delivered`,
    provesPeer: 'neutral',
    scope: 'service',
    retry: 'first',
  },
  /** A part of the request was sent, and the connection was lost before its last byte. */
  cut: { ...FAILED, word: msg`interrupted`, provesPeer: 'neutral', scope: 'kind' },
  'content-changed': { ...RESULT, word: msg`file changed`, provesPeer: 'neutral', scope: 'none' },
  uncertain: {
    ...FAILED,
    word: msg`uncertain`,
    mayHaveArrived: true,
    provesPeer: false,
    scope: 'service',
  },
} as const satisfies Record<string, OutcomeTraits>;

export type OutcomeKind = keyof typeof TABLE;

/**
 * Meanings of answers of the service, or of a missing one. The compiler names the places that must
 * handle a new kind.
 */
export const OUTCOMES: Readonly<Record<OutcomeKind, OutcomeTraits>> = TABLE;

/** End of an attempt in the journal, including ends without an answer that could be judged. */
export type AttemptOutcome = OutcomeKind | 'not-sent' | 'orphaned' | 'probe';

export const ATTEMPT_OUTCOMES: Readonly<Record<AttemptOutcome, AttemptTraits>> = {
  ...OUTCOMES,
  /** The push ended before the request was sent. */
  'not-sent': { ...NEUTRAL, word: msg`not sent` },
  /** The push process died while the request was in flight. */
  orphaned: { countsAsFailure: true, mayHaveArrived: true, word: msg`lost` },
  /** A request that changes nothing at the service, recorded with the entry that caused it. */
  probe: { ...NEUTRAL, word: msg`check only` },
};
