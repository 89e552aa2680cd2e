import { selectEntries } from './entries.ts';
import { ENTRY_KINDS, ENTRY_STATES, type Entry, type EntryKind, type EntryState } from './entry.ts';
import type { Outbox } from './outbox.ts';

type Counts = Readonly<Record<EntryKind, Readonly<Record<EntryState, number>>>>;

/** Entries by kind and state. */
export function countEntries(outbox: Outbox, profile: string): Counts {
  const counts = Object.fromEntries(
    ENTRY_KINDS.map((kind) => [kind, Object.fromEntries(ENTRY_STATES.map((state) => [state, 0]))]),
  ) as Record<EntryKind, Record<EntryState, number>>;
  const rows = outbox
    .sql('select kind, state, count(*) as count from entries where profile = ? group by kind, state')
    .all(profile) as { kind: EntryKind; state: EntryState; count: number }[];
  for (const { kind, state, count } of rows) counts[kind][state] = count;
  return counts;
}

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

export function countFinds(outbox: Outbox): number {
  return (outbox.sql('select count(*) as count from finds').get() as { count: number }).count;
}

/** Entries that nothing but a person, or evidence, moves on; the oldest first. */
export function needingPerson(outbox: Outbox, profile: string, limit: number): Entry[] {
  return selectEntries(
    outbox,
    `profile = :profile and state in ('draft', 'refused', 'uncertain')
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

/** What waits of itself: changes for their find's import, or for one that was given up, and entries for a moment. */
export type Waiting = { readonly forImport: number; readonly forGivenUp: number; readonly forTime: number };

const IMPORT_STANDS = `exists (select 1 from entries as made where made.find_id = entries.find_id and made.profile = entries.profile
  and made.kind = 'import' and made.state <> 'dropped')`;

export function countWaiting(outbox: Outbox, profile: string): Waiting {
  return outbox
    .sql(
      `select count(*) filter (where kind <> 'import' and ident_cely is null and ${IMPORT_STANDS}) as forImport,
         count(*) filter (where kind <> 'import' and ident_cely is null and not ${IMPORT_STANDS}) as forGivenUp,
         count(*) filter (where state = 'queued' and not_before_at > :now) as forTime
       from entries where profile = :profile and state in ('queued', 'uncertain')`,
    )
    .get({ profile, now: Math.floor(outbox.clock.now()) }) as Waiting;
}

/** Local ids of finds that were given up while numbers or photographs wait for them. */
export function givenUpWithWaiting(outbox: Outbox, profile: string): string[] {
  return outbox
    .sql(
      `select distinct local_id from entries join finds on finds.id = find_id
       where profile = ? and kind <> 'import' and state = 'queued' and ident_cely is null and not ${IMPORT_STANDS} order by finds.id`,
    )
    .pluck()
    .all(profile) as string[];
}

/** Finds that only other profiles have an import of that stands. */
export function countElsewhere(outbox: Outbox, profile: string): number {
  const row = outbox
    .sql(
      `select count(*) as count from finds
       where not exists (select 1 from entries where find_id = finds.id and kind = 'import' and profile = :profile)
         and exists (select 1 from entries where find_id = finds.id and kind = 'import' and state <> 'dropped')`,
    )
    .get({ profile }) as { count: number };
  return row.count;
}

/** Whether the service accepted a document that names this, such as the namespace of a schema version. */
export function wasAcceptedNaming(outbox: Outbox, profile: string, text: string): boolean {
  const found = outbox
    .sql(`select 1 from entries where profile = ? and kind = 'import' and state = 'accepted' and instr(document, ?) > 0 limit 1`)
    .get(profile, Buffer.from(text));
  return found !== undefined;
}
