import { setMaxListeners } from 'node:events';
import { PasError } from '../../base/errors.ts';
import { type Message, msg } from '../../base/message.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import { moveToBack, requeue, type Settlement } from '../../outbox/claims.ts';
import { getProject } from '../../outbox/entries.ts';
import type { Entry, EntryKind } from '../../outbox/entry.ts';
import {
  type ClaimableQuery,
  countOpen,
  findEntryById,
  listEntriesInState,
} from '../../outbox/entry-queries.ts';
import {
  countAttemptsInARow,
  countConsecutiveFailures,
  listAttempts,
} from '../../outbox/record-events.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { countRefusedForProjects, requeueSettlement } from './apply-circuit-breakers.ts';
import { openCircuitsAt } from './circuit-breaker.ts';
import { decide } from './decide.ts';
import { probeAccess, probePeer } from './peer-check.ts';
import {
  type AttemptFacts,
  type Decision,
  type Effect,
  makeInitialState,
  type PushContext,
  type PushCounts,
  type PushState,
  type StopCause,
} from './push-context.ts';
import type { SendResult } from './send-entry.ts';

type Flight = {
  readonly entry: Entry;
  readonly done: Promise<void>;
};

const MAX_COMMIT_DELAY_MS = 100;
const AFTER_DEPARTURE_MS = 5;

/** One push: its state, the requests in flight, and the effects of its decisions. */
export class PushSession {
  readonly context: PushContext;
  /** Aborted when the push is stopped, or has a cause to end. */
  readonly halt: AbortSignal;
  readonly flights = new Map<number, Flight>();
  /**
   * Entries that the service accepted, without those whose record it has given to another find
   * since.
   */
  readonly accepted = new Set<number>();
  /** Error while an answer was recorded: no request follows, and the push throws it. */
  failure: { readonly thrown: unknown } | undefined;
  readonly #ending = new AbortController();
  /** Imports that were in flight beside another one of their project. */
  readonly #besideImport = new Set<number>();
  /** Those of them beside one that the service accepted. */
  readonly #besideAccepted = new Set<number>();
  /**
   * Reasons to requeue requests in flight if they are refused: their circuit opened before they
   * were settled.
   */
  readonly #skipReasons = new Map<number, Message>();
  #state: PushState;
  #stopCause: StopCause | undefined;
  #isPeerProbeDue = false;
  #departing: Promise<void> | undefined;

