import type { EntryState } from './entry.ts';
import { type Fact, type FactOf, listFactsOfKind, type RejectedMatch } from './facts.ts';
import { isImportSlot } from './intents.ts';

type Attempted = FactOf<'attempted'>;
type Current = FactOf<'current'>;
type Decided = FactOf<'decided'>;

/** Wish for a slot. `disputed`: two copies want different things. */
export type SlotWish =
  | { readonly kind: 'nothing'; readonly fact: Current | undefined }
  | { readonly kind: 'one'; readonly intent: string; readonly fact: Current | Attempted }
  | { readonly kind: 'disputed'; readonly facts: readonly (Current | Attempted)[] };

type AcceptedBy = 'answer' | 'evidence' | 'person';

/** Verdict of one attempt. */
type AttemptVerdict =
  | {
      readonly kind: 'accepted';
      readonly identCely: string;
      readonly by: AcceptedBy;
      readonly fact: string;
    }
  | { readonly kind: 'refused'; readonly answer: FactOf<'answered'>; readonly isOverruled: boolean }
  | { readonly kind: 'back' | 'given-up' | 'unknown' | 'open' };

type IntentState = {
  readonly attempts: readonly Attempted[];
  readonly verdicts: ReadonlyMap<string, AttemptVerdict>;
  readonly state: 'untried' | 'accepted' | 'open' | 'unknown' | 'refused' | 'back';
};

export type SlotState = {
  readonly wanted: SlotWish;
  /** Intents that are wanted or were attempted. */
  readonly intents: ReadonlyMap<string, IntentState>;
  /** Records that the facts name, best first; two are a question. */
  readonly records: readonly string[];
  /** Candidates that a person excluded. */
  readonly rejected: ReadonlyMap<string, RejectedMatch>;
  /** Decisions that count. */
  readonly decisions: readonly Decided[];
  /** Facts that say what is wanted: a new wish replaces them. */
  readonly heads: readonly string[];
  /** Ids of all heads and effective decisions: what an attempt of now knows. */
  readonly inForce: readonly string[];
};

/**
 * Folds the facts of one slot. Pure and independent of their order; one that comes twice counts
 * once.
 */
export function foldSlot(given: readonly Fact[]): SlotState {
  const facts = [...new Map(given.map((fact) => [fact.id, fact])).values()].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const attempts = facts.filter((fact) => fact.kind === 'attempted');
  const decisions = findEffective(
    facts.filter((fact) => fact.kind === 'decided'),
    attempts,
  );
  const heads = findHeads(facts);
  const wanted = getWanted(heads);
  const isWanted = ({ slot, body }: Attempted): boolean =>
    wanted.kind === 'disputed' ||
    (wanted.kind === 'one' && (isImportSlot(slot) || wanted.intent === body.intent));
  const verdicts = new Map(
    attempts.map((attempt) => {
      const verdict = judge(attempt.id, facts, decisions);
      // Giving up is no answer of the service: what is wanted again is unknown again.
      const isUnknown = verdict.kind === 'given-up' && isWanted(attempt);
      return [attempt.id, isUnknown ? UNKNOWN : verdict];
    }),
  );
  const said = listSaid(decisions);
  const intents = new Map<string, IntentState>();
  const ofHeads = heads.flatMap(({ body }) => body.intent ?? []);
  for (const intent of new Set([...ofHeads, ...attempts.map(({ body }) => body.intent)])) {
    const own = attempts.filter(({ body }) => body.intent === intent);
    const isSaid = said.some(({ body }) => body.intent === intent);
    const state = isSaid ? 'accepted' : getIntentState(own, verdicts);
    intents.set(intent, { attempts: own, verdicts, state });
  }
  return {
    wanted,
    intents,
    records: listRecords(verdicts, said),
    rejected: collectRejected(decisions),
    decisions,
    heads: heads.map(({ id }) => id),
    inForce: [...heads, ...decisions].map(({ id }) => id),
  };
}

