import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** One request as every handler sees it. */
export type Incoming = {
  readonly method: string;
  /** Decoded only where a handler does so; without the query. */
  readonly path: string;
  /** With the leading `?`, or empty. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** The client's address, behind trusted proxies the one that they report. */
  readonly address: string;
  /** The mock's time at the very start of handling, in milliseconds with fractions. */
  readonly arrivedAtMs: number;
  /** The body, unread. */
  readonly message: IncomingMessage;
};

/** One answer, complete; the server adds `Date` and `Content-Length`. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

/** A handler may end a request early from any depth: the answer travels as an exception. */
export class AnswerNow extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`answer ${answer.status}`);
    this.name = 'AnswerNow';
    this.answer = answer;
  }
}

/** Reads a whole body of at most `limitBytes`; undefined when it is longer (what follows is left unread). */
export async function readBody(message: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of message) {
    const bytes: Buffer = part;
    sizeBytes += bytes.length;
    if (sizeBytes > limitBytes) return undefined;
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
