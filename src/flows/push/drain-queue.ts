import { setImmediate as turn } from 'node:timers/promises';
import { asServerMs, readClock } from '../../base/clock.ts';
import { DatabaseError, PasError } from '../../base/errors.ts';
import { type Message, msg } from '../../base/message.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import { LongPauseError } from '../../http/exchange.ts';
import type { Slot } from '../../http/pacer.ts';
import { type Claim, claim, clampFutureBackoff, recoverInFlight, type Settlement, settle } from '../../outbox/claims.ts';
import { ENTRY_KINDS, type Entry } from '../../outbox/entry.ts';
import {
  countOpen,
  findEntryById,
  findFormerOwner,
  findNextClaimable,
  findNextClaimableAt,
  findNextScheduled,
  listDraftImports,
  listHeldEntries,
} from '../../outbox/entry-queries.ts';
import { makeDamagedRowError } from '../../outbox/events.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { countQueued } from '../../outbox/overview.ts';
import { reassignRecord, supersedeEarlierNumbers } from '../../outbox/ownership.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { formatEntry } from '../finds/entry-words.ts';
import { countEntryTotals } from '../finds/outbox-status.ts';
import { resolveRecordNames } from '../queue/resolve-finds.ts';
import { getContentKey } from './check-gate.ts';
import type { OpenCircuit } from './circuit-breaker.ts';
import { isAbort, type PushContext, type StopCause } from './push-context.ts';
import { PushSession } from './push-session.ts';
import { buildRequest, MAX_DEPARTURE_MS, type Sent, sendOnce } from './send-entry.ts';

export type PushResult = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
  readonly elapsedMs: number;
  /** Entries whose last answer was outside the contract. */
  readonly nonConforming: readonly number[];
  /** Circuits that are open: their entries stay queued. */
  readonly leftOut: readonly OpenCircuit[];
  /** Absent when nothing was left to send. */
  readonly stopCause: StopCause | undefined;
};

/**
 * Sends what is due until nothing is: take the oldest entry, wait for its slot, write down that it is being sent, send
 * it, and settle it by what came back, with many requests under way at once and one for any record. To be called under the
 * push lock.
 */
export async function drainQueue(context: PushContext): Promise<PushResult> {
  const { clock, outbox } = context;
  const startedAt = clock.monotonicMs();
  const session = new PushSession(context);
  recover(session);
  try {
    await sendAll(session);
  } finally {
    // Also after an error: requests under way are settled before another process may take the outbox.
    await Promise.allSettled([...session.flights.values()].map(({ done }) => done));
  }
  outbox.change(() => supersedeEarlierNumbers(outbox));
  const { state, stopCause, openCircuits } = session;
  const isCovered = ({ kind, project }: OpenCircuit): boolean =>
    openCircuits.some((other) => other.record === null && other.kind === kind && [null, project].includes(other.project));
  const leftOut = openCircuits.filter(
    (circuit) => circuit.record === null || (!isCovered(circuit) && countOpen(outbox, circuit) > 0),
  );
  const elapsedMs = clock.monotonicMs() - startedAt;
  return { ...state.counts, elapsedMs, nonConforming: [...state.nonConforming], leftOut, stopCause };
}

async function sendAll(session: PushSession): Promise<void> {
  const { outbox, stop } = session.context;
  for (;;) {
    if (session.failure !== undefined) throw session.failure.thrown;
    if (stop.aborted) session.stop({ kind: 'interrupted' });
    const entry = session.mayStart ? findNextClaimable(outbox, session.makeClaimableQuery()) : undefined;
    if (entry === undefined) {
      if (!(await waitForMore(session))) return;
    } else if (!(await session.probePeerIfDue()) && !(await isHeld(session, entry))) await launch(session, entry);
  }
}

/** Applies the gate to an entry. A failed look ends the push. */
async function isHeld(session: PushSession, entry: Entry): Promise<boolean> {
  try {
    return (await session.context.holdBeforeDeparture?.(entry)) === true;
  } catch (thrown) {
    if (session.context.stop.aborted) return true;
    if (!(thrown instanceof PasError) || thrown instanceof DatabaseError) throw thrown;
    session.stop({ kind: 'unreachable', reason: thrown.says });
    return true;
  }
}

function recover(session: PushSession): void {
  const { outbox } = session.context;
  const reason = msg`pas stopped while the request was in progress`;
  for (const entry of recoverInFlight(outbox)) session.reportSettled(entry, { state: 'uncertain', reason });
  outbox.change(() => {
    clampFutureBackoff(outbox, RETRY_POLICY.entry.slowMaxMs);
    supersedeEarlierNumbers(outbox);
  });
}

