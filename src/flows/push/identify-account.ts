import { type Exchange, within } from '../../http/exchange.ts';
import { assertSameAccount, knownAccount, knownUsername, rememberAccount } from '../../outbox/bound-account.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
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
};

/**
 * Asks the service whose token is used, before the first write of a push: every attempt names its account.
 * @throws ConfigError where the outbox is bound to another account; what {@link readAccount} throws
 */
export async function identifyAccount(outbox: Outbox, service: OpenService, signal?: AbortSignal): Promise<Account> {
  const account = await readAccount(service, signal);
  assertSameAccount(outbox, account.identCely);
  rememberAccount(outbox, usernameOf(outbox, service, account), account);
  return account;
}

/** The account of a token from outside is the one of a user name only where it has signed in with that before. */
function usernameOf(outbox: Outbox, { username, usesExternalToken }: OpenService, { identCely }: Account): string {
  if (!usesExternalToken) return username ?? '';
  return knownAccount(outbox)?.identCely === identCely ? (knownUsername(outbox) ?? '') : '';
}

/**
 * Signs in with a password.
 * @param keep is given the token as soon as both are known to work
 */
export async function signIn(
  service: Pick<OpenService, 'baseUrl' | 'send'> & Readonly<{ username: string; password: string; answerTimeoutMs: number }>,
  outbox: () => Promise<Outbox>,
  keep: (token: string) => void,
): Promise<Account> {
  const send = within(service.answerTimeoutMs, service.send);
  const session = openSession({ ...service, send, keeper: { read: () => undefined, write: () => {} } });
  const account = await readAccount({ ...service, session, send });
  keep(await session.token());
  const opened = await outbox();
  assertSameAccount(opened, account.identCely);
  rememberAccount(opened, service.username, account);
  return account;
}