  constructor(context: PushContext) {
    this.context = context;
    this.halt = AbortSignal.any([context.stop, this.#ending.signal]);
    // One listener per request in flight, so a high number is no leak.
    setMaxListeners(0, this.halt);
    this.#state = makeInitialState(context.breakerMemory.breakers);
  }

  get state(): PushState {
    return this.#state;
  }

  get stopCause(): StopCause | undefined {
    return this.#stopCause;
  }

  /** Ends all waits before a request. Only the first cause is stored. */
  stop(cause: StopCause): void {
    if (this.#stopCause !== undefined) return;
    this.#stopCause = cause;
    this.#ending.abort();
  }

  count(which: keyof PushCounts, by = 1): void {
    const { counts } = this.#state;
    this.#setState({ ...this.#state, counts: { ...counts, [which]: counts[which] + by } });
  }

  get openCircuits() {
    return openCircuitsAt(this.#state.breakers, this.context.clock.monotonicMs());
  }

  /** Tells if another request may be in flight. */
  get hasRoom(): boolean {
    return this.flights.size < (this.#state.peer === 'verified' ? this.context.maxInFlight : 1);
  }

  get isLimitReached(): boolean {
    return this.context.limit !== undefined && this.#state.counts.requests >= this.context.limit;
  }

  get mayStart(): boolean {
    return (
      !this.halt.aborted &&
      this.failure === undefined &&
      this.hasRoom &&
      !this.isLimitReached &&
      this.context.clock.now() >= this.#state.backoffUntil
    );
  }

  /** Makes the query for entries that may be sent beside the requests in flight. */
  makeClaimableQuery(): ClaimableQuery {
    const { kinds, recordKeys } = this.context;
    const flights = [...this.flights.values()];
    const active = new Set(
      flights.flatMap(({ entry }) => (entry.kind === 'import' ? [entry.project] : [])),
    );
    // After a refusal for its project, one entry at a time is sent until one is accepted.
    const isCareful = (kind: EntryKind): boolean =>
      countRefusedForProjects(this.#state.breakers, kind) > 0 &&
      flights.some(({ entry }) => entry.kind === kind);
    return {
      kinds: kinds.filter((kind) => !isCareful(kind)),
      recordKeys,
      busyRecords: flights.flatMap(({ entry: { recordKey, identCely } }) => [
        recordKey,
        ...(identCely === null ? [] : [identCely]),
      ]),
      busyProjects: [...this.#state.serialProjects].filter((project) => active.has(project)),
      openCircuits: this.openCircuits,
    };
  }

  /** Registers a request in flight until `done`, and marks imports that share their project. */
  addFlight(entry: Entry, done: Promise<void>): void {
    for (const other of this.#listFlightsBeside(entry))
      this.#besideImport.add(entry.id).add(other.id);
    this.flights.set(entry.id, { entry, done });
  }

  /** Marks that a request is about to be sent. @returns a function that ends the mark */
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
    const limit = this.context.clock
      .sleep(MAX_COMMIT_DELAY_MS, waiting.signal)
      .catch(() => undefined);
    await Promise.race([this.#departing, limit]);
    waiting.abort();
    // A server on the same processor can receive the request before the commit takes the processor.
    await this.context.clock.sleep(AFTER_DEPARTURE_MS);
  }

  endFlight(entry: Entry): void {
    this.flights.delete(entry.id);
    this.#besideImport.delete(entry.id);
    this.#besideAccepted.delete(entry.id);
    this.#skipReasons.delete(entry.id);
  }

  /** Decides an attempt, and runs its effects except those that follow its settlement. */
  async decide(
    entry: Entry,
    sent: SendResult,
  ): Promise<{ readonly settlement: Settlement; readonly afterwards: readonly Effect[] }> {
    const first = this.decideOnce(entry, sent);
    if (!first.pending.some(({ type }) => type === 'probe-access'))
      return { settlement: first.settlement, afterwards: first.pending };
    const access = await probeAccess(this.#asker, sent.token);
    const second = this.decideOnce(entry, sent, access);
    return { settlement: second.settlement, afterwards: second.pending };
  }

  /** @returns also the effects that remain to be run, since they are asynchronous */
  decideOnce(
    entry: Entry,
    sent: SendResult,
    access?: Outcome,
  ): { readonly settlement: Settlement; readonly pending: readonly Effect[] } {
    if (sent.outcome.kind === 'accepted')
      for (const other of this.#listFlightsBeside(entry)) this.#besideAccepted.add(other.id);
    return this.apply(decide(this.#state, this.collectFacts(entry, sent, access)));
  }

  /** Stores the state of a decision, and runs its synchronous effects. */
  apply({ settlement, state, effects }: Decision): {
    readonly settlement: Settlement;
    readonly pending: readonly Effect[];
  } {
    this.#setState(state);
    return { settlement, pending: effects.filter((effect) => !this.#apply(effect)) };
  }

  /**
   * Updates the settlement of a request in flight: a refused entry stays queued if its circuit has
   * opened meanwhile.
   */
  updateSettlement(entry: Entry, settlement: Settlement): Settlement {
    const reason = this.#skipReasons.get(entry.id);
    return settlement.state === 'refused' && reason !== undefined
      ? requeueSettlement(reason, this.context.clock.now())
      : settlement;
  }

  /** Runs the effects that follow the settlement of an attempt. */
  async applyAfter(entry: Entry, effects: readonly Effect[]): Promise<void> {
    for (const effect of effects)
      if (effect.type === 'renew-token') await this.#renewToken(entry, effect.refused);
  }

  /**
   * Returns the token; undefined where the push ends without one.
   * @throws PasError, with the remedy, before the first request
   */
  async signIn(asked: Promise<string>): Promise<string | undefined> {
    try {
      return await asked;
    } catch (thrown) {
      if (this.halt.aborted) return undefined;
      if (!(thrown instanceof PasError) || this.#state.counts.requests === 0) throw thrown;
      this.stop({
        kind: thrown.exitReason === 'notAllowed' ? 'not-allowed' : 'unreachable',
        reason: thrown.says,
      });
      return undefined;
    }
  }

  /** Probes the peer if an answer may not have been the service's own. @returns true if it did */
  async probePeerIfDue(): Promise<boolean> {
    if (!this.#isPeerProbeDue) return false;
    const token = await this.signIn(this.context.session.token(this.halt));
    if (token === undefined) return true;
    const cause = await probePeer(this.#asker, token);
    if (this.halt.aborted) return true;
    this.#isPeerProbeDue = false;
    if (cause === undefined) this.#setState({ ...this.#state, peer: 'probing' });
    else this.stop(cause);
    return true;
  }

  reportSettled(entry: Entry, settlement: Settlement): void {
    this.context.report({
      type: 'settled',
      entry: entry.id,
      kind: entry.kind,
      find: entry.localId ?? entry.identCely,
      state: settlement.state,
      ident_cely: settlement.state === 'accepted' ? settlement.identCely : entry.identCely,
      reason: settlement.reason ?? null,
    });
  }

  collectFacts(entry: Entry, sent: SendResult, access?: Outcome): AttemptFacts {
    const { clock, outbox } = this.context;
    return {
      entry,
      access,
      outcome: sent.outcome,
      status: sent.status,
      token: sent.token,
      departedAt: sent.departedAt,
      project: getProject(entry),
      endedAt: clock.monotonicMs(),
      now: clock.now(),
      failuresBefore: countConsecutiveFailures(listAttempts(outbox, entry)),
      collisionsBefore: countAttemptsInARow(outbox, entry, 'refused-unspecified'),
      besideImport:
        this.#besideImport.has(entry.id) ||
        (sent.outcome.kind === 'refused-unspecified' && this.#isBesideUnknown(entry)),
      besideAccepted: this.#besideAccepted.has(entry.id),
    };
  }

  #listFlightsBeside(entry: Entry): Entry[] {
    return [...this.flights.values()].flatMap(({ entry: other }) =>
      entry.kind === 'import' &&
      other.kind === 'import' &&
      other.id !== entry.id &&
      other.project === entry.project
        ? [other]
        : [],
    );
  }

  /** Renews an expired token; the refused request had no effect and is requeued. */
  async #renewToken(entry: Entry, refused: string): Promise<void> {
    const { outbox, session } = this.context;
    const next = await this.signIn(session.renew(refused, this.halt));
    if (
      next !== refused &&
      countAttemptsInARow(outbox, entry, 'unauthorised') <= RETRY_POLICY.token.maxRenewals
    )
      return;
    this.stop({ kind: 'not-allowed', reason: msg`the service refuses the token that it issued` });
  }

  /**
   * Tells if the service may still work on an import of the project without an answer, such as one
   * of a killed push.
   */
  #isBesideUnknown(entry: Entry): boolean {
    return listEntriesInState(this.context.outbox, 'uncertain').some(
      (other) =>
        other.kind === 'import' && entry.kind === 'import' && other.project === entry.project,
    );
  }

  /** @returns false for an asynchronous effect, which the caller must run */
  #apply(effect: Effect): boolean {
    const { clock, outbox, pace, report } = this.context;
    switch (effect.type) {
      case 'stop':
        // An interrupt by the user is reported before other causes.
        if (!this.halt.aborted) this.stop(effect.cause);
        return true;
      case 'slow-down': {
        const { departedAt, retryAfterMs, stopReason: reason } = effect;
        const pauseMs = pace.backOff(departedAt, retryAfterMs);
        if (reason !== undefined && !this.halt.aborted)
          this.stop({ kind: 'waiting', reason, untilMs: clock.now() + pauseMs });
        return true;
      }
      case 'requeue-refused':
        for (const id of effect.entryIds) this.#requeueRefused(id, effect);
        return true;
      case 'move-to-back':
        moveToBack(outbox, effect, effect.reason);
        return true;
      case 'report-open-circuit': {
        const { kind, project, record, status, reason } = effect.circuit;
        const until = new Date(effect.until).toISOString();
        // The refused entry of the record is still in flight.
        const count = countOpen(outbox, { kind, project, record }) - (record === null ? 0 : 1);
        // A record without further entries skips none.
        if (record === null || count > 0)
          report({ type: 'left_out', kind, project, record, status, reason, count, until });
        return true;
      }
      case 'probe-peer':
        this.#isPeerProbeDue = true;
        return true;
      case 'renew-token':
      case 'probe-access':
        return false;
    }
  }

  #requeueRefused(id: number, { reason }: Extract<Effect, { type: 'requeue-refused' }>): void {
    const { clock, outbox } = this.context;
    if (this.flights.has(id)) {
      this.#skipReasons.set(id, reason);
      return;
    }
    const entry = findEntryById(outbox, id);
    // The user may have resent it meanwhile.
    if (entry?.state !== 'refused') return;
    const settlement = requeueSettlement(reason, clock.now());
    requeue(outbox, entry, settlement.reason ?? reason, clock.now());
    this.count('refused', -1);
    this.reportSettled(entry, settlement);
  }

  get #asker() {
    return { ...this.context, stop: this.halt };
  }

  #setState(state: PushState): void {
    this.#state = state;
    this.context.breakerMemory.breakers = state.breakers;
  }
}
