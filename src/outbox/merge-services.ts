import { msg } from '../base/message.ts';
import { move, selectEntries } from './entries.ts';
import type { Entry, EntryState, NumberEntry, PhotoEntry } from './entry.ts';
import { reasonText } from './kept-messages.ts';
import type { Outbox } from './open-outbox.ts';
import { sealOf } from './seal.ts';
import { findById, insertFind } from './stored-finds.ts';

/** Two rows turn out to be one service: all of the first is given to the second. To be called in a transaction. */
export function mergeServices(outbox: Outbox, from: number, into: number): void {
  for (const { findId, here, there } of importsOfBoth(outbox, from, into)) settleTwo(outbox, findId, here, there);
  for (const [here, there] of photographsOfBoth(outbox, from, into)) {
    const [stands, other] = ranked(here, there);
    giveUp(outbox, other, stands);
  }
  const moved = { from, into };
  outbox.sql('update entries set service_id = :into where service_id = :from').run(moved);
  // What waited for an import that was given up waits for the one that stands.
  outbox
    .sql(
      `update entries set ident_cely = (select made.ident_cely from entries as made
         where made.find_id = entries.find_id and made.service_id = :into and made.kind = 'import' and made.state = 'accepted')
       where service_id = :into and kind <> 'import' and ident_cely is null and find_id is not null`,
    )
    .run({ into });
  mergeAccounts(outbox, moved);
  // What a record was shown as last is kept, also where the other profile was not shown it.
  outbox
    .sql(
      `update pulled set (stav, record) = (select stav, record from pulled as other where other.service_id = :from and other.username = pulled.username and other.ident_cely = pulled.ident_cely)
       where service_id = :into and record is null and exists (
         select 1 from pulled as other where other.service_id = :from and other.username = pulled.username and other.ident_cely = pulled.ident_cely and other.record is not null)`,
    )
    .run(moved);
  outbox.sql('update or ignore pulled set service_id = :into where service_id = :from').run(moved);
  outbox.sql('delete from pulled where service_id = :from').run({ from });
  for (const table of ['pulls', 'looks']) outbox.sql(`delete from ${table} where service_id = :from`).run({ from });
  outbox.sql('update gaps set service_id = :into where service_id = :from').run(moved);
  outbox.sql('update profile_services set service_id = :into where service_id = :from').run(moved);
  outbox.sql('delete from services where id = :from').run({ from });
}

/** Of two entries for the same, the one stands that the service is nearest to having. */
const NEAREST: readonly EntryState[] = ['accepted', 'sending', 'uncertain', 'queued', 'refused', 'draft'];

/** In these the service is certain not to have it. */
const UNSENT: readonly EntryState[] = ['draft', 'queued', 'refused'];

function isUnsent({ state }: Entry): boolean {
  return UNSENT.includes(state);
}

/** The one that stands first. */
function ranked(here: Entry, there: Entry): readonly [Entry, Entry] {
  return NEAREST.indexOf(here.state) < NEAREST.indexOf(there.state) ? [here, there] : [there, here];
}

function importsOfBoth(outbox: Outbox, from: number, into: number) {
  const live = selectEntries(
    outbox,
    `kind = 'import' and state <> 'dropped' and service_id in (:from, :into) and find_id in (
       select find_id from entries where kind = 'import' and state <> 'dropped' and service_id in (:from, :into)
       group by find_id having count(*) = 2)`,
    { from, into },
  );
  return live.flatMap((here) => {
    const there = live.find((other) => other.findId === here.findId && other.serviceId === into);
    if (here.serviceId !== from || here.findId === null || there === undefined) return [];
    return [{ findId: here.findId, here, there }];
  });
}

