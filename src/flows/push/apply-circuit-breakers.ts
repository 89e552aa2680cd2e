import { asWallMs } from '../../base/clock.ts';
import { type Message, msg } from '../../base/message.ts';
import { type FailureScope, OUTCOMES } from '../../base/outcomes.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { EntryKind } from '../../outbox/entry.ts';
import type { ServerFinding } from '../../pas-api/error-body.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import {
  type Breakers,
  type CircuitBreaker,
  getCircuitStatus,
  isTripping,
  makeKindKey,
  makeProjectKey,
  makeRecordBreakerKey,
  openCircuit,
  recordFailure,
  withBreaker,
  withoutCount,
} from './circuit-breaker.ts';
import { isAboutContent } from './entry-refusal.ts';
import type { AttemptFacts, Decision, Effect, PushState, Step } from './push-context.ts';

/** Applies the circuit breakers of record, project and kind to the settlement of an attempt. */
export function applyCircuitBreakers(
  state: PushState,
  facts: AttemptFacts,
  settlement: Settlement,
): Decision {
  const { kind } = facts.entry;
  const { project } = facts;
  if (settlement.state === 'accepted') {
    const ofRecord = withBreaker(
      state.breakers,
      makeRecordBreakerKey(kind, facts.entry.identCely ?? ''),
      undefined,
    );
    const closed = withBreaker(ofRecord, makeKindKey(kind), undefined);
    const breakers =
      project === null ? closed : withBreaker(closed, makeProjectKey(kind, project), undefined);
    return { settlement, state: { ...state, breakers }, effects: [] };
  }
  const ofRecord = countFailureOfRecord(state, facts, settlement);
  const ofOthers = countFailureOfOthers(ofRecord.state, facts, settlement);
  return { ...ofOthers, effects: [...ofRecord.effects, ...ofOthers.effects] };
}

/** Counts a failure for the project and for the kind of the entry. */
function countFailureOfOthers(
  state: PushState,
  facts: AttemptFacts,
  settlement: Settlement,
): Decision {
  const { kind } = facts.entry;
  const { project } = facts;
  const scope = classifyFailureScope(facts, settlement);
  if (scope === 'none') return { settlement, state, effects: [] };
  if (scope === 'entry') return { settlement, state: withFreeWay(state, facts), effects: [] };
  const keys = [...(project === null ? [] : [makeProjectKey(kind, project)]), makeKindKey(kind)];
  const isOpen = keys.some(
    (key) => getCircuitStatus(state.breakers.get(key), facts.endedAt) === 'open',
  );
  const counted = isOpen ? { state, effects: [] } : countFailure(state, facts, settlement, scope);
  const isSkipped = settlement.state === 'refused' && (isOpen || counted.effects.length > 0);
  return {
    ...counted,
    settlement: isSkipped ? requeueSettlement(settlement.reason, facts.now) : settlement,
  };
}

/** Makes the settlement that requeues a skipped entry; the next push sends other entries first. */
export function requeueSettlement(reason: Message, notBeforeAt: number): Settlement {
  return { state: 'queued', reason: makeSkippedReason(reason), notBeforeAt };
}

function makeSkippedReason(reason: Message): Message {
  return msg`not sent, because others got the same answer: ${reason}`;
}

/**
 * Refused photographs of a record that open its circuit, where the answer does not name the record.
 */
const EQUAL_REFUSALS = 2;
/** Name of a stored photograph, as in the service's message about a full record. */
const STORED_NAME = /F\d\d\b/;

/**
 * Counts a refused photograph: a record that takes none, such as one with 99, refuses its other
 * queued ones, too.
 */
