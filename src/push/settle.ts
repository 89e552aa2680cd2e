import { asWallMs, type MonotonicMs, type WallMs } from '../base/clock.ts';
import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import {
  computeBackoffMs,
  computeEntryBackoffMs,
  OUTCOMES,
  RETRY_POLICY,
} from '../base/outcomes.ts';
import { findNumberProblem } from '../finds/value-rules.ts';
import type { AttemptSettlement } from '../outbox/attempts.ts';
import type { Entry } from '../outbox/entry.ts';
import { type EntryScope, getEntryScope } from '../outbox/entry-queries.ts';
import type { Outcome, ServerFinding } from '../service/outcome.ts';
import type { SendResult } from './departure.ts';
import { findStopCauseOfProbe, type RefusalSeries, type StopCause } from './push-context.ts';

/** Makes the key of a kind and project, by which {@link PushState} counts refusals. */
export function makeScopeKey({ kind, project }: EntryScope): string {
  return `${kind} ${project}`;
}

/**
 * Returns the kinds and projects of which no more is sent in this push: as many of their finds got
 * the same refusal, one after another, as `RETRY_POLICY.refusal` allows.
 */
export function listEndedScopes({ refusals }: PushState): RefusalSeries[] {
  const { maxEqual } = RETRY_POLICY.refusal;
  return [...refusals.values()].filter(({ records }) => records.length >= maxEqual);
}

/** Knowledge from earlier answers of a push. Immutable. */
export type PushState = {
  readonly throttled: number;
  readonly locked: number;
  /** Equal refusals since the last acceptance, by {@link makeScopeKey}. */
  readonly refusals: ReadonlyMap<string, RefusalSeries>;
  /**
   * Kinds and projects of which one request at a time is sent, by {@link makeScopeKey}: one was
   * refused since the last acceptance.
   */
  readonly alone: ReadonlySet<string>;
  /** Failures of the service or of the way to it since its last answer. */
  readonly failures: number;
  /** Throttles since its last other answer. */
  readonly throttles: number;
  /** Nothing is sent before this time, after a failed connection. */
  readonly backoffUntil: WallMs;
  /** The last answer that may mean a throttle or a lock. */
  readonly lastBusy: { readonly subject: string; readonly at: WallMs } | undefined;
  /** Entries whose last answer was outside the contract. */
  readonly nonConforming: ReadonlySet<number>;
  /** A write or a probe of this account succeeded: a refusal concerns one record. */
  readonly accessProven: boolean;
};

/**
 * Makes the state of a push before its first answer.
 * @param ended kinds and projects that ended in earlier rounds: they stay ended
 */
export function makeInitialPushState(ended: readonly RefusalSeries[]): PushState {
  return {
    throttled: 0,
    locked: 0,
    refusals: new Map(ended.map((each) => [makeScopeKey(each), each])),
    alone: new Set(),
    failures: 0,
    throttles: 0,
    backoffUntil: asWallMs(0),
    lastBusy: undefined,
    nonConforming: new Set(),
    accessProven: false,
  };
}

/** An answer, or its absence, with all that its meaning depends on. */
export type SettlementInput = Pick<SendResult, 'outcome' | 'status' | 'departedAt'> & {
  readonly entry: Entry;
  readonly now: WallMs;
  /** Consecutive failures of the entry before this attempt. */
  readonly failuresBefore: number;
  /** Consecutive refusals without findings. */
  readonly collisionsBefore: number;
  /** No other entry of its kind and project was in flight during the attempt. */
  readonly wasAlone: boolean;
  /** Answer to the access probe after a `forbidden`; undefined where access is proven. */
  readonly access?: Outcome | undefined;
};

/** `stopReason`: the push ends until the pause is over. */
export type SlowDown = {
  readonly departedAt: MonotonicMs;
  readonly retryAfterMs?: number | undefined;
  readonly stopReason?: Message | undefined;
};

/** Effect of an attempt on its entry and on the push. */
type Effect = {
  readonly settlement: AttemptSettlement;
  /** Starts no more requests; those in flight are awaited. */
  readonly stop?: StopCause | undefined;
  /** Slows down the pace. */
  readonly slowDown?: SlowDown;
};

