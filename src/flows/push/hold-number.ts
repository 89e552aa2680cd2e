import { msg } from '../../base/message.ts';
import { sha512Of } from '../../http/digest.ts';
import { NoAnswerError } from '../../http/exchange.ts';
import { applySettlement } from '../../outbox/claims.ts';
import { importOfFind, recordKey } from '../../outbox/entries.ts';
import type { Entry, NumberEntry } from '../../outbox/entry.ts';
import { closeAttempt, openAttempt } from '../../outbox/journal.ts';
import { type Straggler, stragglers } from '../../outbox/latest-number.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { sealOf } from '../../outbox/seal.ts';
import { lastAnswer, madeBeforeMs } from '../../outbox/server-time.ts';
import { accessProbe } from '../../pas-api/requests.ts';
import { askAccess } from './ask-access.ts';
import { isSettledByLook } from './look-at-number.ts';
import { type PushContext, type PushRun, reportSettled } from './push-run.ts';
import { dateOf } from './send-entry.ts';
import { neverArrived, refusal } from './settle-outcome.ts';

/** The service's clock counts whole seconds, and a request leaves a moment after it is written down. */
const MARGIN_MS = 5000;

/**
 * Whether an entry must not be sent now: it is not what was queued any more, or a number that has to wait or was settled by a look. A
 * number waits while an earlier one of its record may still be on its way: arriving later, that one would overwrite it.
 * It goes back to the queue until then. The service's clock decides, for this machine's may have been set meanwhile; where the service
 * has not said the time since, it is asked.
 */
export async function isHeld(run: PushRun, entry: Entry): Promise<boolean> {
  if (!isAsQueued(run.context.outbox, entry)) {
    const settlement = refusal(entry, msg`the disk holds something else than what was queued: give it up and queue it again`, []);
    applySettlement(run.context.outbox, entry, settlement);
    run.counts.refused += 1;
    reportSettled(run, entry, settlement);
    return true;
  }
  if (entry.kind !== 'number') return false;
  return (await isBehindAnother(run, entry)) || (await isSettledByLook(run, entry));
}

/** Whether an entry still is what was queued: a disk may have changed it since. */
function isAsQueued(outbox: ServiceOutbox, entry: Entry): boolean {
  if (entry.kind === 'import') {
    const { document, documentSha512 } = entry;
    return document !== null && documentSha512?.equals(sha512Of(document)) === true;
  }
  const { findId, identCely, seal } = entry;
  const made = findId === null ? undefined : importOfFind(outbox, findId);
  const isOfItsFind = made?.state !== 'accepted' || made.identCely === identCely;
  return isOfItsFind && recordKey(entry) === entry.recordKey && (seal === null || sealOf(entry).equals(seal));
}

async function isBehindAnother(run: PushRun, entry: NumberEntry): Promise<boolean> {
  const { clock, outbox } = run.context;
  const others = stragglers(outbox, entry);
  if (others.length === 0) return false;
  let waitMs = waitByService(run.context, others);
  if (waitMs === undefined) {
    const trouble = await askTheTime(run.context, entry);
    if (trouble !== undefined) {
      applySettlement(outbox, entry, neverArrived(run, trouble.says, clock.now()));
      return true;
    }
    waitMs = waitByService(run.context, others) ?? waitByThisMachine(run.context, others);
  }
  if (waitMs <= 0) return false;
  const reason = msg`an earlier number of this record may still be on its way to the service`;
  applySettlement(outbox, entry, { state: 'queued', reason, notBeforeAt: clock.now() + waitMs });
  return true;
}

/**
 * Undefined where the service must be asked: it has said nothing since, only this machine's clock says that the wait is over, or
 * that clock was set back since.
 */
function waitByService({ clock, outbox, settleMs }: PushContext, others: readonly Straggler[]): number | undefined {
  const last = lastAnswer(outbox);
  if (last === undefined) return undefined;
  const latest = others.map((other) =>
    'attempt' in other ? madeBeforeMs(outbox, other.attempt) : other.doubt.untilMs + last.serverDateAt - last.endedAt,
  );
  if (latest.includes(undefined)) return undefined;
  const leftMs = Math.max(...latest.map((ms) => ms ?? 0)) + settleMs + MARGIN_MS - last.serverDateAt;
  if (leftMs <= 0) return 0;
  const sinceMs = clock.now() - last.endedAt;
  return sinceMs >= 0 && sinceMs < leftMs ? leftMs - sinceMs : undefined;
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
