import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Addresses } from './addresses.ts';
import type { BodySample, Change } from './exchange.ts';

/** Message with a body, which is unread. */
export type IncomingBody = {
  readonly message: IncomingMessage;
  /** The part of the body that has arrived. */
  readonly sample: BodySample;
  /** Called before the body is read: sends `100 Continue` to a client that waits for it. */
  inviteBody(): void;
};

/** A request with its parsed head, before any of its body is read. */
export type Incoming = IncomingBody & {
  readonly method: string;
  /** Without the query; unnecessary percent-encoding is decoded, the rest stays. */
  readonly path: string;
  /** With the leading `?`, or empty. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Addresses by which the client reached the server. */
  readonly addresses: Addresses;
  /** Address of the client; behind trusted proxies the reported one. */
  readonly address: string;
  /** Elapsed time of the clock when handling began, in milliseconds with fractions. */
  readonly arrivedAtMs: number;
  /** Milliseconds by which it may have arrived earlier, where the event loop was busy. */
  readonly lateMs: number;
  /** False while the client waits. */
  isInvited(): boolean;
  /** For the journal: rules of the refusal, and changes made by the request. */
  readonly reported: string[];
  change?: Change;
};

/** A complete answer; the server adds `Date` and `Content-Length`. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

/**
 * Splits a request target into authority and path (RFC 9112, 3.2.2), and normalises its
 * percent-encoding (RFC 3986, 6.2.2.2).
 */
export function parseTarget(url: string): {
  readonly authority: string | undefined;
  readonly target: string;
} {
  const [, authority, rest = url] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
  const [, path = '', search = ''] = /^([^?]*)(.*)$/s.exec(rest) ?? [];
  const plain = path.replace(/%([0-9a-f]{2})/gi, (encoded, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
  return { authority, target: (authority !== undefined && plain === '' ? '/' : plain) + search };
}

/** Decodes a path segment; an invalid escape stays. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Ends a request with an answer from any depth of a handler. */
export class HttpError extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`answer ${answer.status}`);
    this.name = 'HttpError';
    this.answer = answer;
  }
}

/** Thrown where the client disconnected before its request was complete: no answer is sent. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientDisconnected';
  }
}

/**
 * Tells if the head of a request declares no body: to the service that is a form without fields,
 * whatever its type.
 */
export function isWithoutBody({ message: { headers } }: IncomingBody): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Tells if the head of a request declares a longer body. */
export function isAnnouncingMoreThan({ message }: IncomingBody, limitBytes: number): boolean {
  return Number(message.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * Calls `tell` when the client disconnects, or has disconnected, before its body was read to the
 * end.
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

/**
 * Reads a whole body, without destroying the message, so that it can be answered. Bytes above the
 * limit are discarded.
 * @returns undefined as soon as the body is longer than `limitBytes`
 * @throws ClientDisconnected
 */
export async function readBody(
  body: IncomingBody,
  limitBytes: number,
): Promise<Buffer | undefined> {
  const { message, sample } = body;
  if (isAnnouncingMoreThan(body, limitBytes)) return undefined;
  body.inviteBody();
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    sample.follow(message);
    message.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) parts.push(chunk);
      else resolve(undefined);
    });
    message.once('end', () => resolve(Buffer.concat(parts)));
    onDisconnect(message, () => reject(new ClientDisconnected()));
  });
}

/** Spells the names of headers as the contract does: `X-Record-ID`, `WWW-Authenticate`. */
export function spellHeaders(
  headers: Readonly<Record<string, string | number>>,
): Record<string, string | number> {
  const spell = (name: string): string =>
    name.replace(/\b(?:id\b|www\b|[a-z])/g, (letters) => letters.toUpperCase());
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [spell(name), value]));
}

/** Refusal of the control interface, with its reason. */
export class ControlRefusal extends Error {
  readonly status: 403 | 404 | 409 | 422;
  constructor(status: 403 | 404 | 409 | 422, reason: string) {
    super(reason);
    this.name = 'ControlRefusal';
    this.status = status;
  }
}
