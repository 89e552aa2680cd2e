import type { EntryState } from './entry.ts';
import {
  type Fact,
  type FactOf,
  getCandidateKey,
  isAttempt,
  listFactsOfKind,
  listNamedAttempts,
  type RejectedMatch,
  type Slot,
} from './facts.ts';
import { isImportSlot } from './intents.ts';

type Attempted = FactOf<'attempted'>;
type Current = FactOf<'current'>;
type Decided = FactOf<'decided'>;

/** The wishes that stand in a slot. `disputed`: two copies want different things. */
type SlotWish = {
  readonly kind: 'nothing' | 'one' | 'disputed';
  /** Intents of the wishes that nothing replaces; two where they are disputed. */
  readonly intents: readonly string[];
  /** Those wishes, first what was not sent. A wish is missing where its fact was damaged. */
  readonly wishes: readonly Current[];
};

/**
 * Verdict of one attempt. `back`: it did not arrive, or a person wants it sent again; `given-up`: a
 * person says that it no longer matters; `open`: nothing is known of its end; `unknown`: it ended
 * without an answer that settles it.
 */
export type AttemptVerdict =
  | { readonly kind: 'accepted'; readonly identCely: string }
  | { readonly kind: 'refused'; readonly answer: FactOf<'answered'>; readonly isOverruled: boolean }
  | { readonly kind: 'back' | 'given-up' | 'unknown' | 'open' };

type IntentState = {
  readonly attempts: readonly Attempted[];
  readonly state: 'accepted' | 'open' | 'unknown' | 'refused' | 'back';
};

/** Meaning of the facts of a slot; see {@link foldSlot}. */
export type SlotState = {
  readonly wanted: SlotWish;
  /** Intents that are wanted or were attempted. */
  readonly intents: ReadonlyMap<string, IntentState>;
  /** Verdicts of the attempts of all intents, by attempt. */
  readonly verdicts: ReadonlyMap<string, AttemptVerdict>;
  /** Records that the facts name, best first; two are a question. */
  readonly records: readonly string[];
  /** Candidates that a person excluded. */
  readonly rejected: ReadonlyMap<string, RejectedMatch>;
  /** Decisions that count. */
  readonly decisions: readonly Decided[];
  /** Ids of the facts that say what is wanted: a new wish replaces them. */
  readonly heads: readonly string[];
};

/**
 * Computes from the facts of one slot what is wanted of it, and what became of each attempt. Pure
 * and independent of the order of the facts; one that comes twice counts once.
 */
export function foldSlot(given: readonly Fact[]): SlotState {
  const facts = [...new Map(given.map((fact) => [fact.id, fact])).values()].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const attempts = listFactsOfKind(facts, 'attempted');
  const decisions = findEffective(listFactsOfKind(facts, 'decided'), attempts);
  const counted = [...facts.filter(({ kind }) => kind !== 'decided'), ...decisions];
  const acceptances = listAcceptances(counted);
  const judged = new Map(attempts.map(({ id }) => [id, judge(id, counted, acceptances)]));
  const sent = [
    ...attempts.filter(({ id }) => mayBeAtService(judged.get(id) ?? UNKNOWN)),
    ...decisions.filter(({ body }) => isCreatedWithoutAttempt(body)),
  ];
  const heads = findHeads(facts);
  const wanted = getWanted(leaveOutVoidWithdrawals(heads, facts, sent), facts);
  const verdicts = new Map(
    attempts.map((attempt) => [attempt.id, reviseGivenUp(attempt, judged, wanted)]),
  );
  return {
    wanted,
    intents: collectIntentStates(wanted, attempts, verdicts, decisions),
    verdicts,
    records: listRecords(acceptances, verdicts),
    rejected: collectRejected(decisions),
    decisions,
    heads: heads.map(({ id }) => id),
  };
}

const UNKNOWN: AttemptVerdict = { kind: 'unknown' };

