import { randomUUID } from 'node:crypto';
import { type Message, msg } from '../base/message.ts';
import { createRowParser, isNumber, isText } from '../store/database.ts';
import { assignRecord, listEventsOfEntry } from './entries.ts';
import type { Entry, EntryState, ImportEntry, NumberEntry } from './entry.ts';
import {
  findImportOfRecord,
  listEntriesOfFind,
  listNumbers,
  listSupersededNumbers,
  type Target,
} from './entry-queries.ts';
import { foldEvents } from './fold-events.ts';
import type { Outbox } from './open-outbox.ts';
import { makeDecision, recordEvents } from './record-events.ts';

const parseAccepted = createRowParser({ identCely: isText, atMs: isNumber });

/**
 * Returns records that the service accepted since a moment of its clock, with the server time of
 * the answer.
 */
export function listAcceptedSince(outbox: Outbox, sinceMs: number): Map<string, number> {
  const rows = outbox
    .sql(
      `select ident_cely as identCely, max(body ->> 'serverDateMs') as atMs
       from entries join events on events.entry = entries.uuid and events.kind = 'answered'
       where entries.kind = 'import' and state = 'accepted' and body ->> 'settles' = 'accepted' and body ->> 'serverDateMs' is not null
       group by entries.id having atMs >= :sinceMs`,
    )
    .all({ sinceMs });
  return new Map(rows.map(parseAccepted).map(({ identCely, atMs }) => [identCely, atMs]));
}

/**
 * Detaches a record that the service gave to another find: the import, and all changes of the
 * record, become uncertain.
 */
export function releaseRecord(outbox: Outbox, owner: ImportEntry, reason: Message): void {
  const { identCely, findId } = owner;
  const group = randomUUID();
  outbox.change(() => {
    const lost = listEntriesOfFind(outbox, findId ?? 0).filter(
      (entry) => entry.identCely === identCely && entry.state === 'accepted',
    );
    recordEvents(
      outbox,
      lost.map((entry) =>
        makeDecision(
          outbox,
          entry,
          {
            answer: 'release',
            by: 'service',
            group,
            identCely,
            attempts: listAttemptsOfRecord(outbox, entry),
          },
          reason,
        ),
      ),
    );
    const changes = listEntriesOfFind(outbox, findId ?? 0).filter(
      (entry) => entry.kind !== 'import' && entry.identCely === identCely,
    );
    for (const { id } of changes) assignRecord(outbox, id, null);
  });
}

/** Returns the attempts that made the record, from the answer, evidence or decision. */
function listAttemptsOfRecord(outbox: Outbox, entry: Entry): readonly string[] {
  const events = listEventsOfEntry(outbox, entry.uuid);
  const { accepted } = foldEvents(events);
  const event = events.find(({ id }) => id === accepted?.event);
  if (event?.kind === 'answered') return [event.body.attempt];
  return event?.kind === 'found' || event?.kind === 'decided' ? event.body.attempts : [];
}

/** Returns the last registration number of a find, sent or not. */
export function getLatestNumber(entries: readonly Entry[]): string | undefined {
  return entries
    .flatMap((entry) =>
      entry.kind === 'number' && entry.state !== 'dropped' && entry.state !== 'refused'
        ? [entry.value]
        : [],
    )
    .at(-1);
}

/** Returns the number that was queued last, except those in these states. */
export function findLastNumber(
  outbox: Outbox,
  target: Target,
  without: readonly EntryState[],
): NumberEntry | undefined {
  return listNumbers(outbox, target).findLast(({ state }) => !without.includes(state));
}

/**
 * Drops unsent numbers once a later one of their record was sent.
 * @param identCely only those of this record
 */
export function supersedeEarlierNumbers(outbox: Outbox, identCely?: string): void {
  const superseded = listSupersededNumbers(outbox, identCely);
  const reason = msg`a later number of the record replaces it`;
  recordEvents(
    outbox,
    superseded.map((entry) =>
      makeDecision(
        outbox,
        entry,
        { answer: 'abandon', by: 'later-number', group: randomUUID() },
        reason,
      ),
    ),
  );
}

/**
 * Detaches a record from its previous find, since the service gave it to this one: a record has one
 * find, so the other find, and everything sent to the record for it, becomes uncertain.
 * @returns that find's import; undefined where the record had no other find
 */
export function reassignRecord(
  outbox: Outbox,
  { id, localId: find }: Entry,
  identCely: string,
): ImportEntry | undefined {
  const owner = findImportOfRecord(outbox, identCely);
  if (owner === undefined || owner.id === id) return undefined;
  const localId = find ?? '';
  const reason = msg`the service gave its record ${identCely} to ${localId}: it may have been restored from a backup and lost this one`;
  releaseRecord(outbox, owner, reason);
  return owner;
}
