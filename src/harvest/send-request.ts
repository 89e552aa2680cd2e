import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import {
  AuthError,
  getErrorMessage,
  InterruptedError,
  OaiError,
  PasError,
  RefusedAccountError,
} from '../base/errors.ts';
import { cmd, type Message, msg, t } from '../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  type XmlDocument,
  type XmlElement,
} from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import {
  type AnswerLimits,
  assertAvailable,
  type Exchange,
  followRedirects,
  type HttpResponse,
  makeNoAnswerError,
  TransportError,
} from '../service/http/exchange.ts';
import { withMaskedAnswers } from '../service/http/masking.ts';
import {
  assertOaiArguments,
  buildOaiQuery,
  CHECK_ADDRESS,
  ERROR_HINTS,
  findIdentifierBefore,
  MalformedAnswerError,
  OAI_NAMESPACE,
  type OaiArguments,
  parseDatestampMs,
  RUN_AGAIN,
  type Verb,
} from './protocol.ts';

/** Credentials for harvesting, sent with every request, since the service sends no challenge. */
export type OaiCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly kind: 'bearer';
      readonly token: (signal?: AbortSignal) => Promise<string>;
      /** Returns a token to replace a refused one. Without it, a refusal is final. */
      readonly renew?: (refused: string, signal?: AbortSignal) => Promise<string>;
    };

/** How requests to the harvesting interface are sent. */
export type RequestOptions = {
  /** Must retry transient failures (503, 429, lost connections). */
  readonly exchange: Exchange;
  readonly credentials: OaiCredentials;
  readonly answerTimeoutMs?: number;
  readonly maxAnswerBytes?: number;
};

/** A whole answer of the verb that was requested. */
export type OaiAnswer = {
  /** The element named after the verb; empty where no record matches. */
  readonly element: XmlElement;
  readonly document: XmlDocument;
  /** The server's clock when it answered, milliseconds since 1970 UTC. */
  readonly responseDateMs: number;
  readonly body: Buffer;
};

/**
 * Sends one request.
 * @throws UsageError (arguments), OaiError (protocol errors, invalid answers), AuthError (401,
 * 403), UnavailableError (no answer, 429, 5xx), InterruptedError (the signal)
 */
export type SendRequest = (
  verb: Verb,
  args: OaiArguments,
  signal?: AbortSignal,
) => Promise<OaiAnswer>;

const INTERRUPTED = msg`Interrupted. What was harvested is kept; run the command again to continue.`;
const DEFAULT_MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/**
 * Maximum number of elements, attributes and other nodes of an answer: thousands of records have
 * fewer.
 */
const MAX_NODES = 150_000;
/** Size of one piece of the unpacked body: with smaller pieces, unpacking takes twice as long. */
const UNPACKED_PIECE_BYTES = 512 * 1024;

/**
 * Makes the function that sends one request to an endpoint and parses the answer. Redirects are
 * followed as by {@link makeRedirectFollower}; a refused token is replaced once where the
 * credentials can renew it.
 * @param endpoint address without a query
 */
export function makeRequestSender(endpoint: string, options: RequestOptions): SendRequest {
  const { exchange, credentials, maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES } = options;
  const get = makeRedirectFollower(endpoint, async (request) =>
    unpackBody(endpoint, await exchange(request), maxAnswerBytes),
  );
  return async (verb, args, signal) => {
    assertOaiArguments(verb, args);
    const limits = { maxAnswerBytes, answerTimeoutMs: options.answerTimeoutMs, signal };
    const send = (authorization: string | undefined): Promise<HttpResponse> =>
      get(buildOaiQuery(verb, args), authorization, limits);
    const response = await requireAnswer(endpoint, signal, () =>
      sendWithCredentials(credentials, send, signal),
    );
    const { body } = response;
    if (response.status !== 200) return throwStatusError(endpoint, response);
    const document = parseAnswerXml(endpoint, body);
    return parseOaiDocument(verb, endpoint, document, body, args.resumptionToken === undefined);
  };
}

