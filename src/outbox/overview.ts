import type { Message } from '../base/message.ts';
import { entriesOfService, UNSETTLED } from './entries.ts';
import type { Entry, EntryKind } from './entry.ts';
import { readReason } from './kept-messages.ts';
import type { ServiceOutbox } from './open-outbox.ts';

/** What is queued of each kind, of the records of these keys or of all. */
export function countQueued(
  outbox: ServiceOutbox,
  { recordKeys, anyAccount }: { readonly recordKeys: readonly string[] | undefined; readonly anyAccount: boolean },
): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where service_id = :serviceId and state = 'queued'
         and (:anyAccount or username in ('', :username)) and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) group by kind`,
    )
    .all({
      serviceId: outbox.serviceId,
      username: outbox.username,
      anyAccount: anyAccount ? 1 : 0,
      recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys),
    }) as {
    kind: EntryKind;
    count: number;
  }[];
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) };
}

/** Entries that nothing but a person, or evidence, moves on; the oldest first. */
export function needingPerson(outbox: ServiceOutbox, limit: number): Entry[] {
  return entriesOfService(
    outbox,
    `state <> 'sending' and not (state = 'uncertain' and kind <> 'import' and ident_cely is null) and ${UNSETTLED}`,
    { limit },
    'order by state, entries.id limit :limit',
  );
}

/** Local ids of finds that were given up while numbers or photographs wait for them. */
export function givenUpWithWaiting(outbox: ServiceOutbox): string[] {
  return outbox
    .sql(
      `select distinct local_id from entries join finds on finds.id = find_id
       where service_id = ? and kind in ('number', 'photo') and state = 'queued' and ident_cely is null and not exists (
         select 1 from imports_standing as made where made.find_id = entries.find_id and made.service_id = entries.service_id) order by finds.id`,
    )
    .pluck()
    .all(outbox.serviceId) as string[];
}

/** Whether the service accepted a document that names this, such as the namespace of a schema version. */
export function wasAcceptedNaming(outbox: ServiceOutbox, text: string): boolean {
  const found = outbox
    .sql(
      `select 1 from entries where service_id = ? and kind = 'import' and state = 'accepted' and instr(document, ?) > 0 limit 1`,
    )
    .get(outbox.serviceId, Buffer.from(text));
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
export function delays(outbox: ServiceOutbox, limit: number): Delay[] {
  const rows = outbox
    .sql(
      `select kind, reason, count(*) as count, min(not_before_at) as notBeforeAt,
         coalesce((select local_id from finds where finds.id = find_id), ident_cely) as find
       from entries where service_id = :serviceId and state = 'queued' and (kind = 'import' or ident_cely is not null)
         and not_before_at > 0 and reason is not null
       group by kind, reason order by count desc, min(entries.id) limit :limit`,
    )
    .all({ serviceId: outbox.serviceId, limit }) as (Omit<Delay, 'reason'> & { readonly reason: string })[];
  return rows.map((row) => ({ ...row, reason: readReason(row.reason) }));
}
