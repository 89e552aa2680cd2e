import type { Readable } from 'node:stream';
import { getErrorMessage, LocalizedError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** Time limit of an answer for requests without `answerTimeoutMs`. */
export const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;

/** A request body of known length that can be opened once per attempt. */
export type RequestBody = {
  readonly contentType: string;
  readonly lengthBytes: number;
  open(): Readable | Buffer;
};

export type AnswerLimits = {
  /** Time limit of the whole answer, from the last byte of the request. */
  readonly answerTimeoutMs?: number;
  /** Limit of the body; a longer answer fails as `too-large`. */
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal;
};

export type HttpRequest = AnswerLimits & {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Called after connecting, just before the first byte leaves. False cancels the request. */
  readonly onDeparture?: () => boolean;
};

export type AnswerHead = {
  readonly status: number;
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
};
export type HttpResponse = AnswerHead & { readonly body: Buffer };

/**
 * Sends a request and returns its answer. Wrappers (pacing, retrying, signing in) have the same type and compose.
 * @throws TransportError where no whole answer came
 */
export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** Wraps `send` to limit every answer to `maxMs`, also where the request allows more. */
export function withTimeout(maxMs: number, send: Exchange): Exchange {
  return (request) => send({ ...request, answerTimeoutMs: Math.min(request.answerTimeoutMs ?? maxMs, maxMs) });
}

export type TransportErrorReason = 'connect' | 'timeout' | 'reset' | 'too-large' | 'aborted' | 'body';

/**
 * Thrown where no whole answer came. `mayHaveArrived` is false only if the service cannot have received the whole request (it never
 * left, or its body was cut before the last byte). Only then may a create be sent again.
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

const WORDS: Readonly<Record<string, Message>> = {
  ECONNREFUSED: msg`the connection was refused: nothing answers there`,
  ENOTFOUND: msg`there is no host with this name`,
  EAI_AGAIN: msg`the name of the host cannot be resolved now`,
  ETIMEDOUT: msg`the connection timed out`,
  EHOSTUNREACH: msg`there is no route to it`,
  ENETUNREACH: msg`there is no route to it`,
  ENETDOWN: msg`the network is down`,
  EADDRNOTAVAIL: msg`there is no route to it`,
  ECONNRESET: msg`the connection was lost`,
  ECONNABORTED: msg`the connection was lost`,
  EPIPE: msg`the connection was lost`,
  EPROTO: msg`it does not speak TLS as expected`,
  CERT_HAS_EXPIRED: msg`its certificate has expired`,
  CERT_NOT_YET_VALID: msg`its certificate is not valid yet; is the clock right?`,
  ERR_TLS_CERT_ALTNAME_INVALID: msg`its certificate belongs to another host`,
  DEPTH_ZERO_SELF_SIGNED_CERT: msg`its certificate is not trusted`,
  SELF_SIGNED_CERT_IN_CHAIN: msg`its certificate is not trusted`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: msg`its certificate is not trusted`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: msg`its certificate is not trusted`,
};

/** Describes a failed connection in words, with its code. For a host with several addresses it uses the first error. */
export function describeNetworkError(thrown: unknown): Message {
  const first: unknown = thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  const words = WORDS[code];
  return words === undefined ? getErrorMessage(first) || code : msg`${words} (${code})`;
}
