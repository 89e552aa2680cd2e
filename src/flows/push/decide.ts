import { type Message, msg } from '../../base/message.ts';
import { OUTCOMES } from '../../base/outcomes.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { applyCircuitBreakers } from './apply-circuit-breakers.ts';
import { recordFailure, type ServiceFailure, serviceKey, trips, withBreaker } from './circuit-breaker.ts';
import { decideSettlement } from './decide-settlement.ts';
import { updatePeerState } from './peer-check.ts';
import type { StopCause } from './push-context.ts';
import type { AttemptFacts, Decision, Effect, PushState } from './push-state.ts';

type Step = Omit<Decision, 'settlement'>;

/** Decides what an attempt does to its entry and to the push. Pure: times are among the facts. */
export function decide(state: PushState, facts: AttemptFacts): Decision {
  const peer = updatePeerState(state, facts);
  const service = countServiceFailures(peer.state, facts);
  const settled = decideSettlement(service.state, facts);
  const effects = [...peer.effects, ...service.effects, ...settled.effects];
  if (settled.effects.some(({ type }) => type === 'probe-access')) return { ...settled, effects };
  const applied = applyCircuitBreakers(settled.state, facts, settled.settlement);
  return { ...applied, effects: [...effects, ...applied.effects] };
}

const SERVICE_FAILURES = Object.keys(RETRY_POLICY.service) as readonly ServiceFailure[];

/** Counts failures of the service in a row, and stops the push where they are too many. */
function countServiceFailures(state: PushState, facts: AttemptFacts): Step {
  const { outcome, entry, departedAt, endedAt } = facts;
  const failed = SERVICE_FAILURES.find((failure) => failure === outcome.kind);
  const breakers = SERVICE_FAILURES.filter((failure) => endsRow(failure, outcome)).reduce(
    (left, failure) => withBreaker(left, serviceKey(failure), undefined),
    state.breakers,
  );
  if (failed === undefined) return { state: { ...state, breakers }, effects: [] };
  const failure = { failureClass: failed, subject: undefined, entryId: entry.id, departedAt, at: endedAt, isRepeated: false };
  const breaker = { ...recordFailure(breakers.get(serviceKey(failed)), failure), refused: new Set<number>() };
  const cause = trips(breaker, RETRY_POLICY.service[failed], endedAt)
    ? stopCauseAfter(failed, breaker.failures, outcome)
    : undefined;
  const effects: Effect[] = cause === undefined ? [] : [{ type: 'stop', cause }];
  return { state: { ...state, breakers: withBreaker(breakers, serviceKey(failed), breaker) }, effects };
}

/** Where no answer came, nothing is known of how the service answers. */
function endsRow(failure: ServiceFailure, outcome: Outcome): boolean {
  if (failure === outcome.kind) return false;
  return failure === 'not-delivered' || OUTCOMES[outcome.kind].provesPeer !== 'neutral';
}

/** Undefined where the slowed pace ends the push ({@link Effect} `slow-down`). */
function stopCauseAfter(failure: ServiceFailure, failures: number, outcome: Outcome): StopCause | undefined {
  const reason: Message = 'detail' in outcome ? outcome.detail : '';
  switch (failure) {
    case 'uncertain':
      return { kind: 'in-doubt', reason: msg`${failures} answers in a row left their entries uncertain` };
    case 'not-delivered':
      return { kind: 'unreachable', reason };
    case 'closed':
      return { kind: 'closed', reason };
    case 'throttled':
      return undefined;
  }
}
