import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import {
  getErrorCode,
  getErrorMessage,
  getLocalizedMessage,
  LocalizedError,
  UnavailableError,
} from '../../base/errors.ts';
import { cmd, formatMoment, type Message, msg } from '../../base/message.ts';

/** About 31 years, so that the end of the pause is a valid date. */
const MAX_RETRY_AFTER_S = 1_000_000_000;

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3; A-RATE-6), whole seconds or an HTTP date, into
 * milliseconds. A date counts from the answer's own `Date`, or without one from `nowMs`: the clock
 * of this machine may be wrong. A past date is 0, seconds are limited to 31 years; undefined where
 * the header is absent or has neither form.
 */
export function parseRetryAfterMs(
  headers: AnswerHead['headers'],
  nowMs: number,
): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_RETRY_AFTER_S) * 1000;
  // Date.parse accepts other texts, such as "-1"; all three HTTP forms begin with the name of the
  // day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const dateMs = Date.parse(text);
  const saidMs = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(dateMs)) return undefined;
  return Math.max(0, dateMs - (Number.isNaN(saidMs) ? nowMs : saidMs));
}

/** Thrown where the service asked for a longer pause than a command waits for. */
export class LongPauseError extends UnavailableError {
  readonly untilMs: number;
  constructor(pausedMs: number, nowMs: number) {
    super(formatPause(pausedMs, nowMs), { hint: msg`The queue is kept. Try again later.` });
    this.untilMs = nowMs + pausedMs;
  }
}

/** Formats, for people, a pause of the service that ends `pausedMs` after `nowMs`. */
export function formatPause(pausedMs: number, nowMs: number): Message {
  const until = formatMoment(nowMs + pausedMs);
  return msg`The service asked for a pause: nothing is sent until ${until}.`;
}

/** Time limit of an answer for requests without `answerTimeoutMs`. */
export const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;

/** A request body of known length, which is opened when the request is sent. */
export type RequestBody = {
  readonly contentType: string;
  readonly lengthBytes: number;
  open(): Readable | Buffer;
};

/** Limits of one request. */
export type AnswerLimits = {
  /** Time limit of the whole answer, from the last byte of the request. */
  readonly answerTimeoutMs?: number;
  /** Limit of the body; a longer answer fails as `too-large`. */
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal;
};

/** One request, to be sent over one connection. */
export type HttpRequest = AnswerLimits & {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Called after connecting, just before the first byte leaves. False cancels the request. */
  readonly onDeparture?: () => boolean;
  /** Called with what the request will go through, before `onDeparture`. */
  readonly onConnection?: (facts: ConnectionFacts) => void;
};

/** Properties of a connection that `pas doctor` prints. */
export type ConnectionFacts = {
  /** IP address that the connection leads to: the proxy's, where there is one. */
  readonly address: string;
  readonly family: string;
  /** Without its password. */
  readonly proxy: string | undefined;
  /** From the service's to the one of the authority; none without TLS. */
  readonly certificates: readonly Certificate[];
};

/** A certificate, by the name of its owner. */
export type Certificate = { readonly owner: string; readonly validUntilMs: number };

/** An answer before its body. */
export type AnswerHead = {
  readonly status: number;
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
};
/** A whole answer. */
export type HttpResponse = AnswerHead & { readonly body: Buffer };

/** Beginning of a web page: a tag of HTML, behind a declaration of XML and comments. */
const WEB_PAGE =
  /^\ufeff?(?:\s|<\?xml[^>]*>|<!--(?:(?!-->)[\s\S])*-->)*<(?:!doctype html|html|head|body|title|meta|script|style|center|h1)\b/i;
const MAX_BEGINNING_BYTES = 2000;

/**
 * Tells if an answer is a web page, by its first 2000 bytes: firewalls and the sign-in pages of
 * networks send one in place of the service, with any status.
 */
export function isWebPage({ body }: { readonly body: Buffer }): boolean {
  return WEB_PAGE.test(body.subarray(0, MAX_BEGINNING_BYTES).toString('utf8'));
}

/**
 * Asserts that an answer is not that of a closed or overloaded service (A-AUTH-13), a proxy or a
 * network that wants a sign-in: a status of 500 or more, 408, 425 or 429, a redirect or a web page.
 * @param address of the service, for the error
 * @param hint of the error, except for a redirect or a web page
 * @throws UnavailableError for such an answer
 */