/** Giving up is no answer of the service: what is wanted again is unknown again. */
function reviseGivenUp(
  attempt: Attempted,
  judged: ReadonlyMap<string, AttemptVerdict>,
  wanted: SlotWish,
): AttemptVerdict {
  const verdict = judged.get(attempt.id) ?? UNKNOWN;
  const isWantedAgain =
    verdict.kind === 'given-up' && isIntentWanted(wanted, attempt, attempt.body.intent);
  return isWantedAgain ? UNKNOWN : verdict;
}

function collectIntentStates(
  wanted: SlotWish,
  attempts: readonly Attempted[],
  verdicts: ReadonlyMap<string, AttemptVerdict>,
  decisions: readonly Decided[],
): Map<string, IntentState> {
  const states = new Map<string, IntentState>();
  for (const intent of new Set([...wanted.intents, ...attempts.map(({ body }) => body.intent)])) {
    const own = attempts.filter(({ body }) => body.intent === intent);
    const isSaid = decisions.some(
      ({ body }) => body.intent === intent && isCreatedWithoutAttempt(body),
    );
    const state = isSaid ? 'accepted' : getIntentState(own, verdicts);
    states.set(intent, { attempts: own, state });
  }
  return states;
}

/** A person may say of what was never attempted here that it is in the service. */
function isCreatedWithoutAttempt({ answer, attempts }: Decided['body']): boolean {
  return answer === 'created' && attempts.length === 0;
}

/** Tells if the service, by the verdict of an attempt, has what it sent, or may have it. */
export function mayBeAtService({ kind }: AttemptVerdict): boolean {
  return kind === 'accepted' || kind === 'open' || kind === 'unknown';
}

/**
 * A decision counts unless a later one replaces it; an undo counts unless an attempt relied on it.
 */
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
 * Returns the heads of a slot: the wishes and attempts that nothing replaces. A wish replaces what
 * it names, and an attempt its wish and what it relied on. What replaces a wish replaces its
 * attempts too, which it need not know: an older copy of an outbox lacks those that were made after
 * it.
 */
function findHeads(facts: readonly Fact[]): (Current | Attempted)[] {
  const wishes = listFactsOfKind(facts, 'current');
  const attempts = listFactsOfKind(facts, 'attempted');
  const byWishes = new Set(wishes.flatMap(({ body }) => body.replaces));
  const byAttempts = new Set(attempts.flatMap(({ body }) => [...body.basis, body.current]));
  const isLeft = ({ id }: Fact): boolean => !byWishes.has(id) && !byAttempts.has(id);
  return [
    ...wishes.filter(isLeft),
    ...attempts.filter((attempt) => isLeft(attempt) && !byWishes.has(attempt.body.current)),
  ];
}

/**
 * Returns the facts that say what is wanted. A drop, a removal or an undo is not one of them while
 * the service has what it withdraws, or may have it: the person did not know, because another copy
 * of the outbox sent it, or the proof came later. What such a withdrawal replaced is still wanted.
 * For example: copy 1 sent a photograph, and copy 2 removed it before they were united.
 * @param sent facts whose intents the service has or may have
 */
function leaveOutVoidWithdrawals(
  heads: readonly (Current | Attempted)[],
  facts: readonly Fact[],
  sent: readonly (Attempted | Decided)[],
): readonly (Current | Attempted)[] {
  const isVoid = ({ kind, slot, body }: Current | Attempted): boolean =>
    kind === 'current' &&
    body.intent === null &&
    sent.some((each) => isImportSlot(slot) || each.body.intent === body.was);
  const voided = new Set<Fact>(heads.filter(isVoid));
  if (voided.size === 0) return heads;
  const left = facts.filter((fact) => !voided.has(fact));
  return leaveOutVoidWithdrawals(findHeads(left), left, sent);
}

