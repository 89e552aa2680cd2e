import { asWallMs, type WallMs } from '../../base/clock.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { OUTCOMES } from '../../base/outcomes.ts';
import {
  computeConnectionBackoffMs,
  computeEntryBackoffMs,
  RETRY_POLICY,
  slowBackoffMs,
} from '../../base/retry-policy.ts';
import { findNumberProblem } from '../../find/value-rules.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { applyCircuitBreakers, requeueForbidden } from './apply-circuit-breakers.ts';
import {
  isTripping,
  makeStopKey,
  recordFailure,
  type StoppingFailure,
  withBreaker,
} from './circuit-breaker.ts';
import { makeRefusal } from './entry-refusal.ts';
import { findStopCause, updatePeerState } from './peer-check.ts';
import type {
  AttemptFacts,
  Decision,
  Effect,
  PushCounts,
  PushState,
  Step,
  StopCause,
} from './push-context.ts';

/**
 * Decides the effects of an attempt on its entry and on the push. Pure: times are among the facts.
 */
export function decide(state: PushState, facts: AttemptFacts): Decision {
  const peer = updatePeerState(state, facts);
  const service = countStoppingFailures(peer.state, facts);
  const settled = decideSettlement(service.state, facts);
  const effects = [...peer.effects, ...service.effects, ...settled.effects];
  if (settled.effects.some(({ type }) => type === 'probe-access')) return { ...settled, effects };
  const applied = applyCircuitBreakers(settled.state, facts, settled.settlement);
  return { ...applied, effects: [...effects, ...applied.effects] };
}

const STOPPING_FAILURES = Object.keys(RETRY_POLICY.stopAfter) as readonly StoppingFailure[];

/** Counts consecutive failures of the service, and stops the push at the threshold. */
function countStoppingFailures(state: PushState, facts: AttemptFacts): Step {
  const { outcome, entry, departedAt, endedAt } = facts;
  const failed = STOPPING_FAILURES.find((failure) => failure === outcome.kind);
  const breakers = STOPPING_FAILURES.filter((failure) => isEndOfRow(failure, outcome)).reduce(
    (left, failure) => withBreaker(left, makeStopKey(failure), undefined),
    state.breakers,
  );
  if (failed === undefined) return { state: { ...state, breakers }, effects: [] };
  const failure = {
    failureClass: failed,
    subject: undefined,
    entryId: entry.id,
    departedAt,
    at: endedAt,
    isRepeated: false,
  };
  const breaker = {
    ...recordFailure(breakers.get(makeStopKey(failed)), failure),
    refused: new Set<number>(),
  };
  const cause = isTripping(breaker, RETRY_POLICY.stopAfter[failed], endedAt)
    ? chooseStopCause(failed, breaker.failures, outcome)
    : undefined;
  const effects: Effect[] = cause === undefined ? [] : [{ type: 'stop', cause }];
  return {
    state: { ...state, breakers: withBreaker(breakers, makeStopKey(failed), breaker) },
    effects,
  };
}

/** Tells if an outcome ends a row of failures. A missing answer does not end a row of answers. */
function isEndOfRow(failure: StoppingFailure, outcome: Outcome): boolean {
  if (failure === outcome.kind) return false;
  return failure === 'not-delivered' || OUTCOMES[outcome.kind].provesPeer !== 'neutral';
}

/**
 * Returns the cause for the push to end; undefined where the slower pace ends it ({@link Effect}
 * `slow-down`).
 */
function chooseStopCause(
  failure: StoppingFailure,
  failures: number,
  outcome: Outcome,
): StopCause | undefined {
  const reason: Message = 'detail' in outcome ? outcome.detail : '';
  switch (failure) {
    case 'uncertain':
      return {
        kind: 'in-doubt',
        reason: msg`${failures} answers in a row left their entries uncertain`,
      };
    case 'not-delivered':
      return { kind: 'unreachable', reason };
    case 'closed':
      return { kind: 'closed', reason };
    case 'throttled':
      return undefined;
  }
}