/** Effect of an answer, and the state of the push after it. */
export type SettlementDecision = Effect & { readonly state: PushState };

/**
 * Decides what an answer, or its absence, does: the settlement of the entry, the next state of the
 * push, and the push's end or slowdown, if any. A series of failures outranks the cause that the
 * outcome itself has to stop. Pure: all times come with `input`.
 * @param before state of the push before this answer
 */
export function decideSettlement(before: PushState, input: SettlementInput): SettlementDecision {
  const state = countFailures(withNonConforming(before, input), input);
  const { changes, ...effect } = settleByOutcome(state, input);
  const stop = findFailureCause(state, input) ?? effect.stop;
  const next = { ...state, ...changes };
  return { ...effect, stop, state: { ...next, ...countRefusal(next, input, effect.settlement) } };
}

function withNonConforming(state: PushState, { entry, outcome }: SettlementInput): PushState {
  const isNonConforming = outcome.kind === 'uncertain' && outcome.outsideContract;
  const nonConforming = new Set(state.nonConforming);
  if (isNonConforming) nonConforming.add(entry.id);
  else nonConforming.delete(entry.id);
  return { ...state, nonConforming };
}

/** Counts failures of the service in a row, of any kind. */
function countFailures(state: PushState, { outcome }: SettlementInput): PushState {
  // Without a request there is no answer to judge.
  if (outcome.kind === 'content-changed') return state;
  if (outcome.kind === 'throttled')
    return { ...state, failures: 0, throttles: state.throttles + 1 };
  return findStoppingFailure(outcome) === undefined
    ? { ...state, failures: 0, throttles: 0 }
    : { ...state, failures: state.failures + 1 };
}

type StoppingFailure = keyof typeof RETRY_POLICY.stopAfter;

function findStoppingFailure({ kind }: Outcome): StoppingFailure | undefined {
  return (Object.keys(RETRY_POLICY.stopAfter) as StoppingFailure[]).find((each) => each === kind);
}

/** Returns the cause to stop after so many failures in a row. */
function findFailureCause(
  { failures }: PushState,
  { outcome }: SettlementInput,
): StopCause | undefined {
  const kind = findStoppingFailure(outcome);
  if (kind === undefined || failures < RETRY_POLICY.stopAfter[kind]) return undefined;
  const reason: Message = 'detail' in outcome ? outcome.detail : '';
  switch (kind) {
    case 'uncertain':
      return { kind: 'in-doubt', reason: msg`${failures} answers in a row settled nothing` };
    case 'not-delivered':
    case 'cut':
    case 'refused-by-intermediary':
      return { kind: 'unreachable', reason };
    case 'closed':
      return { kind: 'closed', reason };
  }
}

/**
 * Counts a refusal of the service; another one than the last begins a new series. An acceptance
 * shows that the refusals concerned single finds.
 */
function countRefusal(
  { refusals, alone }: PushState,
  { entry, status, outcome }: SettlementInput,
  settlement: AttemptSettlement,
): Pick<PushState, 'refusals' | 'alone'> {
  const scope = getEntryScope(entry);
  const key = makeScopeKey(scope);
  if (settlement.state === 'accepted')
    return {
      refusals: new Map([...refusals].filter(([each]) => each !== key)),
      alone: new Set([...alone].filter((each) => each !== key)),
    };
  const isRefused = settlement.state === 'refused' && outcome.kind !== 'content-changed';
  if (!isRefused && outcome.kind !== 'refused-unspecified') return { refusals, alone };
  const suspected = new Set(alone).add(key);
  if (!isRefused) return { refusals, alone: suspected };
  const { reason } = settlement;
  const text = `${status} ${reason} ${settlement.issues.map(({ message }) => message).join(' ')}`;
  const before = refusals.get(key);
  const records = new Set(before?.text === text ? before.records : []);
  records.add(entry.find);
  const series = { ...scope, text, reason, status: status ?? null, records: [...records] };
  return { refusals: new Map(refusals).set(key, series), alone: suspected };
}

