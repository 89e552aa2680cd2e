import { AuthError, ContractError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import type { Exchange, HttpResponse } from '../../http/exchange.ts';
import { type Account, type Role, roleOfGroups } from '../../pas-api/account.ts';
import { userInfoRequest } from '../../pas-api/requests.ts';
import { answerOrUnavailable, assertAvailable, authorised, type Session } from '../../pas-api/session.ts';
import { childOf, childrenOf, childText, type XmlElement } from '../../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../xml/parse.ts';

/** The roles as people read them. */
export const ROLE_WORDS: Readonly<Record<Role, Message>> = {
  researcher: msg`researcher`,
  archaeologist: msg`archaeologist`,
  archivist: msg`archivist`,
  administrator: msg`administrator`,
};

/**
 * Asks the service who the account is (A-USER-1).
 * @throws AuthError, UnavailableError, ContractError
 */
export async function readAccount(
  { baseUrl, session, send }: { readonly baseUrl: string; readonly session: Session; readonly send: Exchange },
  signal?: AbortSignal,
): Promise<Account> {
  const question = { ...userInfoRequest(baseUrl), ...(signal === undefined ? {} : { signal }) };
  const ask = (token: string): Promise<HttpResponse> => answerOrUnavailable(baseUrl, () => authorised(token, send)(question));
  const token = await session.token(signal);
  let response = await ask(token);
  if (response.status === 401) response = await ask(await session.renew(token, signal));
  if (response.status === 401 || response.status === 403) {
    throw new AuthError(msg`${baseUrl} refuses this account.`, {
      hint: msg`Run \`${cmd`pas login`}\`, or ask the operator of the service.`,
    });
  }
  assertAvailable(baseUrl, response);
  if (response.status !== 200) throw notAnAccount(baseUrl, msg`status ${response.status}`);
  return accountOf(baseUrl, response.body);
}

function accountOf(baseUrl: string, body: Buffer): Account {
  const user = userOf(baseUrl, body);
  const text = (name: string): string => childText(user, name) ?? '';
  return {
    identCely: text('ident_cely'),
    name: `${text('jmeno')} ${text('prijmeni')}`.trim(),
    email: text('email'),
    organisation: text('organizace'),
    role: roleOfGroups(childrenOf(user, 'skupina').map((group) => group.text)),
  };
}

function userOf(baseUrl: string, body: Buffer): XmlElement {
  try {
    const user = childOf(parseXml(body).root, 'uzivatel');
    if (user !== undefined && childText(user, 'ident_cely') !== undefined && childText(user, 'ident_cely') !== '') return user;
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw notAnAccount(baseUrl, msg`no XML`, thrown);
  }
  throw notAnAccount(baseUrl, msg`no user`);
}

function notAnAccount(baseUrl: string, what: Message, cause?: unknown): ContractError {
  return new ContractError(msg`${baseUrl} answered with ${what} when asked who the account is.`, {
    cause,
    hint: msg`Check base_url in the profile.`,
  });
}
