import { type Message, msg } from './message.ts';

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
   * Position of the entry when it is queued again: `first` before all others, `in-turn` behind
   * those that are due, after the (slow) `backoff` of its consecutive failures, or `never` without
   * a command.
   */
  readonly retry: 'never' | 'first' | 'in-turn' | 'backoff' | 'slow-backoff';
};

const RESULT = {
  countsAsFailure: false,
  mayHaveArrived: false,
  retry: 'never',
} as const;
const NEUTRAL = { countsAsFailure: 'neutral', mayHaveArrived: false } as const;
const FAILED = { countsAsFailure: true, mayHaveArrived: false, retry: 'backoff' } as const;

const TABLE = {
  accepted: { ...RESULT, word: msg`accepted` },
  'already-applied': { ...RESULT, word: msg`already applied` },
  refused: { ...RESULT, word: msg`refused` },
  /**
   * Refused without findings; repeated only where two imports of one project may have requested the
   * same number at once.
   */
  'refused-unspecified': { ...RESULT, word: msg`refused`, retry: 'backoff' },
  /** Refused by a server between pas and the service, so the entry need not be at fault. */
  'refused-by-intermediary': {
    ...FAILED,
    word: msg`refused before the service`,
    retry: 'slow-backoff',
  },
  forbidden: { ...RESULT, word: msg`not allowed` },
  unauthorised: {
    ...NEUTRAL,
    word: msg`not signed in`,
    retry: 'in-turn',
  },
  throttled: {
    ...NEUTRAL,
    word: msg`too many requests`,
    retry: 'first',
  },
  busy: { ...FAILED, word: msg`record busy` },
  closed: {
    ...NEUTRAL,
    word: msg`service closed`,
    retry: 'first',
  },
  'not-delivered': {
    ...NEUTRAL,
    word: msg`not delivered`,
    retry: 'first',
  },
  /** A part of the request was sent, and the connection was lost before its last byte. */
  cut: { ...FAILED, word: msg`interrupted` },
  'content-changed': { ...RESULT, word: msg`file changed` },
  uncertain: {
    ...FAILED,
    word: msg`uncertain`,
    mayHaveArrived: true,
  },
} as const satisfies Record<string, OutcomeTraits>;

export type OutcomeKind = keyof typeof TABLE;

/**
 * Meanings of answers of the service, or of a missing one. The compiler names the places that must
 * handle a new kind.
 */
export const OUTCOMES: Readonly<Record<OutcomeKind, OutcomeTraits>> = TABLE;

/** End of an attempt in the journal, including ends without an answer that could be judged. */
export type AttemptOutcome = OutcomeKind | 'not-sent' | 'orphaned';

export const ATTEMPT_OUTCOMES: Readonly<Record<AttemptOutcome, AttemptTraits>> = {
  ...OUTCOMES,
  /** The push ended before the request was sent. */
  'not-sent': { ...NEUTRAL, word: msg`not sent` },
  /** The push process died while the request was in flight. */
  orphaned: { countsAsFailure: true, mayHaveArrived: true, word: msg`lost` },
};