type SettledOutcome = Effect & { readonly changes?: Partial<PushState> };

function settleByOutcome(state: PushState, input: SettlementInput): SettledOutcome {
  const { entry, now, outcome } = input;
  switch (outcome.kind) {
    case 'accepted':
      return {
        settlement: { state: 'accepted', identCely: outcome.identCely },
        changes: { accessProven: true },
      };
    case 'already-applied':
      return { settlement: acceptAlreadyApplied(input, outcome.detail) };
    case 'refused':
      return { settlement: makeRefusal(entry, outcome.detail, outcome.findings) };
    case 'refused-unspecified':
      return { settlement: settleUndetailedRefusal(input, outcome.detail) };
    case 'refused-by-intermediary': {
      const reason = msg`refused by a proxy between pas and the service: ${outcome.detail}; open the address of the service in a browser on this computer, or use another network`;
      const notBeforeAt = now + computeBackoffMs(RETRY_POLICY.slow, input.failuresBefore + 1);
      return { settlement: makeRequeue(input, reason, notBeforeAt) };
    }
    case 'forbidden':
      return settleForbidden(input, outcome);
    case 'unauthorised':
      return { settlement: makeRequeue(input, msg`the service did not accept the token`, now) };
    case 'content-changed': {
      const reason = msg`the photograph has been removed or changed since it was queued, or must not be read; check its permissions, or queue it again with \`${cmd`pas photo add`}\``;
      return { settlement: makeRefusal(entry, reason, []) };
    }
    case 'throttled':
      return settleThrottle(state, input, outcome.waitMs);
    case 'busy':
      return settleBusy(state, input);
    case 'closed':
      return { settlement: makeRequeue(input, msg`the service is closed`) };
    case 'not-delivered':
    case 'cut': {
      const reason = msg`the request did not reach the service (${outcome.detail})`;
      const settlement = makeRequeue(input, reason);
      if (outcome.kind === 'cut') return { settlement };
      const pauseMs = computeBackoffMs(RETRY_POLICY.connection, state.failures);
      return { settlement, changes: { backoffUntil: asWallMs(now + pauseMs) } };
    }
    case 'uncertain':
      return { settlement: { state: 'uncertain', reason: outcome.detail } };
  }
}

/**
 * Makes the settlement that queues the entry again: after the backoff of its consecutive failures,
 * or at once where the outcome is no failure of it. The reason of frequent failures has their
 * number.
 * @param notBeforeAt wins over the backoff
 */
function makeRequeue(
  input: SettlementInput,
  reason: Message,
  notBeforeAt?: number,
): AttemptSettlement {
  const failures = input.failuresBefore + 1;
  const isFailure = OUTCOMES[input.outcome.kind].countsAsFailure === true;
  const isOften = isFailure && failures >= RETRY_POLICY.entry.slowAfter;
  const backoffEndsAt = isFailure ? input.now + computeEntryBackoffMs(failures) : 0;
  return {
    state: 'queued',
    reason: isOften ? msg`${reason} (tried ${failures} times)` : reason,
    notBeforeAt: notBeforeAt ?? backoffEndsAt,
  };
}

/** Accepts a number that the service can have refused only because the record has it. */
function acceptAlreadyApplied({ entry }: SettlementInput, detail: Message): AttemptSettlement {
  if (entry.kind !== 'number' || findNumberProblem(entry.value) !== undefined)
    return makeRefusal(entry, detail, []);
  return {
    state: 'accepted',
    identCely: entry.identCely ?? '',
    reason: msg`the service already had this number`,
  };
}

/**
 * Requeues an import that may have lost its number to a simultaneous one, from here or elsewhere:
 * the service does not reserve numbers. One that was sent alone is refused.
 */
function settleUndetailedRefusal(
  { entry, now, wasAlone, collisionsBefore }: SettlementInput,
  detail: Message,
): AttemptSettlement {
  if (wasAlone || collisionsBefore >= RETRY_POLICY.collision.maxRepeats)
    return makeRefusal(entry, detail, []);
  return {
    state: 'queued',
    reason: msg`refused, perhaps because of another import into its project (${detail}); retried alone`,
    notBeforeAt: now + computeEntryBackoffMs(collisionsBefore + 1),
  };
}

