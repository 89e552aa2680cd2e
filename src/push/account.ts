import type { Clock } from '../base/clock.ts';
import {
  AuthError,
  ConfigError,
  ContractError,
  getLocalizedMessage,
  isAbortError,
  UnavailableError,
} from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { getChild, getChildren, getChildText, type XmlElement } from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import {
  assertSameAccount,
  findKnownAccount,
  isSameUser,
  type Outbox,
  readHeader,
  storeKnownAccount,
} from '../outbox/open-outbox.ts';
import { uniteWithLedger } from '../outbox/unite.ts';
import {
  assertAvailable,
  type Exchange,
  type HttpResponse,
  parseRetryAfterMs,
  TransportError,
  withAnswerTimeout,
} from '../service/http/exchange.ts';
import type { Pace, Turn } from '../service/http/pacer.ts';
import { classifyAnswer, type Outcome } from '../service/outcome.ts';
import {
  type Account,
  chooseRole,
  makeAccessProbe,
  makeUserInfoRequest,
  openSession,
  type Role,
  requireAnswer,
  type Session,
  withBearerToken,
} from '../service/session.ts';

/** Who signs in, and where. */
export type Signer = {
  readonly baseUrl: string;
  /** User name of the profile; undefined where only a token is known. */
  readonly username: string | undefined;
  /** The token is from outside, so it may belong to another account than the user name. */
  readonly usesExternalToken: boolean;
  readonly profile: ProfileUser;
};

/** Write interface of a service, signed in for one account. */
export type OpenService = Signer & { readonly session: Session; readonly send: Exchange };

type PasswordSignIn = Signer & {
  readonly send: Exchange;
  readonly username: string;
  readonly password: string;
  readonly answerTimeoutMs: number;
  readonly clock: Clock;
};

/** A profile and its user. */
export type ProfileUser = {
  readonly name: string;
  /** User name in config.toml; the environment does not override it. */
  readonly username: string | undefined;
};

/**
 * Requests the account of the token, asserts that it is that of outbox and profile, and stores in
 * the outbox how the service describes it.
 * @throws ConfigError where it is another one, of which nothing is stored; as {@link fetchAccount}
 */
export async function fetchAccountOfOutbox(
  outbox: Outbox,
  service: OpenService,
  signal?: AbortSignal,
): Promise<Account> {
  const account = await fetchAccount(service, signal);
  storeAccountOfOutbox(outbox, service, account);
  return account;
}

/**
 * Stores in the outbox how the service describes its account.
 * @throws ConfigError where the account is not that of outbox and profile; nothing is stored then
 */
export function storeAccountOfOutbox(outbox: Outbox, service: Signer, account: Account): void {
  assertAccountOfOutbox(outbox, service, account);
  storeKnownAccount(outbox, { ...account, username: getUsername(outbox, service, account) });
}

/**
 * Asserts that an account is that of outbox and profile, as far as theirs are known.
 * @throws ConfigError where it is another one, with the commands that help
 */
export function assertAccountOfOutbox(outbox: Outbox, service: Signer, account: Account): void {
  const { baseUrl, profile } = service;
  const { identCely } = account;
  const right = findKnownAccount(outbox)?.username || profile.username;
  const bound = readHeader(outbox).account ?? '';
  assertSameAccount(outbox, identCely, describeRemedies(service, account, right, bound));
  if (profile.username !== undefined && !isUserOfProfile(outbox, service, account)) {
    const { name, username } = profile;
    throw new ConfigError(
      msg`Profile ${name} is for the user ${username}, but ${baseUrl} says that you are signed in as ${identCely}. Nothing was sent.`,
      { hint: describeRemedies(service, account, username, username) },
    );
  }
}

/**
 * Tells if an account is that of the profile's user name, as far as it is known before the first
 * request.
 */
function isUserOfProfile(
  outbox: Outbox,
  { username, usesExternalToken, profile }: Signer,
  account: Account,
): boolean {
  const { email, identCely } = account;
  const named = profile.username;
  if (named === undefined || readHeader(outbox).account === identCely) return true;
  if (!usesExternalToken && username !== undefined && isSameUser(username, named)) return true;
  // A user name is an e-mail address, or the part before its @.
  const [local = ''] = email.split('@');
  return isSameUser(email, named) || isSameUser(local, named);
}

/**
 * Returns how a person can send as the right account, or from an outbox of the other one.
 * @param right user name of the outbox's account; undefined where it is unknown
 * @param who that account, for the message
 */
function describeRemedies(
  { profile, ...signer }: Signer,
  account: Account,
  right: string | undefined,
  who: string,
): Message {
  const { email, identCely } = account;
  const other =
    (signer.usesExternalToken ? undefined : signer.username) ?? (email === '' ? identCely : email);
  const init = cmd`pas init ${signer.baseUrl} --username ${other} --name`;
  const separateText = msg`If ${other} is to send from an outbox of its own, make a profile for it: ${init} NAME`;
  const isOfProfile = !signer.usesExternalToken && signer.username === profile.username;
  const isProfileWrong =
    isOfProfile &&
    right !== undefined &&
    profile.username !== undefined &&
    !isSameUser(right, profile.username);
  if (!isProfileWrong)
    return msg`To send as ${who}, sign in with that account, without PAS_TOKEN, PAS_USERNAME and PAS_PASSWORD: ${cmd`pas login`}. ${separateText}`;
  const back = cmd`pas profile set --profile ${profile.name} username=${right}`;
  return msg`To send as ${who}, set that user in the profile: ${back}. ${separateText}`;
}

/**
 * Returns the user name, '' where it is unknown; with a token from outside, only if its account has
 * signed in with that name before.
 */