function getWanted(heads: readonly (Current | Attempted)[], facts: readonly Fact[]): SlotWish {
  const repeats = heads.length < 2 ? [] : heads.filter((head) => isOutdatedRepeat(head, facts));
  const said = heads.filter((head) => !repeats.includes(head));
  const wanted = new Set(said.map(({ body }) => body.intent));
  const intents = [...wanted].filter((intent) => intent !== null);
  const kind = intents.length === 0 ? 'nothing' : 'one';
  // A wish says more than an attempt of it, and the service does not have it.
  const wishes = [
    ...said.toSorted((a, b) => Number(isAttempt(a)) - Number(isAttempt(b))),
    ...repeats,
  ]
    .map((head) => (head.kind === 'current' ? head.id : head.body.current))
    .flatMap((id) => listFactsOfKind(facts, 'current').filter((wish) => wish.id === id));
  return { kind: wanted.size > 1 ? 'disputed' : kind, intents, wishes };
}

/**
 * Tells if a wish repeats the version of those that it replaces, as one does that only has another
 * question or local id, and another copy has replaced that version: its own content counts. For
 * example: copy 1 changed the depth, and copy 2 stored a question about the find as it was.
 */
function isOutdatedRepeat(head: Current | Attempted, facts: readonly Fact[]): boolean {
  if (head.kind === 'attempted') return false;
  const before = facts.filter(
    (fact): fact is Current | Attempted =>
      (fact.kind === 'current' || fact.kind === 'attempted') &&
      head.body.replaces.includes(fact.id),
  );
  return (
    before.every(({ body }) => body.intent === head.body.intent) &&
    before.some((fact) => isVersionReplaced(fact, facts) || isOutdatedRepeat(fact, facts))
  );
}

/**
 * Tells if a wish for another version follows a wish or attempt, also behind repeats of it. A
 * removal is no version: beside a repeat it is disputed.
 */
function isVersionReplaced({ id, body }: Current | Attempted, facts: readonly Fact[]): boolean {
  const attempts = listFactsOfKind(facts, 'attempted').filter((each) => each.body.current === id);
  const replaceable = [id, ...attempts.map((each) => each.id)];
  return listFactsOfKind(facts, 'current').some(
    (wish) =>
      wish.body.replaces.some((each) => replaceable.includes(each)) &&
      wish.body.intent !== null &&
      (wish.body.intent !== body.intent || isVersionReplaced(wish, facts)),
  );
}

/**
 * Tells if an intent of a slot is wanted, also as one of two that are disputed. In the slot of an
 * import all versions count as one: true if any of them is wanted.
 */
export function isIntentWanted(
  { kind, intents }: SlotWish,
  { slot }: Pick<Slot, 'slot'>,
  intent: string,
): boolean {
  return isImportSlot(slot) ? kind !== 'nothing' : intents.includes(intent);
}

/** A record that a fact gives to the attempts; without attempts a person has said so. */
type Acceptance = {
  readonly attempts: readonly string[];
  readonly identCely: string;
};

/** An answer outranks evidence, and that a decision. */
function listAcceptances(facts: readonly Fact[]): Acceptance[] {
  const detached = new Set(
    listFactsOfKind(facts, 'decided').flatMap(({ body }) =>
      body.answer === 'detach' ? body.replaces : [],
    ),
  );
  return (['answered', 'matched', 'decided'] as const)
    .flatMap((kind) => facts.filter((fact) => fact.kind === kind && !detached.has(fact.id)))
    .flatMap((fact): Acceptance[] => {
      const identCely = getAcceptedRecord(fact);
      return identCely === null ? [] : [{ attempts: listNamedAttempts(fact), identCely }];
    });
}

/**
 * Returns the record that has what was sent, as an answer, a match or the decision `created` says;
 * null where the fact names none.
 */
export function getAcceptedRecord(fact: Fact): string | null {
  switch (fact.kind) {
    case 'answered':
    case 'matched':
      return fact.body.identCely;
    case 'decided':
      return fact.body.answer === 'created' ? fact.body.identCely : null;
    default:
      return null;
  }
}

