import type { Outbox } from './outbox.ts';

/** What the service said of an account when it was last asked. */
type KnownAccount = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: string;
};

type NamedAccount = KnownAccount & {
  /** The user name that the profile has. */
  readonly username: string | undefined;
};

export function rememberAccount(outbox: Outbox, profile: string, account: NamedAccount): void {
  outbox
    .sql(
      `insert into accounts (profile, ident_cely, name, email, organisation, role, username, seen_at)
       values (:profile, :identCely, :name, :email, :organisation, :role, :username, :now)
       on conflict (profile) do update set ident_cely = :identCely, name = :name, email = :email,
         organisation = :organisation, role = :role, username = :username, seen_at = :now`,
    )
    .run({ ...account, username: account.username ?? null, profile, now: Math.floor(outbox.clock.now()) });
}

export function knownAccount(outbox: Outbox, profile: string): KnownAccount | undefined {
  return outbox
    .sql(`select ident_cely as identCely, name, email, organisation, role from accounts where profile = ?`)
    .get(profile) as KnownAccount | undefined;
}

export function forgetAccount(outbox: Outbox, profile: string): void {
  outbox.sql('delete from accounts where profile = ?').run(profile);
}

/** The service's identifier of the account, if that is the one of this user name. */
export function identOfAccount(outbox: Outbox, profile: string, username: string | undefined): string | undefined {
  const ident = outbox
    .sql('select ident_cely from accounts where profile = ? and username is ?')
    .pluck()
    .get(profile, username ?? null);
  return typeof ident === 'string' ? ident : undefined;
}
