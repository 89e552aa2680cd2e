import { entriesOfFind, move, selectEntries } from './entries.ts';
import type { Entry, ImportEntry } from './entry.ts';
import type { Outbox } from './outbox.ts';

/** This profile and the others that write to the same service: a record of it has one find, whatever the profile is called. */
export function profilesOfService(outbox: Outbox, profile: string, isOtherService: (profile: string) => boolean): string[] {
  const others = outbox.sql('select distinct profile from entries where profile <> ?').pluck().all(profile) as string[];
  return [profile, ...others.filter((name) => !isOtherService(name))];
}

/** The import that is known to have made a record. */
export function ownerOf(outbox: Outbox, identCely: string, profiles: readonly string[]): ImportEntry | undefined {
  const [entry] = selectEntries(
    outbox,
    `ident_cely = :identCely and kind = 'import' and state = 'accepted' and profile in (select value from json_each(:profiles))`,
    { identCely, profiles: JSON.stringify(profiles) },
  );
  return entry?.kind === 'import' ? entry : undefined;
}

/** All records that these profiles are known to have made. */
export function ownedRecords(outbox: Outbox, profiles: readonly string[]): string[] {
  return outbox
    .sql(
      `select ident_cely from entries
       where kind = 'import' and state = 'accepted' and profile in (select value from json_each(?))`,
    )
    .pluck()
    .all(JSON.stringify(profiles)) as string[];
}

/**
 * Records that the service accepted since, with the time of that by its own clock.
 * @param offsetMs how far that is ahead of this machine's, for answers without a date
 */
export function acceptedSince(
  outbox: Outbox,
  profiles: readonly string[],
  sinceMs: number,
  offsetMs: number,
): Map<string, number> {
  const rows = outbox
    .sql(
      `select ident_cely as identCely, max(coalesce(server_date_at, ended_at + :offsetMs)) as atMs
       from entries join attempts on attempts.entry_id = entries.id
       where kind = 'import' and state = 'accepted' and outcome = 'accepted' and profile in (select value from json_each(:profiles))
       group by entries.id having atMs >= :sinceMs`,
    )
    .all({ profiles: JSON.stringify(profiles), sinceMs, offsetMs }) as { identCely: string; atMs: number }[];
  return new Map(rows.map(({ identCely, atMs }) => [identCely, atMs]));
}

/**
 * The service gave an import's record to another find, so nobody knows what became of this one: it is in doubt, and so is
 * all that was sent to that record for it. None of it may go there any more.
 */
export function disown(outbox: Outbox, owner: ImportEntry, reason: string): void {
  outbox.change(() => {
    for (const entry of entriesOfFind(outbox, owner.findId ?? 0, owner.profile)) {
      if (entry.identCely === owner.identCely) loseRecord(outbox, entry, reason);
    }
  });
}

function loseRecord(outbox: Outbox, entry: Entry, reason: string): void {
  if (entry.state === 'accepted') move(outbox, entry, 'uncertain', { identCely: null, reason });
  else if (entry.kind !== 'import') outbox.sql('update entries set ident_cely = null where id = ?').run(entry.id);
}