/** Decides the settlement by the outcome alone, before the circuit breakers. */
function decideSettlement(state: PushState, facts: AttemptFacts): Decision {
  const { entry, outcome } = facts;
  const settled = (settlement: Settlement): Decision => ({ settlement, state, effects: [] });
  switch (outcome.kind) {
    case 'accepted':
      return {
        ...settled({ state: 'accepted', identCely: outcome.identCely }),
        state: { ...state, accessProven: true },
      };
    case 'already-applied':
      return settled(acceptAlreadyApplied(facts, outcome.detail));
    case 'refused':
      return settled(makeRefusal(entry, outcome.detail, outcome.findings));
    case 'refused-unspecified':
      return handleUndetailedRefusal(state, facts, outcome.detail);
    case 'refused-by-intermediary':
      return settled(
        requeue(facts, msg`refused by a proxy between pas and the service: ${outcome.detail}`),
      );
    case 'forbidden':
      return handleForbidden(state, facts, outcome);
    case 'unauthorised':
      return {
        ...settled(requeue(facts, msg`the token had expired`)),
        effects: [{ type: 'renew-token', refused: facts.token }],
      };
    case 'content-changed':
      return settled(
        makeRefusal(
          entry,
          msg`the photograph has been removed or changed since it was queued; queue it again with \`${cmd`pas photo add`}\``,
          [],
        ),
      );
    case 'throttled':
      return handleThrottle(state, facts, outcome.waitMs);
    case 'busy':
      return handleBusy(state, facts);
    case 'closed':
      return settled(requeue(facts, msg`the service is closed`));
    case 'not-delivered':
      return handleUndelivered(state, facts, outcome.detail);
    case 'cut':
      return settled(
        requeue(facts, msg`the request did not reach the service (${outcome.detail})`),
      );
    case 'uncertain':
      return settled({ state: 'uncertain', reason: outcome.detail });
  }
}

/**
 * Requeues the entry for the time in the outcome's row of the table; the reason of frequent
 * failures has their number.
 */
function requeue(facts: AttemptFacts, reason: Message): Settlement {
  const failures = facts.failuresBefore + 1;
  const isOften =
    OUTCOMES[facts.outcome.kind].countsAsFailure === true &&
    failures >= RETRY_POLICY.entry.slowAfter;
  const text = isOften ? msg`${reason} (tried ${failures} times)` : reason;
  return { state: 'queued', reason: text, notBeforeAt: getNotBefore(facts, failures) };
}

function getNotBefore({ now, outcome }: AttemptFacts, failures: number): WallMs {
  switch (OUTCOMES[outcome.kind].retry) {
    case 'never':
    case 'first':
      return asWallMs(0);
    case 'in-turn':
      return now;
    case 'backoff':
      return asWallMs(now + computeEntryBackoffMs(failures));
    case 'slow-backoff':
      return asWallMs(now + slowBackoffMs(failures));
  }
}

/** Accepts a number that the service can have refused only because the record has it. */
function acceptAlreadyApplied({ entry }: AttemptFacts, detail: Message): Settlement {
  if (entry.kind !== 'number' || findNumberProblem(entry.value) !== undefined)
    return makeRefusal(entry, detail, []);
  return {
    state: 'accepted',
    identCely: entry.identCely ?? '',
    reason: msg`the service already had this number`,
  };
}

/**
 * Requeues an import that may have lost its number to a simultaneous one: the service does not
 * reserve numbers.
 */
function handleUndetailedRefusal(
  state: PushState,
  { entry, now, besideImport, collisionsBefore }: AttemptFacts,
  detail: Message,
): Decision {
  if (
    entry.kind !== 'import' ||
    entry.project === null ||
    !besideImport ||
    collisionsBefore >= RETRY_POLICY.collision.maxRepeats
  )
    return { settlement: makeRefusal(entry, detail, []), state, effects: [] };
  const settlement: Settlement = {
    state: 'queued',
    reason: msg`refused, perhaps because of another import into its project (${detail}); retried alone`,
    notBeforeAt: now + computeEntryBackoffMs(collisionsBefore + 1),
  };
  return {
    settlement,
    state: { ...state, serialProjects: new Set([...state.serialProjects, entry.project]) },
    effects: [],
  };
}

