import type { Message } from '../base/message.ts';
import type { Entry } from './entry.ts';
import { foldEntry, getSlotOf, listFactsOfEntry, listOpenAttempts } from './entry-facts.ts';
import { type DecidedBody, type Fact, type NewFact, parseFact, type Rejected } from './facts.ts';
import { foldSlot } from './fold.ts';
import type { Outbox } from './open-outbox.ts';
import { appendFacts, getCommandId, listFactsOfSlot } from './record-facts.ts';
import { storeMessage } from './stored-text.ts';

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
