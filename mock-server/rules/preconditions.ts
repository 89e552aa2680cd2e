import { isInList } from '../base/address-list.ts';
import { type Answer, HttpError, type Incoming } from '../base/http-message.ts';
import type { Say } from '../base/messages.ts';
import { makeDetailAnswer } from '../base/problem.ts';
import { type Account, listAccountNames, type TokenState } from '../state/accounts.ts';
import type { JournalEntry } from '../state/journal.ts';
import type { Mock } from '../state/mock.ts';

type GatedRequest = {
  readonly incoming: Incoming;
  readonly entry: JournalEntry;
  readonly say: Say;
  readonly allowedMethod: 'POST' | 'PATCH';
  /** `ident_cely` in the path; import has none. */
  readonly record: string | undefined;
};

/**
 * Checks what precedes an operation, in order (A-GATE-4).
 * @returns the account
 * @throws HttpError with the refusal
 */
export function checkPreconditions(mock: Mock, request: GatedRequest): Account {
  assertOpen(mock, request);
  assertServableFormat(request);
  const account = authenticate(mock, request.incoming, request.say);
  mock.journal.attributeToUser(request.entry, account.username, request.incoming);
  assertListed(mock, request, account);
  throttle(mock, request, account);
  assertMethod(request);
  return account;
}

function assertOpen(mock: Mock, { say }: GatedRequest): void {
  if (mock.settings.access_mode === 'closed')
    throw new HttpError(makeDetailAnswer(503, say('closed')));
}

/**
 * Checks `Accept` for the format of errors, though success is XML: `application/xml` alone gets 406
 * (A-GATE-7).
 */
function assertServableFormat({ incoming, say }: GatedRequest): void {
  const accepted = parseAccept(incoming.headers.accept);
  const served = ['application/json', 'text/html'].some((type) => isAccepted(accepted, type));
  if (!served) throw new HttpError(makeDetailAnswer(406, say('not-acceptable')));
}

/**
 * Returns the account of the token.
 * @throws HttpError 401
 */
export function authenticate(mock: Mock, incoming: Incoming, say: Say): Account {
  const refuse = (text: string): HttpError =>
    new HttpError(makeDetailAnswer(401, text, { 'www-authenticate': 'Bearer' }));
  const token = /^bearer +(\S+) *$/i.exec(incoming.headers.authorization ?? '')?.[1];
  if (token === undefined) throw refuse(say('token-missing'));
  const state: TokenState | undefined = mock.accounts.findTokenState(token, mock.settings.token_ms);
  if (state === undefined) throw refuse(say('token-unknown'));
  if (state.expired) throw refuse(say('token-expired'));
  if (!state.account.active) throw refuse(say('account-inactive'));
  return state.account;
}

/**
 * Checks the access lists: black lists win; `whitelist_only` requires both white lists where both
 * have rules (A-GATE-8).
 */
function assertListed(mock: Mock, { incoming, say }: GatedRequest, account: Account): void {
  const { ipBlacklist, ipWhitelist, userBlacklist, userWhitelist } = mock.access;
  const whitelistOnly = mock.settings.access_mode === 'whitelist_only';
  const isNamed = (users: ReadonlySet<string>): boolean =>
    listAccountNames(account).some((name) => users.has(name));
  const refuse = (text: string): HttpError => new HttpError(makeDetailAnswer(403, text));
  if (ipBlacklist !== undefined && isInList(ipBlacklist, incoming.address))
    throw refuse(say('address-refused'));
  if (whitelistOnly && ipWhitelist === undefined && userWhitelist === undefined)
    throw refuse(say('no-whitelist'));
  if (whitelistOnly && ipWhitelist !== undefined && !isInList(ipWhitelist, incoming.address))
    throw refuse(say('address-refused'));
  if (userBlacklist !== undefined && isNamed(userBlacklist)) throw refuse(say('user-refused'));
  if (whitelistOnly && userWhitelist !== undefined && !isNamed(userWhitelist))
    throw refuse(say('user-refused'));
}

function throttle(mock: Mock, { incoming, say, record }: GatedRequest, account: Account): void {
  const { address, arrivedAtMs: atMs, lateMs } = incoming;
  const verdict = mock.throttle.check({ account, address, record, atMs, lateMs }, mock.settings);
  if (verdict.passed) return;
  throw new HttpError(makeThrottled(say, verdict.retryAfterSeconds));
}

function makeThrottled(say: Say, retryAfterSeconds: number | undefined): Answer {
  if (retryAfterSeconds === undefined) return makeDetailAnswer(429, say('throttled-always'));
  return makeDetailAnswer(429, say('throttled', String(retryAfterSeconds)), {
    'retry-after': String(retryAfterSeconds),
  });
}

function assertMethod({ incoming, say, allowedMethod }: GatedRequest): void {
  if (incoming.method === allowedMethod) return;
  throw new HttpError(
    makeDetailAnswer(405, say('method-not-allowed', incoming.method), {
      allow: `${allowedMethod}`,
    }),
  );
}

type AcceptedType = { readonly type: string; readonly quality: number };

/** The media ranges of an `Accept` header; none means everything (RFC 9110, section 12.5.1). */
export function parseAccept(header: string | undefined): readonly AcceptedType[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', quality: 1 }];
  return header.split(',').map((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) };
  });
}

/** Tells if the weight of a type is above 0 (RFC 9110, section 12.4.2). */
export function isAccepted(accepted: readonly AcceptedType[], type: string): boolean {
  return getQuality(accepted, type) > 0;
}

/** Returns the weight of a type by the most specific matching range. */
export function getQuality(accepted: readonly AcceptedType[], type: string): number {
  const group = `${type.split('/')[0]}/*`;
  for (const range of [type, group, '*/*']) {
    const match = accepted.find((entry) => entry.type === range);
    if (match !== undefined) return match.quality;
  }
  return 0;
}
