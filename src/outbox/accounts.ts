import type { ServiceOutbox } from './open-outbox.ts';

/** What the service said of an account when it was last asked. */
export type KnownAccount = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: string;
};

/**
 * Keeps what the service said of the account that signs in with this outbox's user name, or whose token alone is known.
 * @returns the account's row
 */
export function rememberAccount(outbox: ServiceOutbox, account: KnownAccount): number {
  return outbox.change(() => {
    const { serviceId, username } = outbox;
    // A user name that was another account's before is this one's now.
    outbox
      .sql('update accounts set username = null where service_id = ? and username = ? and ident_cely <> ?')
      .run(serviceId, username, account.identCely);
    // With other rights it is shown other records, and no list of changes tells of them.
    outbox
      .sql(
        `delete from pulls where service_id = :serviceId and username = :username and exists (select 1 from accounts
           where service_id = :serviceId and ident_cely = :identCely and (role <> :role or organisation <> :organisation))`,
      )
      .run({ ...account, serviceId, username });
    const { id } = outbox
      .sql(
        `insert into accounts (service_id, ident_cely, username, name, email, organisation, role, seen_at)
         values (:serviceId, :identCely, nullif(:username, ''), :name, :email, :organisation, :role, :now)
         on conflict (service_id, ident_cely) do update set username = coalesce(excluded.username, username), name = excluded.name,
           email = excluded.email, organisation = excluded.organisation, role = excluded.role, seen_at = excluded.seen_at
         returning id`,
      )
      .get({ ...account, serviceId, username, now: Math.floor(outbox.clock.now()) }) as { id: number };
    return id;
  });
}

/** The account of this outbox's user name, as the service last described it; undefined where nobody has asked. */
export function knownAccount({ sql, serviceId, username }: ServiceOutbox): KnownAccount | undefined {
  return sql(
    `select ident_cely as identCely, name, email, organisation, role from accounts
     where service_id = ? and username = ? and name is not null`,
  ).get(serviceId, username) as KnownAccount | undefined;
}

/** The user name that an account signed in with last; undefined for one that only ever came with a token. */
export function usernameOf({ sql, serviceId }: ServiceOutbox, identCely: string): string | undefined {
  const username = sql('select username from accounts where service_id = ? and ident_cely = ?').pluck().get(serviceId, identCely);
  return typeof username === 'string' ? username : undefined;
}
