import type { Message } from '../base/message.ts';
import { type Attempt, type Entry, type Lookup, makeAttempts } from './entry.ts';
import {
  type DecidedBody,
  type Fact,
  type FactOf,
  type NewFact,
  parseFact,
  type Rejected,
  readMessage,
  storeMessage,
} from './facts.ts';
import { foldSlot, type SlotState } from './fold.ts';
import { findIntent, makeImportSlot, makeSlot } from './intents.ts';
import type { Outbox } from './open-outbox.ts';
import { appendFacts, getCommandId, listFactsOfSlot } from './record-facts.ts';

/** Returns the slot of an entry. */
export function getSlotOf(outbox: Outbox, { kind, subject, intent }: Entry): string {
  if (kind === 'import') return makeImportSlot(subject);
  if (kind === 'number') return `number ${subject}`;
  const stored = findIntent(outbox, subject, intent);
  return stored === undefined ? '' : makeSlot(stored);
}

/**
 * Returns the facts of the slot of an entry.
 * @throws DatabaseError where one is damaged
 */
export function listFactsOfEntry(outbox: Outbox, entry: Entry): Fact[] {
  return listFactsOfSlot(outbox, entry.subject, getSlotOf(outbox, entry));
}

/**
 * Returns what the facts of an entry's slot mean.
 * @throws DatabaseError where one is damaged
 */
export function foldEntry(outbox: Outbox, entry: Entry): SlotState {
  return foldSlot(listFactsOfEntry(outbox, entry));
}

function isOwn({ kind, intent }: Entry, fact: Fact): fact is FactOf<'attempted'> {
  return fact.kind === 'attempted' && (kind === 'import' || fact.body.intent === intent);
}

/**
 * Returns the attempts of an entry, oldest first.
 * @throws DatabaseError where a fact is damaged
 */
export function listAttempts(outbox: Outbox, entry: Entry): Attempt[] {
  const facts = listFactsOfEntry(outbox, entry);
  return makeAttempts(
    facts.filter((fact) => isOwn(entry, fact)),
    facts,
  );
}

/** Returns the attempts that are open, or of unknown outcome. */
export function listOpenAttempts(outbox: Outbox, entry: Entry): string[] {
  const { intents } = foldEntry(outbox, entry);
  return [...intents].flatMap(([intent, { attempts, verdicts }]) =>
    entry.kind !== 'import' && intent !== entry.intent
      ? []
      : attempts.flatMap(({ id }) => {
          const kind = verdicts.get(id)?.kind;
          return kind === 'open' || kind === 'unknown' ? [id] : [];
        }),
  );
}

export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

/** A conclusion about an entry. */
export type Evidence = Lookup & { readonly verdict: EvidenceVerdict };

/** Returns the conclusions about an entry in order; the last inconclusive lookup comes last. */
export function listEvidence(outbox: Outbox, entry: Entry): Evidence[] {
  const facts = listFactsOfEntry(outbox, entry);
  const ids = new Set(facts.filter((fact) => isOwn(entry, fact)).map(({ id }) => id));
  const settled = facts.flatMap((fact): Evidence[] => {
    switch (fact.kind) {
      case 'matched':
      case 'absent': {
        if (!fact.body.attempts.some((id) => ids.has(id))) return [];
        const { at, serverMs, basis, candidates, reason } = fact.body;
        const verdict = fact.kind === 'matched' ? 'found' : 'absent';
        return [
          { at, serverAt: serverMs, verdict, basis, candidates, reason: readMessage(reason) },
        ];
      }
      case 'decided': {
        const { at, by, answer, identCely, rejects, reason, intent } = fact.body;
        if (by !== 'person' || (entry.kind !== 'import' && intent !== entry.intent)) return [];
        const candidates =
          identCely === null ? rejects.map(({ candidate }) => candidate) : [identCely];
        const text = readMessage(reason);
        return [{ at, serverAt: null, verdict: 'person', basis: answer, candidates, reason: text }];
      }
      default:
        return [];
    }
  });
  settled.sort((a, b) => a.at - b.at);
  return entry.lookup === null ? settled : [...settled, { ...entry.lookup, verdict: 'undecided' }];
}