function countFailureOfRecord(state: PushState, facts: AttemptFacts, settlement: Settlement): Step {
  const { entry, outcome, project, status = null, departedAt, endedAt } = facts;
  const { kind, identCely, id } = entry;
  if (kind !== 'photo' || identCely === null || settlement.state !== 'refused' || status === null)
    return { state, effects: [] };
  if (!('detail' in outcome) || getFindings(outcome).length > 0) return { state, effects: [] };
  const text = `${outcome.detail}`;
  const isOfRecord = isAboutProject(status) || text.includes(identCely) || STORED_NAME.test(text);
  if (!isOfRecord && status !== 422) return { state, effects: [] };
  const key = makeRecordBreakerKey(kind, identCely);
  const failure = {
    failureClass: `${status} ${text}`,
    subject: `${id}`,
    entryId: id,
    departedAt,
    at: endedAt,
    isRepeated: false,
  };
  const breaker = {
    ...recordFailure(state.breakers.get(key), failure),
    refused: new Set<number>(),
  };
  if (!isTripping(breaker, isOfRecord ? 1 : EQUAL_REFUSALS, endedAt))
    return {
      state: { ...state, breakers: withBreaker(state.breakers, key, breaker) },
      effects: [],
    };
  const part = { kind, project, record: identCely, status, reason: outcome.detail };
  const opened = openCircuit(breaker, part, endedAt);
  return {
    state: { ...state, breakers: withBreaker(state.breakers, key, opened) },
    effects: makeEffectsOfOpening(opened.opened, breaker, facts),
  };
}

type CountedScope = Exclude<FailureScope, 'none' | 'answer' | 'service'>;

/**
 * Returns the scope of a failure. A refusal with findings concerns the entry. A refusal that the
 * contract defines for a project or a record may concern the whole project. Any other refusal has
 * no cause in the request, so it concerns the connection to the service.
 */
function classifyFailureScope(
  facts: AttemptFacts,
  { state }: Settlement,
): CountedScope | 'entry' | 'none' {
  const { entry, outcome, status } = facts;
  const { scope, retry } = OUTCOMES[outcome.kind];
  if (retry === 'never' && state !== 'refused') return 'none';
  if (isLostCollision(facts, state)) return 'none';
  switch (scope) {
    case 'answer':
      if (getFindings(outcome).some((finding) => isAboutContent(entry, finding))) return 'entry';
      if (status === 422 && entry.kind !== 'import') return 'entry';
      return isAboutProject(status) ? 'project' : 'kind';
    case 'record':
    case 'project':
    case 'kind':
      return scope;
    case 'none':
    case 'service':
      return 'none';
  }
}

/**
 * Tells if an import was refused because a simultaneous one got its number, which does not concern
 * the connection.
 */
function isLostCollision(
  { outcome, besideAccepted }: AttemptFacts,
  state: Settlement['state'],
): boolean {
  return outcome.kind === 'refused-unspecified' && state === 'queued' && besideAccepted;
}

function getFindings(outcome: Outcome): readonly ServerFinding[] {
  return 'findings' in outcome ? outcome.findings : [];
}

const isAboutProject = (status: number | undefined): boolean => status === 403 || status === 404;
/** Failure classes of refused accounts and projects. */
const PROJECT_CLASSES: readonly string[] = ['403', '404'];
const FORBIDDEN_CLASS = '403';

/**
 * Returns the class of a failure: failures of the connection are equal, whatever their statuses.
 */
function classifyFailure({ outcome, status }: AttemptFacts): string {
  const { scope, retry, countsAsFailure } = OUTCOMES[outcome.kind];
  if (retry === 'backoff' && countsAsFailure === true) return outcome.kind;
  return scope === 'answer' && isAboutProject(status) ? `${status}` : 'transport';
}

/**
 * Returns the state after an answer about the content of an entry, which proves that the connection
 * works.
 */
function withFreeWay(state: PushState, { entry }: AttemptFacts): PushState {
  const breaker = state.breakers.get(makeKindKey(entry.kind));
  if (breaker === undefined || PROJECT_CLASSES.includes(breaker.failureClass)) return state;
  return {
    ...state,
    breakers: withBreaker(state.breakers, makeKindKey(entry.kind), withoutCount(breaker)),
  };
}

/** Counts entries of a kind that were refused for their projects since one was accepted. */
export function countRefusedForProjects(breakers: Breakers, kind: EntryKind): number {
  const breaker = breakers.get(makeKindKey(kind));
  return breaker !== undefined && PROJECT_CLASSES.includes(breaker.failureClass)
    ? breaker.refused.size
    : 0;
}