/** Sends a request with credentials, and again with a new token where the first had expired. */
async function sendWithCredentials(
  credentials: OaiCredentials,
  send: (authorization: string | undefined) => Promise<HttpResponse>,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  switch (credentials.kind) {
    case 'none':
      return send(undefined);
    case 'basic':
      return send(
        `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`, 'utf8').toString('base64')}`,
      );
    case 'bearer': {
      const token = await credentials.token(signal);
      const response = await send(`Bearer ${token}`);
      if (response.status !== 401 || credentials.renew === undefined) return response;
      const next = await credentials.renew(token, signal);
      return next === token ? response : send(`Bearer ${next}`);
    }
  }
}

/**
 * Calls `send`, and returns the answer with any status.
 * @throws InterruptedError, or the reason of the signal, where that is aborted; OaiError for too
 * large an answer; UnavailableError where no whole one came
 */
async function requireAnswer(
  endpoint: string,
  signal: AbortSignal | undefined,
  send: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await send();
  } catch (thrown) {
    if (signal?.aborted === true)
      throw signal.reason instanceof PasError ? signal.reason : new InterruptedError(INTERRUPTED);
    if (!(thrown instanceof TransportError)) throw thrown;
    if (thrown.reason === 'too-large')
      throw new OaiError('malformed', `${endpoint}: ${thrown.message}.`, {
        cause: thrown,
        hint: RUN_AGAIN,
      });
    throw makeNoAnswerError(endpoint, thrown, RUN_AGAIN);
  }
}

function throwStatusError(endpoint: string, response: HttpResponse): never {
  const { status } = response;
  assertAvailable(endpoint, response, RUN_AGAIN);
  if (status === 401 || status === 403) {
    const Refusal = status === 403 ? RefusedAccountError : AuthError;
    throw new Refusal(t`${endpoint} refuses this account (status ${status}).`, {
      hint: t`Check username and oai_auth in the profile, then run \`${cmd`pas login`}\`.`,
    });
  }
  throw new OaiError(
    'malformed',
    t`${endpoint} answered with status ${status}, not with OAI-PMH.`,
    {
      hint: t`Check oai_base in the profile. A training instance has no harvesting interface: use the production one.`,
    },
  );
}

/**
 * Parses an answer.
 * @param isFirst false for an answer to a token, after which at least one record follows
 * @throws OaiError for a protocol error, or an answer of another verb
 */
function parseOaiDocument(
  verb: Verb,
  endpoint: string,
  document: XmlDocument,
  body: Buffer,
  isFirst: boolean,
): OaiAnswer {
  const { root } = document;
  if (root.name !== 'OAI-PMH' || root.namespace !== OAI_NAMESPACE) {
    const { name, namespace } = root;
    const tag = namespace === '' ? `<${name}>` : `<${name} xmlns="${namespace}">`;
    throw new MalformedAnswerError(t`${endpoint} answered with ${tag}, not with OAI-PMH.`, body);
  }
  if ([root, ...root.children].some((parent) => hasStrayToken(parent, verb)))
    throw makeElementError(endpoint, 'resumptionToken', body);
  const errors = getChildren(root, 'error');
  // `noRecordsMatch` is an empty list, not a failure (OAI-PMH 2.0, section 3.6), without records
  // and token.
  const nothing =
    isFirst &&
    errors.length === 1 &&
    errors.find((error) => getAttribute(error, 'code') === 'noRecordsMatch');
  if (errors.length > 0 && !nothing) throw makeProtocolError(endpoint, errors);
  assertSingle(endpoint, root, verb, body);
  const element = nothing || getChild(root, verb);
  if (element === undefined) throw makeElementError(endpoint, verb, body);
  assertSingle(endpoint, element, 'resumptionToken', body);
  const responseDateMs = parseDatestampMs(getChildText(root, 'responseDate') ?? '');
  if (responseDateMs === undefined) throw makeElementError(endpoint, 'responseDate', body);
  return { element, document, responseDateMs, body };
}

function assertSingle(endpoint: string, parent: XmlElement, name: string, body: Buffer): void {
  if (getChildren(parent, name).length > 1) throw makeElementError(endpoint, name, body);
}

function makeElementError(endpoint: string, name: string, body: Buffer): MalformedAnswerError {
  return new MalformedAnswerError(
    t`${endpoint} sent an answer in which <${name}> is missing, repeated, invalid or misplaced.`,
    body,
  );
}

/** Tells if a token stands at the wrong place: ignoring it would end the list too early. */
function hasStrayToken(parent: XmlElement, verb: Verb): boolean {
  const isStray = ({ namespace }: XmlElement): boolean =>
    parent.name !== verb || namespace !== OAI_NAMESPACE;
  return parent.children.some((child) => child.name === 'resumptionToken' && isStray(child));
}

/**
 * Unpacks the body of a success. Some servers compress without a request or a header, so the first
 * bytes decide (RFC 1952, section 2.3.1).
 */
