import { mergeServices } from './merge-services.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** A profile as far as the outbox is concerned: the name, and whom it means at which address (in the spelling of `normalAddress`). */
export type NamedService = { readonly profile: string; readonly address: string; readonly username: string };

/** The outbox as this account of this service is to see it; a service is a row of its own from its first use on. */
export function openService(outbox: Outbox, { address, username }: Omit<NamedService, 'profile'>): ServiceOutbox {
  return { ...outbox, address, username, serviceId: serviceAt(outbox, address) };
}

function serviceAt(outbox: Outbox, address: string): number {
  const known = outbox.sql('select id from services where address = ?').pluck();
  const id = known.get(address);
  if (typeof id === 'number') return id;
  return outbox.change(() => {
    outbox.sql('insert into services (address) values (?) on conflict do nothing').run(address);
    return Number(known.get(address));
  });
}

/**
 * An earlier pas kept what it knew under the names of profiles. It is given to the services that these names mean. What hung on a name
 * that no profile has any more stays without an address until a person gives it one.
 */
export function nameServices(outbox: Outbox, profiles: readonly NamedService[]): void {
  if (unnamedServices(outbox).length === 0) return;
  outbox.change(() => {
    for (const { id, knownAs } of unnamedServices(outbox)) {
      const meant = profiles.find(({ profile }) => profile === knownAs);
      if (meant === undefined) continue;
      for (const table of ['entries', 'pulled'])
        outbox.sql(`update ${table} set username = ? where service_id = ?`).run(meant.username, id);
      giveAddress(outbox, id, meant.address);
    }
  });
}

/** Services of which nobody has said yet where they are. */
export function unnamedServices(outbox: Outbox): { readonly id: number; readonly knownAs: string; readonly sent: number }[] {
  return outbox
    .sql(
      `select id, known_as as knownAs, (
         select count(*) from entries where service_id = services.id and kind = 'import' and state in ('sending', 'accepted', 'uncertain')
       ) as sent from services where address is null order by id`,
    )
    .all() as { id: number; knownAs: string; sent: number }[];
}

function giveAddress(outbox: Outbox, id: number, address: string): void {
  const there = outbox.sql('select id from services where address = ? and id <> ?').pluck().get(address, id);
  if (typeof there === 'number') mergeServices(outbox, id, there);
  else outbox.sql('update services set address = ?, known_as = null where id = ?').run(address, id);
}

/**
 * Notes which service a profile's name means now.
 * @returns the address that it meant before, where that is another one
 */
export function notePointing(outbox: ServiceOutbox, profile: string): string | undefined {
  const before = outbox
    .sql('select service_id as id, address from profile_services join services on services.id = service_id where name = ?')
    .get(profile) as { id: number; address: string } | undefined;
  if (before?.id === outbox.serviceId) return undefined;
  outbox
    .sql(
      'insert into profile_services (name, service_id) values (?, ?) on conflict (name) do update set service_id = excluded.service_id',
    )
    .run(profile, outbox.serviceId);
  return before?.address;
}

/** A service that got another address: all that is known of the one is known of the other from here on. */
export function moveService(outbox: Outbox, from: ServiceRow, address: string): void {
  outbox.change(() => giveAddress(outbox, from.id, address));
}

export type ServiceRow = {
  readonly id: number;
  /** Null where nobody has said it yet; then `knownAs` is the name of the profile that an earlier pas had it under. */
  readonly address: string | null;
  readonly knownAs: string | null;
  /** Names of the profiles that meant it last. */
  readonly profiles: readonly string[];
  readonly accounts: readonly { readonly identCely: string; readonly username: string | null; readonly name: string | null }[];
  readonly entries: number;
  readonly accepted: number;
};

export function allServices(outbox: Outbox): ServiceRow[] {
  const rows = outbox
    .sql(
      `select id, address, known_as as knownAs,
         (select json_group_array(name) from profile_services where service_id = services.id) as profiles,
         (select json_group_array(json_object('identCely', ident_cely, 'username', username, 'name', name))
          from accounts where service_id = services.id) as accounts,
         (select coalesce(sum(count), 0) from entry_counts where service_id = services.id) as entries,
         (select coalesce(sum(count), 0) from entry_counts where service_id = services.id and kind = 'import' and state = 'accepted') as accepted
       from services order by id`,
    )
    .all() as (Omit<ServiceRow, 'profiles' | 'accounts'> & { profiles: string; accounts: string })[];
  return rows.map(({ profiles, accounts, ...row }) => ({
    ...row,
    profiles: JSON.parse(profiles) as string[],
    accounts: JSON.parse(accounts) as ServiceRow['accounts'],
  }));
}
