import type { Message } from '../base/message.ts';
import { heldEntries, selectEntries } from './entries.ts';
import type { Entry, EntryKind } from './entry.ts';
import { deserializeMessage } from './message-codec.ts';
import type { Outbox } from './open-outbox.ts';

/** Counts queued entries of each kind, of these records or of all; held ones are excluded. */
export function countQueued(outbox: Outbox, recordKeys: readonly string[] | undefined): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where state = 'queued' and held is null
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) group by kind`,
    )
    .all({ recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) }) as { kind: EntryKind; count: number }[];
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) };
}

/** Returns incomplete imports: those of these records, or all those that block numbers or photographs. */
export function draftImports(outbox: Outbox, recordKeys: readonly string[] | undefined): Entry[] {
  const ofRecords = 'record_key in (select value from json_each(:recordKeys))';
  const withDependents = `exists (select 1 from entries as waiting where waiting.find_id = entries.find_id and waiting.kind <> 'import' and waiting.state = 'queued')`;
  return selectEntries(outbox, `state = 'draft' and ${recordKeys === undefined ? withDependents : ofRecords}`, {
    ...(recordKeys === undefined ? {} : { recordKeys: JSON.stringify(recordKeys) }),
  });
}

/** Returns entries that only a person or evidence can settle: held ones first, then the oldest. */
export function needingPerson(outbox: Outbox, limit: number): Entry[] {
  const held = heldEntries(outbox);
  const others = selectEntries(
    outbox,
    `state <> 'sending' and not (state = 'uncertain' and entries.kind <> 'import' and ident_cely is null)
     and state in ('draft', 'refused', 'sending', 'uncertain') and finds.hidden_at is null`,
    { limit },
    'order by state, entries.id limit :limit',
  );
  return [...held, ...others].slice(0, limit);
}

/** Returns local ids of dropped finds that block numbers or photographs. */
export function droppedWithDependents(outbox: Outbox): string[] {
  return outbox
    .sql(
      `select distinct local_id from entries join finds on finds.id = entries.find_id
         join entries as made on made.find_id = finds.id and made.kind = 'import' and made.state = 'dropped'
       where entries.kind in ('number', 'photo') and entries.state = 'queued' and entries.ident_cely is null and hidden_at is null order by finds.id`,
    )
    .pluck()
    .all() as string[];
}

/** Tells if an accepted document contains this text, such as the namespace of a schema version. */
export function hasAcceptedNaming(outbox: Outbox, text: string): boolean {
  const found = outbox
    .sql(`select 1 from entries where kind = 'import' and state = 'accepted' and instr(document, ?) > 0 limit 1`)
    .get(Buffer.from(text));
  return found !== undefined;
}

/** Reason why attempted entries are still queued, and the earliest time of the next attempt. */
export type Delay = {
  readonly kind: EntryKind;
  readonly reason: Message;
  readonly count: number;
  /** First entry with this reason: local id, or identifier of a record without a find. */
  readonly find: string;
  readonly notBeforeAt: number;
};

/** Returns the most frequent reasons first. */
export function delays(outbox: Outbox, limit: number): Delay[] {
  const rows = outbox
    .sql(
      `select kind, reason, count(*) as count, min(not_before_at) as notBeforeAt,
         coalesce((select local_id from finds where finds.id = find_id), ident_cely) as find
       from entries where state = 'queued' and held is null and (kind = 'import' or ident_cely is not null)
         and not_before_at > 0 and reason is not null
       group by kind, reason order by count desc, min(entries.id) limit :limit`,
    )
    .all({ limit }) as (Omit<Delay, 'reason'> & { readonly reason: string })[];
  return rows.map((row) => ({ ...row, reason: deserializeMessage(row.reason) }));
}