export function assertAvailable(
  address: string,
  response: HttpResponse,
  hint: Message = msg`The queue is kept. Try again later.`,
): void {
  const { status, headers } = response;
  const target = headers['location'];
  if (REDIRECTS.includes(status) && target !== undefined)
    throw new UnavailableError(msg`${address} redirects to ${target}.`, { hint: WEB_PAGE_ADVICE });
  // The status of a network that wants a sign-in: RFC 6585, section 6.
  const isOfNetwork = status === 511;
  if (!isOfNetwork && (status >= 500 || [408, 425, 429].includes(status)))
    throw new UnavailableError(msg`${address} is closed or overloaded (status ${status}).`, {
      hint,
    });
  if (!isOfNetwork && !isWebPage(response)) return;
  throw new UnavailableError(
    msg`${address} answered with a web page (status ${status}) in place of data, as a firewall or the sign-in page of a network does.`,
    { hint: WEB_PAGE_ADVICE },
  );
}

/** Hint where a redirect or a web page came in place of data. */
export const WEB_PAGE_ADVICE = msg`Open the address in a browser on this computer, or use another network, then run the command again; what was stored is kept. If it is the wrong address, correct it with \`${cmd`pas profile set`}\`.`;

/**
 * Sends a request and returns its answer. Wrappers (pacing, retrying, signing in) have the same
 * type and compose.
 * @throws TransportError where no whole answer came
 */
export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** Wraps `send` to wait at most `maxMs` for every answer, also where the request allows more. */
export function withAnswerTimeout(maxMs: number, send: Exchange): Exchange {
  return (request) =>
    send({ ...request, answerTimeoutMs: Math.min(request.answerTimeoutMs ?? maxMs, maxMs) });
}

/**
 * Why no whole answer came: `connect` before the first byte left, `timeout` and `reset` after it;
 * `body`: the file to send could not be read; `aborted`: by the caller.
 */
export type TransportErrorReason =
  | 'connect'
  | 'timeout'
  | 'reset'
  | 'too-large'
  | 'aborted'
  | 'body';

/**
 * Thrown where no whole answer came. `mayHaveArrived` is false only if the service cannot have
 * received the whole request (it never left, or its body was cut before the last byte). Only then
 * may a create be sent again.
 */
export class TransportError extends LocalizedError {
  readonly reason: TransportErrorReason;
  readonly mayHaveArrived: boolean;
  /** Head of an answer whose body was cut off. */
  readonly head: AnswerHead | undefined;

  constructor(
    reason: TransportErrorReason,
    mayHaveArrived: boolean,
    message: Message,
    more: { readonly cause?: unknown; readonly head?: AnswerHead } = {},
  ) {
    super(message, more);
    this.reason = reason;
    this.mayHaveArrived = mayHaveArrived;
    this.head = more.head;
  }
}

type NetworkFailure = { readonly words: Message; readonly todo?: Message };

const CORRECT_CLOCK = msg`Compare the date of this computer with the true one. If it is right, tell the operator of the service.`;
const UNKNOWN_AUTHORITY: NetworkFailure = {
  words: msg`its certificate is from an authority that this computer does not know`,
  todo: msg`If your institution has an authority of its own, set ca_file=FILE in the profile, a text file with its certificate; NODE_EXTRA_CA_CERTS=FILE does the same, and NODE_OPTIONS=--use-system-ca trusts the system's where Node has it.`,
};
const NO_ROUTE: NetworkFailure = { words: msg`there is no route to it` };
const LOST: NetworkFailure = { words: msg`the connection was lost` };

/** Failures of connections by the code of the error. */
const FAILURES: Readonly<Record<string, NetworkFailure>> = {
  ECONNREFUSED: { words: msg`the connection was refused: nothing answers there` },
  ENOTFOUND: {
    words: msg`there is no host with this name`,
    todo: msg`Check the address and the network. The queue is kept. Where only a proxy knows the name, set HTTPS_PROXY, or proxy in config.toml.`,
  },
  EAI_AGAIN: { words: msg`the name of the host cannot be resolved now` },
  ETIMEDOUT: { words: msg`the connection timed out` },
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  EADDRNOTAVAIL: NO_ROUTE,
  ENETDOWN: NO_ROUTE,
  ECONNRESET: LOST,
  ECONNABORTED: LOST,
  EPIPE: LOST,
  CERT_HAS_EXPIRED: { words: msg`its certificate has expired`, todo: CORRECT_CLOCK },
  CERT_NOT_YET_VALID: { words: msg`its certificate is not valid yet`, todo: CORRECT_CLOCK },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: msg`its certificate belongs to another host`,
    todo: msg`Check the address; if it is right, tell the operator of the service.`,
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
};

/** Words for an answer, of a server or a proxy, that is no HTTP. */
export const NOT_HTTP = msg`its answer is not HTTP`;

/**
 * Failures by a pattern of their code and words. Those of TLS have the words of OpenSSL, whose
 * codes differ between versions of Node.
 */
