import { PasError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Slot } from '../http/pace.ts';
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
} from '../outbox/claims.ts';
import { entriesInState, move } from '../outbox/entries.ts';
import type { Entry } from '../outbox/entry.ts';
import { entryText } from '../outbox/entry-words.ts';
import { attemptsInARow } from '../outbox/journal.ts';
import { dropOutdated } from '../outbox/latest-number.ts';
import { againAt } from '../outbox/tries.ts';
import type { Outcome } from '../pas-api/outcome.ts';
import { askAccess } from './ask-access.ts';
import { takeFromOwner } from './change-owner.ts';
import { isHeld } from './hold-number.ts';
import { type LeftOut, leftOutNow } from './left-out.ts';
import {
  dueQuery,
  type Flight,
  limitReached,
  type PushContext,
  type PushRun,
  reportSettled,
  type StopCause,
  startRun,
} from './push-run.ts';
import { requestOf, type Sent, sendOnce } from './send-entry.ts';
import { refusal, settlementOf } from './settle-outcome.ts';
import { heedWalls, putBack } from './walls.ts';

export type PushResult = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
  readonly elapsedMs: number;
  /** Entries whose last answer was outside the contract. */
  readonly oddlyAnswered: readonly number[];
  /** What is still queued because something refuses all that is like it. */
  readonly leftOut: readonly LeftOut[];
  /** Absent when nothing was left to send. */
  readonly stopCause: StopCause | undefined;
};

/** A queue that must wait longer than this is left for a later push. */
const MOST_WAIT_MS = 120_000;
/** A service that refuses every token it gives is not asked for ever. */
const MOST_RENEWALS = 3;

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
  const elapsedMs = context.clock.monotonicMs() - startedMs;
  const { stopCause } = run;
  const leftOut = leftOutNow(context.walls, context.clock);
  return { ...run.counts, elapsedMs, oddlyAnswered: [...run.oddlyAnswered], leftOut, stopCause };
}

async function sendAll(run: PushRun): Promise<void> {
  const { outbox, stop } = run.context;
  for (;;) {
    if (run.failure !== undefined) throw run.failure.thrown;
    if (stop.aborted) run.stopCause ??= { kind: 'interrupted' };
    const entry = mayStart(run) ? nextDue(outbox, dueQuery(run)) : undefined;
    if (entry !== undefined) {
      if (!(await isHeld(run, entry))) await launch(run, entry);
    } else if (!(await waitForMore(run))) return;
  }
}

