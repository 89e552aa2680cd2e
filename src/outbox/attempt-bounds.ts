import { asServerMs, type ServerClock, type ServerMs } from '../base/clock.ts';
import type { AnsweredBody, AttemptedBody } from './facts.ts';

/**
 * Time in which the service may have carried out an attempt, by its clock. A record that was made
 * outside of it is not of this attempt.
 *
 * ```
 * fromMs      departure              sentByMs                       settledMs
 *   |  claim  |  upload, at the latest  |  the service may still work   |
 *   |---------------- untilMs without an answer: settledMs -------------|
 *   |---- untilMs with an answer: its arrival ----|
 * ```
 */
export type AttemptBounds = {
  readonly fromMs: ServerMs;
  readonly untilMs: ServerMs;
  /** From then on the service has certainly ended with it. */
  readonly settledMs: ServerMs;
};

/**
 * Maximum time from claim to departure, in milliseconds: a process that was paused for longer must
 * not send.
 */
export const MAX_CLAIM_AGE_MS = 180_000;

type DepartureTimes = {
  /** How long an answer is awaited. */
  readonly answerTimeoutMs: number;
  readonly serverClock: ServerClock;
};

/** Slowest expected upload, in bytes per millisecond. */
const MIN_UPLOAD_RATE = 4;

/**
 * Estimates the earliest departure of a request that is claimed now, and the latest end of its
 * upload, both by the server's clock; null where the server has not stated its time yet.
 * @param uploadBytes size of a photograph; 0 for a request that needs no time worth counting
 */
export function estimateDeparture(
  { answerTimeoutMs, serverClock }: DepartureTimes,
  uploadBytes: number,
): Pick<AttemptedBody, 'fromMs' | 'sentByMs'> {
  const now = serverClock.now();
  const latest = serverClock.latest();
  if (now === undefined || latest === undefined) return { fromMs: null, sentByMs: null };
  return {
    fromMs: now,
    sentByMs: asServerMs(
      latest + MAX_CLAIM_AGE_MS + answerTimeoutMs + uploadBytes / MIN_UPLOAD_RATE,
    ),
  };
}

/**
 * Computes when the service may have carried out an attempt; null where its time was unknown
 * before. An answer of the service, even a 500, means that it has finished the attempt. After any
 * other end it may still work on it for `settleMs`: a status outside the contract may be a proxy's.
 * @param answer undefined while there is none
 */
export function computeAttemptBounds(
  { fromMs, sentByMs, settleMs }: AttemptedBody,
  answer: AnsweredBody | undefined,
): AttemptBounds | null {
  if (fromMs === null) return null;
  const endedMs = asServerMs(Math.max(fromMs, answer?.endedMs ?? sentByMs ?? fromMs));
  const settledMs = asServerMs(endedMs + settleMs);
  const hasEnded =
    answer !== undefined &&
    answer.endedMs !== null &&
    (answer.settles !== 'uncertain' || answer.status === 500);
  return { fromMs, untilMs: hasEnded ? endedMs : settledMs, settledMs };
}
