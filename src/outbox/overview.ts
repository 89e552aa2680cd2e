import type { Message } from '../base/message.ts';
import { createRowParser, isNumber, isOneOf, isText, orNull, parseTexts } from '../store/row.ts';
import { ENTRY_KINDS, type EntryKind } from './entry.ts';
import { deserializeMessage } from './message-codec.ts';
import type { Outbox } from './open-outbox.ts';

const parseKindCount = createRowParser({ kind: isOneOf(ENTRY_KINDS), count: isNumber });

/** Counts queued entries of each kind, of these records or of all; held ones are excluded. */
export function countQueued(outbox: Outbox, recordKeys: readonly string[] | undefined): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where state = 'queued' and held is null
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) group by kind`,
    )
    .all({ recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) });
  const counts = rows.map(parseKindCount).map(({ kind, count }) => [kind, count] as const);
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(counts) };
}

/** Returns local ids of dropped finds that block numbers or photographs. */
export function droppedWithDependents(outbox: Outbox): string[] {
  const localIds = outbox
    .sql(
      `select distinct local_id from entries join finds on finds.id = entries.find_id
         join entries as made on made.find_id = finds.id and made.kind = 'import' and made.state = 'dropped'
       where entries.kind in ('number', 'photo') and entries.state = 'queued' and entries.ident_cely is null and hidden_at is null order by finds.id`,
    )
    .pluck()
    .all();
  return parseTexts(localIds);
}

/** Counts unsent entries that the service refuses to a researcher: imports into a higher state, and numbers (A-PROJECT-2). */
export function countAboveResearcher({ sql }: Outbox): number {
  const count = sql(
    `select count(*) from entries left join finds on finds.id = find_id
     where state = 'queued' and (kind = 'number' or (kind = 'import' and elements ->> 'stav' > 1))`,
  );
  return Number(count.pluck().get());
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

const parseDelay = createRowParser({
  ...{ kind: isOneOf(ENTRY_KINDS), reason: isText, count: isNumber, notBeforeAt: isNumber, find: isText },
});

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
    .all({ limit });
  return rows.map(parseDelay).map((row) => ({ ...row, reason: deserializeMessage(row.reason) }));
}

const parseQueuedHead = createRowParser({
  ...{ id: isNumber, project: orNull(isText), identCely: orNull(isText), createdAt: isNumber },
});

/** Returns facts about queued entries without their content. */
export function queuedHeads(outbox: Outbox): ReturnType<typeof parseQueuedHead>[] {
  const rows = outbox
    .sql(`select id, project, ident_cely as identCely, created_at as createdAt from entries where state = 'queued' order by id`)
    .all();
  return rows.map(parseQueuedHead);
}
