import type { Readable } from 'node:stream';
import { LocalizedError } from '../base/errors.ts';
import type { Message } from '../base/message.ts';

/** How long an answer may take where a request says nothing. */
export const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;

/** A request body of known length that can be opened once per attempt. */
export type RequestBody = {
  readonly contentType: string;
  readonly lengthBytes: number;
  open(): Readable | Buffer;
};

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** How long the whole answer may take once the last byte of the request is sent. */
  readonly answerTimeoutMs?: number;
  /** A longer answer is refused. */
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal;
  /** Called when the first byte is about to leave, after any connecting. False: it is too late, and nothing may leave. */
  readonly onDeparture?: () => boolean;
};

export type HttpResponse = {
  readonly status: number;
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** One request with its answer. Wrappers (pacing, retrying, signing in) have the same type, so that they compose. */
export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** No answer takes longer than `maxMs`, also where a request would allow more. */
export function withTimeout(maxMs: number, send: Exchange): Exchange {
  return (request) => send({ ...request, answerTimeoutMs: Math.min(request.answerTimeoutMs ?? maxMs, maxMs) });
}

export type TransportErrorReason = 'connect' | 'timeout' | 'reset' | 'too-large' | 'aborted' | 'body';

/**
 * No whole answer came. `mayHaveArrived` is false only where the service cannot have received the whole request: the
 * request never began to leave, or its body was cut before the last byte. Only then may a create be sent again.
 */
export class TransportError extends LocalizedError {
  readonly reason: TransportErrorReason;
  readonly mayHaveArrived: boolean;
  /** The head of an answer whose body was cut off. */
  readonly head: Pick<HttpResponse, 'status' | 'headers'> | undefined;

  constructor(
    reason: TransportErrorReason,
    mayHaveArrived: boolean,
    message: Message,
    more: { readonly cause?: unknown; readonly head?: Pick<HttpResponse, 'status' | 'headers'> } = {},
  ) {
    super(message, more);
    this.reason = reason;
    this.mayHaveArrived = mayHaveArrived;
    this.head = more.head;
  }
}