function unpackBody(endpoint: string, response: HttpResponse, maxBytes: number): HttpResponse {
  const { status, body } = response;
  if (status !== 200 || body[0] !== 0x1f || body[1] !== 0x8b) return response;
  const limits = { maxOutputLength: maxBytes, chunkSize: UNPACKED_PIECE_BYTES };
  try {
    return { ...response, body: gunzipSync(body, limits) };
  } catch (thrown) {
    const problem = getErrorMessage(thrown);
    throw new MalformedAnswerError(
      t`${endpoint} sent a damaged or oversized gzip answer: ${problem}.`,
      body,
      thrown,
    );
  }
}

function parseAnswerXml(endpoint: string, body: Buffer): XmlDocument {
  if (body.length === 0) throw new MalformedAnswerError(t`${endpoint} sent an empty answer.`, body);
  try {
    return parseXml(body, MAX_NODES);
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    // The fault's place is that in UTF-8.
    const record = isUtf8(body) ? findIdentifierBefore(body, thrown.byte) : undefined;
    const where = record === undefined ? '' : t`, in the record ${record}`;
    throw new MalformedAnswerError(
      t`${endpoint} sent XML that cannot be read: ${thrown.message}${where}.`,
      body,
      thrown,
    );
  }
}

/** Makes the error of an answer with one or several protocol errors, from the first. */
function makeProtocolError(endpoint: string, errors: readonly XmlElement[]): OaiError {
  const [first] = errors;
  const code = first === undefined ? '' : (getAttribute(first, 'code') ?? '');
  const texts = errors.map((error) => error.text.trim());
  const said = [code, ...new Set(texts)].filter((text) => text !== '').join(': ');
  const isKnownCode = Object.hasOwn(ERROR_HINTS, code);
  return new OaiError(
    isKnownCode ? code : 'malformed',
    t`${endpoint} answered with an error: ${said}.`,
    { hint: isKnownCode ? ERROR_HINTS[code] : RUN_AGAIN },
  );
}

/** Sends a GET with a query string. The credential goes only to the endpoint's own origin. */
type Get = (
  query: string,
  authorization: string | undefined,
  limits: AnswerLimits,
) => Promise<HttpResponse>;

/**
 * Makes the function that sends GET requests to an endpoint, and follows redirects. It remembers
 * their target, so that a harvest follows one redirect, not one per page. A request with a
 * credential is never redirected to another origin, since without the credential it would show
 * less; none is redirected from https to http. The function throws OaiError for such a redirect or
 * an invalid one, and where no whole answer came, as {@link SendRequest}.
 */
export function makeRedirectFollower(endpoint: string, exchange: Exchange): Get {
  const { origin } = new URL(endpoint);
  let lastTarget = endpoint;
  return async (query, authorization, limits) => {
    const send =
      authorization === undefined
        ? exchange
        : withMaskedAnswers([extractCredentials(authorization)], exchange);
    const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'gzip' };
    if (authorization !== undefined) headers['authorization'] = authorization;
    const { url, response } = await followRedirects(`${lastTarget}?${query}`, {
      send: async (to) => {
        const { origin: next } = new URL(to);
        if (authorization !== undefined && next !== origin)
          throw makeRedirectError(
            t`${endpoint} redirects to ${next}, to which your sign-in is not sent.`,
            t`If the service has moved there, set oai_base in the profile to that address; otherwise ask its operator.`,
          );
        const address = next === origin ? endpoint : next;
        return requireAnswer(address, limits.signal, () =>
          send({ method: 'GET', url: to, headers, ...limits }),
        );
      },
      choose: (from, target) => resolveRedirect(from, target, query),
      makeError: (from, problem) => makeRedirectError(`${from}: ${problem}.`),
    });
    const [base = '', targetQuery] = url.split('?', 2);
    // A page that announces an outage is no target to remember.
    const isXml = response.status === 200 && /xml/i.test(response.headers['content-type'] ?? '');
    if (isXml && targetQuery === query) lastTarget = base;
    return response;
  };
}

/** Returns the part of an `Authorization` header after its scheme. */
function extractCredentials(authorization: string): string {
  return authorization.replace(/^\w+ /, '');
}

function makeRedirectError(problem: string, hint: Message = CHECK_ADDRESS): OaiError {
  return new OaiError('malformed', problem, { hint });
}

function resolveRedirect(from: string, target: URL, query: string): string {
  const { protocol, origin } = target;
  if (protocol === 'http:' && from.startsWith('https:'))
    throw makeRedirectError(
      t`${from} redirects to ${origin}, which is not protected by TLS.`,
      t`Ask the operator of the service.`,
    );
  const search = target.search === '' ? query : target.search;
  // Encoded as our own query, for the comparison.
  const hasSameArguments = new URLSearchParams(search).toString() === query;
  return `${origin}${target.pathname}?${hasSameArguments ? query : search.replace(/^\?/, '')}`;
}
