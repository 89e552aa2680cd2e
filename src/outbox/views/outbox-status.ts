import { NEW_PERSON } from '../../finds/field.ts';
import type { FindElements } from '../../finds/fields.ts';
import type { LookupTerm, TermCandidate } from '../../finds/find.ts';
import { groupSimilarNames } from '../../finds/person-name.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import { listHarvests } from '../../finds/vocabulary/terms.ts';
import { ENTRY_KINDS, ENTRY_STATES, type Entry, type EntryState } from '../entry.ts';
import { listNeedingPerson } from '../entry-queries.ts';
import type { Outbox } from '../open-outbox.ts';
import {
  acceptPeople,
  type Counts,
  countEntries,
  countWaiting,
  listAcceptedPeople,
  listChangedFinds,
  listDelays,
  listDroppedWithDependents,
  listQueuedReferences,
} from '../overview.ts';
import { countFinds, findByUuid } from '../stored-finds.ts';

export { groupSimilarNames } from '../../finds/person-name.ts';
export { isPushRunning } from '../push-lock.ts';

/** Maximum of listed entries; further ones are only counted. */
const MAX_LISTED = 1000;
const MAX_DELAYS = 10;

/**
 * Counts entries by state and cause of waiting, and lists those for a person.
 * @throws DatabaseError where a row is damaged
 */
export function getOutboxStatus(outbox: Outbox) {
  const counts = countEntries(outbox);
  const waiting = countWaiting(outbox);
  const totals = getTotals(counts);
  const states = ENTRY_STATES.filter((state) => totals[state] > 0);
  const finds = countFinds(outbox);
  return {
    finds,
    isEmpty: finds === 0 && states.length === 0,
    isAllDone:
      finds > 0 &&
      ENTRY_STATES.every((state) => ['accepted', 'dropped'].includes(state) || totals[state] === 0),
    entries: counts,
    /** Counts without empty states. */
    table: {
      states,
      rows: ENTRY_KINDS.map((kind) => ({
        kind,
        counts: states.map((state) => counts[kind][state]),
      })),
    },
    /** Number of entries that a push would send now. */
    sendable:
      totals.queued - waiting.forImport - waiting.forDropped - waiting.forPerson - waiting.forTime,
    sending: totals.sending,
    waiting,
    /** Most frequent reasons of attempted entries that are still queued. */
    delayed: listDelays(outbox, MAX_DELAYS),
    /** Dropped finds that block numbers or photographs. */
    dropped: waiting.forDropped === 0 ? [] : listDroppedWithDependents(outbox),
    /** Finds of which another version was sent. */
    changed: listChangedFinds(outbox),
    /** Held entries first. */
    needsPerson: listNeedingPerson(outbox, MAX_LISTED),
  };
}

/**
 * Tells if no set was harvested.
 * @param vocabulary undefined where its file is missing
 */
export function isVocabularyEmpty(vocabulary: Vocabulary | undefined): boolean {
  return vocabulary === undefined || listHarvests(vocabulary).length === 0;
}

export function countEntryTotals(outbox: Outbox): Readonly<Record<EntryState, number>> {
  return getTotals(countEntries(outbox));
}

function getTotals(counts: Counts): Readonly<Record<EntryState, number>> {
  return Object.fromEntries(
    ENTRY_STATES.map((state) => [
      state,
      ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind][state], 0),
    ]),
  ) as Record<EntryState, number>;
}

/** A finder whom the service would create. */
export type NewPerson = {
  readonly name: string;
  readonly finds: readonly string[];
  /** Local id of the first of them. */
  readonly first: string;
  /** A person confirmed the creation. */
  readonly isAccepted: boolean;
  /** Known people who may be meant. */
  readonly nearest: readonly TermCandidate[];
  /** Other new people whose names may mean the same person. */
  readonly similar: readonly string[];
};

/**
 * Returns known people who may be meant by a new person's name; undefined where no new person would
 * be created.
 */
export function findNearestPeople(
  name: string,
  lookupTerm: LookupTerm,
): readonly TermCandidate[] | undefined {
  const lookup = lookupTerm('osoba', name);
  switch (lookup.kind) {
    case 'found':
      return lookup.term.label === name ? undefined : [lookup.term];
    case 'ambiguous':
      return lookup.candidates;
    case 'unknown':
      return lookup.nearest;
    case 'not-harvested':
      return undefined;
    default:
      return [];
  }
}

/**
 * Returns finders of queued finds whom the service does not know by exactly this name; empty where
 * people were not harvested.
 * @param subjects undefined means all records
 */
export async function listNewPeople(
  outbox: Outbox,
  openLookup: () => Promise<LookupTerm>,
  subjects?: readonly string[],
): Promise<readonly NewPerson[]> {
  const named = listQueuedReferences(outbox, NEW_FINDER, subjects);
  if (named.length === 0) return [];
  const lookupTerm = await openLookup();
  const accepted = listAcceptedPeople(outbox);
  const people = named.flatMap(({ text: name, finds }) => {
    const nearest = findNearestPeople(name, lookupTerm);
    const first = findByUuid(outbox, finds[0] ?? '')?.localId ?? '';
    return nearest === undefined
      ? []
      : [{ name, finds, first, isAccepted: accepted.has(name), nearest }];
  });
  const groups = groupSimilarNames(people.map(({ name }) => name));
  return people.map((person) => {
    const group = groups.find((names) => names.includes(person.name)) ?? [];
    return { ...person, similar: group.filter((name) => name !== person.name) };
  });
}

const NEW_FINDER = { element: 'nalezce', id: NEW_PERSON } as const;

/**
 * Opens the admission of new people for one push, which includes those of finds that are queued
 * during it.
 * @param admit settles which people the service is to make; false where some are left. `mayAsk`: a
 * person may be asked now
 */
export function openAdmission(
  outbox: Outbox,
  subjects: readonly string[] | undefined,
  admit: (mayAsk: boolean) => Promise<boolean>,
) {
  const admittedNames = new Set<string>();
  const admitAll = async (mayAsk: boolean): Promise<boolean> => {
    const named = listQueuedReferences(outbox, NEW_FINDER, subjects);
    if (!(await admit(mayAsk))) return false;
    for (const { text } of named) admittedNames.add(text);
    return true;
  };
  return {
    admitAll: () => admitAll(true),
    /**
     * Tells if an entry may leave: its find may have been queued or changed since the others were
     * admitted.
     */
    isAdmitted: async ({ kind, subject }: Entry): Promise<boolean> => {
      const find = kind === 'import' ? findByUuid(outbox, subject) : undefined;
      const { nalezce } = (find?.elements ?? {}) as FindElements;
      return nalezce?.id !== NEW_PERSON || admittedNames.has(nalezce.text) || admitAll(false);
    },
  };
}

/** Stores that the service may create these people. */
export function acceptNewPeople(outbox: Outbox, people: readonly NewPerson[]): void {
  acceptPeople(
    outbox,
    people.map(({ name }) => name),
  );
}