/** A find has one import at a service. Where there are two records, each is a find of its own from here on. */
function settleTwo(outbox: Outbox, findId: number, here: Entry, there: Entry): void {
  const find = findById(outbox, findId);
  const areTwo = here.state === 'accepted' && there.state === 'accepted' && here.identCely !== there.identCely;
  if (!areTwo || find === undefined) {
    const [stands, other] = ranked(here, there);
    giveUp(outbox, other, stands);
    return;
  }
  const moved = selectEntries(outbox, 'find_id = :findId and service_id = :serviceId', {
    findId,
    serviceId: here.serviceId,
  }).filter((entry) => entry.kind !== 'import' && entry.seal?.equals(sealOf(entry)) === true) as (NumberEntry | PhotoEntry)[];
  const copy = insertFind(outbox, { localId: freeLocalId(outbox, find.localId), elements: find.elements });
  outbox
    .sql('update entries set find_id = :copy, record_key = :key where find_id = :findId and service_id = :serviceId')
    .run({ copy, key: `find:${copy}`, findId, serviceId: here.serviceId });
  for (const entry of moved)
    outbox.sql('update entries set seal = ? where id = ?').run(sealOf({ ...entry, recordKey: `find:${copy}` }), entry.id);
}

function freeLocalId(outbox: Outbox, localId: string): string {
  const isTaken = outbox.sql('select 1 from finds where local_id = ?');
  for (let count = 2; ; count += 1) {
    const name = `${localId}-${count}`;
    if (isTaken.get(name) === undefined) return name;
  }
}

function photographsOfBoth(outbox: Outbox, from: number, into: number): [Entry, Entry][] {
  const photos = selectEntries(outbox, `kind = 'photo' and state <> 'dropped' and service_id in (:from, :into)`, { from, into });
  const keyOf = (entry: Entry): string =>
    `${entry.recordKey} ${entry.kind === 'photo' ? entry.photograph.sha512.toString('hex') : ''}`;
  const there = new Map(photos.filter(({ serviceId }) => serviceId === into).map((entry) => [keyOf(entry), entry]));
  return photos
    .filter(({ serviceId }) => serviceId === from)
    .flatMap((entry): [Entry, Entry][] => {
      const other = there.get(keyOf(entry));
      return other === undefined ? [] : [[entry, other]];
    });
}

/** What may have come of the one that is given up counts as an attempt of the other, until that is settled. */
function giveUp(outbox: Outbox, entry: Entry, stands: Entry): void {
  const reason = msg`another profile of the same service has it as well`;
  if (isUnsent(entry)) move(outbox, entry, 'dropped', { reason });
  else outbox.sql(`update entries set state = 'dropped', reason = ? where id = ?`).run(reasonText(reason), entry.id);
  if (isUnsent(entry) || stands.state === 'accepted') return;
  outbox.sql('update attempts set entry_id = ? where entry_id = ?').run(stands.id, entry.id);
  outbox
    .sql(
      `update entries set doubt_from_at = min(coalesce(doubt_from_at, :fromMs), :fromMs), doubt_until_at = max(coalesce(doubt_until_at, :untilMs), :untilMs)
       where id = :id and :fromMs is not null`,
    )
    .run({ id: stands.id, fromMs: entry.doubt?.fromMs ?? null, untilMs: entry.doubt?.untilMs ?? null });
}

function mergeAccounts(outbox: Outbox, moved: { readonly from: number; readonly into: number }): void {
  outbox
    .sql(
      `update attempts set account_id = (select same.id from accounts as same join accounts as one on one.id = attempts.account_id
         where same.service_id = :into and same.ident_cely = one.ident_cely)
       where account_id in (select one.id from accounts as one join accounts as same on same.ident_cely = one.ident_cely
         where one.service_id = :from and same.service_id = :into)`,
    )
    .run(moved);
  const ofBoth = `from accounts as one join accounts as same on same.ident_cely = one.ident_cely
    where one.service_id = :from and same.service_id = :into`;
  const names = outbox
    .sql(`select one.id, same.id as sameId, coalesce(same.username, one.username) as username ${ofBoth}`)
    .all(moved) as {
    id: number;
    sameId: number;
    username: string | null;
  }[];
  for (const { id, sameId, username } of names) {
    outbox.sql('delete from accounts where id = ?').run(id);
    outbox.sql('update accounts set username = ? where id = ?').run(username, sameId);
  }
  outbox
    .sql(
      `update accounts set username = null
       where service_id = :from and username in (select username from accounts where service_id = :into and username is not null)`,
    )
    .run(moved);
  outbox.sql('update accounts set service_id = :into where service_id = :from').run(moved);
}
