import { setImmediate as turn } from 'node:timers/promises';
import { type Message, msg } from '../../base/message.ts';
import type { Slot } from '../../http/pacer.ts';
import { LongPauseError } from '../../http/retry-after.ts';
import {
  type Claim,
  claim,
  forgetImpossibleWaits,
  nextDue,
  nextDueAt,
  nextInTime,
  recoverInterrupted,
  type Settlement,
  settle,
} from '../../outbox/claims.ts';
import { entriesInState, move } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import { dropOutdated } from '../../outbox/latest-number.ts';
import { againAt } from '../../outbox/tries.ts';
import { entryText } from '../finds/entry-words.ts';
import { takeFromOwner } from '../reconcile/change-owner.ts';
import { isHeld } from './hold-number.ts';
import { type LeftOut, leftOutNow } from './left-out.ts';
import {
  dueQuery,
  hasRoom,
  isAbort,
  limitReached,
  type PushContext,
  type PushRun,
  reportSettled,
  type StopCause,
  startRun,
} from './push-run.ts';
import { renew, signedIn } from './push-sign-in.ts';
import { requestOf, type Sent, sendOnce } from './send-entry.ts';
import { settlementOf } from './settle-outcome.ts';
import { heedWalls } from './walls.ts';
import { askWhoAnswers, forbidden, noteWhoAnswers } from './who-answers.ts';

export type PushResult = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
  readonly elapsedMs: number;
  /** Whose user name it was made under: another one than the profile's where the token is another account's. Absent where nobody was asked. */
  readonly sentAs: string | undefined;
  /** Entries whose last answer was outside the contract. */
  readonly oddlyAnswered: readonly number[];
  /** What is still queued because something refuses all that is like it. */
  readonly leftOut: readonly LeftOut[];
  /** Absent when nothing was left to send. */
  readonly stopCause: StopCause | undefined;
};

/** A queue that must wait longer than this is left for a later push. */
const MOST_WAIT_MS = 120_000;

/**
 * Sends what is due until nothing is: take the oldest entry, wait for its slot, write down that it is being sent, send
 * it, and settle it by what came back, with many requests under way at once and one for any record. To be called while
 * holding the outbox's lease.
 */
export async function push(context: PushContext): Promise<PushResult> {
  const startedMs = context.clock.monotonicMs();
  const run = startRun(context);
  takeUpUnsettled(run);
  try {
    await sendAll(run);
  } finally {
    // Also after an error: what is under way is settled before anybody else may take the outbox.
    await Promise.allSettled([...run.flights.values()].map(({ done }) => done));
  }
  const { outbox } = context;
  // Another account's, which waited while a later one was sent, is to be sent no more.
  outbox.change(() => dropOutdated(outbox, outbox.serviceId));
  const elapsedMs = context.clock.monotonicMs() - startedMs;
  const { stopCause } = run;
  const leftOut = leftOutNow(context.walls, context.clock);
  return { ...run.counts, elapsedMs, oddlyAnswered: [...run.oddlyAnswered], sentAs: context.outbox.username, leftOut, stopCause };
}

async function sendAll(run: PushRun): Promise<void> {
  const { outbox, stop } = run.context;
  for (;;) {
    if (run.failure !== undefined) throw run.failure.thrown;
    if (stop.aborted) run.stopCause ??= { kind: 'interrupted' };
    const entry = mayStart(run) ? nextDue(outbox, dueQuery(run)) : undefined;
    if (entry === undefined) {
      if (!(await waitForMore(run))) return;
    } else if (run.trust === 'shaken') await askWhoAnswers(run);
    else if (!(await isHeld(run, entry))) await launch(run, entry);
  }
}

/** What an earlier push left open. */
function takeUpUnsettled(run: PushRun): void {
  const { outbox } = run.context;
  for (const entry of recoverInterrupted(outbox)) {
    if (entry.kind !== 'number') {
      reportSettled(run, entry, { state: 'uncertain', reason: msg`pas stopped while the request was under way` });
    }
  }
  outbox.change(() => {
    forgetImpossibleWaits(outbox);
    dropOutdated(outbox, outbox.serviceId);
    for (const entry of entriesInState(outbox, 'uncertain')) {
      if (entry.kind === 'number' && entry.doubt === null)
        move(outbox, entry, 'queued', { notBeforeAt: againAt(outbox, entry.id) });
    }
  });
}

function mayStart(run: PushRun): boolean {
  return (
    !run.halt.aborted &&
    run.failure === undefined &&
    hasRoom(run) &&
    !limitReached(run) &&
    run.context.clock.now() >= run.holdUntilMs
  );
}

/** Waits until an answer comes or an entry's time does. False when there is nothing left to wait for. */
async function waitForMore(run: PushRun): Promise<boolean> {
  const { clock, outbox, stop } = run.context;
  const stopping = run.stopCause !== undefined || limitReached(run);
  const dueAt = stopping || !hasRoom(run) ? undefined : nextDueAt(outbox, dueQuery(run));
  if (dueAt === undefined && run.flights.size === 0) return false;
  const now = clock.now();
  const untilMs = dueAt === undefined ? undefined : Math.max(dueAt, run.holdUntilMs);
  if (untilMs !== undefined && untilMs - now > MOST_WAIT_MS && run.flights.size === 0) {
    run.stopCause = { kind: 'not-yet', reason: waitingText(nextInTime(outbox, dueQuery(run))), untilMs };
    return false;
  }
  const waiting = new AbortController();
  const timer =
    untilMs === undefined ? [] : [untilAborted(clock.sleep(Math.max(1, untilMs - now), AbortSignal.any([waiting.signal, stop])))];
  await Promise.race([...[...run.flights.values()].map(({ done }) => done), ...timer]);
  waiting.abort();
  return true;
}

