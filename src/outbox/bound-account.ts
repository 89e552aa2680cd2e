import { ConfigError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { headerOf, type Outbox, updateHeader } from './open-outbox.ts';
import { recordEvents } from './record-events.ts';

/** The account as the service described it when it was last asked. */
export type KnownAccount = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: string;
};

/** Stores the account that signs in with this user name; empty where a token alone is known. */
export function rememberAccount(outbox: Outbox, username: string, account: KnownAccount): void {
  outbox.change(() => {
    const before = knownAccount(outbox);
    // With other rights it is shown other records, and no list of changes names them.
    if (before !== undefined && (before.role !== account.role || before.organisation !== account.organisation))
      outbox.sql('delete from pulls').run();
    outbox
      .sql(
        `insert into account (only, ident_cely, username, name, email, organisation, role, seen_at)
         values (1, :identCely, :username, :name, :email, :organisation, :role, :now)
         on conflict (only) do update set ident_cely = excluded.ident_cely, username = excluded.username, name = excluded.name,
           email = excluded.email, organisation = excluded.organisation, role = excluded.role, seen_at = excluded.seen_at`,
      )
      .run({ ...account, username, now: Math.floor(outbox.clock.now()) });
  });
}

/** Undefined where the service was not asked yet. */
export function knownAccount({ sql }: Outbox): KnownAccount | undefined {
  return sql('select ident_cely as identCely, name, email, organisation, role from account').get() as KnownAccount | undefined;
}

/** The user name that the account signed in with last; undefined where only a token was used. */
export function knownUsername({ sql }: Outbox): string | undefined {
  const username = sql('select username from account').pluck().get();
  return typeof username === 'string' && username !== '' ? username : undefined;
}

/**
 * Binds the outbox to the account that sends from it first, and refuses every other one from then on.
 * @throws ConfigError where it is another account's
 */
export function bindAccount(outbox: Outbox, account: string): void {
  const { account: bound, address } = headerOf(outbox);
  if (bound === account) return;
  if (bound !== null) throw otherAccount(outbox, bound, account);
  outbox.change(() => {
    recordEvents(outbox, [{ kind: 'bound', entry: null, body: { account, address, at: Math.floor(outbox.clock.now()) } }]);
    updateHeader(outbox, { account });
  });
}

/** @throws ConfigError where the outbox is bound to another account */
export function assertSameAccount(outbox: Outbox, account: string): void {
  const { account: bound } = headerOf(outbox);
  if (bound !== null && bound !== account) throw otherAccount(outbox, bound, account);
}

function otherAccount(outbox: Outbox, bound: string, account: string): ConfigError {
  const { address } = headerOf(outbox);
  return new ConfigError(
    msg`This outbox sends as the account ${bound}, and ${address} says that you are signed in as ${account}. Nothing was sent.`,
    {
      hint: msg`Sign in as ${bound} with \`${cmd`pas login`}\`, or make a profile with an outbox of its own for ${account}: ${cmd`pas init`} --name NAME --base-url ${address}`,
    },
  );
}
