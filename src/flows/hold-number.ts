import { t } from '../base/language.ts';
import { NoAnswerError } from '../http/exchange.ts';
import { applySettlement } from '../outbox/claims.ts';
import type { Entry, NumberEntry } from '../outbox/entry.ts';
import { closeAttempt, openAttempt } from '../outbox/journal.ts';
import { type Straggler, stragglers } from '../outbox/latest-number.ts';
import { lastAnswer, madeBeforeMs } from '../outbox/server-time.ts';
import { accessProbe } from '../pas-api/requests.ts';
import { askAccess } from './ask-access.ts';
import { isSettledByLook } from './look-at-number.ts';
import type { PushContext, PushRun } from './push-run.ts';
import { dateOf } from './send-entry.ts';
import { neverArrived } from './settle-outcome.ts';

/** The service's clock counts whole seconds, and a request leaves a moment after it is written down. */
const MARGIN_MS = 5000;

/**
 * Whether a number must wait since an earlier one of its record may still be on its way: arriving later, that one would overwrite it.
 * It goes back to the queue until then. The service's clock decides, for this machine's may have been set meanwhile; where the service
 * has not said the time since, it is asked.
 */
export async function isHeld(run: PushRun, entry: Entry): Promise<boolean> {
  if (entry.kind !== 'number') return false;
  return (await isBehindAnother(run, entry)) || (await isSettledByLook(run, entry));
}

async function isBehindAnother(run: PushRun, entry: NumberEntry): Promise<boolean> {
  const { clock, outbox } = run.context;
  const others = stragglers(outbox, entry);
  if (others.length === 0) return false;
  let waitMs = waitByService(run.context, others);
  if (waitMs === undefined) {
    const trouble = await askTheTime(run.context, entry);
    if (trouble !== undefined) {
      applySettlement(outbox, entry, neverArrived(run, trouble.message, clock.now()));
      return true;
    }
    waitMs = waitByService(run.context, others) ?? waitByThisMachine(run.context, others);
  }
  if (waitMs <= 0) return false;
  const reason = t`an earlier number of this record may still be on its way to the service`;
  applySettlement(outbox, entry, { state: 'queued', reason, notBeforeAt: clock.now() + waitMs });
  return true;
}

/** Undefined where the service must be asked: it has said nothing since, or only this machine's clock says that the wait is over. */
function waitByService({ clock, outbox, settleMs }: PushContext, others: readonly Straggler[]): number | undefined {
  const last = lastAnswer(outbox);
  if (last === undefined) return undefined;
  const latest = others.map((other) =>
    'attempt' in other ? madeBeforeMs(outbox, other.attempt) : other.doubt.untilMs + last.serverDateAt - last.endedAt,
  );
  if (latest.includes(undefined)) return undefined;
  const leftMs = Math.max(...latest.map((ms) => ms ?? 0)) + settleMs + MARGIN_MS - last.serverDateAt;
  if (leftMs <= 0) return 0;
  const waitMs = leftMs - Math.max(0, clock.now() - last.endedAt);
  return waitMs > 0 ? waitMs : undefined;
}

/** For a service that never says the time. */
function waitByThisMachine({ clock, settleMs }: PushContext, others: readonly Straggler[]): number {
  const latest = others.map((other) => ('attempt' in other ? other.attempt.startedAt : other.doubt.untilMs));
  return Math.max(...latest) + settleMs + MARGIN_MS - clock.now();
}

/** The answer is written down with the entry that it was asked for. */
async function askTheTime(context: PushContext, entry: Entry): Promise<NoAnswerError | undefined> {
  const { accountId, baseUrl, outbox, session } = context;
  const answer = await askAccess(context, await session.token());
  if (answer instanceof NoAnswerError) return answer;
  const serverDateAt = dateOf(answer.headers['date']);
  outbox.change(() => {
    const path = new URL(accessProbe(baseUrl).url).pathname;
    const attemptId = openAttempt(outbox, entry.id, { method: 'GET', path, accountId });
    const said = { outcome: 'asked', status: answer.status, reason: null };
    closeAttempt(outbox, attemptId, serverDateAt === undefined ? said : { ...said, serverDateAt });
  });
  return undefined;
}
