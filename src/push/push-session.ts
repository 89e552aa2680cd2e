import { setMaxListeners } from 'node:events';
import { PasError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { RETRY_POLICY } from '../base/outcomes.ts';
import { NUMBER_USED } from '../finds/value-rules.ts';
import { listAttempts } from '../outbox/attempts.ts';
import { findSubjectsWithEntries } from '../outbox/changes/resolve-finds.ts';
import {
  countAttemptsInARow,
  type Entry,
  type EntryKind,
  listFailuresInARow,
} from '../outbox/entry.ts';
import {
  type ClaimableQuery,
  countQueuedEntriesOfScope,
  type EntryScope,
  findEntryById,
  getEntryScope,
  listDraftImports,
  listEntriesInState,
  listEntriesWithQuestion,
  listHeldEntries,
} from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import {
  countEntriesByState,
  countUnheldQueuedEntries,
  countWaitingEntries,
  listDroppedFindsWithDependents,
} from '../outbox/views/outbox-status.ts';
import type { Outcome } from '../service/outcome.ts';
import { probeAccess } from './account.ts';
import type { SendResult } from './departure.ts';
import type { PushContext, RefusalSeries, SignedInPush, StopCause } from './push-context.ts';
import {
  decideSettlement,
  listEndedScopes,
  makeInitialPushState,
  makeScopeKey,
  type PushState,
  type SettlementDecision,
  type SettlementInput,
  type SlowDown,
} from './settle.ts';

type Flight = {
  readonly entry: Entry;
  readonly done: Promise<void>;
  /** No other entry of its kind and project is in flight, nor will be before it has landed. */
  readonly isAlone: boolean;
};

const MAX_COMMIT_DELAY_MS = 100;
const AFTER_DEPARTURE_MS = 5;

/** Tells if an entry must not be sent now; a cause where the push must end. */
export type Hold = (entry: Entry) => Promise<boolean | StopCause>;

/** One round of a push: its state, the requests in flight, and what its decisions do. */
export class PushSession {
  readonly push: SignedInPush;
  /**
   * Checks an entry right before it is sent.
   * @throws PasError where the service cannot be searched
   */
  readonly hold: Hold;
  /** Aborted when the push is stopped, or has a cause to end. */
  readonly halt: AbortSignal;
  /** Requests in flight, by the row of their entry. */
  readonly flights = new Map<number, Flight>();
  /**
   * Entries that the service accepted, without those whose record it has given to another find
   * since.
   */
  readonly accepted = new Set<number>();
  /** Records that the service gave to several finds. */
  readonly lost = new Set<string>();
  requests = 0;
  refused = 0;
  /** Error while an answer was recorded: no request follows, and the push throws it. */
  failure: { readonly thrown: unknown } | undefined;
  readonly #ending = new AbortController();
  /** Ended kinds and projects that were reported. */
  readonly #reported: Set<string>;
  state: PushState;
  stopCause: StopCause | undefined;
  #departing: Promise<void> | undefined;

  constructor(push: SignedInPush, hold: Hold) {
    this.push = push;
    this.hold = hold;
    this.state = makeInitialPushState(push.ended ?? []);
    this.#reported = new Set(push.ended?.map(makeScopeKey));
    this.halt = AbortSignal.any([push.stop, this.#ending.signal]);
    // One listener per request in flight, so a high number is no leak.
    setMaxListeners(0, this.halt);
  }

  /**
   * Ends the push: no request is started, and waits for one end. Only the first cause is stored.
   */
  stop(cause: StopCause): void {
    if (this.stopCause !== undefined) return;
    this.stopCause = cause;
    this.#ending.abort();
  }

  /** Kinds and projects that are ended for this push. */
  get ended(): readonly RefusalSeries[] {
    return listEndedScopes(this.state);
  }

  /**
   * Tells if one more request may be in flight. Until a write or a probe has shown that the account
   * may write, that is one at most.
   */
  get hasRoom(): boolean {
    return this.flights.size < (this.state.accessProven ? this.push.maxInFlight : 1);
  }

  /** Tells if as many requests were sent as the push may send; false without a limit. */
  get isLimitReached(): boolean {
    return this.push.limit !== undefined && this.requests >= this.push.limit;
  }

  /**
   * Tells if a request may be started now: nothing ends the push, one more may be in flight, and no
   * failed connection is waited for.
   */
  get mayStart(): boolean {
    return (
      !this.halt.aborted &&
      this.failure === undefined &&
      this.hasRoom &&
      !this.isLimitReached &&
      this.push.clock.now() >= this.state.backoffUntil
    );
  }

  /** Makes the query for the entries that may be sent beside the requests in flight. */
  makeClaimableQuery(): ClaimableQuery {
    const { kinds, subjects } = this.push;
    return {
      kinds,
      subjects,
      busyRecords: [...this.flights.values()].flatMap(({ entry: { subject, identCely } }) =>
        identCely === null ? [subject] : [subject, identCely],
      ),
      closed: [...this.ended, ...this.#listOccupiedScopes()],
    };
  }

  /** Lists kinds and projects with a request in flight of which one at a time is sent. */
  #listOccupiedScopes(): EntryScope[] {
    return [...this.flights.values()]
      .map(({ entry }) => getEntryScope(entry))
      .filter((scope) => this.state.alone.has(makeScopeKey(scope)));
  }

  /**
   * Adds the request of an entry to `flights`; the caller deletes it once the answer is recorded.
   */
  addFlight(entry: Entry, done: Promise<void>): void {
    const key = makeScopeKey(getEntryScope(entry));
    const isAlone =
      this.state.alone.has(key) &&
      !this.#listOccupiedScopes().some((scope) => makeScopeKey(scope) === key);
    this.flights.set(entry.id, { entry, done, isAlone });
  }

  /**
   * Notes that a request is about to be sent, for {@link waitUntilDeparted}.
   * @returns a function that says that it was sent, or is not
   */
  startDeparture(): () => void {
    let endDeparture = (): void => {};
    const departing = new Promise<void>((resolve) => {
      endDeparture = () => {
        if (this.#departing === departing) this.#departing = undefined;
        resolve();
      };
    });
    this.#departing = departing;
    return endDeparture;
  }

  /**
   * Waits while a request is about to be sent, which a commit would delay; at most {@link
   * MAX_COMMIT_DELAY_MS}.
   */
  async waitUntilDeparted(): Promise<void> {
    if (this.#departing === undefined) return;
    const waiting = new AbortController();
    const limit = this.push.clock.sleep(MAX_COMMIT_DELAY_MS, waiting.signal).catch(() => undefined);
    await Promise.race([this.#departing, limit]);
    waiting.abort();
    // A server on the same processor can receive the request before the commit takes the processor.
    await this.push.clock.sleep(AFTER_DEPARTURE_MS);
  }

  /**
   * Decides what the end of an attempt means, and applies that to the push, as {@link applyAnswer}
   * does. Where a refusal may concern the whole account, the access probe is sent before.
   */
  async settleAnswer(entry: Entry, sent: SendResult): Promise<SettlementDecision> {
    if (sent.outcome.kind !== 'forbidden' || this.state.accessProven)
      return this.applyAnswer(entry, sent);
    const { clock, pace, service } = this.push;
    const access = await probeAccess({ ...service, clock, pace, stop: this.halt }, sent.token);
    return this.applyAnswer(entry, sent, access);
  }

  /**
   * Decides what the end of an attempt means, and applies that to the push: its state is the next
   * one, and it is stopped or slowed down.
   * @param access answer to the access probe, where it was sent
   */
  applyAnswer(entry: Entry, sent: SendResult, access?: Outcome): SettlementDecision {
    const decision = decideSettlement(this.state, this.#collectInput(entry, sent, access));
    this.state = decision.state;
    // An interrupt by the user is reported before other causes.
    if (decision.stop !== undefined && !this.halt.aborted) this.stop(decision.stop);
    if (decision.slowDown !== undefined) this.#slowDown(decision.slowDown);
    return decision;
  }

  /** Reports kinds and projects that end with an answer, and renews a token that it refused. */
  async finishAttempt(entry: Entry, { outcome, token }: SendResult): Promise<void> {
    this.#reportEnded();
    if (outcome.kind === 'unauthorised') await this.#renewToken(entry, token);
  }

  /**
   * Awaits a token, and returns it; without one the push is stopped, and this returns undefined.
   * @throws PasError, with the remedy, where no entry was sent yet
   */
  async awaitToken(asked: Promise<string>): Promise<string | undefined> {
    try {
      return await asked;
    } catch (thrown) {
      if (this.halt.aborted) return undefined;
      if (!(thrown instanceof PasError) || this.requests === 0) throw thrown;
      this.stop({
        kind: thrown.exitReason === 'notAllowed' ? 'not-allowed' : 'unreachable',
        reason: thrown.says,
      });
      return undefined;
    }
  }

  #collectInput(entry: Entry, sent: SendResult, access?: Outcome): SettlementInput {
    const { clock, outbox } = this.push;
    const attempts = listAttempts(outbox, entry);
    return {
      ...sent,
      entry,
      access,
      now: clock.now(),
      failuresBefore: listFailuresInARow(attempts).length,
      collisionsBefore: countAttemptsInARow(attempts, 'refused-unspecified'),
      wasAlone: this.flights.get(entry.id)?.isAlone === true,
    };
  }

  /** Renews an expired token; the refused request had no effect and is requeued. */
  async #renewToken(entry: Entry, refused: string): Promise<void> {
    const { outbox, service } = this.push;
    const next = await this.awaitToken(service.session.renew(refused, this.halt));
    if (
      next !== refused &&
      countAttemptsInARow(listAttempts(outbox, entry), 'unauthorised') <=
        RETRY_POLICY.token.maxRenewals
    )
      return;
    this.stop({ kind: 'not-allowed', reason: msg`the service refuses the token that it issued` });
  }

  #slowDown({ departedAt, retryAfterMs, stopReason: reason }: SlowDown): void {
    const { clock, pace } = this.push;
    const pauseMs = pace.pauseAfterThrottle(departedAt, retryAfterMs);
    if (reason !== undefined && !this.halt.aborted)
      this.stop({ kind: 'waiting', reason, untilMs: clock.now() + pauseMs });
  }

  /** Reports each kind and project once that the push ends. */
  #reportEnded(): void {
    for (const row of this.ended) {
      const key = makeScopeKey(row);
      if (this.#reported.has(key)) continue;
      this.#reported.add(key);
      const { kind, project, status, reason, records: refused } = row;
      const count = countQueuedEntriesOfScope(this.push.outbox, { kind, project });
      this.push.report({ type: 'left_out', kind, project, status, reason, count, refused });
    }
  }
}

/** Counts of a push, or of one round, and why it ended. */
export type PushResult = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
  readonly elapsedMs: number;
  /** Rows of entries whose last answer in a round was outside the contract. */
  readonly nonConforming: readonly number[];
  /** Kinds and projects that ended with equal refusals: their other entries stay queued. */
  readonly leftOut: readonly RefusalSeries[];
  /** Undefined where all was sent that could be, or the limit of requests was reached. */
  readonly stopCause: StopCause | undefined;
};

/** The result of a round that needed no request. */
export const NOTHING_SENT: PushResult = {
  accepted: 0,
  refused: 0,
  requests: 0,
  throttled: 0,
  locked: 0,
  elapsedMs: 0,
  nonConforming: [],
  leftOut: [],
  stopCause: undefined,
};

/** Counts the queued entries that a push covers, also those that must wait, but not held ones. */
export function countEntriesToSend({
  outbox,
  kinds,
  subjects,
}: Pick<PushContext, 'outbox' | 'kinds' | 'subjects'>): number {
  const counts = countUnheldQueuedEntries(outbox, subjects);
  return kinds.reduce((sum, kind) => sum + counts[kind], 0);
}

/**
 * Adds the results of two rounds of a push. `stopCause` and `leftOut` are those of the second,
 * which began with what the first one left out. `nonConforming` has the rows of both, so a row may
 * be there twice, and its entry may be accepted by now.
 */
export function addPushResults(first: PushResult, second: PushResult): PushResult {
  return {
    accepted: first.accepted + second.accepted,
    refused: first.refused + second.refused,
    requests: first.requests + second.requests,
    throttled: first.throttled + second.throttled,
    locked: first.locked + second.locked,
    elapsedMs: first.elapsedMs + second.elapsedMs,
    nonConforming: [...first.nonConforming, ...second.nonConforming],
    leftOut: second.leftOut,
    stopCause: second.stopCause,
  };
}

type PushPlan = Pick<PushContext, 'subjects'> & {
  readonly queued: Readonly<Record<EntryKind, number>>;
  /** Local ids of incomplete finds that are named, or block numbers or photographs. */
  readonly drafts: readonly string[];
  readonly usedNumbers: readonly Issue[];
};

/**
 * Counts what a push would send, and lists the drafts and numbers that keep finds from being sent,
 * without a request.
 * @param names of finds or records; empty for all
 * @throws UsageError for an unknown or ambiguous name, or a record without entries
 */
export function planPush(outbox: Outbox, names: readonly string[]): PushPlan {
  const subjects = names.length === 0 ? undefined : findSubjectsWithEntries(outbox, names);
  return {
    subjects,
    queued: countUnheldQueuedEntries(outbox, subjects),
    drafts: listDraftImports(outbox, subjects).flatMap(({ localId }) => localId ?? []),
    usedNumbers: listUsedNumbers(outbox, subjects),
  };
}

/** Returns the errors of finds that are not sent, because another one has their number. */
function listUsedNumbers(outbox: Outbox, subjects: readonly string[] | undefined): Issue[] {
  return listEntriesInState(outbox, 'draft')
    .filter(({ subject }) => subjects === undefined || subjects.includes(subject))
    .flatMap(({ issues }) => issues.filter(({ rule }) => rule === NUMBER_USED));
}

/** Counts what a push has left: entries by state, and those that wait, are held or are blocked. */
export function countRemainingAfterPush(outbox: Outbox, { nonConforming }: PushResult) {
  return {
    totals: countEntriesByState(outbox),
    waiting: countWaitingEntries(outbox),
    droppedWithDependents: listDroppedFindsWithDependents(outbox),
    held: listHeldEntries(outbox).length,
    /** Also sent finds and drafts, about which a row asks. */
    asked: listEntriesWithQuestion(outbox).length,
    /** Entries that a search proved absent after an answer outside the contract. */
    stillNonConforming: nonConforming.filter((id) => findEntryById(outbox, id)?.state === 'queued')
      .length,
  };
}