const UNKNOWN: AttemptVerdict = { kind: 'unknown' };

/** A decision counts unless a later one replaces it; an undo counts unless an attempt relied on it. */
function findEffective(decided: readonly Decided[], attempts: readonly Attempted[]): Decided[] {
  const reliedOn = new Set(attempts.flatMap(({ body }) => body.basis));
  const isVoid = ({ body }: Decided): boolean =>
    body.answer === 'undo' && body.replaces.some((id) => reliedOn.has(id));
  const isEffective = (fact: Decided): boolean =>
    !isVoid(fact) &&
    !decided.some((other) => other.body.replaces.includes(fact.id) && isEffective(other));
  return decided.filter(isEffective);
}

/**
 * Returns wishes and attempts that nothing replaces. What replaces a wish replaces its attempts too,
 * which it need not know: an older copy of an outbox lacks those that were made after it.
 */
function findHeads(facts: readonly Fact[]): (Current | Attempted)[] {
  const replacedByWishes = new Set(
    listFactsOfKind(facts, 'current').flatMap(({ body }) => body.replaces),
  );
  const replacedByAttempts = new Set(
    listFactsOfKind(facts, 'attempted').flatMap(({ body }) => [...body.basis, body.current]),
  );
  return facts.filter((fact): fact is Current | Attempted => {
    if (replacedByWishes.has(fact.id) || replacedByAttempts.has(fact.id)) return false;
    if (fact.kind === 'attempted') return !replacedByWishes.has(fact.body.current);
    return fact.kind === 'current';
  });
}

function getWanted(heads: readonly (Current | Attempted)[]): SlotWish {
  const [first] = heads;
  if (first === undefined) return { kind: 'nothing', fact: undefined };
  if (new Set(heads.map(({ body }) => body.intent)).size > 1)
    return { kind: 'disputed', facts: heads };
  if (first.body.intent !== null)
    return { kind: 'one', intent: first.body.intent, fact: chooseWish(heads) ?? first };
  return { kind: 'nothing', fact: first.kind === 'current' ? first : undefined };
}

/** A wish says more than an attempt of it. */
function chooseWish(heads: readonly (Current | Attempted)[]): Current | undefined {
  return heads.find((fact) => fact.kind === 'current');
}

/** The first row that holds; see the table in docs/architecture.md. */
function judge(
  attempt: string,
  facts: readonly Fact[],
  decisions: readonly Decided[],
): AttemptVerdict {
  const answers = listFactsOfKind(facts, 'answered').filter(({ body }) => body.attempt === attempt);
  const evidence = [
    ...listFactsOfKind(facts, 'matched'),
    ...listFactsOfKind(facts, 'absent'),
  ].filter(({ body }) => body.attempts.includes(attempt));
  const decided = decisions.filter(({ body }) => body.attempts.includes(attempt));
  const isDecided = (answer: Decided['body']['answer']): boolean =>
    decided.some(({ body }) => body.answer === answer);
  const detached = new Set(
    decided.flatMap(({ body }) => (body.answer === 'detach' ? body.replaces : [])),
  );
  const accepted = listAcceptances(answers, evidence, decided).find(
    ({ fact }) => !detached.has(fact),
  );
  if (accepted !== undefined) return accepted;
  const refusal = answers.find(({ body }) => body.settles === 'refused');
  if (refusal !== undefined)
    return { kind: 'refused', answer: refusal, isOverruled: isDecided('resend') };
  const isBack =
    answers.some(({ body }) => body.settles === 'queued') ||
    evidence.some(({ kind }) => kind === 'absent') ||
    isDecided('resend');
  if (isBack) return { kind: 'back' };
  if (isDecided('abandon')) return { kind: 'given-up' };
  return { kind: answers.length > 0 || isDecided('detach') ? 'unknown' : 'open' };
}

type Acceptance = Extract<AttemptVerdict, { kind: 'accepted' }>;

