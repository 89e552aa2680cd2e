import { type Counts, countEntries, countFinds, countWaiting } from '../../outbox/counts.ts';
import { ENTRY_KINDS, ENTRY_STATES, type EntryState } from '../../outbox/entry.ts';
import { assertSoundEntries } from '../../outbox/entry-row.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { delays, droppedWithDependents, needingPerson } from '../../outbox/overview.ts';
import { assertSoundFinds } from '../../outbox/stored-finds.ts';
import { allHarvests } from '../../vocabulary/harvests.ts';
import type { Vocabulary } from '../../vocabulary/vocabulary.ts';

/** More than this many are counted, not listed. */
const MAX_LISTED = 1000;
const MAX_DELAYS = 10;
/** A status is asked for often, so of a large outbox only a part is read; the commands that go through all finds read the rest. */
const MAX_CHECKED = 500;

/**
 * Entries by state, what waits for what, and what needs a person.
 * @throws DatabaseError where a find or an entry is not as it was written: counts alone do not show that
 */
export function outboxStatus(outbox: Outbox) {
  assertSoundFinds(outbox, MAX_CHECKED);
  assertSoundEntries(outbox, MAX_CHECKED);
  const [counts, waiting] = [countEntries(outbox), countWaiting(outbox)];
  const totals = totalsOf(counts);
  const states = ENTRY_STATES.filter((state) => totals[state] > 0);
  const finds = countFinds(outbox);
  return {
    finds,
    isEmpty: finds === 0 && states.length === 0,
    isAllDone: finds > 0 && ENTRY_STATES.every((state) => ['accepted', 'dropped'].includes(state) || totals[state] === 0),
    entries: counts,
    /** The same without the states that no entry is in. */
    table: { states, rows: ENTRY_KINDS.map((kind) => ({ kind, counts: states.map((state) => counts[kind][state]) })) },
    /** What a push would send now. */
    sendable: totals.queued - waiting.forImport - waiting.forDropped - waiting.forPerson - waiting.forTime,
    waiting,
    /** Why most of those that were tried are still queued. */
    delayed: delays(outbox, MAX_DELAYS),
    /** Finds that were dropped while numbers or photographs wait for them. */
    dropped: waiting.forDropped === 0 ? [] : droppedWithDependents(outbox),
    /** Held entries first. */
    needsPerson: needingPerson(outbox, MAX_LISTED),
  };
}

/** Tells if nothing was harvested. @param vocabulary undefined where there is no file of it */
export function isVocabularyEmpty(vocabulary: Vocabulary | undefined): boolean {
  return vocabulary === undefined || allHarvests(vocabulary).length === 0;
}

/** Entries of all kinds, by state. */
export function entryTotals(outbox: Outbox): Readonly<Record<EntryState, number>> {
  return totalsOf(countEntries(outbox));
}

function totalsOf(counts: Counts): Readonly<Record<EntryState, number>> {
  return Object.fromEntries(
    ENTRY_STATES.map((state) => [state, ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind][state], 0)]),
  ) as Record<EntryState, number>;
}
