import { setImmediate as letOthersRun } from 'node:timers/promises';
import { readClock } from '../base/clock.ts';
import { AuthError, DatabaseError, isAbortError, PasError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { RETRY_POLICY } from '../base/outcomes.ts';
import type { HarvestedFind } from '../finds/harvested-find.ts';
import { matchFinds, toComparableFind } from '../finds/match-finds.ts';
import { estimateDeparture } from '../outbox/attempt-bounds.ts';
import {
  type AttemptSettlement,
  type Claim,
  claimQueuedEntry,
  detachSharedRecord,
  recordAnswer,
} from '../outbox/attempts.ts';
import type { Entry, ImportEntry } from '../outbox/entry.ts';
import {
  countQueuedEntriesOfScope,
  findEntryById,
  findNextClaimableEntry,
} from '../outbox/entry-queries.ts';
import { makeDamagedError } from '../outbox/facts.ts';
import { formatEntry } from '../outbox/views/entry-words.ts';
import { LongPauseError } from '../service/http/exchange.ts';
import type { Turn } from '../service/http/pacer.ts';
import type { Outcome } from '../service/outcome.ts';
import { makeEntryRequest, type SendResult, sendEntryRequest } from './departure.ts';
import { findCreationEvent, getSentElements } from './judge-import.ts';
import { makeEntryContentKey } from './look.ts';
import { makeEntryName, reportSettledEntry, type SignedInPush } from './push-context.ts';
import { type Hold, type PushResult, PushSession } from './push-session.ts';

/**
 * Sends entries in the order in which they are due, until none is left, the next one must wait for
 * long, or the push has a cause to end. For each it waits until the pace's next turn is near,
 * claims the entry by recording its attempt, takes the turn, sends, and settles the entry by the
 * answer. Many requests are in flight at once, but one per record. The caller holds the push lock.
 * @param hold called right before an entry is claimed: true if the entry must not be sent now; a
 * cause where the push must end
 * @throws DatabaseError where an attempt or an answer cannot be recorded, and errors of the first
 * sign-in; requests in flight are settled before
 */
export async function drainQueue(push: SignedInPush, hold: Hold): Promise<PushResult> {
  const { clock, outbox } = push;
  const startedAt = clock.monotonicMs();
  const session = new PushSession(push, hold);
  try {
    await sendAll(session);
  } finally {
    // Also after an error: requests in flight are settled before the lock is released.
    await Promise.allSettled([...session.flights.values()].map(({ done }) => done));
  }
  const { state, stopCause, ended } = session;
  const leftOut = ended.filter((scope) => countQueuedEntriesOfScope(outbox, scope) > 0);
  const elapsedMs = clock.monotonicMs() - startedAt;
  return {
    requests: session.requests,
    accepted: session.accepted.size,
    refused: session.refused,
    throttled: state.throttled,
    locked: state.locked,
    elapsedMs,
    nonConforming: [...state.nonConforming],
    leftOut,
    stopCause,
  };
}

async function sendAll(session: PushSession): Promise<void> {
  const { clock, stop } = session.push;
  for (;;) {
    if (session.failure !== undefined) throw session.failure.thrown;
    if (stop.aborted) session.stop({ kind: 'interrupted' });
    const next = session.hasRoom ? findNext(session) : undefined;
    const isDue = next !== undefined && next.notBeforeAt <= clock.now() && session.mayStart;
    if (!isDue) {
      if (!(await waitForMore(session, next))) return;
    } else if (!(await applyGate(session, next))) await launch(session, next);
  }
}

function findNext(session: PushSession): Entry | undefined {
  return findNextClaimableEntry(session.push.outbox, session.makeClaimableQuery());
}

/**
 * Applies the gate to an entry. A failed search, or a cause of the gate to stop, ends the push.
 * @returns true if the entry must not be sent now
 */
async function applyGate(session: PushSession, entry: Entry): Promise<boolean> {
  try {
    const held = await session.hold(entry);
    if (typeof held === 'object') session.stop(held);
    return held !== false;
  } catch (thrown) {
    if (session.push.stop.aborted) return true;
    if (!(thrown instanceof PasError) || thrown instanceof DatabaseError) throw thrown;
    const kind = thrown instanceof AuthError ? 'not-allowed' : 'unreachable';
    session.stop({ kind, reason: thrown.says });
    return true;
  }
}

/**
 * Waits until an answer arrives, or the next entry is due.
 * @returns false when there is nothing to wait for
 */
async function waitForMore(session: PushSession, next: Entry | undefined): Promise<boolean> {
  const { clock, stop } = session.push;
  const { flights } = session;
  const isStopping = session.stopCause !== undefined || session.isLimitReached;
  const now = clock.now();
  const untilMs =
    next === undefined || isStopping
      ? undefined
      : Math.max(next.notBeforeAt, session.state.backoffUntil);
  if (untilMs === undefined && flights.size === 0) return false;
  if (
    next !== undefined &&
    untilMs !== undefined &&
    untilMs - now > RETRY_POLICY.push.maxWaitMs &&
    flights.size === 0
  ) {
    session.stop({ kind: 'not-yet', reason: explainWaiting(next), untilMs });
    return false;
  }
  const waiting = new AbortController();
  const waits: Promise<unknown>[] = [...flights.values()].map(({ done }) => done);
  if (untilMs !== undefined) {
    const ending = AbortSignal.any([waiting.signal, stop]);
    waits.push(waitUnlessEnding(session, clock.sleep(Math.max(1, untilMs - now), ending)));
  }
  await Promise.race(waits);
  waiting.abort();
  return true;
}

/**
 * Explains why entries are left after a push, by the next one that is to be sent and its reason.
 */
export function explainWaiting(next: Entry): Message {
  const what = formatEntry(next);
  const reason = next.reason ?? '';
  return msg`the remaining entries must wait; ${what}: ${reason}`;
}

/** Waits for the pace or a time; undefined where the wait is aborted, or the push ends first. */
async function waitUnlessEnding<T>(session: PushSession, wait: Promise<T>): Promise<T | undefined> {
  try {
    return await wait;
  } catch (thrown) {
    if (thrown instanceof LongPauseError) {
      const reason = msg`the service asked for a long pause`;
      session.stop({ kind: 'waiting', reason, untilMs: thrown.untilMs });
    } else if (!isAbortError(thrown)) throw thrown;
    return undefined;
  }
}

/**
 * Claims the entry, takes a turn and sends it, without waiting for the answer. Sends nothing where
 * the push ends first, or the entry has changed.
 */
async function launch(session: PushSession, entry: Entry): Promise<void> {
  const { push, halt } = session;
  const { account, clock, outbox, pace, service, settleMs } = push;
  const approachMs = (await waitUnlessEnding(session, pace.waitUntilNear(halt))) ?? 0;
  const token = await session.awaitToken(service.session.token(halt));
  if (token === undefined || !session.mayStart) return;

  const claimedOn = readClock(clock);
  const claimed = claimQueuedEntry(outbox, entry.id, (current) => {
    // An entry that changed during the wait passes the gate again.
    if (makeEntryContentKey(current) !== makeEntryContentKey(entry)) return undefined;
    const { method, url } = makeEntryRequest(push, current);
    return {
      method,
      path: new URL(url).pathname,
      account,
      settleMs,
      ...estimateDeparture(push, current.kind === 'photo' ? current.photograph.sizeBytes : 0),
    };
  });
  if (claimed === undefined) {
    assertNotClaimable(session, entry);
    return;
  }
  const request = makeEntryRequest(push, claimed.entry);
  const turn = await acquireTurnOrRequeue(session, claimed);
  if (turn === undefined) return;
  const pacedMs = approachMs + turn.waitedMs;
  session.requests += 1;

  const done = sendEntryRequest(
    { ...push, send: service.send },
    claimed.entry,
    request,
    token,
    turn,
    claimedOn,
  )
    .then((sent) => settleAttempt(session, claimed, sent, pacedMs))
    .catch((thrown: unknown) => {
      // No code may await this answer now, so the loop throws the error.
      session.failure ??= { thrown };
    })
    .finally(() => session.flights.delete(entry.id));
  session.addFlight(claimed.entry, done);
  // The request is sent in this pass of the event loop, before the queries for the next one can
  // delay it.
  await letOthersRun();
}

/**
 * Asserts that an entry that could not be claimed is not found again, which would be an endless
 * loop.
 * @throws DatabaseError
 */
function assertNotClaimable(session: PushSession, entry: Entry): void {
  const next = findNext(session);
  if (next?.id === entry.id && makeEntryContentKey(next) === makeEntryContentKey(entry))
    throw makeDamagedError(session.push.outbox.path, `entry ${entry.id}`);
}

/**
 * Waits for the turn of a claimed entry. One that cannot leave is queued again, since the push
 * stops or the service asks for a pause.
 */
async function acquireTurnOrRequeue(
  session: PushSession,
  claimed: Claim,
): Promise<Turn | undefined> {
  const { outbox, pace } = session.push;
  const endDeparture = session.startDeparture();
  let turn: Turn | undefined;
  let leaves = false;
  try {
    turn = await waitUnlessEnding(session, pace.acquireSoon(session.halt));
    leaves = turn !== undefined && session.mayStart;
  } finally {
    if (!leaves) {
      const reason = session.mayStart
        ? msg`a pause began before it was sent`
        : msg`stopped before it was sent`;
      const back: AttemptSettlement = { state: 'queued', reason, notBeforeAt: 0 };
      turn?.release();
      endDeparture();
      recordAnswer(outbox, claimed, back, { outcome: 'not-sent' });
    }
  }
  return leaves && turn !== undefined ? withEnd(turn, endDeparture) : undefined;
}

function withEnd(turn: Turn, end: () => void): Turn {
  const withEndCall = <T>(result: T): T => {
    end();
    return result;
  };
  return {
    ...turn,
    depart: () => withEndCall(turn.depart()),
    release: () => withEndCall(turn.release()),
  };
}

/** Records and reports what an answer means for its entry, and for others with its record. */
async function settleAttempt(
  session: PushSession,
  claimed: Claim,
  sent: SendResult,
  pacedMs: number,
): Promise<void> {
  const { entry } = claimed;
  session.push.report({
    type: 'attempt',
    ...makeEntryName(entry),
    status: sent.status ?? null,
    ms: Math.round(sent.tookMs),
    paced_ms: Math.round(pacedMs),
  });
  const decided = await session.settleAnswer(entry, {
    ...sent,
    outcome: checkRecord(session, entry, sent),
  });
  await session.waitUntilDeparted();
  const settlement = checkSettled(session, entry, decided.settlement);
  const endedAt = session.push.serverClock.latest();
  const { outbox } = session.push;
  // Together: of two finds with one record neither is accepted at any instant.
  const lost = outbox.change(() => {
    recordAnswer(outbox, claimed, settlement, {
      outcome: sent.outcome.kind,
      endedAt,
      status: sent.status,
      serverDateAt: sent.serverDateAt,
    });
    return settlement.state === 'accepted' ? detachLostRecord(session, entry, settlement) : [];
  });
  if (settlement.state === 'accepted' && lost.length === 0) session.accepted.add(entry.id);
  if (settlement.state === 'refused') session.refused += 1;
  for (const { id } of lost.length === 0 ? [entry] : lost) reportSettledEntry(session.push, id);
  await session.finishAttempt(entry, sent);
}

/** Makes an import uncertain whose answer names or shows a record that cannot be its own. */
function checkRecord(session: PushSession, entry: Entry, { outcome, shown }: SendResult): Outcome {
  if (outcome.kind !== 'accepted' || entry.kind !== 'import') return outcome;
  const { identCely } = outcome;
  const detail =
    findIdentifierProblem(entry, identCely, session.lost) ??
    (shown !== undefined && isOfOtherFind(session.push, entry, shown)
      ? msg`the service answered with ${identCely}, and shows another find there`
      : undefined);
  return detail === undefined ? outcome : { kind: 'uncertain', detail, outsideContract: false };
}

/**
 * Repeats the check when the attempt is settled: the record may have been given to another find
 * meanwhile.
 */
function checkSettled(
  session: PushSession,
  entry: Entry,
  settlement: AttemptSettlement,
): AttemptSettlement {
  if (settlement.state !== 'accepted' || entry.kind === 'import') return settlement;
  const { identCely } = settlement;
  if (findEntryById(session.push.outbox, entry.id)?.identCely === entry.identCely)
    return settlement;
  const reason = msg`the service gave the record ${identCely} to another find while this was sent to it`;
  return { state: 'uncertain', reason };
}

/**
 * A record of another project, or one that several finds were given, is no answer to this import.
 */
function findIdentifierProblem(
  { project }: ImportEntry,
  identCely: string,
  lost: ReadonlySet<string>,
): Message | undefined {
  if (lost.has(identCely))
    return msg`the service answered with ${identCely}, which it gave to several finds`;
  // A temporary project (X-) may be renamed with its finds.
  return project === null || project.startsWith('X-') || identCely.startsWith(`${project}-`)
    ? undefined
    : msg`the service answered with ${identCely}, which is not a record of ${project}`;
}

/**
 * Tells if a record shows other content than was sent, or another maker, as where a proxy mixes up
 * answers. The service may normalise single values.
 */
function isOfOtherFind(
  { account, outbox }: SignedInPush,
  entry: ImportEntry,
  shown: HarvestedFind,
): boolean {
  if ((findCreationEvent(shown)?.user ?? account) !== account) return true;
  const sent = getSentElements(outbox, entry);
  // Each whole record has a project; a temporary one may have been renamed.
  if (sent === undefined || shown.elements.projekt === undefined) return false;
  const elements = { ...shown.elements, projekt: sent.projekt };
  return matchFinds(toComparableFind(sent), toComparableFind(elements)) === 'other';
}

/**
 * Takes a record from all finds that it was given to: the service lost one of them, or repeated an
 * older answer.
 * @returns those finds
 */
function detachLostRecord(
  session: PushSession,
  entry: Entry,
  { identCely }: { readonly identCely: string },
): readonly Entry[] {
  const { outbox } = session.push;
  const lost = entry.kind === 'import' ? detachSharedRecord(outbox, identCely) : [];
  for (const { id } of lost) session.accepted.delete(id);
  if (lost.length > 0) session.lost.add(identCely);
  return lost;
}