type Answer =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend'; readonly rejects: readonly Rejected[] }
  | { readonly kind: 'abandon' };

/**
 * Records the decision of a person about an entry. It settles the attempts of unknown outcome;
 * `resend` also overrules a refusal, and takes back that the entry was given up.
 */
export function decide(outbox: Outbox, entry: Entry, answer: Answer, reason: Message): void {
  const refused = answer.kind === 'resend' ? listRefusedAttempts(outbox, entry) : [];
  // An entry that was given up with an unknown outcome is uncertain again.
  const open = entry.state === 'dropped' ? [] : listOpenAttempts(outbox, entry);
  appendFacts(outbox, [
    makeDecision(outbox, entry, {
      answer: answer.kind,
      by: 'person',
      attempts: [...open, ...refused],
      identCely: answer.kind === 'created' ? answer.identCely : null,
      rejects: answer.kind === 'resend' ? answer.rejects : [],
      replaces: listAbandonments(outbox, entry),
      reason,
    }),
  ]);
}

/** A later answer takes back that the entry was given up. */
function listAbandonments(outbox: Outbox, entry: Entry): string[] {
  return foldEntry(outbox, entry)
    .decisions.filter(({ body }) => body.answer === 'abandon')
    .map(({ id }) => id);
}

function listRefusedAttempts(outbox: Outbox, entry: Entry): string[] {
  const state = foldEntry(outbox, entry).intents.get(entry.intent);
  return (state?.attempts ?? []).flatMap(({ id }) =>
    state?.verdicts.get(id)?.kind === 'refused' ? [id] : [],
  );
}

/**
 * Detaches a record that the service gave to another find: what was attempted for it is unknown
 * again. Later evidence may name the record again.
 */
export function releaseRecord(
  outbox: Outbox,
  entry: Entry,
  identCely: string,
  reason: Message,
): void {
  const facts = listFactsOfEntry(outbox, entry).filter((fact) => isAcceptance(fact, identCely));
  appendFacts(outbox, [
    makeDecision(outbox, entry, {
      answer: 'release',
      by: 'service',
      attempts: [...new Set(facts.flatMap(listSettledAttempts))],
      identCely,
      rejects: [],
      replaces: facts.map(({ id }) => id),
      reason,
    }),
  ]);
}

function isAcceptance(fact: Fact, identCely: string): boolean {
  switch (fact.kind) {
    case 'answered':
      return fact.body.settles === 'accepted' && fact.body.identCely === identCely;
    case 'matched':
      return fact.body.identCely === identCely;
    case 'decided':
      return fact.body.answer === 'created' && fact.body.identCely === identCely;
    default:
      return false;
  }
}

function listSettledAttempts(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'answered':
      return [fact.body.attempt];
    case 'matched':
    case 'decided':
      return fact.body.attempts;
    default:
      return [];
  }
}

type NewDecision = Omit<DecidedBody, 'intent' | 'command' | 'at' | 'reason'> & {
  readonly reason: Message;
};

export function makeDecision(outbox: Outbox, entry: Entry, decision: NewDecision): NewFact {
  const { reason, ...decided } = decision;
  return {
    kind: 'decided',
    subject: entry.subject,
    slot: getSlotOf(outbox, entry),
    body: {
      ...decided,
      intent: entry.intent,
      command: decision.by === 'person' ? getCommandId(outbox) : null,
      at: Math.floor(outbox.clock.now()),
      reason: storeMessage(reason),
    },
  };
}

/**
 * Tells if a person said of any find that a candidate is another one: a project that its hidden
 * records are those of others.
 */
export function isRejectedOfAny(outbox: Outbox, candidate: string): boolean {
  const rows = outbox
    .sql(
      `select * from facts where kind = 'decided' and exists (
         select 1 from json_each(body, '$.rejects') where value ->> 'candidate' = ?)`,
    )
    .all(candidate);
  return rows.some((row) => {
    const { id, subject, slot } = parseFact(outbox.path, row);
    return foldSlot(listFactsOfSlot(outbox, subject, slot)).decisions.some(
      (fact) => fact.id === id,
    );
  });
}
