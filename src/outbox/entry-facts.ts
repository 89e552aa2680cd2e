import { makeAttempts } from './attempts.ts';
import type { Attempt, Entry, Lookup } from './entry.ts';
import type { Fact, FactOf } from './facts.ts';
import { foldSlot, type SlotState } from './fold.ts';
import { findIntent } from './intent-rows.ts';
import { makeImportSlot, makeSlot } from './intents.ts';
import type { Outbox } from './open-outbox.ts';
import { listFactsOfSlot } from './record-facts.ts';
import { readMessage } from './stored-text.ts';

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