/** Waits until an answer comes or an entry's time does. False when there is nothing left to wait for. */
async function waitForMore(session: PushSession): Promise<boolean> {
  const { clock, outbox, stop } = session.context;
  const { flights } = session;
  const isStopping = session.stopCause !== undefined || session.isLimitReached;
  const dueAt = isStopping || !session.hasRoom ? undefined : findNextClaimableAt(outbox, session.makeClaimableQuery());
  if (dueAt === undefined && flights.size === 0) return false;
  const now = clock.now();
  const untilMs = dueAt === undefined ? undefined : Math.max(dueAt, session.state.backoffUntil);
  if (untilMs !== undefined && untilMs - now > RETRY_POLICY.push.maxWaitMs && flights.size === 0) {
    session.stop({ kind: 'not-yet', reason: explainWaiting(findNextScheduled(outbox, session.makeClaimableQuery())), untilMs });
    return false;
  }
  const waiting = new AbortController();
  const timer =
    untilMs === undefined
      ? []
      : [waitUntilAborted(clock.sleep(Math.max(1, untilMs - now), AbortSignal.any([waiting.signal, stop])))];
  await Promise.race([...[...flights.values()].map(({ done }) => done), ...timer]);
  waiting.abort();
  return true;
}

export function explainWaiting(entry: Entry | undefined): Message {
  if (entry === undefined) return msg`the remaining entries must wait`;
  const [what, reason] = [formatEntry(entry.kind, entry.localId ?? entry.identCely), entry.reason ?? ''];
  return msg`the remaining entries must wait; ${what}: ${reason}`;
}

async function waitUntilAborted(wait: Promise<unknown>): Promise<void> {
  try {
    await wait;
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
  }
}

/** Result of a wait for the pace; undefined where the push ends before that. */
async function waitUnlessEnding<T>(session: PushSession, wait: Promise<T>): Promise<T | undefined> {
  try {
    return await wait;
  } catch (thrown) {
    if (thrown instanceof LongPauseError) {
      session.stop({ kind: 'waiting', reason: thrown.reason, untilMs: thrown.untilMs });
    } else if (!isAbort(thrown)) throw thrown;
    return undefined;
  }
}

/** Takes the entry's slot and sends it; its answer is waited for elsewhere. */
async function launch(session: PushSession, entry: Entry): Promise<void> {
  const { context, halt } = session;
  const { account, outbox, pace, settleMs } = context;
  const pauseMs = (await waitUnlessEnding(session, pace.getWaitMs(halt))) ?? 0;
  await waitUnlessEnding(session, pace.waitUntilNear(halt));
  const token = await session.signIn(context.session.token(halt));
  if (token === undefined || !session.mayStart) return;

  const claimedOn = readClock(context.clock);
  const claimed = claim(outbox, entry.id, (current) => {
    // An entry that changed during the wait passes the gate first.
    if (getContentKey(current) !== getContentKey(entry)) return undefined;
    const { method, url } = buildRequest(context, current);
    return { method, path: new URL(url).pathname, account, settleMs, ...estimateDeparture(context, current) };
  });
  if (claimed === undefined) {
    assertNotClaimable(session, entry);
    return;
  }
  const request = buildRequest(context, claimed.entry);
  const slot = await sendOrRelease(session, claimed);
  if (slot === undefined) return;
  const pacedMs = pauseMs + slot.waitedMs;
  session.count('requests');

  const done = sendOnce(context, claimed.entry, request, token, slot, claimedOn)
    .then((sent) => settleAttempt(session, claimed, sent, pacedMs))
    .catch((thrown: unknown) => {
      // This answer may not be waited for now, so the error is kept for the loop.
      session.failure ??= { thrown };
    })
    .finally(() => session.endFlight(entry));
  session.addFlight(claimed.entry, done);
  // The request leaves in this turn of the event loop. What the next one asks of the outbox is not to make it late.
  await turn();
}

/** One that can never be claimed would be tried for ever. @throws DatabaseError */
function assertNotClaimable(session: PushSession, entry: Entry): void {
  const { outbox } = session.context;
  const next = findNextClaimable(outbox, session.makeClaimableQuery());
  if (next?.id === entry.id && getContentKey(next) === getContentKey(entry))
    throw makeDamagedRowError(outbox.path, msg`entry ${entry.id}`);
}

/** The slowest link that an upload is expected on, in bytes per millisecond. */
const MIN_UPLOAD_RATE = 4;

/** Earliest departure of the request, and latest end of its upload, by the server's clock. */
function estimateDeparture({ answerTimeoutMs, serverClock }: PushContext, entry: Entry) {
  const [now, latest] = [serverClock.now(), serverClock.latest()];
  if (now === undefined || latest === undefined) return { serverMs: null, sentByMs: null };
  const uploadMs = entry.kind === 'photo' ? entry.photograph.sizeBytes / MIN_UPLOAD_RATE : 0;
  return { serverMs: now, sentByMs: asServerMs(latest + MAX_DEPARTURE_MS + answerTimeoutMs + uploadMs) };
}