/** Distinguishes a refused record from a refused account by the answer to the access probe. */
function settleForbidden(
  { access, entry }: SettlementInput,
  { detail, findings }: Extract<Outcome, { kind: 'forbidden' }>,
): SettledOutcome {
  const settlement = makeRefusal(entry, detail, findings);
  if (access === undefined) return { settlement };
  const wait = (reason: Message, stop: StopCause | undefined): SettledOutcome => ({
    settlement: { state: 'queued', reason, notBeforeAt: 0 },
    stop,
  });
  if (access.kind === 'forbidden')
    return wait(msg`the account is refused: ${detail}`, { kind: 'not-allowed', reason: detail });
  const stop = findStopCauseOfProbe(access);
  return stop === undefined && access.kind !== 'unauthorised'
    ? { settlement, changes: { accessProven: true } }
    : wait(msg`refused, and it is unclear whether the whole account is refused: ${detail}`, stop);
}

/** Requeues the entry without backoff: the pace delays all entries. */
function settleThrottle(
  { throttles, throttled }: PushState,
  input: SettlementInput,
  retryAfterMs: number | undefined,
): SettledOutcome {
  const stopReason =
    throttles < RETRY_POLICY.throttle.maxInRow
      ? undefined
      : msg`the service asked for fewer requests ${throttles} times in a row`;
  return {
    settlement: makeRequeue(input, msg`the service asked for fewer requests`),
    changes: { throttled: throttled + 1 },
    slowDown: { departedAt: input.departedAt, retryAfterMs, stopReason },
  };
}

/**
 * Treats busy answers for different records within a short time, and a lock that lasts long, as a
 * throttle.
 */
function settleBusy(
  { lastBusy, throttled, locked }: PushState,
  input: SettlementInput,
): SettledOutcome {
  const { entry, now, departedAt, failuresBefore } = input;
  const { windowMs, maxQuick } = RETRY_POLICY.lock;
  const isThrottle =
    lastBusy !== undefined && lastBusy.subject !== entry.subject && now - lastBusy.at < windowMs;
  const settled = {
    settlement: makeRequeue(input, msg`the service is already working on this record`),
    changes: {
      ...(isThrottle ? { throttled: throttled + 1 } : { locked: locked + 1 }),
      lastBusy: { subject: entry.subject, at: now },
    },
  };
  return isThrottle || failuresBefore >= maxQuick
    ? { ...settled, slowDown: { departedAt } }
    : settled;
}

/** Makes the settlement of a refused entry, with the findings as issues of its elements. */
function makeRefusal(
  entry: Entry,
  detail: Message,
  findings: readonly ServerFinding[],
): AttemptSettlement {
  return {
    state: 'refused',
    reason: detail,
    issues: findings.map((finding) => toIssue(entry, finding)),
  };
}

const ERROR_TYPE_RULES: Readonly<Record<number, string>> = {
  1: 'service-missing-record',
  2: 'service-invalid-data',
  3: 'service-permission',
};

/**
 * Converts a finding of the service to an issue with the element on its line of the sent document.
 */
function toIssue(entry: Entry, finding: ServerFinding): Issue {
  const element =
    entry.kind === 'import' && entry.document !== null
      ? findElementAtLine(entry.document, finding.line)
      : undefined;
  return makeErrorIssue(
    ERROR_TYPE_RULES[finding.errorType ?? 0] ?? 'service-refusal',
    finding.message,
    {
      find: entry.localId ?? undefined,
      line: finding.line,
      element: element === 'samostatny_nalez' ? undefined : element,
    },
  );
}

const START_TAG = /<(?:[\w.-]+:)?([\w.-]+)/;

/** Returns the element on a line: pas writes one element per line, so it is the first tag. */
function findElementAtLine(document: Buffer, line: number | undefined): string | undefined {
  if (line === undefined) return undefined;
  const text = document.toString('utf8').split('\n')[line - 1];
  return START_TAG.exec(text ?? '')?.[1];
}
