import type { Readable } from 'node:stream';
import { type Clock, type Moment, measureElapsedMs, readClock } from '../base/clock.ts';
import { AuthError, ContractError } from '../base/errors.ts';
import { parseJsonObject } from '../base/json-and-toml.ts';
import { cmd, msg } from '../base/message.ts';
import {
  assertAvailable,
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  makeNoAnswerError,
  TransportError,
} from './http/exchange.ts';
import { withMaskedAnswers } from './http/masking.ts';
import {
  formatContentDigest,
  makeMultipartOfBytes,
  makeMultipartOfStream,
} from './http/request-body.ts';

/**
 * The service chooses the form of its errors by `Accept`, and refuses types other than its own
 * (A-GATE-7).
 */
const ACCEPT = '*/*';
/** Time limit of requests that change nothing. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Makes the request for a token (A-AUTH-2, A-AUTH-3). */
function makeTokenRequest(baseUrl: string, username: string, password: string): HttpRequest {
  const bytes = Buffer.from(JSON.stringify({ username, password }));
  return {
    method: 'POST',
    url: `${baseUrl}/api/token-auth/`,
    headers: { accept: ACCEPT },
    body: { contentType: 'application/json', lengthBytes: bytes.length, open: () => bytes },
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  };
}

function makeGetRequest(url: string): HttpRequest {
  return { method: 'GET', url, headers: { accept: ACCEPT }, answerTimeoutMs: ANSWER_TIMEOUT_MS };
}

/** Makes the request for the user information of the account (A-USER-1). */
export function makeUserInfoRequest(baseUrl: string): HttpRequest {
  return makeGetRequest(`${baseUrl}/api/uzivatel-info/`);
}

const IMPORT_PATH = '/api/pas/import-xml';

/**
 * Makes the request that creates a record from a document (A-IMPORT-1), with its digest
 * (A-DIGEST-1).
 * @param sha512 of the document, in hexadecimal
 */
export function makeImportRequest(baseUrl: string, document: Buffer, sha512: string): HttpRequest {
  return {
    method: 'POST',
    url: baseUrl + IMPORT_PATH,
    headers: { accept: ACCEPT, 'content-digest': formatContentDigest(sha512) },
    body: makeMultipartOfBytes(document, { fileName: 'find.xml', contentType: 'application/xml' }),
  };
}

function makeRecordUrl(baseUrl: string, identCely: string): string {
  return `${baseUrl}/api/pas/nalez/${encodeURIComponent(identCely)}`;
}

/** Makes the request that sets the registration number of a record (A-NUMBER-1). */
export function makeNumberRequest(baseUrl: string, identCely: string, value: string): HttpRequest {
  return {
    method: 'PATCH',
    url: `${makeRecordUrl(baseUrl, identCely)}/evidencni-cislo?evidencni_cislo=${encodeURIComponent(value)}`,
    headers: { accept: ACCEPT },
  };
}

type PhotoFile = {
  readonly name: string;
  readonly mediaType: string;
  readonly sha512: string;
  readonly sizeBytes: number;
  open(): Readable;
};

/**
 * Makes the request that adds a photograph to a record (A-PHOTO-1). It can be sent only once, and
 * the file is opened then.
 */
export function makePhotoRequest(baseUrl: string, identCely: string, file: PhotoFile): HttpRequest {
  return {
    method: 'POST',
    url: `${makeRecordUrl(baseUrl, identCely)}/upload-foto`,
    headers: { accept: ACCEPT, 'content-digest': formatContentDigest(file.sha512) },
    body: makeMultipartOfStream(() => file.open(), file.sizeBytes, {
      fileName: file.name,
      contentType: file.mediaType,
    }),
  };
}

/**
 * Makes a request that changes nothing, and for which the service checks the access of the account
 * as for a write (A-GATE-4). A refusal of access concerns the account or the address as a whole;
 * after any other answer, an earlier refusal concerned its record only.
 */
export function makeAccessProbe(baseUrl: string): HttpRequest {
  return makeGetRequest(baseUrl + IMPORT_PATH);
}

type TokenKeeper = { read(): string | undefined; write(token: string): void };

type SessionOptions = {
  readonly baseUrl: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly keeper: TokenKeeper;
  readonly send: Exchange;
  readonly clock: Clock;
};

/**
 * Token of the account. It expires some time after its creation, which only a 401 shows (A-AUTH-6,
 * A-AUTH-8).
 */
export type Session = {
  /**
   * Returns the token, or signs in.
   * @throws AuthError, UnavailableError, ContractError
   */
  token(signal?: AbortSignal): Promise<string>;
  /**
   * Returns another token than `refused`: a newer one that is known already, else that of one
   * sign-in for all concurrent calls. Throws as `token`.
   */
  renew(refused: string, signal?: AbortSignal): Promise<string>;
};

/** Tokens that are refused so often in so short a time have not expired: no sign-in helps. */
const MAX_QUICK_SIGN_INS = 3;
const QUICK_MS = 60_000;

/**
 * Opens the session of an account, with the token of the keeper if that has one. It signs in when a
 * token is needed, and gives each new token to the keeper. `renew` also throws AuthError after
 * three sign-ins within a minute: then the service refuses each token that it gives.
 */