function getUsername(
  outbox: Outbox,
  { username, usesExternalToken }: Signer,
  { identCely }: Account,
): string {
  if (!usesExternalToken) return username ?? '';
  const known = findKnownAccount(outbox);
  return known?.identCely === identCely ? known.username : '';
}

/**
 * Signs in with a password, stores the account in the outbox, binds that to the account, and unites
 * it with the ledger. An outbox of no account stays as it is where the account is not that of the
 * profile's user.
 * @param open opens the outbox for the account
 * @param keep called with the token once the service has accepted it, before the outbox is opened
 * @throws ConfigError where the outbox is bound to another account; DatabaseError where the disk
 * fails; as {@link fetchAccount}
 */
export async function signIn(
  service: PasswordSignIn,
  open: (account: Account) => Promise<Outbox>,
  keep: (token: string) => void,
): Promise<Account> {
  const send = withAnswerTimeout(service.answerTimeoutMs, service.send);
  const session = openSession({
    ...service,
    send,
    keeper: { read: () => undefined, write: () => {} },
  });
  const account = await fetchAccount({ ...service, session, send });
  keep(await session.token());
  const opened = await open(account);
  // A password for another user than the profile's may be stored, but sending requires the
  // profile's user.
  if (readHeader(opened).account !== null || isUserOfProfile(opened, service, account)) {
    storeAccountOfOutbox(opened, service, account);
    uniteWithLedger(opened, account.identCely);
  }
  return account;
}

/** Roles of accounts for people. */
export const ROLE_WORDS: Readonly<Record<Role, Message>> = {
  researcher: msg`researcher`,
  archaeologist: msg`archaeologist`,
  archivist: msg`archivist`,
  administrator: msg`administrator`,
};

/**
 * Requests the account to which the session's token belongs (A-USER-1); a refused token is renewed
 * once. Nothing is stored.
 * @param signal ends the sign-in and the request
 * @throws AuthError where the service refuses sign-in or account; UnavailableError where it does
 * not answer or is closed; ContractError for an unusable answer to the sign-in, or one without an
 * account; InterruptedError after `signal`
 */
export async function fetchAccount(
  { baseUrl, session, send }: Pick<OpenService, 'baseUrl' | 'session' | 'send'>,
  signal?: AbortSignal,
): Promise<Account> {
  const question = { ...makeUserInfoRequest(baseUrl), signal };
  const ask = async (token: string): Promise<HttpResponse> => {
    const response = await requireAnswer(baseUrl, () => withBearerToken(token, send)(question));
    assertAvailable(baseUrl, response);
    return response;
  };
  const token = await session.token(signal);
  let response = await ask(token);
  if (response.status === 401) response = await ask(await session.renew(token, signal));
  if (response.status === 401 || response.status === 403) {
    throw new AuthError(msg`${baseUrl} refuses this account.`, {
      hint: msg`Run \`${cmd`pas login`}\`, or ask the operator of the service.`,
    });
  }
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

function parseUserInfo(
  baseUrl: string,
  body: Buffer,
): { readonly root: XmlElement; readonly user: XmlElement } {
  try {
    const { root } = parseXml(body);
    const user = getChild(root, 'uzivatel');
    if (user !== undefined && getChildText(user, 'ident_cely') !== undefined) return { root, user };
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw makeNoAccountError(baseUrl, msg`not XML`, thrown);
  }
  throw makeNoAccountError(baseUrl, msg`no user in it`);
}

function makeNoAccountError(baseUrl: string, what: Message, cause?: unknown): ContractError {
  return new ContractError(
    msg`${baseUrl} gave an unusable answer when pas asked for the account: ${what}.`,
    {
      cause,
      hint: msg`Check base_url in the profile.`,
    },
  );
}

/** Means of a request that changes nothing. */
export type ProbeContext = {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly send: Exchange;
  readonly stop: AbortSignal;
};

/**
 * Sends the access probe within the pace, and returns what the answer means: `forbidden` where the
 * whole account is refused, `closed` where the service is closed, `not-delivered` without an
 * answer.
 */
export async function probeAccess(context: ProbeContext, token: string): Promise<Outcome> {
  const answer = await sendAccessProbe(context, token);
  if (answer instanceof TransportError) return { kind: 'not-delivered', detail: answer.says };
  return classifyAnswer('import', answer, context.clock.now());
}

/**
 * Sends the access probe, a request that needs the permissions of a write and changes nothing,
 * within the pace. A throttle slows down all requests (A-RATE-6).
 * @returns the answer; a TransportError, which is not thrown, where there is none, also where the
 * probe was stopped or must wait for too long
 * @throws the errors of the pace's store
 */
export async function sendAccessProbe(
  { baseUrl, clock, pace, send, stop }: ProbeContext,
  token: string,
): Promise<HttpResponse | TransportError> {
  let turn: Turn | undefined;
  try {
    turn = await pace.acquire(stop);
    const acquiredMs = clock.monotonicMs();
    const exchange = withBearerToken(token, send);
    const response = await exchange({
      ...makeAccessProbe(baseUrl),
      signal: stop,
      onDeparture: turn.depart,
    });
    if (response.status === 429)
      pace.pauseAfterThrottle(acquiredMs, parseRetryAfterMs(response.headers, clock.now()));
    return response;
  } catch (thrown) {
    if (thrown instanceof TransportError) return thrown;
    if (thrown instanceof UnavailableError || isAbortError(thrown))
      return new TransportError('aborted', false, getLocalizedMessage(thrown));
    throw thrown;
  } finally {
    turn?.release();
  }
}
