import { msg } from '../base/message.ts';
import { entriesOfService, move, selectEntries, type Target } from './entries.ts';
import { type Attempt, type Doubt, type Entry, type EntryState, type NumberEntry, OPEN_END_MS } from './entry.ts';
import { attemptsOf } from './journal.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** The registration number that was set last for a find, whether the service has it already or not. */
export function latestNumber(entries: readonly Entry[]): string | undefined {
  return entries
    .flatMap((entry) => (entry.kind === 'number' && entry.state !== 'dropped' && entry.state !== 'refused' ? [entry.value] : []))
    .at(-1);
}

/** All numbers that a record was given, by its find or by its identifier and whoever set them, in the order in which they were asked for. */
function numbersOf(outbox: Outbox, { serviceId, findId, identCely }: Target & { readonly serviceId: number }): NumberEntry[] {
  return selectEntries(outbox, `kind = 'number' and service_id = :serviceId and (find_id = :findId or ident_cely = :identCely)`, {
    serviceId,
    findId,
    identCely,
  }).filter((entry) => entry.kind === 'number');
}

/** The one that was asked for last, without those in these states. */
export function lastNumber(outbox: ServiceOutbox, target: Target, without: readonly EntryState[]): NumberEntry | undefined {
  return numbersOf(outbox, { ...target, serviceId: outbox.serviceId }).findLast(({ state }) => !without.includes(state));
}

/** An attempt without a clear answer, or a time of which nothing is known. */
export function mayHaveArrived(outbox: Outbox, entry: Entry): boolean {
  return entry.doubt !== null || attemptsOf(outbox, entry.id).some(isOfUnknownEnd);
}

function isOfUnknownEnd({ outcome, endedAt }: Attempt): boolean {
  return endedAt === null || outcome === 'uncertain' || outcome === 'lost';
}

/** What may still bring the record another number than this entry's: it would overwrite that one. */
export type Straggler = { readonly attempt: Attempt } | { readonly doubt: Doubt };

export function stragglers(outbox: Outbox, entry: NumberEntry): Straggler[] {
  const others = numbersOf(outbox, entry).filter(({ value }) => value !== entry.value);
  return others.flatMap(({ id, doubt }) => [
    ...attemptsOf(outbox, id)
      .filter(isOfUnknownEnd)
      .map((attempt) => ({ attempt })),
    // A copy of the outbox may send it at any time: whoever sets another number knows that.
    ...(doubt === null || doubt.untilMs === OPEN_END_MS ? [] : [{ doubt }]),
  ]);
}

const laterNumber = (which: string): string => `exists (
    select 1 from entries as later
    where later.kind = 'number' and later.service_id = entries.service_id and later.ident_cely = entries.ident_cely
      and later.id > entries.id and (${which}))`;

/** A later number of its record was sent, or is to be sent by the same account. */
export const IS_OUTDATED = laterNumber(
  `later.state in ('sending', 'uncertain', 'accepted') or (later.state = 'queued' and later.username = entries.username)`,
);

/**
 * Of several numbers for one record the last one is to stay: those before one that is sent are given up. Until then that one may be
 * given up itself, and the one before it is the last.
 * @param identCely only those of this record
 */
export function dropOutdated(outbox: Outbox, serviceId: number, identCely?: string): void {
  const outdated = selectEntries(
    outbox,
    `service_id = :serviceId and kind = 'number' and state in ('queued', 'refused', 'uncertain')
       ${identCely === undefined ? '' : 'and ident_cely = :identCely'}
       and ${laterNumber(`later.state = 'accepted' or (later.state = 'sending' and later.username = entries.username)`)}`,
    { serviceId, identCely },
  );
  for (const entry of outdated) move(outbox, entry, 'dropped', { reason: msg`a later number of the record takes its place` });
}

/** Numbers that a record has, or is to get, in the order in which they were queued. */
export function numbersThatStand(outbox: ServiceOutbox): NumberEntry[] {
  return entriesOfService(outbox, `kind = 'number' and state not in ('dropped', 'refused')`, {}).filter(
    (entry) => entry.kind === 'number',
  );
}
