import { ConfigError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { type Exchange, within } from '../../http/exchange.ts';
import { isSameUser, knownAccount, knownUsername, rememberAccount } from '../../outbox/bound-account.ts';
import { headerOf, type Outbox } from '../../outbox/open-outbox.ts';
import type { Account } from '../../pas-api/account.ts';
import { openSession, type Session } from '../../pas-api/session.ts';
import { readAccount } from './read-account.ts';

/** The write interface of a service, open for one account. */
export type OpenService = {
  readonly baseUrl: string;
  /** User name of the profile; undefined where only a token is known. */
  readonly username: string | undefined;
  readonly session: Session;
  readonly send: Exchange;
  /** The token came from outside, so that the user name of the profile need not be that of its account. */
  readonly usesExternalToken: boolean;
  /** Undefined for a program without profiles. */
  readonly profile?: ProfileUser;
};

/** The user of a profile, and how an outbox gets the profile of its account. */
export type ProfileUser = {
  readonly name: string;
  /** As config.toml has it, whatever the environment says; undefined where it has none. */
  readonly username: string | undefined;
  /** Says which command makes a profile for another user of the service, or acts for the one that there is. */
  profileFor(username: string): Message;
  /** Says which command gives this profile another user. */
  withUser(username: string): Message;
};

/**
 * Asks the service whose token is used, before the first write of a push: every attempt names its account.
 * @throws ConfigError where it is not the account of the outbox; what {@link readAccount} throws
 */
export async function identifyAccount(outbox: Outbox, service: OpenService, signal?: AbortSignal): Promise<Account> {
  const account = await readAccount(service, signal);
  const problem = rememberIfOwn(outbox, service, account);
  if (problem !== undefined) throw problem;
  return account;
}

/**
 * Notes what the service says of the account, unless it is another one than the outbox is for.
 * @returns that it is another one, with the ways out
 */
export function rememberIfOwn(outbox: Outbox, service: Signer, account: Account): ConfigError | undefined {
  const problem = otherAccount(outbox, service, account);
  if (problem === undefined) rememberAccount(outbox, usernameOf(outbox, service, account), account);
  return problem;
}

type Signer = Pick<OpenService, 'baseUrl' | 'username' | 'usesExternalToken' | 'profile'>;

function otherAccount(outbox: Outbox, service: Signer, account: Account): ConfigError | undefined {
  const { account: bound } = headerOf(outbox);
  if (bound === account.identCely) return undefined;
  const { baseUrl, profile } = service;
  const { identCely } = account;
  if (bound !== null)
    return new ConfigError(
      msg`This outbox sends as the account ${bound}, and ${baseUrl} says that you are signed in as ${identCely}. Nothing was sent.`,
      { hint: waysOut(service, account, knownUsername(outbox) ?? profile?.username, bound) },
    );
  const named = profile?.username;
  if (named === undefined || isAccountOf(outbox, service, account, named)) return undefined;
  const name = profile?.name ?? '';
  return new ConfigError(
    msg`Profile ${name} is for the user ${named}, and ${baseUrl} says that you are signed in as ${identCely}. Nothing was sent.`,
    { hint: waysOut(service, account, named, named) },
  );
}

/** Tells if an account is that of a user name, as far as it can be known. */
function isAccountOf(outbox: Outbox, { username, usesExternalToken }: Signer, account: Account, named: string): boolean {
  const { email, identCely } = account;
  if (!usesExternalToken && username !== undefined && isSameUser(username, named)) return true;
  const known = knownAccount(outbox);
  if (known !== undefined && isSameUser(knownUsername(outbox) ?? '', named)) return known.identCely === identCely;
  // User names are e-mail addresses; a service whose names are none has them before the @.
  const [local = ''] = email.split('@');
  return isSameUser(email, named) || isSameUser(local, named);
}

/** @param right user name of the account that the outbox is for, where it is known */
function waysOut({ username, usesExternalToken, profile }: Signer, account: Account, right: string | undefined, who: string): Message {
  if (profile === undefined) return msg`Sign in as ${who}, or use an outbox of its own for ${account.identCely}.`;
  const other = usesExternalToken ? account.email || account.identCely : (username ?? account.email);
  const own = profile.profileFor(other);
  if (usesExternalToken)
    return msg`If ${who} is to send, take PAS_TOKEN away, or give it the token of ${who}. If ${other} is to send from an outbox of its own, ${own}`;
  if (username !== undefined && username !== profile.username && profile.username !== undefined)
    return msg`If ${who} is to send, take PAS_USERNAME and PAS_PASSWORD away. If ${other} is to send from an outbox of its own, ${own}`;
  if (right !== undefined && profile.username !== undefined && !isSameUser(right, profile.username)) {
    const back = profile.withUser(right);
    return msg`If ${who} is to send, ${back}. If ${other} is to send from an outbox of its own, ${own}`;
  }
  return msg`If ${who} is to send, sign in as that: ${cmd`pas login`}. If ${other} is to send from an outbox of its own, ${own}`;
}

/** The account of a token from outside is the one of a user name only where it has signed in with that before. */
function usernameOf(outbox: Outbox, { username, usesExternalToken }: Signer, { identCely }: Account): string {
  if (!usesExternalToken) return username ?? '';
  return knownAccount(outbox)?.identCely === identCely ? (knownUsername(outbox) ?? '') : '';
}

/**
 * Signs in with a password.
 * @param keep is given the token as soon as both are known to work
 * @throws ConfigError where the outbox is another account's, after the token is kept
 */
export async function signIn(
  service: Pick<OpenService, 'baseUrl' | 'send' | 'profile'> &
    Readonly<{ username: string; password: string; answerTimeoutMs: number }>,
  outbox: () => Promise<Outbox>,
  keep: (token: string) => void,
): Promise<{ readonly account: Account; readonly problem: ConfigError | undefined }> {
  const send = within(service.answerTimeoutMs, service.send);
  const session = openSession({ ...service, send, keeper: { read: () => undefined, write: () => {} } });
  const account = await readAccount({ ...service, session, send });
  keep(await session.token());
  const opened = await outbox();
  return { account, problem: rememberIfOwn(opened, { ...service, usesExternalToken: false }, account) };
}