const OTHER_FAILURES: readonly (readonly [RegExp, NetworkFailure])[] = [
  [
    /^HPE_/,
    {
      words: NOT_HTTP,
      todo: msg`Check the address and its port: what answers there is no web server.`,
    },
  ],
  [
    /protocol version|unsupported protocol/i,
    {
      words: msg`it speaks only old versions of TLS, which are not safe`,
      todo: msg`Tell the operator of the service: TLS 1.2 is the oldest that pas accepts.`,
    },
  ],
  [
    /certificate required|handshake failure/i,
    {
      words: msg`it refused the TLS connection, as a server that wants a client certificate does`,
      todo: msg`pas has no client certificates: ask the operator of the service for an address without them.`,
    },
  ],
  [
    /wrong version number|packet length too long|http request/i,
    {
      words: msg`it does not speak TLS`,
      todo: msg`Check the address and its port: behind https:// there is a server for http://.`,
    },
  ],
  [/EPROTO|SSL routines/, { words: msg`a TLS connection could not be established` }],
];

function findNetworkFailure(thrown: unknown): NetworkFailure | undefined {
  const first = getFirstError(thrown);
  if (!(first instanceof Error)) return undefined;
  const code = getErrorCode(first);
  const text = `${code} ${first.message}`;
  return (
    FAILURES[code] ??
    OTHER_FAILURES.find(([pattern]) => pattern.test(text))?.[1] ??
    findNetworkFailure(first.cause)
  );
}

/** Returns the error that counts where a host has several addresses. */
function getFirstError(thrown: unknown): unknown {
  return thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
}

/**
 * Describes a failed connection in words, with the code of its error. An unknown failure is
 * described by the message of its error, and an error of pas by its own message.
 */
export function describeNetworkError(thrown: unknown): Message {
  const first = getFirstError(thrown);
  if (first instanceof LocalizedError) return first.says;
  const code = getErrorCode(first);
  const words = findNetworkFailure(first)?.words;
  return words === undefined ? getErrorMessage(first) || code : msg`${words} (${code})`;
}

/**
 * Makes the error of a request that got no answer, with what a person can do about it.
 * @param address of the service, for the message
 * @param otherwise hint where nothing is known about the cause
 */
export function makeNoAnswerError(
  address: string,
  error: TransportError,
  otherwise: Message = msg`Check the network. The queue is kept.`,
): UnavailableError {
  const { cause } = error;
  const todo = cause instanceof ProxyError ? CHECK_PROXY : findNetworkFailure(cause)?.todo;
  const message = msg`${address} did not answer: ${error.message}.`;
  return new UnavailableError(message, { cause: error, hint: todo ?? otherwise });
}

/** Thrown where a proxy does not let a connection through; no byte has left. */
export class ProxyError extends LocalizedError {}

const CHECK_PROXY = msg`Check the proxy's address, which is from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY or config.toml, or ask who runs it. The queue is kept.`;

type RetryOptions = {
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Maximum number of requests to a server that never answered, including the first; default 6. */
  readonly attempts?: number;
  /** Called before each pause, to show its reason. */
  readonly onWait?: (waitMs: number, reason: Message) => void;
};

const ATTEMPTS = 6;
/** The same after the server has answered once in this run, so that its outage is temporary. */
const PATIENT_ATTEMPTS = 26;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** Longest `Retry-After` that is waited for. */
const MAX_RETRY_AFTER_MS = 300_000;
/**
 * Time from the first attempt until the last one begins, without the pauses that the server
 * requested; a repeated attempt may use only the rest of it for its answer. It outlasts a restart
 * of five minutes, after which a server that hangs is abandoned.
 */
const MAX_AWAY_MS = 5 * 60_000;
/** Time from the first attempt after which none begins. */
const MAX_TOTAL_MS = 20 * 60_000;

/** Statuses of servers and proxies that are overloaded or temporarily unavailable. */
const BUSY = new Set([
  408, 425, 429, 500, 502, 503, 504, 509, 520, 521, 522, 523, 524, 525, 526, 527,
]);

/**
 * Wraps `exchange` to repeat a GET, after pauses, when no whole answer came or its status is
 * temporary. There are six requests at most, or 26 once the server has answered, within five
 * minutes, to which pauses that the service asks for are added. Returns the last answer, also one
 * with such a status, and at once where the service asks for a pause of more than five minutes.
 * @throws TransportError of the last attempt where it got no answer; the signal's reason during a
 * pause; Error for another method than GET
 */
