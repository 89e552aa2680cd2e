import { randomUUID } from 'node:crypto';
import { msg } from '../base/message.ts';
import type { Entry, EntryState, NumberEntry } from './entry.ts';
import { numbersOf, supersededNumbers, type Target } from './entry-queries.ts';
import type { Outbox } from './open-outbox.ts';
import { decisionAbout, recordEvents } from './record-events.ts';

/** Returns the last registration number of a find, sent or not. */
export function latestNumber(entries: readonly Entry[]): string | undefined {
  return entries
    .flatMap((entry) => (entry.kind === 'number' && entry.state !== 'dropped' && entry.state !== 'refused' ? [entry.value] : []))
    .at(-1);
}

/** Returns the number that was queued last, except those in these states. */
export function lastNumber(outbox: Outbox, target: Target, without: readonly EntryState[]): NumberEntry | undefined {
  return numbersOf(outbox, target).findLast(({ state }) => !without.includes(state));
}

/**
 * Drops unsent numbers once a later one of their record was sent.
 * @param identCely only those of this record
 */
export function supersedeEarlierNumbers(outbox: Outbox, identCely?: string): void {
  const superseded = supersededNumbers(outbox, identCely);
  const reason = msg`a later number of the record replaces it`;
  recordEvents(
    outbox,
    superseded.map((entry) =>
      decisionAbout(outbox, entry, { answer: 'abandon', by: 'later-number', group: randomUUID() }, reason),
    ),
  );
}
