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

export type OutcomeKind = keyof typeof OUTCOMES;

/** End of an attempt in the journal, including ends without an answer that could be judged. */
export type AttemptOutcome = OutcomeKind | 'not-sent' | 'orphaned';

export const ATTEMPT_OUTCOMES: Readonly<Record<AttemptOutcome, AttemptTraits>> = {
  ...OUTCOMES,
  /** The push ended before the request was sent. */
  'not-sent': { word: msg`not sent`, countsAsFailure: 'neutral' },
  /** The push process died while the request was in flight. */
  orphaned: { word: msg`lost`, countsAsFailure: true },
};