/** The first row that holds; see the table in docs/architecture.md. */
function judge(
  attempt: string,
  facts: readonly Fact[],
  acceptances: readonly Acceptance[],
): AttemptVerdict {
  const accepted = acceptances.find(({ attempts }) => attempts.includes(attempt));
  if (accepted !== undefined) return { kind: 'accepted', identCely: accepted.identCely };
  const named = facts.filter((fact) => listNamedAttempts(fact).includes(attempt));
  const answers = listFactsOfKind(named, 'answered');
  const isDecided = (answer: Decided['body']['answer']): boolean =>
    listFactsOfKind(named, 'decided').some(({ body }) => body.answer === answer);
  const refusal = answers.find(({ body }) => body.settles === 'refused');
  if (refusal !== undefined)
    return { kind: 'refused', answer: refusal, isOverruled: isDecided('resend') };
  const isBack =
    answers.some(({ body }) => body.settles === 'queued') ||
    named.some(({ kind }) => kind === 'absent') ||
    isDecided('resend');
  if (isBack) return { kind: 'back' };
  if (isDecided('abandon')) return { kind: 'given-up' };
  return { kind: answers.length > 0 || isDecided('detach') ? 'unknown' : 'open' };
}

function getIntentState(
  attempts: readonly Attempted[],
  verdicts: ReadonlyMap<string, AttemptVerdict>,
): IntentState['state'] {
  const own = attempts.map(({ id }) => verdicts.get(id));
  const has = (kind: AttemptVerdict['kind']): boolean => own.some((each) => each?.kind === kind);
  if (has('accepted')) return 'accepted';
  if (has('open')) return 'open';
  if (has('unknown')) return 'unknown';
  return own.some((each) => each?.kind === 'refused' && !each.isOverruled) ? 'refused' : 'back';
}

function listRecords(
  acceptances: readonly Acceptance[],
  verdicts: ReadonlyMap<string, AttemptVerdict>,
): string[] {
  const records = acceptances.filter(
    ({ attempts, identCely }) =>
      attempts.length === 0 ||
      attempts.some((id) => {
        const verdict = verdicts.get(id);
        return verdict?.kind === 'accepted' && verdict.identCely === identCely;
      }),
  );
  return [...new Set(records.map(({ identCely }) => identCely))];
}

function collectRejected(decisions: readonly Decided[]): ReadonlyMap<string, RejectedMatch> {
  const rejected = new Map<string, RejectedMatch>();
  for (const { body } of decisions)
    for (const candidate of body.rejects) {
      const key = getCandidateKey(candidate);
      if (rejected.get(key) !== 'same') rejected.set(key, candidate.matched);
    }
  return rejected;
}

/**
 * Returns the state of an import, from all versions of its find. A draft is `queued` here, since
 * facts do not say what is complete.
 */
export function getImportState({ wanted, intents, records }: SlotState): EntryState {
  if (records.length > 0) return 'accepted';
  if (wanted.kind === 'nothing') return 'dropped';
  const states = [...intents.values()].map(({ state }) => state);
  if (states.includes('open')) return 'sending';
  if (states.includes('unknown')) return 'uncertain';
  if (wanted.kind === 'disputed') return 'queued';
  return intents.get(wanted.intents[0] ?? '')?.state === 'refused' ? 'refused' : 'queued';
}

/**
 * Returns the state of one number or photograph: only attempts of its own intent count; `dropped`
 * where another intent of the slot, or nothing, is wanted and this one was not accepted.
 */
export function getChangeState(state: SlotState, intent: string): EntryState {
  const own = state.intents.get(intent)?.state;
  if (own === 'accepted') return 'accepted';
  if (state.wanted.kind === 'nothing') return 'dropped';
  if (own === 'open') return 'sending';
  if (own === 'unknown') return 'uncertain';
  if (!state.wanted.intents.includes(intent)) return 'dropped';
  return own === 'refused' ? 'refused' : 'queued';
}
