import { countElsewhere, countEntries, countFinds, countOfOthers, countWaiting, recount } from '../../outbox/counts.ts';
import { ENTRY_KINDS, ENTRY_STATES, type EntryState } from '../../outbox/entry.ts';
import { gapsOf } from '../../outbox/gaps.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { delays, givenUpWithWaiting, needingPerson } from '../../outbox/overview.ts';

/** More than this many are counted, not listed. */
const MOST_LISTED = 1000;
const MOST_DELAYS = 10;

/**
 * What is in the outbox, what waits for what, and what needs a person.
 * @param anew count everything first, where the counts that are kept are wrong
 */
export function outboxStatus(outbox: ServiceOutbox, anew = false) {
  if (anew) recount(outbox);
  const [counts, totals, waiting] = [countEntries(outbox), entryTotals(outbox), countWaiting(outbox)];
  const states = ENTRY_STATES.filter((state) => totals[state] > 0);
  return {
    finds: countFinds(outbox),
    entries: counts,
    /** The same without the states that no entry is in. */
    table: { states, rows: ENTRY_KINDS.map((kind) => ({ kind, counts: states.map((state) => counts[kind][state]) })) },
    /** What a push would send now. */
    sendable: totals.queued - waiting.forImport - waiting.forGivenUp - waiting.forTime,
    waiting,
    /** Why most of those that were tried are still queued. */
    delayed: delays(outbox, MOST_DELAYS),
    /** Finds that only other services have, or are to have. */
    elsewhere: countElsewhere(outbox),
    /** Finds that were given up while numbers or photographs wait for them. */
    givenUp: waiting.forGivenUp === 0 ? [] : givenUpWithWaiting(outbox),
    needsPerson: needingPerson(outbox, MOST_LISTED),
    /** What other accounts of the service have queued, by their user names. */
    otherAccounts: countOfOthers(outbox),
  };
}

/** Entries of all kinds, by state. */
export function entryTotals(outbox: ServiceOutbox): Readonly<Record<EntryState, number>> {
  const counts = countEntries(outbox);
  return Object.fromEntries(
    ENTRY_STATES.map((state) => [state, ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind][state], 0)]),
  ) as Record<EntryState, number>;
}

/**
 * Of which projects what is added now is held, since an older copy of the outbox was put back and it is open what was sent after it
 * was made.
 */
export function heldProjects(outbox: ServiceOutbox): 'all' | readonly string[] {
  const projects = gapsOf(outbox).map(({ project }) => project);
  return projects.includes(null) ? 'all' : [...new Set(projects.flatMap((project) => project ?? []))];
}
