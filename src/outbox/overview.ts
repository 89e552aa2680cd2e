import { selectEntries, UNSETTLED } from './entries.ts';
import type { Entry, EntryKind } from './entry.ts';
import type { Outbox } from './outbox.ts';

/** What is queued of each kind, of the records of these keys or of all. */
export function countQueued(
  outbox: Outbox,
  profile: string,
  recordKeys: readonly string[] | undefined,
): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where profile = :profile and state = 'queued'
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) group by kind`,
    )
    .all({ profile, recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) }) as {
    kind: EntryKind;
    count: number;
  }[];
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) };
}

/** Entries that nothing but a person, or evidence, moves on; the oldest first. */
export function needingPerson(outbox: Outbox, profile: string, limit: number): Entry[] {
  return selectEntries(
    outbox,
    `profile = :profile and ${UNSETTLED} and state <> 'sending'
       and not (state = 'uncertain' and kind <> 'import' and ident_cely is null)`,
    { profile, limit },
    'order by state, entries.id limit :limit',
  );
}

/** Entries that the service does not have yet, or may not have. */
export function countUnsent(outbox: Outbox, profile: string): number {
  const row = outbox
    .sql(`select count(*) as count from entries where profile = ? and state not in ('accepted', 'dropped')`)
    .get(profile) as { count: number };
  return row.count;
}

/** Local ids of finds that were given up while numbers or photographs wait for them. */
export function givenUpWithWaiting(outbox: Outbox, profile: string): string[] {
  return outbox
    .sql(
      `select distinct local_id from entries join finds on finds.id = find_id
       where profile = ? and kind in ('number', 'photo') and state = 'queued' and ident_cely is null and not exists (
         select 1 from imports_standing as made where made.find_id = entries.find_id and made.profile = entries.profile) order by finds.id`,
    )
    .pluck()
    .all(profile) as string[];
}

/** Whether the service accepted a document that names this, such as the namespace of a schema version. */
export function wasAcceptedNaming(outbox: Outbox, profile: string, text: string): boolean {
  const found = outbox
    .sql(`select 1 from entries where profile = ? and kind = 'import' and state = 'accepted' and instr(document, ?) > 0 limit 1`)
    .get(profile, Buffer.from(text));
  return found !== undefined;
}
