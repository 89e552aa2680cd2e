import { ConfigError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { createRowParser, isText } from '../store/database.ts';
import { type Outbox, readHeader } from './open-outbox.ts';
import { bindScope, NOTHING_UNITED, type United, uniteWithLedger } from './unite.ts';

const parseAccount = createRowParser({
  identCely: isText,
  name: isText,
  email: isText,
  organisation: isText,
  role: isText,
  /** Prefix and namespace in the service's documents; empty where they are unknown. */
  prefix: isText,
  namespace: isText,
});

/** The account as the service last described it. */
export type KnownAccount = ReturnType<typeof parseAccount>;

/** Stores the account that signs in with this user name; empty where only a token is known. */
export function rememberAccount(outbox: Outbox, username: string, account: KnownAccount): void {
  outbox.change(() => {
    const before = findKnownAccount(outbox);
    // Other rights show other records, and the list of changes does not contain the difference.
    if (
      before !== undefined &&
      (before.role !== account.role || before.organisation !== account.organisation)
    )
      outbox.sql('delete from pulls').run();
    outbox
      .sql(
        `insert into account (only, ident_cely, username, name, email, organisation, role, prefix, namespace, seen_at)
         values (1, :identCely, :username, :name, :email, :organisation, :role, :prefix, :namespace, :now)
         on conflict (only) do update set ident_cely = excluded.ident_cely, username = excluded.username, name = excluded.name,
           email = excluded.email, organisation = excluded.organisation, role = excluded.role,
           prefix = excluded.prefix, namespace = excluded.namespace, seen_at = excluded.seen_at`,
      )
      .run({ ...account, username, now: Math.floor(outbox.clock.now()) });
  });
}

/** Returns the stored account; undefined where the service was not asked yet. */
export function findKnownAccount({ sql }: Outbox): KnownAccount | undefined {
  const row = sql(
    'select ident_cely as identCely, name, email, organisation, role, prefix, namespace from account',
  ).get();
  return row === undefined ? undefined : parseAccount(row);
}

/** Returns the user name of the last sign-in; undefined where only a token was used. */
export function findKnownUsername({ sql }: Outbox): string | undefined {
  const username = sql('select username from account').pluck().get();
  return typeof username === 'string' && username !== '' ? username : undefined;
}

/**
 * Binds the outbox to the first account that signs in, and unites it with what this machine knows
 * of that account.
 * @throws ConfigError where it belongs to another account
 */
export function bindAccount(outbox: Outbox, account: string): United {
  assertSameAccount(outbox, account);
  if (readHeader(outbox).account === account) return NOTHING_UNITED;
  bindScope(outbox, account);
  return uniteWithLedger(outbox);
}

/**
 * @param waysOut returns the remedy, given the outbox's account
 * @throws ConfigError where that is another account
 */
export function assertSameAccount(
  outbox: Outbox,
  account: string,
  waysOut?: (bound: string) => Message,
): void {
  const { account: bound, address } = readHeader(outbox);
  if (bound === null || bound === account) return;
  const hint = waysOut?.(bound);
  throw new ConfigError(
    msg`This outbox sends as the account ${bound}, but ${address} says that you are signed in as ${account}. Nothing was sent.`,
    hint === undefined ? {} : { hint },
  );
}

/** Tells if two user names are equal. At the service they are e-mail addresses. */
export function isSameUser(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/**
 * Tells if a user name's account may send from the outbox, as known before sign-in.
 * @param username undefined: none given
 */
export function isAccountOfUser(outbox: Outbox, username: string | undefined): boolean {
  const { account: bound } = readHeader(outbox);
  if (bound === null || username === undefined) return true;
  const account = findKnownAccount(outbox);
  if (account?.identCely !== bound) return true;
  const names = [findKnownUsername(outbox) ?? '', account.email].filter((name) => name !== '');
  return names.length === 0 || names.some((name) => isSameUser(name, username));
}
