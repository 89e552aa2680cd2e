import { ConfigError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { type Exchange, within } from '../../http/exchange.ts';
import { type KnownAccount, knownAccount, rememberAccount, usernameOf } from '../../outbox/accounts.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import type { Account } from '../../pas-api/account.ts';
import { openSession, type Session } from '../../pas-api/session.ts';
import { readAccount } from './read-account.ts';

/** The write interface of a service, open for one account. */
export type OpenService = {
  readonly baseUrl: string;
  readonly session: Session;
  readonly send: Exchange;
  /** The token came from outside, so that the user name of the profile need not be that of its account. */
  readonly tokenIsLent: boolean;
};

export type Identified = {
  /** As the account sees it that requests are made with. */
  readonly outbox: ServiceOutbox;
  /** Its row. */
  readonly accountId: number;
  readonly account: Account;
};

/**
 * Asks the service whose token is used, before the first write of a push: every attempt names its account.
 * @throws ConfigError where the user name is another account's than before: most likely another service answers at this address;
 *   what {@link readAccount} throws
 */
export async function identifyAccount(outbox: ServiceOutbox, service: OpenService, signal?: AbortSignal): Promise<Identified> {
  const account = await readAccount(service, signal);
  if (!service.tokenIsLent) refuseOther(outbox, account);
  const ownName = service.tokenIsLent ? (usernameOf(outbox, account.identCely) ?? '') : outbox.username;
  // A token alone says nothing of the user name that signs its account in.
  const accountId = rememberAccount({ ...outbox, username: ownName }, account);
  return { outbox: { ...outbox, username: ownName || account.email }, accountId, account };
}

/**
 * Signs in with a password.
 * @param keep is given the token as soon as both are known to work
 */
export async function signIn(
  service: Pick<OpenService, 'baseUrl' | 'send'> & Readonly<{ username: string; password: string; answerTimeoutMs: number }>,
  outbox: () => Promise<ServiceOutbox>,
  keep: (token: string) => void,
): Promise<Account> {
  const send = within(service.answerTimeoutMs, service.send);
  const session = openSession({ ...service, send, keeper: { read: () => undefined, write: () => {} } });
  const account = await readAccount({ ...service, session, send });
  keep(await session.token());
  rememberAccount({ ...(await outbox()), username: service.username }, account);
  return account;
}

function refuseOther(outbox: ServiceOutbox, { identCely }: KnownAccount): void {
  const known = knownAccount(outbox);
  if (known === undefined || known.identCely === identCely) return;
  const { address, username } = outbox;
  throw new ConfigError(
    msg`${address} says that ${username} is the account ${identCely}; until now it was ${known.identCely}. Nothing was sent.`,
    {
      hint: msg`If another service answers at this address now, correct base_url in the profile. If the account was made anew, run \`${cmd`pas login`}\`.`,
    },
  );
}