export function withRetry(exchange: Exchange, options: RetryOptions): Exchange {
  const { clock } = options;
  let attempts = options.attempts ?? ATTEMPTS;
  return async (request) => {
    if (request.method !== 'GET') throw new Error('only a GET may be repeated');
    const startedMs = clock.monotonicMs();
    let maxMs = MAX_AWAY_MS;
    const getLeftMs = (): number => Math.max(0, maxMs - (clock.monotonicMs() - startedMs));
    const isTotalOver = (): boolean => clock.monotonicMs() - startedMs >= MAX_TOTAL_MS;
    const maxAttempts = attempts;
    for (let attempt = 1; ; attempt++) {
      const { answerTimeoutMs = DEFAULT_ANSWER_TIMEOUT_MS } = request;
      const restMs = Math.min(answerTimeoutMs, Math.max(getLeftMs(), MIN_ANSWER_MS));
      const limited = attempt === 1 ? request : { ...request, answerTimeoutMs: restMs };
      const result = await exchange(limited).catch(toRepeatableError);
      if (!isRetryable(result)) {
        attempts = PATIENT_ATTEMPTS;
        return unwrapResponse(result);
      }
      const pause = choosePauseAfter(result, attempt, options);
      const isOver = attempt === maxAttempts || getLeftMs() === 0 || isTotalOver();
      if (pause === undefined || isOver) return unwrapResponse(result);
      const waitMs = pause.isOfServer ? pause.ms : Math.min(pause.ms, getLeftMs());
      const reason =
        result instanceof TransportError
          ? getLocalizedMessage(result)
          : msg`status ${result.status}`;
      options.onWait?.(waitMs, reason);
      await clock.sleep(waitMs, request.signal);
      // A pause that the server asked for is none of its absence.
      if (pause.isOfServer) maxMs += waitMs;
      if (request.signal?.aborted === true || isTotalOver()) return unwrapResponse(result);
    }
  };
}

/** Minimum time for the answer of the last attempt. */
const MIN_ANSWER_MS = 10_000;

type Result = HttpResponse | TransportError;

/** Returns an error after which the request may be repeated; any other value is thrown. */
function toRepeatableError(thrown: unknown): TransportError {
  if (
    thrown instanceof TransportError &&
    thrown.reason !== 'aborted' &&
    thrown.reason !== 'too-large'
  )
    return thrown;
  throw thrown;
}

function isRetryable(result: Result): boolean {
  if (result instanceof TransportError || BUSY.has(result.status)) return true;
  // A redirect has a page for browsers too, and a page in place of a list is the reader's matter.
  return result.status >= 400 && isWebPage(result);
}

function unwrapResponse(result: Result): HttpResponse {
  if (result instanceof TransportError) throw result;
  return result;
}

/** Undefined where the server asks for a longer pause than MAX_RETRY_AFTER_MS. */
function choosePauseAfter(
  result: Result,
  attempt: number,
  options: RetryOptions,
): { readonly ms: number; readonly isOfServer: boolean } | undefined {
  const requestedMs =
    result instanceof TransportError
      ? undefined
      : parseRetryAfterMs(result.headers, options.clock.now());
  if (requestedMs !== undefined)
    return requestedMs > MAX_RETRY_AFTER_MS
      ? undefined
      : { ms: Math.round(requestedMs), isOfServer: true };
  // Half of the backoff is jitter, so that clients that failed together do not repeat together.
  const backoffMs =
    Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS) * (0.5 + options.random() / 2);
  return { ms: Math.round(backoffMs), isOfServer: false };
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** How redirects are followed; `from` is an address without its query. */
type RedirectRules = {
  send(url: string): Promise<HttpResponse>;
  /**
   * Returns the address at which to go on.
   * @throws where the redirect must not be followed
   */
  choose(from: string, target: URL): string;
  /** Makes the error of a redirect that cannot be followed. */
  makeError(from: string, problem: Message): Error;
};

/**
 * Sends a request to an address, and while the answer is a redirect, to the next address, which
 * `choose` returns.
 * @returns the first answer that is no redirect, and the address that it is from
 * @throws errors of `send` and `choose`; that of `makeError` for a sixth redirect, or one without
 * an http address
 */
export async function followRedirects(
  start: string,
  { send, choose, makeError }: RedirectRules,
): Promise<{ readonly url: string; readonly response: HttpResponse }> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await send(url);
    if (!REDIRECTS.includes(response.status)) return { url, response };
    const from = removeQuery(url);
    const { location = '' } = response.headers;
    const target =
      location !== '' && URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (target === undefined || !/^https?:$/.test(target.protocol)) {
      const shown = removeQuery(location);
      throw makeError(from, msg`it redirects to "${shown}", which pas does not follow`);
    }
    url = choose(from, target);
  }
  throw makeError(removeQuery(start), msg`the service redirects in a loop`);
}

/** Returns an address for messages: its query may have a resumption token. */
function removeQuery(address: string): string {
  return address.replace(/\?.*$/s, '');
}
