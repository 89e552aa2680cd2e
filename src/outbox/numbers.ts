import { randomUUID } from 'node:crypto';
import { msg } from '../base/message.ts';
import { selectEntries, type Target } from './entries.ts';
import type { Entry, EntryState, NumberEntry } from './entry.ts';
import type { Outbox } from './open-outbox.ts';
import { decisionAbout, recordEvents } from './record-events.ts';

/** Returns the last registration number of a find, sent or not. */
export function latestNumber(entries: readonly Entry[]): string | undefined {
  return entries
    .flatMap((entry) => (entry.kind === 'number' && entry.state !== 'dropped' && entry.state !== 'refused' ? [entry.value] : []))
    .at(-1);
}

/**
 * Returns all numbers of a record, by its find or by its identifier, in the order of the queue. The plus, here and below, keeps
 * SQLite from scanning all numbers of the outbox.
 */
export function numbersOf(outbox: Outbox, { findId, identCely }: Target): NumberEntry[] {
  return selectEntries(outbox, `+entries.kind = 'number' and (find_id = :findId or ident_cely = :identCely)`, {
    findId,
    identCely,
  }).filter((entry) => entry.kind === 'number');
}

/** Returns the number that was queued last, except those in these states. */
export function lastNumber(outbox: Outbox, target: Target, without: readonly EntryState[]): NumberEntry | undefined {
  return numbersOf(outbox, target).findLast(({ state }) => !without.includes(state));
}

const laterNumber = (which: string): string => `exists (
    select 1 from entries as later
    where +later.kind = 'number' and later.ident_cely = entries.ident_cely and later.id > entries.id and (${which}))`;

/** An earlier number of the record may still be under way: arriving later, it would overwrite this one. */
export const AWAITS_EARLIER_SQL = `exists (
    select 1 from entries as earlier
    where +earlier.kind = 'number' and earlier.ident_cely = entries.ident_cely and earlier.id < entries.id and earlier.unknown_attempts > 0
      and earlier.state <> 'dropped')`;

/** A later number of the record was sent, or is queued. */
export const SUPERSEDED_SQL = laterNumber(`later.state in ('sending', 'uncertain', 'accepted', 'queued') and later.held is null`);

/**
 * Drops unsent numbers once a later one of their record was sent.
 * @param identCely only those of this record
 */
export function supersedeEarlierNumbers(outbox: Outbox, identCely?: string): void {
  const superseded = selectEntries(
    outbox,
    `+entries.kind = 'number' and +state in ('queued', 'refused') ${identCely === undefined ? '' : 'and ident_cely = :identCely'}
       and ${laterNumber(`later.state in ('accepted', 'sending')`)}`,
    { identCely },
  );
  const reason = msg`a later number of the record replaces it`;
  recordEvents(
    outbox,
    superseded.map((entry) =>
      decisionAbout(outbox, entry, { answer: 'abandon', by: 'later-number', group: randomUUID() }, reason),
    ),
  );
}

/** Returns the numbers that are set or queued, in the order of the queue. */
export function effectiveNumbers(outbox: Outbox): NumberEntry[] {
  return selectEntries(outbox, `entries.kind = 'number' and state not in ('dropped', 'refused')`, {}).filter(
    (entry) => entry.kind === 'number',
  );
}
