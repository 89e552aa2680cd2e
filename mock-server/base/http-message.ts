import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Addresses } from './addresses.ts';
import type { BodySample, Change } from './exchange.ts';

/** One request as every handler sees it. */
/** Message with a body, which is unread. */
export type IncomingBody = {
  readonly message: IncomingMessage;
  /** The part of the body that has arrived. */
  readonly sample: BodySample;
  /** Called before the body is read: a client that waits with it (`Expect: 100-continue`) is told to send it. */
  inviteBody(): void;
};

export type Incoming = IncomingBody & {
  readonly method: string;
  /** Without the query; what needs no percent sign has none, the rest is decoded only where a handler does so. */
  readonly path: string;
  /** With the leading `?`, or empty. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Where the client reached the server. */
  readonly addresses: Addresses;
  /** The client's address, behind trusted proxies the one that they report. */
  readonly address: string;
  /** The clock's elapsed time at the very start of handling, in milliseconds with fractions. */
  readonly arrivedAtMs: number;
  /** By how much it may have come earlier, where the event loop was busy. */
  readonly lateMs: number;
  /** False while the client waits. */
  isInvited(): boolean;
  /** For the journal: the rules that were told to the client, and what was changed for it. */
  readonly reported: string[];
  change?: Change;
};

/** One answer, complete; the server adds `Date` and `Content-Length`. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

/**
 * A request's target without the authority that the absolute form has (RFC 9112, section 3.2.2), and with what needs no percent
 * sign written without one: both mean the same (RFC 3986, section 6.2.2.2).
 */
export function parseTarget(url: string): { readonly authority: string | undefined; readonly target: string } {
  const [, authority, rest = url] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
  const [, path = '', search = ''] = /^([^?]*)(.*)$/s.exec(rest) ?? [];
  const plain = path.replace(/%([0-9a-f]{2})/gi, (encoded, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
  return { authority, target: (authority !== undefined && plain === '' ? '/' : plain) + search };
}

/** A path segment without its percent signs; one that encodes nothing stays as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A handler may end a request early from any depth: the answer travels as an exception. */
export class HttpError extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`answer ${answer.status}`);
    this.name = 'HttpError';
    this.answer = answer;
  }
}

/** The client went away before its request was complete: so no answer is sent. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientDisconnected';
  }
}

/** Tells if the head of a request declares a longer body. */
export function isAnnouncingMoreThan({ message }: IncomingBody, limitBytes: number): boolean {
  return Number(message.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * Counts a body as it flows, without ever destroying the message: an answer must still be possible. What is too long flows
 * on into nothing.
 * @param take gets every chunk within the limit
 * @returns false when the body is longer than `limitBytes`; resolves as soon as that is known
 * @throws ClientDisconnected
 */
function drainBody(body: IncomingBody, limitBytes: number, take: (chunk: Buffer) => void): Promise<boolean> {
  const { message, sample } = body;
  if (isAnnouncingMoreThan(body, limitBytes)) return Promise.resolve(false);
  body.inviteBody();
  return new Promise((resolve, reject) => {
    let sizeBytes = 0;
    sample.follow(message);
    message.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) take(chunk);
      else resolve(false);
    });
    message.once('end', () => resolve(true));
    onDisconnect(message, () => reject(new ClientDisconnected()));
  });
}

/**
 * Calls `tell` when the client goes away before its body was read to the end, or already has. What had arrived of it goes
 * with the connection.
 */
export function onDisconnect(message: IncomingMessage, tell: () => void): void {
  if (message.destroyed) {
    tell();
    return;
  }
  message.once('error', tell);
  message.once('close', () => {
    if (!message.readableEnded) tell();
  });
}

/** Reads a whole body of at most `limitBytes`; undefined when it is longer. @throws ClientDisconnected */
export async function readBody(incoming: IncomingBody, limitBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  const fits = await drainBody(incoming, limitBytes, (chunk) => void parts.push(chunk));
  return fits ? Buffer.concat(parts) : undefined;
}

/** Why the control interface refuses what it is asked for. */
export class ControlRefusal extends Error {
  readonly status: 403 | 404 | 409 | 422;
  constructor(status: 403 | 404 | 409 | 422, reason: string) {
    super(reason);
    this.name = 'ControlRefusal';
    this.status = status;
  }
}
