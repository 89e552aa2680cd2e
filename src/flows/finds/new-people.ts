import type { LookupTerm, TermCandidate } from '../../find/lookup.ts';
import { NEW_PERSON } from '../../find/resolve-reference.ts';
import type { FindId } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { acceptedPeople, acceptPeople, queuedReferences } from '../../outbox/queued-references.ts';
import { findById } from '../../outbox/stored-finds.ts';

/** A finder whom the service would create. */
export type NewPerson = {
  readonly name: string;
  readonly finds: readonly FindId[];
  /** Local id of the first of them. */
  readonly first: string;
  /** A person confirmed the creation. */
  readonly isAccepted: boolean;
  /** Known people who may be meant. */
  readonly nearest: readonly TermCandidate[];
};

/** Returns known people who may be meant by a new person's name; undefined where no new person would be created. */
export function nearestTo(name: string, lookupTerm: LookupTerm): readonly TermCandidate[] | undefined {
  const found = lookupTerm('osoba', name);
  switch (found.kind) {
    case 'found':
      return found.term.label === name ? undefined : [found.term];
    case 'ambiguous':
      return found.candidates;
    case 'unknown':
      return found.nearest;
    case 'not-harvested':
      return undefined;
    default:
      return [];
  }
}

/**
 * Returns finders of queued finds whom the service does not know by exactly this name; empty where people were not harvested.
 * @param recordKeys undefined means all records
 */
export async function newPeople(
  outbox: Outbox,
  openLookup: () => Promise<LookupTerm>,
  recordKeys?: readonly string[],
): Promise<readonly NewPerson[]> {
  const named = queuedReferences(outbox, { element: 'nalezce', id: NEW_PERSON }, recordKeys);
  if (named.length === 0) return [];
  const [lookupTerm, accepted] = [await openLookup(), acceptedPeople(outbox)];
  return named.flatMap(({ text: name, finds }) => {
    const nearest = nearestTo(name, lookupTerm);
    const first = findById(outbox, finds[0] ?? 0)?.localId ?? '';
    return nearest === undefined ? [] : [{ name, finds, first, isAccepted: accepted.has(name), nearest }];
  });
}

/** Stores the confirmation of new people. */
export function acceptNewPeople(outbox: Outbox, people: readonly NewPerson[]): void {
  acceptPeople(
    outbox,
    people.map(({ name }) => name),
  );
}
