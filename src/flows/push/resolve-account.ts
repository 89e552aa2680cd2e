import { AuthError, ConfigError, ContractError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { type Exchange, type HttpResponse, withTimeout } from '../../http/exchange.ts';
import {
  assertSameAccount,
  findKnownAccount,
  findKnownUsername,
  isSameUser,
  rememberAccount,
} from '../../outbox/bound-account.ts';
import { type Outbox, readHeader } from '../../outbox/open-outbox.ts';
import {
  type Account,
  assertAvailable,
  authorize,
  chooseRole,
  makeUserInfoRequest,
  openSession,
  type Role,
  requireAnswer,
  type Session,
} from '../../pas-api/session.ts';
import { getChild, getChildren, getChildText, type XmlElement } from '../../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../xml/parse.ts';

export type Signer = {
  readonly baseUrl: string;
  /** User name of the profile; undefined where only a token is known. */
  readonly username: string | undefined;
  /** The token came from outside, so that the user name of the profile need not be that of its account. */
  readonly usesExternalToken: boolean;
  /** User of the profile; undefined for a program without profiles. */
  readonly profile?: ProfileUser;
};

/** The write interface of a service, open for one account. */
export type OpenService = Signer & { readonly session: Session; readonly send: Exchange };

type PasswordSignIn = {
  readonly baseUrl: string;
  readonly send: Exchange;
  readonly profile?: ProfileUser;
  readonly username: string;
  readonly password: string;
  readonly answerTimeoutMs: number;
};

/** The user of a profile, and how an outbox gets the profile of its account. */
export type ProfileUser = {
  readonly name: string;
  /** User name in config.toml, which the environment does not override; undefined where it has none. */
  readonly username: string | undefined;
  /** Says which command makes a profile for another user of the service, or acts for the one that there is. */
  adviseProfileFor(username: string): Message;
  /** Says which command gives this profile another user. */
  withUser(username: string): Message;
};

/**
 * Asks the service whose token is used, before the first write of a push: every attempt names its account.
 * @throws ConfigError where it is not the account of the outbox; what {@link fetchAccount} throws
 */
export async function resolveAccount(outbox: Outbox, service: OpenService, signal?: AbortSignal): Promise<Account> {
  const account = await fetchAccount(service, signal);
  acceptAccount(outbox, service, account);
  return account;
}

/**
 * Notes what the service says of the account.
 * @throws ConfigError where the outbox is for another one, with the ways out: nothing is noted then
 */
export function acceptAccount(outbox: Outbox, service: Signer, account: Account): void {
  const { baseUrl, profile } = service;
  const { identCely } = account;
  assertSameAccount(outbox, identCely, (bound) =>
    describeRemedies(service, account, findKnownUsername(outbox) ?? profile?.username, bound),
  );
  if (profile?.username !== undefined && !isUserOfProfile(outbox, service, account)) {
    const { name, username } = profile;
    throw new ConfigError(
      msg`Profile ${name} is for the user ${username}, and ${baseUrl} says that you are signed in as ${identCely}. Nothing was sent.`,
      { hint: describeRemedies(service, account, username, username) },
    );
  }
  rememberAccount(outbox, getUsername(outbox, service, account), account);
}

/** Tells if an account is that of the user name in the profile, as far as it can be known before anything was sent. */
function isUserOfProfile(outbox: Outbox, { username, usesExternalToken, profile }: Signer, account: Account): boolean {
  const { email, identCely } = account;
  const named = profile?.username;
  if (named === undefined || readHeader(outbox).account === identCely) return true;
  if (!usesExternalToken && username !== undefined && isSameUser(username, named)) return true;
  const boundAccount = findKnownAccount(outbox);
  if (boundAccount !== undefined && isSameUser(findKnownUsername(outbox) ?? '', named))
    return boundAccount.identCely === identCely;
  // User names are e-mail addresses; a service whose names are none has them before the @.
  const [local = ''] = email.split('@');
  return isSameUser(email, named) || isSameUser(local, named);
}

/**
 * @param right user name of the account that the outbox is for, where it is known
 * @param who that account, as the message names it
 */
function describeRemedies(
  { baseUrl, profile, ...signer }: Signer,
  account: Account,
  right: string | undefined,
  who: string,
): Message {
  const { email, identCely } = account;
  if (profile === undefined)
    return msg`Sign in as ${who} with \`${cmd`pas login`}\`, or make a profile with an outbox of its own for ${identCely}: ${cmd`pas init`} --name NAME --base-url ${baseUrl}`;
  const other = (signer.usesExternalToken ? undefined : signer.username) ?? (email === '' ? identCely : email);
  const way = profile.adviseProfileFor(other);
  const separateText = msg`If ${other} is to send from an outbox of its own, ${way}`;
  if (signer.usesExternalToken) return msg`To send as ${who}, unset PAS_TOKEN and sign in: ${cmd`pas login`}. ${separateText}`;
  if (profile.username !== undefined && signer.username !== profile.username)
    return msg`To send as ${who}, unset PAS_USERNAME and PAS_PASSWORD and sign in: ${cmd`pas login`}. ${separateText}`;
  if (right !== undefined && profile.username !== undefined && !isSameUser(right, profile.username)) {
    const back = profile.withUser(right);
    return msg`To send as ${who}, ${back}. ${separateText}`;
  }
  return msg`To send as ${who}, sign in with that account: ${cmd`pas login`}. ${separateText}`;
}

/** The account of a token from outside is the one of a user name only where it has signed in with that before. */
function getUsername(outbox: Outbox, { username, usesExternalToken }: Signer, { identCely }: Account): string {
  if (!usesExternalToken) return username ?? '';
  return findKnownAccount(outbox)?.identCely === identCely ? (findKnownUsername(outbox) ?? '') : '';
}

/**
 * Signs in with a password.
 * @param keep is given the token as soon as both are known to work
 * @throws ConfigError where the outbox is bound to another account; the token is kept all the same, for a profile of that one
 */
export async function signIn(
  service: PasswordSignIn,
  outbox: () => Promise<Outbox>,
  keep: (token: string) => void,
): Promise<Account> {
  const send = withTimeout(service.answerTimeoutMs, service.send);
  const session = openSession({ ...service, send, keeper: { read: () => undefined, write: () => {} } });
  const account = await fetchAccount({ ...service, session, send });
  keep(await session.token());
  const [opened, signer] = [await outbox(), { ...service, usesExternalToken: false }];
  // A password of another user than the profile's may be kept for later; only what is sent needs the one of the profile.
  if (readHeader(opened).account !== null || isUserOfProfile(opened, signer, account)) acceptAccount(opened, signer, account);
  return account;
}

export const ROLE_WORDS: Readonly<Record<Role, Message>> = {
  researcher: msg`researcher`,
  archaeologist: msg`archaeologist`,
  archivist: msg`archivist`,
  administrator: msg`administrator`,
};

/** Asks the service who the account is (A-USER-1). @throws AuthError, UnavailableError, ContractError */
export async function fetchAccount(
  { baseUrl, session, send }: { readonly baseUrl: string; readonly session: Session; readonly send: Exchange },
  signal?: AbortSignal,
): Promise<Account> {
  const question = { ...makeUserInfoRequest(baseUrl), ...(signal === undefined ? {} : { signal }) };
  const ask = (token: string): Promise<HttpResponse> => requireAnswer(baseUrl, () => authorize(token, send)(question));
  const token = await session.token(signal);
  let response = await ask(token);
  if (response.status === 401) response = await ask(await session.renew(token, signal));
  if (response.status === 401 || response.status === 403) {
    throw new AuthError(msg`${baseUrl} refuses this account.`, {
      hint: msg`Run \`${cmd`pas login`}\`, or ask the operator of the service.`,
    });
  }
  assertAvailable(baseUrl, response);
  if (response.status !== 200) throw makeNoAccountError(baseUrl, msg`status ${response.status}`);
  return parseAccount(baseUrl, response.body);
}

function parseAccount(baseUrl: string, body: Buffer): Account {
  const { root, user } = parseUserInfo(baseUrl, body);
  const getText = (name: string): string => getChildText(user, name) ?? '';
  return {
    identCely: getText('ident_cely'),
    name: `${getText('jmeno')} ${getText('prijmeni')}`.trim(),
    email: getText('email'),
    organisation: getText('organizace'),
    role: chooseRole(getChildren(user, 'skupina').map((group) => group.text)),
    prefix: root.name,
    namespace: root.namespace,
  };
}

function parseUserInfo(baseUrl: string, body: Buffer): { readonly root: XmlElement; readonly user: XmlElement } {
  try {
    const { root } = parseXml(body);
    const user = getChild(root, 'uzivatel');
    if (user !== undefined && getChildText(user, 'ident_cely') !== undefined) return { root, user };
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw makeNoAccountError(baseUrl, msg`no XML`, thrown);
  }
  throw makeNoAccountError(baseUrl, msg`no user`);
}

function makeNoAccountError(baseUrl: string, what: Message, cause?: unknown): ContractError {
  return new ContractError(msg`${baseUrl} answered with ${what} when asked who the account is.`, {
    cause,
    hint: msg`Check base_url in the profile.`,
  });
}