/** What an earlier push left open. */
function takeUpUnsettled(run: PushRun): void {
  const { outbox } = run.context;
  for (const entry of recoverInterrupted(outbox)) {
    if (entry.kind !== 'number') {
      reportSettled(run, entry, { state: 'uncertain', reason: t`pas stopped while the request was under way` });
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
  const { clock, maxInFlight } = run.context;
  return run.stopCause === undefined && run.flights.size < maxInFlight && !limitReached(run) && clock.now() >= run.holdUntilMs;
}

/** Waits until an answer comes or an entry's time does. False when there is nothing left to wait for. */
async function waitForMore(run: PushRun): Promise<boolean> {
  const { clock, outbox, stop } = run.context;
  const stopping = run.stopCause !== undefined || limitReached(run);
  const dueAt = stopping || run.flights.size >= run.context.maxInFlight ? undefined : nextDueAt(outbox, dueQuery(run));
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

function waitingText(entry: Entry | undefined): string {
  if (entry === undefined) return t`the remaining entries must wait`;
  const [what, reason] = [entryText(entry.kind, entry.localId ?? entry.identCely), entry.reason ?? ''];
  return t`the remaining entries must wait; ${what}: ${reason}`;
}

async function untilAborted(wait: Promise<unknown>): Promise<void> {
  try {
    await wait;
  } catch (thrown) {
    if (!(thrown instanceof Error && thrown.name === 'AbortError')) throw thrown;
  }
}

/** Takes the entry's slot and sends it; its answer is waited for elsewhere. */
async function launch(run: PushRun, entry: Entry): Promise<void> {
  const { clock, outbox, pace, session, stop } = run.context;
  const pauseMs = await pace.waitMs();
  if (pauseMs > MOST_WAIT_MS) {
    run.stopCause = { kind: 'waiting', reason: t`the service asked for a long pause`, untilMs: clock.now() + pauseMs };
    return;
  }
  const token = await session.token();
  await untilAborted(pace.approach(stop));
  if (stop.aborted || run.stopCause !== undefined || run.failure !== undefined) return;

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

  const project = claimed.entry.kind === 'import' ? claimed.entry.project : null;
  const flight: Flight = { entry: claimed.entry, project, overlapped: false };
  for (const { flight: other } of run.flights.values()) {
    if (flight.project === null || other.project !== flight.project) continue;
    other.overlapped = true;
    flight.overlapped = true;
  }
  const done = sendOnce(run.context, claimed.entry.kind, request, token, slot)
    .then((sent) => settleSent(run, flight, claimed, sent, pacedMs))
    .catch((thrown: unknown) => {
      // Nobody may be waiting for this answer now, so what broke is kept for whoever looks next.
      run.failure ??= { thrown };
    })
    .finally(() => run.flights.delete(entry.id));
  run.flights.set(entry.id, { flight, done });
}

/** Takes the slot. Stopped before it could leave, the entry is as it was: nobody need wonder what became of it. */
async function departOrGiveBack({ context }: PushRun, claimed: Claim): Promise<Slot | undefined> {
  try {
    return await context.pace.depart(context.stop);
  } catch (thrown) {
    settle(
      context.outbox,
      claimed,
      { state: 'queued', reason: t`stopped before it was sent`, notBeforeAt: 0 },
      { outcome: 'never-left' },
    );
    if (thrown instanceof Error && thrown.name === 'AbortError') return undefined;
    throw thrown;
  }
}

async function settleSent(run: PushRun, flight: Flight, claimed: Claim, sent: Sent, pacedMs: number): Promise<void> {
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
  if (sent.outcome.kind === 'uncertain' && sent.outcome.outsideContract) run.oddlyAnswered.add(entry.id);
  else run.oddlyAnswered.delete(entry.id);
  const settlement = unlessOwned(run, entry, heedWalls(run, entry, sent, await decide(run, flight, sent)));
  settle(run.context.outbox, claimed, settlement, {
    outcome: sent.outcome.kind === 'never-arrived' && sent.outcome.cut ? 'cut' : sent.outcome.kind,
    ...(sent.status === undefined ? {} : { status: sent.status }),
    ...(sent.serverDateAt === undefined ? {} : { serverDateAt: sent.serverDateAt }),
  });
  if (settlement.state === 'accepted' || settlement.state === 'refused') run.counts[settlement.state] += 1;
  reportSettled(run, entry, settlement);
}

async function decide(run: PushRun, flight: Flight, sent: Sent): Promise<Settlement> {
  switch (sent.outcome.kind) {
    case 'unauthorised':
      return renewed(run, flight.entry, sent.token);
    case 'forbidden':
      return forbidden(run, flight.entry, sent.outcome, sent.token);
    default:
      return settlementOf(run, flight, sent.outcome, sent.departedAtMs);
  }
}

/** An identifier that another find has already shows that the service lost that one, or that the answer is an older one's. */
function unlessOwned(run: PushRun, entry: Entry, settlement: Settlement): Settlement {
  if (entry.kind !== 'import' || settlement.state !== 'accepted') return settlement;
  const { identCely } = settlement;
  const owner = takeFromOwner(run.context.outbox, entry, identCely);
  if (owner === undefined) return settlement;
  const reason = t`the service gave it the record ${identCely}, which was that of ${owner.localId}: look at the service which of them it has`;
  reportSettled(run, owner, { state: 'uncertain', reason });
  return { state: 'uncertain', reason };
}

/** The token ran out: the request was not looked at, so it goes back to the queue and is sent with a new one. */
async function renewed(run: PushRun, entry: Entry, token: string): Promise<Settlement> {
  const { clock, session } = run.context;
  const back: Settlement = { state: 'queued', reason: t`the token had run out`, notBeforeAt: clock.now() };
  try {
    const next = await session.renew(token);
    if (next === token || attemptsInARow(run.context.outbox, entry.id, 'unauthorised') >= MOST_RENEWALS) {
      run.stopCause ??= { kind: 'not-allowed', reason: t`the service refuses the token that it gave` };
    }
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    run.stopCause ??=
      thrown.exitReason === 'notAllowed'
        ? { kind: 'not-allowed', reason: thrown.message }
        : { kind: 'unreachable', reason: thrown.message };
  }
  return back;
}

/** One record refused, or the whole account? A harmless request that passes the same gates tells. */
async function forbidden(
  run: PushRun,
  entry: Entry,
  outcome: Extract<Outcome, { kind: 'forbidden' }>,
  token: string,
): Promise<Settlement> {
  if (!run.accessProven && (await refusedAsAWhole(run, token))) {
    run.stopCause ??= { kind: 'not-allowed', reason: outcome.detail };
    for (const [key, row] of run.context.walls.rows) if (row.answer === '403') putBack(run, key, outcome.detail);
    return { state: 'queued', reason: t`the account is refused: ${outcome.detail}`, notBeforeAt: 0 };
  }
  run.accessProven = true;
  return refusal(entry, outcome.detail, outcome.findings);
}

async function refusedAsAWhole(run: PushRun, token: string): Promise<boolean> {
  const answer = await askAccess(run.context, token);
  return 'status' in answer && answer.status === 403;
}