/** Takes the slot. An entry that cannot leave now, as the push stops or the service asks for a pause, is released as it was. */
async function sendOrRelease(session: PushSession, claimed: Claim): Promise<Slot | undefined> {
  const { outbox, pace } = session.context;
  const endDeparture = session.startDeparture();
  let slot: Slot | undefined;
  let leaves = false;
  try {
    slot = await waitUnlessEnding(session, pace.acquireSoon(session.halt));
    leaves = slot !== undefined && session.mayStart;
  } finally {
    if (!leaves) {
      const reason = session.mayStart ? msg`a pause began before it was sent` : msg`stopped before it was sent`;
      const back: Settlement = { state: 'queued', reason, notBeforeAt: 0 };
      slot?.release();
      endDeparture();
      settle(outbox, claimed, back, { outcome: 'not-sent' });
    }
  }
  return leaves && slot !== undefined ? withEnd(slot, endDeparture) : undefined;
}

function withEnd(slot: Slot, end: () => void): Slot {
  const withEndCall = <T>(result: T): T => {
    end();
    return result;
  };
  return { ...slot, leave: () => withEndCall(slot.leave()), release: () => withEndCall(slot.release()) };
}

async function settleAttempt(session: PushSession, claimed: Claim, sent: Sent, pacedMs: number): Promise<void> {
  const { entry } = claimed;
  session.context.report({
    type: 'attempt',
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    status: sent.status ?? null,
    ms: Math.round(sent.tookMs),
    paced_ms: Math.round(pacedMs),
  });
  const decided = await session.decide(entry, { ...sent, outcome: checkIdentifier(session, entry, sent.outcome) });
  await session.waitUntilDeparted();
  const settlement = checkSettled(session, entry, session.updateSettlement(entry, decided.settlement));
  const endedAt = session.context.serverClock.latest();
  settle(session.context.outbox, claimed, settlement, {
    outcome: sent.outcome.kind,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(sent.status === undefined ? {} : { status: sent.status }),
    ...(sent.serverDateAt === undefined ? {} : { serverDateAt: sent.serverDateAt }),
  });
  if (settlement.state === 'accepted' || settlement.state === 'refused') session.count(settlement.state);
  session.reportSettled(entry, settlement);
  await session.applyAfter(entry, decided.afterwards);
}

/** An import whose answer names a record that is not its own is uncertain, as after an answer that says nothing. */
function checkIdentifier(session: PushSession, entry: Entry, outcome: Outcome): Outcome {
  const detail = outcome.kind === 'accepted' ? identifierProblem(session, entry, outcome.identCely) : undefined;
  return detail === undefined ? outcome : { kind: 'uncertain', detail, outsideContract: false };
}

/** The same once more, since the answer to another import may have named the record since the decision. */
function checkSettled(session: PushSession, entry: Entry, settlement: Settlement): Settlement {
  const reason = settlement.state === 'accepted' ? identifierProblem(session, entry, settlement.identCely) : undefined;
  return reason === undefined ? settlement : { state: 'uncertain', reason };
}

/**
 * An identifier that another find has already shows that the service lost that one, or that the answer is an older one's: both are
 * uncertain, and so is every find that gets it before that is settled. One of another project is no answer to this import.
 */
function identifierProblem(session: PushSession, entry: Entry, identCely: string): Message | undefined {
  if (entry.kind !== 'import') return undefined;
  const { outbox } = session.context;
  const { project } = entry;
  // A temporary project (X-) may be renamed with its finds.
  if (project !== null && !project.startsWith('X-') && !identCely.startsWith(`${project}-`))
    return msg`the service answered with ${identCely}, which is not a record of ${project}`;
  const owner = reassignRecord(outbox, entry, identCely);
  const former = owner ?? findFormerOwner(outbox, entry.id, identCely);
  if (former === undefined) return undefined;
  const reason = findEntryById(outbox, former.id)?.reason;
  if (owner !== undefined) session.reportSettled(owner, { state: 'uncertain', reason: reason ?? '' });
  const find = former.localId ?? '';
  return msg`the service gave it the record ${identCely}, which belonged to ${find}: check at the service which find it is`;
}

export const SENDABLE_KINDS = ENTRY_KINDS;

/**
 * Counts what a push would send.
 * @param names of finds; none means all
 * @throws UsageError for a name of which nothing is known
 */
export function planPush(outbox: Outbox, names: readonly string[]) {
  const recordKeys = names.length === 0 ? undefined : resolveRecordNames(outbox, names);
  return {
    recordKeys,
    queued: countQueued(outbox, recordKeys),
    /** Finds that are not complete, and are named or have numbers or photographs waiting: nothing of them can be sent. */
    drafts: listDraftImports(outbox, recordKeys).flatMap(({ localId }) => localId ?? []),
  };
}

export function countRemainingAfterPush(outbox: Outbox, { nonConforming }: PushResult) {
  return {
    totals: countEntryTotals(outbox),
    held: listHeldEntries(outbox).length,
    /** Entries with an answer outside the contract that a look proved absent: they are to be sent again. */
    stillNonConforming: nonConforming.filter((id) => findEntryById(outbox, id)?.state === 'queued').length,
  };
}