export function waitingText(entry: Entry | undefined): Message {
  if (entry === undefined) return msg`the remaining entries must wait`;
  const [what, reason] = [entryText(entry.kind, entry.localId ?? entry.identCely), entry.reason ?? ''];
  return msg`the remaining entries must wait; ${what}: ${reason}`;
}

async function untilAborted(wait: Promise<unknown>): Promise<void> {
  try {
    await wait;
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
  }
}

/** What the pace gives; undefined where the push ends before that. */
async function unlessEnding<T>(run: PushRun, wait: Promise<T>): Promise<T | undefined> {
  try {
    return await wait;
  } catch (thrown) {
    if (thrown instanceof LongPauseError) {
      run.stopCause ??= { kind: 'waiting', reason: thrown.reason, untilMs: thrown.untilMs };
    } else if (!isAbort(thrown)) throw thrown;
    return undefined;
  }
}

/** Takes the entry's slot and sends it; its answer is waited for elsewhere. */
async function launch(run: PushRun, entry: Entry): Promise<void> {
  const { outbox, pace, session } = run.context;
  const { halt } = run;
  const pauseMs = await pace.waitMs();
  await unlessEnding(run, pace.approach(halt));
  const token = await signedIn(run, session.token(halt));
  if (token === undefined || !mayStart(run)) return;

  const claimed = claim(outbox, entry.id, (current) => {
    const { method, url } = requestOf(run.context, current);
    return { method, path: new URL(url).pathname, accountId: run.context.accountId };
  });
  if (claimed === undefined) return;
  const request = requestOf(run.context, claimed.entry);
  const slot = await departOrGiveBack(run, claimed);
  if (slot === undefined) return;
  const pacedMs = pauseMs + slot.waitedMs;
  run.counts.requests += 1;

  const done = sendOnce(run.context, claimed.entry, request, token, slot)
    .then((sent) => settleSent(run, claimed, sent, pacedMs))
    .catch((thrown: unknown) => {
      // Nobody may be waiting for this answer now, so what broke is kept for whoever looks next.
      run.failure ??= { thrown };
    })
    .finally(() => run.flights.delete(entry.id));
  run.flights.set(entry.id, { entry: claimed.entry, done });
  // The request leaves in this turn of the event loop. What the next one asks of the outbox is not to make it late.
  await turn();
}

/** Takes the slot. Stopped before it could leave, the entry is as it was: nobody need wonder what became of it. */
async function departOrGiveBack(run: PushRun, claimed: Claim): Promise<Slot | undefined> {
  let slot: Slot | undefined;
  let leaves = false;
  try {
    run.context.onClaimed?.();
    slot = await unlessEnding(run, run.context.pace.depart(run.halt));
    leaves = slot !== undefined && mayStart(run);
  } finally {
    const back: Settlement = { state: 'queued', reason: msg`stopped before it was sent`, notBeforeAt: 0 };
    if (!leaves) {
      slot?.giveBack();
      settle(run.context.outbox, claimed, back, { outcome: 'never-left' });
    }
  }
  return leaves ? slot : undefined;
}

async function settleSent(run: PushRun, claimed: Claim, sent: Sent, pacedMs: number): Promise<void> {
  const { entry } = claimed;
  run.context.report({
    type: 'attempt',
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    status: sent.status ?? null,
    ms: Math.round(sent.tookMs),
    paced_ms: Math.round(pacedMs),
  });
  noteWhoAnswers(run, entry, sent);
  const settlement = unlessOwned(run, entry, heedWalls(run, entry, sent, await decide(run, entry, sent)));
  settle(run.context.outbox, claimed, settlement, {
    outcome: sent.outcome.kind === 'never-arrived' && sent.outcome.cut ? 'cut' : sent.outcome.kind,
    ...(sent.status === undefined ? {} : { status: sent.status }),
    ...(sent.serverDateAt === undefined ? {} : { serverDateAt: sent.serverDateAt }),
  });
  if (settlement.state === 'accepted' || settlement.state === 'refused') run.counts[settlement.state] += 1;
  reportSettled(run, entry, settlement);
  if (sent.outcome.kind === 'unauthorised') await renew(run, entry, sent.token);
}

async function decide(run: PushRun, entry: Entry, sent: Sent): Promise<Settlement> {
  switch (sent.outcome.kind) {
    case 'unauthorised':
      return { state: 'queued', reason: msg`the token had run out`, notBeforeAt: run.context.clock.now() };
    case 'forbidden':
      return forbidden(run, entry, sent.outcome, sent.token);
    default:
      return settlementOf(run, entry, sent.outcome, sent.departedAtMs);
  }
}

/** An identifier that another find has already shows that the service lost that one, or that the answer is an older one's. */
function unlessOwned(run: PushRun, entry: Entry, settlement: Settlement): Settlement {
  if (entry.kind !== 'import' || settlement.state !== 'accepted') return settlement;
  const { identCely } = settlement;
  const owner = takeFromOwner(run.context.outbox, entry, identCely);
  if (owner === undefined) return settlement;
  const find = owner.localId ?? '';
  const reason = msg`the service gave it the record ${identCely}, which was that of ${find}: look at the service which of them it has`;
  reportSettled(run, owner, { state: 'uncertain', reason });
  return { state: 'uncertain', reason };
}
