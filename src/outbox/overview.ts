import type { Message } from '../base/message.ts';
import { heldEntries, selectEntries } from './entries.ts';
import type { Entry, EntryKind } from './entry.ts';
import { deserializeMessage } from './message-codec.ts';
import type { Outbox } from './open-outbox.ts';

/** Queued entries of each kind, of the records of these keys or of all; held ones are not counted. */
export function countQueued(outbox: Outbox, recordKeys: readonly string[] | undefined): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where state = 'queued' and held is null
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) group by kind`,
    )
    .all({ recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) }) as { kind: EntryKind; count: number }[];
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) };
}

/** Imports that are not complete for their target state: those of these records, or of all, those that numbers or photographs wait for. */
export function draftImports(outbox: Outbox, recordKeys: readonly string[] | undefined): Entry[] {
  const ofRecords = 'record_key in (select value from json_each(:recordKeys))';
  const withDependents = `exists (select 1 from entries as waiting where waiting.find_id = entries.find_id and waiting.kind <> 'import' and waiting.state = 'queued')`;
  return selectEntries(outbox, `state = 'draft' and ${recordKeys === undefined ? withDependents : ofRecords}`, {
    ...(recordKeys === undefined ? {} : { recordKeys: JSON.stringify(recordKeys) }),
  });
}

/** Entries that nothing but a person, or evidence, moves on: held ones first, then the oldest. */
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

/** Local ids of finds that were dropped while numbers or photographs wait for them. */
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

/** An accepted document names this text, such as the namespace of a schema version. */
export function hasAcceptedNaming(outbox: Outbox, text: string): boolean {
  const found = outbox
    .sql(`select 1 from entries where kind = 'import' and state = 'accepted' and instr(document, ?) > 0 limit 1`)
    .get(Buffer.from(text));
  return found !== undefined;
}

/** Why entries that were tried are still queued, and when the first of them may be sent. */
export type Delay = {
  readonly kind: EntryKind;
  readonly reason: Message;
  readonly count: number;
  /** The first that waits for this reason: local id, or the record that is not kept here. */
  readonly find: string;
  readonly notBeforeAt: number;
};

/** The reasons that most entries have come first. */
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
