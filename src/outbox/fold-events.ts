import type { StoredMessage } from '../base/message.ts';
import type { EntryState } from './entry.ts';
import type { AnsweredBody, DecidedBody, EventOf, OutboxEvent } from './events.ts';

/** Facts about one entry, folded from all its events. */
export type EntryFacts = {
  /**
   * Record of the entry and its source: an answer outranks evidence, and evidence is equal to a
   * person.
   */
  readonly accepted:
    | {
        readonly identCely: string;
        readonly by: 'answer' | 'evidence' | 'person';
        readonly event: string;
      }
    | undefined;
  /** Attempts without an answer, and attempts of unknown outcome. */
  readonly open: ReadonlySet<string>;
  readonly unknown: ReadonlySet<string>;
  /** The last clear answer, where it was a refusal. */
  readonly refusal: { readonly attempt: string; readonly body: AnsweredBody } | undefined;
  readonly abandoned: { readonly event: string; readonly body: DecidedBody } | undefined;
  /** Records, files or numbers that a person excluded. */
  readonly rejected: ReadonlySet<string>;
  readonly attempts: number;
};

/** Intent of the outbox for an entry, as far as its state depends on it. */
export type EntryIntent = {
  readonly hasContent: boolean;
  /** The refused attempt that is overruled. */
  readonly retryOf: string | null;
};

type Draft = {
  accepted: EntryFacts['accepted'];
  open: Set<string>;
  unknown: Set<string>;
  /** Attempts that evidence or a person has settled. */
  settled: Set<string>;
  refusal: EntryFacts['refusal'];
  abandoned: EntryFacts['abandoned'];
  rejected: Set<string>;
  attempts: Set<string>;
};

/** Folds the events of one entry, in any order. Pure; a duplicate event counts once. */
export function foldEvents(events: readonly OutboxEvent[]): EntryFacts {
  const counted = withoutUndone(sortEvents(events));
  const draft: Draft = {
    accepted: undefined,
    open: new Set(),
    unknown: new Set(),
    settled: new Set(),
    refusal: undefined,
    abandoned: undefined,
    rejected: new Set(),
    attempts: new Set(),
  };
  // An answer may precede its attempt only where the attempt was thinned away or is not merged yet;
  // it counts all the same.
  const answered = new Set(
    counted.flatMap((event) => (event.kind === 'answered' ? [event.body.attempt] : [])),
  );
  for (const event of counted) apply(draft, event, answered);
  return { ...draft, attempts: draft.attempts.size };
}

/** Sorts by position, then by id, so that all copies have the same order. */
function sortEvents(events: readonly OutboxEvent[]): OutboxEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
}

/**
 * Removes undone decisions, unless an attempt follows them. Attempts and answers cannot be undone.
 */
function withoutUndone(events: readonly OutboxEvent[]): OutboxEvent[] {
  const undone = new Set(
    events.flatMap((event) => {
      if (event.kind !== 'decided' || event.body.answer !== 'undo' || event.body.of === null)
        return [];
      const taken = events.find(({ id }) => id === event.body.of);
      if (taken === undefined || !isDecision(taken)) return [];
      const isTooLate = events.some(
        ({ kind, position }) =>
          kind === 'attempted' && position > taken.position && position < event.position,
      );
      return isTooLate ? [] : [event.body.of];
    }),
  );
  return events.filter(
    (event) => !undone.has(event.id) && !(event.kind === 'decided' && event.body.answer === 'undo'),
  );
}

function isDecision(event: OutboxEvent): boolean {
  return event.kind === 'decided' && ['created', 'send', 'abandon'].includes(event.body.answer);
}

function apply(draft: Draft, event: OutboxEvent, answered: ReadonlySet<string>): void {
  switch (event.kind) {
    case 'attempted':
      draft.attempts.add(event.id);
      if (!answered.has(event.id) && !draft.settled.has(event.id)) draft.open.add(event.id);
      return;
    case 'answered':
      applyAnswer(draft, event);
      return;
    case 'found':
      settle(draft, event.body.attempts);
      if (draft.accepted?.by !== 'answer' && event.body.identCely !== null)
        draft.accepted = { identCely: event.body.identCely, by: 'evidence', event: event.id };
      return;
    case 'absent':
      settle(draft, event.body.attempts);
      return;
    case 'decided':
      applyDecision(draft, event);
      return;
    case 'bound':
    case 'moved':
      return;
  }
}

function applyAnswer(draft: Draft, { id, body }: EventOf<'answered'>): void {
  draft.open.delete(body.attempt);
  switch (body.settles) {
    case 'accepted':
      settle(draft, [body.attempt]);
      draft.refusal = undefined;
      if (body.identCely !== null && draft.accepted?.by !== 'answer')
        draft.accepted = { identCely: body.identCely, by: 'answer', event: id };
      return;
    case 'refused':
      settle(draft, [body.attempt]);
      draft.refusal = { attempt: body.attempt, body };
      return;
    case 'queued':
      settle(draft, [body.attempt]);
      return;
    case 'unknown':
      if (!draft.settled.has(body.attempt)) draft.unknown.add(body.attempt);
      return;
  }
}

function applyDecision(draft: Draft, { id, body }: EventOf<'decided'>): void {
  switch (body.answer) {
    case 'created':
      settle(draft, body.attempts);
      if (body.identCely !== null && draft.accepted?.by !== 'answer')
        draft.accepted = { identCely: body.identCely, by: 'person', event: id };
      return;
    case 'send':
      settle(draft, body.attempts);
      draft.abandoned = undefined;
      for (const candidate of body.candidates) draft.rejected.add(candidate);
      return;
    case 'abandon':
      draft.abandoned = { event: id, body };
      return;
    case 'release':
      if (draft.accepted?.identCely !== body.identCely) return;
      draft.accepted = undefined;
      for (const attempt of body.attempts) {
        draft.settled.delete(attempt);
        draft.unknown.add(attempt);
      }
      return;
    case 'undo':
      return;
  }
}

function settle(draft: Draft, attempts: readonly string[]): void {
  for (const attempt of attempts) {
    draft.settled.add(attempt);
    draft.open.delete(attempt);
    draft.unknown.delete(attempt);
  }
}

/** Returns the reason of the last effective event; null where it has none. */
export function getLastReason(events: readonly OutboxEvent[]): StoredMessage | null {
  const last = withoutUndone(sortEvents(events)).at(-1);
  return last !== undefined && 'reason' in last.body ? last.body.reason : null;
}

/** Returns the state of an entry from its facts, and for an unsent one from the intent. */
export function computeState(
  facts: EntryFacts,
  { hasContent, retryOf: retryAttempt }: EntryIntent,
): EntryState {
  if (facts.accepted !== undefined) return 'accepted';
  if (facts.abandoned !== undefined) return 'dropped';
  if (facts.open.size > 0) return 'sending';
  if (facts.unknown.size > 0) return 'uncertain';
  if (facts.refusal !== undefined && facts.refusal.attempt !== retryAttempt)
    return hasContent ? 'refused' : 'draft';
  return hasContent ? 'queued' : 'draft';
}
