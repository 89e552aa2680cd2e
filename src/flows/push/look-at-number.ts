import { AuthError, ConfigError, PasError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import { applySettlement, type Settlement } from '../../outbox/claims.ts';
import type { NumberEntry } from '../../outbox/entry.ts';
import { evidenceOf, recordEvidence } from '../../outbox/evidence.ts';
import { attemptsOf } from '../../outbox/journal.ts';
import { mayHaveArrived } from '../../outbox/latest-number.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { lastAnswer } from '../../outbox/server-time.ts';
import { windowOf } from '../reconcile/doubt-window.ts';
import { judgeNumber, numbersFromHere, settlesNumber } from '../reconcile/judge-number.ts';
import type { Verdict } from '../reconcile/verdict.ts';
import { type PushRun, reportSettled } from './push-run.ts';

/**
 * A number of which nobody knows whether it arrived would be sent again: first it is looked at whether the record has it by now, and
 * whether somebody else has given it another one meanwhile, which is for a person to decide.
 * @returns whether that settled it
 */
export async function isSettledByLook(run: PushRun, entry: NumberEntry): Promise<boolean> {
  const { lookAt, outbox } = run.context;
  if (lookAt === undefined || !mayHaveArrived(outbox, entry) || isDecided(outbox, entry)) return false;
  const verdict = await verdictOn(run, entry);
  if (run.halt.aborted) return true;
  if (verdict === undefined || !settlesNumber(verdict)) return false;
  const { reason, basis, candidates } = verdict;
  const doubt: Settlement = { state: 'uncertain', reason };
  const settlement: Settlement = verdict.kind === 'found' ? { state: 'accepted', identCely: verdict.identCely, reason } : doubt;
  outbox.change(() => {
    recordEvidence(outbox, entry.id, { serverAt: null, verdict: verdict.kind, basis, reason, candidates });
    applySettlement(outbox, entry, doubt);
    if (verdict.kind === 'found') applySettlement(outbox, { ...entry, state: 'uncertain' }, settlement);
  });
  if (settlement.state === 'accepted') run.counts.accepted += 1;
  reportSettled(run, entry, settlement);
  return true;
}

/** A person has said since what is to be done. */
function isDecided(outbox: ServiceOutbox, { id }: NumberEntry): boolean {
  const [look, attempt] = [evidenceOf(outbox, id).at(-1), attemptsOf(outbox, id).at(-1)];
  return look?.verdict === 'person' && look.foundAt >= (attempt?.startedAt ?? 0);
}

/** Undefined where nobody here may look. */
async function verdictOn(run: PushRun, entry: NumberEntry): Promise<Verdict | undefined> {
  const { clock, lookAt, outbox, settleMs } = run.context;
  const identCely = entry.identCely ?? '';
  try {
    const record = await lookAt?.(identCely);
    const last = lastAnswer(outbox);
    const offsetMs = last === undefined ? 0 : last.serverDateAt - last.endedAt;
    const now = { nowMs: clock.now() + offsetMs, offsetMs };
    const window = windowOf({ outbox, settleMs, user: undefined }, entry, now);
    const view = { ...now, index: { unlisted: new Map<string, number>(), allowanceMs: 0 } };
    return judgeNumber({ identCely, value: entry.value, known: numbersFromHere(outbox, entry), window }, record, view);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    if (thrown instanceof AuthError || thrown instanceof ConfigError) return undefined;
    const reason = msg`which number ${identCely} has by now could not be looked up: ${thrown.says}`;
    return { kind: 'undecided', basis: 'not-looked-up', reason, candidates: [] };
  }
}