export function openSession(options: SessionOptions): Session {
  let current = options.keeper.read();
  let signIns: readonly Moment[] = [];
  let renewing: Promise<string> | undefined;
  const fetchToken = (signal: AbortSignal | undefined): Promise<string> => {
    renewing ??= requestToken(options, signal)
      .then((token) => {
        current = token;
        signIns = [...signIns.slice(1 - MAX_QUICK_SIGN_INS), readClock(options.clock)];
        options.keeper.write(token);
        return token;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };
  return {
    token: async (signal) => current ?? fetchToken(signal),
    renew: async (refused, signal) => {
      if (current !== undefined && current !== refused) return current;
      const first = signIns.length < MAX_QUICK_SIGN_INS ? undefined : signIns[0];
      if (first !== undefined && measureElapsedMs(options.clock, first) < QUICK_MS)
        throw new AuthError(msg`${options.baseUrl} refuses each token that it gives.`, {
          hint: msg`Ask the operator of the service; the queue is kept.`,
        });
      current = undefined;
      return fetchToken(signal);
    },
  };
}

/**
 * Makes a session of a token that a person gave in PAS_TOKEN. `renew` throws AuthError: a sign-in
 * could be that of another account.
 */
export function makeExternalTokenSession(token: string): Session {
  return {
    token: async () => token,
    renew: async () => {
      throw new AuthError(msg`The service no longer accepts the token in PAS_TOKEN.`, {
        hint: msg`Set a new one, or unset it and sign in with \`${cmd`pas login`}\`.`,
      });
    },
  };
}

/** Wraps `send` to add a token to each request (A-AUTH-1), and to mask it in the answers. */
export function withBearerToken(token: string, send: Exchange): Exchange {
  const sendMasked = withMaskedAnswers([token], send);
  return (request) =>
    sendMasked({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
}

const LOGIN_HINT = msg`Run \`${cmd`pas login`}\`, or set PAS_USERNAME and PAS_PASSWORD.`;

/**
 * Signs in once.
 * @throws AuthError without name or password, or where the service refuses them; UnavailableError;
 * ContractError for an answer that is none of the service
 */
async function requestToken(
  options: SessionOptions,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { baseUrl, username, password, send } = options;
  if (username === undefined || password === undefined)
    throw new AuthError(msg`Not signed in.`, { hint: LOGIN_HINT });
  const request = makeTokenRequest(baseUrl, username, password);
  const response = await requireAnswer(baseUrl, () => send({ ...request, signal }));
  assertAvailable(baseUrl, response);
  if (response.status === 200) return parseToken(baseUrl, response);
  // A page of a proxy or another server does not concern the password (A-AUTH-10).
  if ([400, 401, 403].includes(response.status) && parseAnswer(response) !== undefined) {
    throw new AuthError(msg`${baseUrl} does not accept the user name or password of ${username}.`, {
      hint: LOGIN_HINT,
    });
  }
  throw makeUnexpectedPeerError(baseUrl, response);
}

function parseToken(baseUrl: string, response: HttpResponse): string {
  const token = parseAnswer(response)?.['token'];
  // A header value: one word of visible characters, of a length that servers take.
  if (typeof token === 'string' && /^[\x21-\x7e]{1,8000}$/.test(token)) return token;
  throw makeUnexpectedPeerError(baseUrl, response);
}

function parseAnswer({ body }: HttpResponse): Record<string, unknown> | undefined {
  return parseJsonObject(body.toString('utf8'));
}

/** The answer is not quoted: it may have a token. */
function makeUnexpectedPeerError(baseUrl: string, { status }: HttpResponse): ContractError {
  return new ContractError(
    msg`${baseUrl} answered the sign-in with status ${status}, not with a token.`,
    { hint: msg`Check base_url in the profile.` },
  );
}

/**
 * Calls `send`, and returns the answer with any status.
 * @param address of the service, for the error
 * @throws UnavailableError where no whole answer came; other errors of `send` unchanged
 */
export async function requireAnswer(
  address: string,
  send: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await send();
  } catch (thrown) {
    throw thrown instanceof TransportError ? makeNoAnswerError(address, thrown) : thrown;
  }
}

/**
 * The roles (S-ROLE-1, S-ROLE-2), weakest first. Names as the service's user information writes
 * them.
 */
export const ROLES = ['researcher', 'archaeologist', 'archivist', 'administrator'] as const;
/** A role by its English name. */
export type Role = (typeof ROLES)[number];

const ROLE_OF_GROUP: Readonly<Record<string, Role>> = {
  badatel: 'researcher',
  archeolog: 'archaeologist',
  archivář: 'archivist',
  administrátor: 'administrator',
};

/** Account by the user information of the service (A-USER-2). */
export type Account = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: Role;
  /** Name of the answer's root, which is the service's prefix, and its namespace. */
  readonly prefix: string;
  readonly namespace: string;
};

/**
 * Returns the strongest role of an account by the names of its groups, as the user information has
 * them; an account without a known group is a researcher.
 */
export function chooseRole(groups: readonly string[]): Role {
  const roles = groups
    .map((group) => ROLE_OF_GROUP[group.trim().toLowerCase()])
    .filter((role) => role !== undefined);
  return roles.reduce<Role>(
    (best, role) => (ROLES.indexOf(role) > ROLES.indexOf(best) ? role : best),
    'researcher',
  );
}
