import { PasError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context } from '../context.ts';
import { openKeptPhotograph } from '../flows/open-kept-photograph.ts';
import { type PushResult, push } from '../flows/push.ts';
import type { PushEvent } from '../flows/push-run.ts';
import { readRecordIdent } from '../flows/read-record-ident.ts';
import type { Pace } from '../http/pace.ts';
import { entriesInState } from '../outbox/entries.ts';
import type { EntryKind } from '../outbox/entry.ts';
import { entryText, STATE_WORDS, VERDICT_WORDS } from '../outbox/entry-words.ts';
import { gapsOf } from '../outbox/gaps.ts';
import { takeLease } from '../outbox/lease.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { countQueued } from '../outbox/overview.ts';
import type { Session } from '../pas-api/session.ts';
import { printable } from '../ui/terminal.ts';
import type { Interrupts } from './interrupts.ts';
import { otherService } from './other-service.ts';
import { accountOf } from './service.ts';

/** What a push needs, opened once however often it pushes. */
export type Pusher = {
  readonly context: Context;
  readonly outbox: Outbox;
  readonly kinds: readonly EntryKind[];
  readonly recordKeys: readonly string[] | undefined;
  readonly limit: number | undefined;
  readonly takeOver: boolean;
  readonly pace: Pace;
  readonly session: Session;
  readonly interrupts: Interrupts;
};

/** One push to its end, holding the lease, and then a look at what it left in doubt. */
export async function pushOnce(pusher: Pusher): Promise<PushResult> {
  const lease = takeLease(pusher.outbox, { takeOver: pusher.takeOver });
  try {
    let result = await sendDue(pusher);
    const released = new Set<number>();
    for (;;) {
      const absent = await settleDoubts(pusher, result);
      const again = absent.filter((id) => !released.has(id) && !result.oddlyAnswered.includes(id));
      const mayGoOn = result.stopCause === undefined && pusher.limit === undefined && !pusher.interrupts.stop.aborted;
      if (again.length === 0 || !mayGoOn) return result;
      // What is proven absent is in the queue again. It is sent now, but only once, so that a service that loses it each time is left.
      for (const id of again) released.add(id);
      result = joined(result, await sendDue(pusher));
    }
  } finally {
    lease.release();
  }
}

function joined(first: PushResult, second: PushResult): PushResult {
  return {
    accepted: first.accepted + second.accepted,
    refused: first.refused + second.refused,
    requests: first.requests + second.requests,
    throttled: first.throttled + second.throttled,
    locked: first.locked + second.locked,
    elapsedMs: first.elapsedMs + second.elapsedMs,
    oddlyAnswered: [...first.oddlyAnswered, ...second.oddlyAnswered],
    stopCause: second.stopCause,
  };
}

async function sendDue(pusher: Pusher): Promise<PushResult> {
  const { context, outbox, kinds, recordKeys, interrupts } = pusher;
  const profile = context.profile();
  const { send } = await context.connections();
  const counts = countQueued(outbox, profile.name, recordKeys);
  const total = kinds.reduce((sum, kind) => sum + counts[kind], 0);
  const progress = context.terminal.progress(t`Sending`);
  return await push({
    outbox,
    profile: profile.name,
    isOtherService: otherService(context),
    account: accountOf(context, outbox),
    baseUrl: profile.baseUrl,
    kinds,
    recordKeys,
    limit: pusher.limit,
    maxInFlight: profile.maxInFlight,
    answerTimeoutMs: profile.answerTimeoutMs,
    pace: pusher.pace,
    session: pusher.session,
    send,
    openPhotograph: (photograph) => openKeptPhotograph(context.places.photosFolder, photograph),
    readIdentCely: readRecordIdent,
    clock: context.clock,
    report: reporter(context, (done) => progress.update(done, total)),
    stop: interrupts.stop,
    abort: interrupts.abort,
  }).finally(progress.end);
}

/**
 * A push ends by settling what it can. What it cannot stays as it is, and is never the reason for a push to fail.
 * @returns the entries that the service is proven not to have
 */
async function settleDoubts({ context, outbox, recordKeys }: Pusher, result: PushResult): Promise<number[]> {
  const profile = context.profile();
  const uncertain = entriesInState(outbox, profile.name, 'uncertain').length;
  const online = result.stopCause === undefined || result.stopCause.kind === 'in-doubt';
  const isOpen = uncertain > 0 || gapsOf(outbox, profile.name).length > 0;
  if (!isOpen || !online || profile.oaiBase === undefined) return [];
  try {
    const { reconcileEntries } = await import('./reconcile.ts');
    const settled = await reconcileEntries(context, outbox, recordKeys);
    for (const { entry, verdict } of settled) {
      const what = entryText(entry.kind, entry.localId ?? entry.identCely);
      context.terminal.note(`${what}: ${VERDICT_WORDS[verdict.kind]}; ${printable(verdict.reason)}`);
    }
    return settled.filter(({ verdict }) => verdict.kind === 'absent').map(({ entry }) => entry.id);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    const why = printable(thrown.message);
    context.terminal.note(t`What is uncertain could not be looked up: ${why}`);
    return [];
  }
}

function reporter({ terminal }: Context, onSettled: (done: number) => void): (event: PushEvent) => void {
  let done = 0;
  return (event) => {
    terminal.value(event);
    const what = entryText(event.kind, event.find);
    if (event.type === 'attempt') {
      const answer = event.status ?? t`no answer`;
      terminal.detail(t`${what}: ${answer} after ${event.ms} ms, paced ${event.paced_ms} ms`);
      return;
    }
    if (event.state === 'queued') {
      terminal.detail(`${what}: ${printable(event.reason ?? '')}`);
      return;
    }
    done += 1;
    onSettled(done);
    const [state, reason] = [STATE_WORDS[event.state], printable(event.reason ?? '')];
    if (event.state !== 'accepted') terminal.note(t`${what} ${state}: ${reason}`);
  };
}
