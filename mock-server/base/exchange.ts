import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';

/** Limit of each body in the journal. */
export const KEPT_BYTES = 16 * 1024;
const MAX_UNPACKED_BYTES = 4 * 1024 * 1024;
/** Stands in the journal for a secret that was removed. */
export const STRUCK_OUT = '•••';
/** Headers whose values the journal never keeps; lower-case names. */
export const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
]);

/** Collects the beginning of a body, and its length. */
export class BodySample {
  readonly #parts: Buffer[] = [];
  #keptBytes = 0;
  #follows = false;
  sizeBytes = 0;

  /** Follows a message; further calls have no effect. */
  follow(message: IncomingMessage): void {
    if (this.#follows) return;
    this.#follows = true;
    message.on('data', (chunk: Buffer) => this.take(chunk));
  }

  take(chunk: Buffer): void {
    this.sizeBytes += chunk.length;
    if (this.#keptBytes === KEPT_BYTES) return;
    // A copy: a part of a large body would keep all of it in memory.
    const part = Buffer.from(chunk.subarray(0, KEPT_BYTES - this.#keptBytes));
    this.#keptBytes += part.length;
    this.#parts.push(part);
  }

  getBytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Changes made by a request, with or without an answer to its client. */
export type Change =
  | { readonly kind: 'find-created' | 'number-changed'; readonly ident: string }
  | { readonly kind: 'photograph-added'; readonly ident: string; readonly name: string };

/**
 * A request or an answer as the journal keeps it: `body` is the beginning, in the encoding of the
 * transfer, or undefined where it is not kept; `sizeBytes` counts the whole.
 */
export type Message = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly sizeBytes: number;
};

/** A request and its answer; `answer` is undefined where none was sent. */
export type Exchange = { readonly request: Message; readonly answer: Message | undefined };

/** Approximate memory, in bytes, which bounds the journal. */
export function estimateSize({ request, answer }: Exchange): number {
  const messages = answer === undefined ? [request] : [request, answer];
  return messages.reduce(
    (sum, { headers, body }) => sum + JSON.stringify(headers).length + (body?.length ?? 0),
    0,
  );
}

/** Makes the kept exchange: headers without secrets, and the beginning of each body. */
export function makeExchange(
  request: { readonly headers: IncomingHttpHeaders; readonly sample: BodySample },
  answer: { readonly headers: OutgoingHttpHeaders; readonly body: string | Buffer } | undefined,
): Exchange {
  const { sample } = request;
  const makeMessage = (headers: OutgoingHttpHeaders, body: BodySample): Message => ({
    headers: withoutSecrets(headers),
    body: body.getBytes(),
    sizeBytes: body.sizeBytes,
  });
  if (answer === undefined) return { request: makeMessage(request.headers, sample), answer };
  const sent = new BodySample();
  sent.take(Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body));
  return {
    request: makeMessage(request.headers, sample),
    answer: makeMessage(answer.headers, sent),
  };
}

/** Masks passwords and tokens of a sign-in; an unreadable body is removed. */
export function maskExchange({ request, answer }: Exchange): Exchange {
  const mask = (message: Message, isSecret: (name: string) => boolean): Message => {
    const body = withoutSecretFields(message, isSecret);
    return { ...message, body, sizeBytes: body?.length ?? message.sizeBytes };
  };
  return {
    request: mask(request, (name) => name !== 'username'),
    answer: answer === undefined ? undefined : mask(answer, (name) => name === 'token'),
  };
}

function withoutSecretFields(
  { headers, body, sizeBytes }: Message,
  isSecret: (name: string) => boolean,
): Buffer | undefined {
  if (body === undefined || body.length < sizeBytes) return undefined;
  const text = body.toString('utf8');
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
    const fields = [...new URLSearchParams(text)].map(([name, value]) => [
      name,
      isSecret(name) ? STRUCK_OUT : value,
    ]);
    return Buffer.from(new URLSearchParams(Object.fromEntries(fields)).toString());
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const fields = Object.entries(value).map(([name, field]) => [
      name,
      isSecret(name) ? STRUCK_OUT : field,
    ]);
    return Buffer.from(JSON.stringify(Object.fromEntries(fields)));
  } catch {
    return undefined;
  }
}

function withoutSecrets(headers: OutgoingHttpHeaders): Record<string, string> {
  const shownTexts = Object.entries(headers).map(([name, value]) => {
    const text = String(value);
    if (!SECRET_HEADERS.has(name)) return [name, text];
    const [scheme = ''] = /^(?:basic|bearer) /i.exec(text) ?? [];
    return [name, `${scheme}${STRUCK_OUT}`];
  });
  return Object.fromEntries(shownTexts);
}

/**
 * Formats a message for `GET /journal/{id}`: `body` is null where it is not kept, and `cut` where
 * it is shortened.
 */
export function viewMessage(message: Message): unknown {
  const { bytes, cut } = getBodyBytes(message) ?? { bytes: null, cut: false };
  return {
    headers: message.headers,
    body: bytes?.toString('utf8') ?? null,
    size_bytes: message.sizeBytes,
    cut,
  };
}

/** Returns the unpacked body; undefined where it is not kept, and `cut` where it is shortened. */
export function getBodyBytes({
  headers,
  body,
  sizeBytes,
}: Message): { readonly bytes: Buffer; readonly cut: boolean } | undefined {
  if (body === undefined) return undefined;
  const whole = unpackBody(headers, body);
  return {
    bytes: whole.subarray(0, KEPT_BYTES),
    cut: body.length < sizeBytes || whole.length > KEPT_BYTES,
  };
}

/**
 * Unpacks a body: the beginning of a compressed body gives the beginning of its text. An invalid
 * one stays as it is.
 */
function unpackBody(headers: Message['headers'], body: Buffer): Buffer {
  if (headers['content-encoding'] !== 'gzip') return body;
  try {
    return gunzipSync(body, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_UNPACKED_BYTES,
    });
  } catch {
    return body;
  }
}
