import type { Outbox } from './outbox.ts';

/** What the service said of an account when it was last asked. */
type KnownAccount = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: string;
};

export function rememberAccount(outbox: Outbox, profile: string, account: KnownAccount): void {
  outbox
    .sql(
      `insert into accounts (profile, ident_cely, name, email, organisation, role, seen_at)
       values (:profile, :identCely, :name, :email, :organisation, :role, :now)
       on conflict (profile) do update set ident_cely = :identCely, name = :name, email = :email,
         organisation = :organisation, role = :role, seen_at = :now`,
    )
    .run({ ...account, profile, now: Math.floor(outbox.clock.now()) });
}

export function knownAccount(outbox: Outbox, profile: string): KnownAccount | undefined {
  return outbox
    .sql(`select ident_cely as identCely, name, email, organisation, role from accounts where profile = ?`)
    .get(profile) as KnownAccount | undefined;
}

export function forgetAccount(outbox: Outbox, profile: string): void {
  outbox.sql('delete from accounts where profile = ?').run(profile);
}
