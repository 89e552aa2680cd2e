import type { Message } from '../base/message.ts';
import { entriesOfFind, entriesOfService, move } from './entries.ts';
import type { Entry, ImportEntry } from './entry.ts';
import type { ServiceOutbox } from './open-outbox.ts';

/** The import that is known to have made a record. */
export function ownerOf(outbox: ServiceOutbox, identCely: string): ImportEntry | undefined {
  const [entry] = entriesOfService(outbox, `ident_cely = :identCely and kind = 'import' and state = 'accepted'`, { identCely });
  return entry?.kind === 'import' ? entry : undefined;
}

/**
 * The find whose import another service gave this identifier, where this one is not known to have it. A training instance counts on from
 * where it was copied, so production gives the same identifiers to other finds.
 */
export function madeElsewhere(
  outbox: ServiceOutbox,
  identCely: string,
): { readonly localId: string; readonly address: string } | undefined {
  const made = outbox
    .sql(
      `select local_id as localId, coalesce(address, known_as) as address, service_id = :serviceId as isHere
       from entries join finds on finds.id = find_id join services on services.id = service_id
       where ident_cely = :identCely and kind = 'import' and state = 'accepted'
         and not exists (select 1 from pulled where service_id = :serviceId and pulled.ident_cely = :identCely) order by isHere desc, entries.id limit 1`,
    )
    .get({ identCely, serviceId: outbox.serviceId }) as { localId: string; address: string; isHere: number } | undefined;
  return made === undefined || made.isHere === 1 ? undefined : made;
}

/** Imports whose records the service made, the newest first. */
export function latestAccepted(outbox: ServiceOutbox, limit: number): Entry[] {
  const order = 'order by entries.updated_at desc limit :limit';
  return entriesOfService(outbox, `kind = 'import' and state = 'accepted'`, { limit }, order);
}

/**
 * Records that the service accepted since, with the time of that by its own clock.
 * @param offsetMs how far that is ahead of this machine's, for answers without a date
 */
export function acceptedSince(outbox: ServiceOutbox, sinceMs: number, offsetMs: number): Map<string, number> {
  const rows = outbox
    .sql(
      `select ident_cely as identCely, max(coalesce(server_date_at, ended_at + :offsetMs)) as atMs
       from entries join attempts on attempts.entry_id = entries.id
       where service_id = :serviceId and kind = 'import' and state = 'accepted' and outcome = 'accepted'
       group by entries.id having atMs >= :sinceMs`,
    )
    .all({ serviceId: outbox.serviceId, sinceMs, offsetMs }) as { identCely: string; atMs: number }[];
  return new Map(rows.map(({ identCely, atMs }) => [identCely, atMs]));
}

/**
 * The service gave an import's record to another find, so nobody knows what became of this one: it is in doubt, and so is
 * all that was sent to that record for it. None of it may go there any more.
 */
export function disown(outbox: ServiceOutbox, owner: ImportEntry, reason: Message): void {
  outbox.change(() => {
    for (const entry of entriesOfFind(outbox, owner.findId ?? 0)) {
      if (entry.identCely === owner.identCely) loseRecord(outbox, entry, reason);
    }
  });
}

function loseRecord(outbox: ServiceOutbox, entry: Entry, reason: Message): void {
  if (entry.state === 'accepted') move(outbox, entry, 'uncertain', { identCely: null, reason });
  else if (entry.kind !== 'import') outbox.sql('update entries set ident_cely = null where id = ?').run(entry.id);
}