function countFailure(
  state: PushState,
  facts: AttemptFacts,
  settlement: Settlement,
  scope: CountedScope,
): Step {
  const { entry, outcome, project } = facts;
  const reason =
    outcome.kind === 'refused-unspecified' ? outcome.detail : (settlement.reason ?? '');
  const { retry, countsAsFailure } = OUTCOMES[outcome.kind];
  const isRepeated = retry === 'backoff' && countsAsFailure === true;
  const record = entry.identCely ?? entry.recordKey;
  const about = { record, project: project ?? record, kind: `${entry.id}` }[scope];
  let counted: Step = { state, effects: [] };
  if (scope === 'project' && project !== null)
    counted = countIn(counted, facts, { project, subject: record, reason, isRepeated });
  return countIn(counted, facts, { project: null, subject: about, reason, isRepeated });
}

type EntryPart = {
  readonly project: string | null;
  readonly subject: string;
  readonly reason: Message;
  readonly isRepeated: boolean;
};

function countIn(
  { state, effects }: Step,
  facts: AttemptFacts,
  { project, subject, reason, isRepeated }: EntryPart,
): Step {
  const { entry, endedAt, departedAt, status = null } = facts;
  const key = project === null ? makeKindKey(entry.kind) : makeProjectKey(entry.kind, project);
  const failure = {
    failureClass: classifyFailure(facts),
    subject,
    entryId: entry.id,
    departedAt,
    at: endedAt,
    isRepeated,
  };
  const before = state.breakers.get(key);
  const breaker = recordFailure(before, failure);
  const { threshold, further } = RETRY_POLICY.circuit;
  const isFurther =
    project !== null && countRefusedForProjects(state.breakers, entry.kind) + 1 >= threshold;
  if (!isCounted(before, breaker) || !isTripping(breaker, isFurther ? further : threshold, endedAt))
    return { state: { ...state, breakers: withBreaker(state.breakers, key, breaker) }, effects };
  const opened = openCircuit(
    breaker,
    { kind: entry.kind, project, record: null, status, reason },
    endedAt,
  );
  return {
    state: {
      ...state,
      breakers: withBreaker(state.breakers, key, opened),
      // The access may have been withdrawn.
      accessProven: state.accessProven && status !== 403,
    },
    effects: [...effects, ...makeEffectsOfOpening(opened.opened, breaker, facts)],
  };
}

/** A failure of a request that was in flight beside a counted one does not count. */
function isCounted(before: CircuitBreaker | undefined, after: CircuitBreaker): boolean {
  return after.failures > 0 && after !== before;
}

function makeEffectsOfOpening(
  circuit: NonNullable<CircuitBreaker['opened']>,
  { refused }: CircuitBreaker,
  facts: AttemptFacts,
): Effect[] {
  const { kind, project, record, reason, openMs } = circuit;
  return [
    { type: 'requeue-refused', entryIds: refused, reason },
    ...(project === null
      ? []
      : [
          {
            type: 'move-to-back',
            kind,
            project,
            record,
            reason: makeSkippedReason(reason),
          } as const,
        ]),
    { type: 'report-open-circuit', circuit, until: asWallMs(facts.now + openMs) },
  ];
}

/** Requeues entries that were refused as forbidden, once the account as a whole is refused. */
export function requeueForbidden(
  breakers: Breakers,
  reason: Message,
): { readonly breakers: Breakers; readonly effects: Effect[] } {
  const forbidden = [...breakers].filter(
    ([, { failureClass }]) => failureClass === FORBIDDEN_CLASS,
  );
  const emptied = forbidden.map(
    ([key, breaker]) => [key, { ...breaker, refused: new Set<number>() }] as const,
  );
  return {
    breakers: new Map([...breakers, ...emptied]),
    effects: forbidden.map(
      ([, { refused }]) => ({ type: 'requeue-refused', entryIds: refused, reason }) as const,
    ),
  };
}