function listAcceptances(
  answers: readonly FactOf<'answered'>[],
  evidence: readonly (FactOf<'matched'> | FactOf<'absent'>)[],
  decided: readonly Decided[],
): Acceptance[] {
  const make = (
    { id, body }: { readonly id: string; readonly body: { readonly identCely: string | null } },
    by: AcceptedBy,
  ): Acceptance[] =>
    body.identCely === null ? [] : [{ kind: 'accepted', identCely: body.identCely, by, fact: id }];
  return [
    ...answers.flatMap((fact) => (fact.body.settles === 'accepted' ? make(fact, 'answer') : [])),
    ...evidence.flatMap((fact) => (fact.kind === 'matched' ? make(fact, 'evidence') : [])),
    ...decided.flatMap((fact) => (fact.body.answer === 'created' ? make(fact, 'person') : [])),
  ];
}

function getIntentState(
  attempts: readonly Attempted[],
  verdicts: ReadonlyMap<string, AttemptVerdict>,
): IntentState['state'] {
  if (attempts.length === 0) return 'untried';
  const own = attempts.map(({ id }) => verdicts.get(id));
  const has = (kind: AttemptVerdict['kind']): boolean => own.some((each) => each?.kind === kind);
  if (has('accepted')) return 'accepted';
  if (has('open')) return 'open';
  if (has('unknown')) return 'unknown';
  return own.some((each) => each?.kind === 'refused' && !each.isOverruled) ? 'refused' : 'back';
}

const RANK: readonly AcceptedBy[] = ['answer', 'evidence', 'person'];

function listRecords(
  verdicts: ReadonlyMap<string, AttemptVerdict>,
  said: readonly Decided[],
): string[] {
  const accepted = [...verdicts.values()].filter((verdict) => verdict.kind === 'accepted');
  accepted.sort((a, b) => RANK.indexOf(a.by) - RANK.indexOf(b.by));
  return [
    ...new Set([
      ...accepted.map(({ identCely }) => identCely),
      ...said.flatMap(({ body }) => body.identCely ?? []),
    ]),
  ];
}

/** A person may say of what was never attempted here that it is in the service. */
function listSaid(decisions: readonly Decided[]): Decided[] {
  return decisions.filter(({ body }) => body.answer === 'created' && body.attempts.length === 0);
}

function collectRejected(decisions: readonly Decided[]): ReadonlyMap<string, RejectedMatch> {
  const rejected = new Map<string, RejectedMatch>();
  for (const { body } of decisions)
    for (const { name, matched } of body.rejects)
      if (rejected.get(name) !== 'same') rejected.set(name, matched);
  return rejected;
}

/**
 * Returns the state of an import, from all its versions; `queued` also for a draft, which depends
 * on validation.
 */
export function getImportState({ wanted, intents, records }: SlotState): EntryState {
  if (records.length > 0) return 'accepted';
  if (wanted.kind === 'nothing') return 'dropped';
  const states = [...intents.values()].map(({ state }) => state);
  if (states.includes('open')) return 'sending';
  if (states.includes('unknown')) return 'uncertain';
  if (wanted.kind === 'disputed') return 'queued';
  return intents.get(wanted.intent)?.state === 'refused' ? 'refused' : 'queued';
}

/** Returns the state of a number or a photograph, each of which is an intent of its own. */
export function getChangeState({ wanted, intents }: SlotState, intent: string): EntryState {
  const own = intents.get(intent)?.state;
  const isWanted =
    wanted.kind === 'disputed' || (wanted.kind === 'one' && wanted.intent === intent);
  if (own === 'accepted') return 'accepted';
  if (wanted.kind === 'nothing') return 'dropped';
  if (own === 'open') return 'sending';
  if (own === 'unknown') return 'uncertain';
  if (!isWanted) return 'dropped';
  return own === 'refused' ? 'refused' : 'queued';
}
