import { asServerMs } from '../base/clock.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../base/outcomes.ts';
import { computeEntryBackoffMs, RETRY_POLICY } from '../base/retry-policy.ts';
import type { Attempt, AttemptBounds } from './entry.ts';
import type { AnsweredBody, AttemptedBody, Fact, FactOf } from './facts.ts';
import { readMessage } from './stored-text.ts';

/** Combines attempts with their answers, in the order in which they are displayed. */
export function makeAttempts(
  attempted: readonly FactOf<'attempted'>[],
  facts: readonly Fact[],
): Attempt[] {
  const answers = new Map<string, AnsweredBody>();
  for (const fact of facts) {
    if (fact.kind !== 'answered') continue;
    const before = answers.get(fact.body.attempt);
    // An answer outranks the note of a later push that there was none.
    if (before === undefined || before.outcome === 'orphaned')
      answers.set(fact.body.attempt, fact.body);
  }
  return attempted
    .map(({ id, body }): Attempt => {
      const answer = answers.get(id);
      return {
        id,
        startedAt: body.at,
        method: body.method,
        path: body.path,
        account: body.account,
        bounds: getBounds(body, answer),
        endedAt: answer?.at ?? null,
        serverDateAt: answer?.serverDateMs ?? null,
        status: answer?.status ?? null,
        outcome: answer?.outcome ?? null,
        reason: answer?.reason == null ? null : readMessage(answer.reason),
      };
    })
    .sort((a, b) => a.startedAt - b.startedAt);
}

/**
 * An answer of the service, even a 500, means that it has finished the attempt. After any other end
 * it may still work on it for `settleMs`: a status outside the contract may be a proxy's.
 */
function getBounds(
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

/** Counts the last consecutive attempts that ended with this outcome. */
export function countAttemptsInARow(attempts: readonly Attempt[], outcome: AttemptOutcome): number {
  const ended = attempts.filter(({ endedAt }) => endedAt !== null);
  const other = ended.findLastIndex((attempt) => attempt.outcome !== outcome);
  return ended.length - other - 1;
}

/** Counts the failures of an entry since its last clear answer. */
export function countConsecutiveFailures(attempts: readonly Attempt[]): number {
  return listTrailingFailures(attempts).length;
}

function listTrailingFailures(attempts: readonly Attempt[]): Attempt[] {
  const judged = attempts.filter(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure !== 'neutral',
  );
  const clear = judged.findLastIndex(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure === false,
  );
  return judged.slice(clear + 1);
}

/** Returns when an entry with these attempts may be sent again: 0 until it has failed too often. */
export function getRetryAt(attempts: readonly Attempt[]): number {
  const failures = listTrailingFailures(attempts);
  return failures.length < RETRY_POLICY.entry.slowAfter
    ? 0
    : (failures.at(-1)?.endedAt ?? 0) + computeEntryBackoffMs(failures.length);
}