/** Distinguishes a refused record from a refused account by the answer to the access probe. */
function handleForbidden(
  state: PushState,
  { access, entry }: AttemptFacts,
  { detail, findings }: Extract<AttemptFacts['outcome'], { kind: 'forbidden' }>,
): Decision {
  const keepWaiting = (reason: Message): Settlement => ({
    state: 'queued',
    reason,
    notBeforeAt: 0,
  });
  const unclear = keepWaiting(
    msg`refused, and it is unclear whether the whole account is refused: ${detail}`,
  );
  if (access === undefined)
    return state.accessProven
      ? { settlement: makeRefusal(entry, detail, findings), state, effects: [] }
      : { settlement: unclear, state, effects: [{ type: 'probe-access' }] };
  if (access.kind === 'forbidden') {
    const { breakers, effects } = requeueForbidden(state.breakers, detail);
    const stop: Effect = { type: 'stop', cause: { kind: 'not-allowed', reason: detail } };
    return {
      settlement: keepWaiting(msg`the account is refused: ${detail}`),
      state: { ...state, breakers },
      effects: [stop, ...effects],
    };
  }
  const cause = findStopCause(access);
  if (cause !== undefined)
    return { settlement: unclear, state, effects: [{ type: 'stop', cause }] };
  if (access.kind === 'unauthorised') return { settlement: unclear, state, effects: [] };
  return {
    settlement: makeRefusal(entry, detail, findings),
    state: { ...state, accessProven: true },
    effects: [],
  };
}

/** Requeues the entry without backoff: the pace delays all entries. */
function handleThrottle(
  state: PushState,
  facts: AttemptFacts,
  retryAfterMs: number | undefined,
): Decision {
  const failures = state.breakers.get(makeStopKey('throttled'))?.failures ?? 0;
  const stopReason =
    failures < RETRY_POLICY.stopAfter.throttled
      ? undefined
      : msg`the service asked for fewer requests ${failures} times in a row`;
  return {
    settlement: requeue(facts, msg`the service asked for fewer requests`),
    state: countOutcome(state, 'throttled'),
    effects: [{ type: 'slow-down', departedAt: facts.departedAt, retryAfterMs, stopReason }],
  };
}

/**
 * Treats busy answers for different records within a short time, and a lock that lasts long, as a
 * throttle.
 */
function handleBusy(state: PushState, facts: AttemptFacts): Decision {
  const { entry, now, departedAt, failuresBefore } = facts;
  const { lastBusy } = state;
  const { windowMs, maxQuick } = RETRY_POLICY.lock;
  const isThrottle =
    lastBusy !== undefined &&
    lastBusy.recordKey !== entry.recordKey &&
    now - lastBusy.at < windowMs;
  const slowDown: Effect = {
    type: 'slow-down',
    departedAt,
    retryAfterMs: undefined,
    stopReason: undefined,
  };
  return {
    settlement: requeue(facts, msg`the service is already working on this record`),
    state: {
      ...countOutcome(state, isThrottle ? 'throttled' : 'locked'),
      lastBusy: { recordKey: entry.recordKey, at: now },
    },
    effects: isThrottle || failuresBefore >= maxQuick ? [slowDown] : [],
  };
}

function handleUndelivered(state: PushState, facts: AttemptFacts, detail: Message): Decision {
  const failures = state.breakers.get(makeStopKey('not-delivered'))?.failures ?? 1;
  return {
    settlement: requeue(facts, msg`the request did not reach the service (${detail})`),
    state: { ...state, backoffUntil: asWallMs(facts.now + computeConnectionBackoffMs(failures)) },
    effects: [],
  };
}

function countOutcome(state: PushState, which: keyof PushCounts): PushState {
  return { ...state, counts: { ...state.counts, [which]: state.counts[which] + 1 } };
}
