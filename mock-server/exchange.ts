import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';

/** Of each body, in the journal. */
export const KEPT_BYTES = 16 * 1024;
const MOST_UNPACKED_BYTES = 4 * 1024 * 1024;
const STRUCK_OUT = '•••';
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** The beginning of a body as it flows past, and how long it was. */
export class BodySample {
  readonly #parts: Buffer[] = [];
  readonly #mostBytes: number;
  #keptBytes = 0;
  #follows = false;
  sizeBytes = 0;

  /** @param mostBytes that are kept */
  constructor(mostBytes = KEPT_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Takes what comes of a body, once however often it is called. */
  follow(message: IncomingMessage): void {
    if (this.#follows) return;
    this.#follows = true;
    message.on('data', (chunk: Buffer) => this.take(chunk));
  }

  take(chunk: Buffer): void {
    this.sizeBytes += chunk.length;
    if (this.#keptBytes === this.#mostBytes) return;
    // A copy: a part of a large body would keep all of it in memory.
    const part = Buffer.from(chunk.subarray(0, this.#mostBytes - this.#keptBytes));
    this.#keptBytes += part.length;
    this.#parts.push(part);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** What a request has changed, whether or not its client was told. */
export type Change =
  | { readonly kind: 'find-created' | 'number-changed'; readonly ident: string }
  | { readonly kind: 'photograph-added'; readonly ident: string; readonly name: string };

type Message = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly sizeBytes: number;
};

/** A request and its answer as they are kept; `answer` is missing where none was sent. */
export type Exchange = { readonly request: Message; readonly answer: Message | undefined };

/** How much memory it takes, roughly: what bounds the journal. */
export function sizeOf({ request, answer }: Exchange): number {
  const messages = answer === undefined ? [request] : [request, answer];
  return messages.reduce((sum, { headers, body }) => sum + JSON.stringify(headers).length + (body?.length ?? 0), 0);
}

/** @param secret the bodies hold a password or a token, and are not kept */
export function exchangeOf(
  request: { readonly headers: IncomingHttpHeaders; readonly sample: BodySample },
  answer: { readonly headers: OutgoingHttpHeaders; readonly body: string | Buffer } | undefined,
  secret: boolean,
): Exchange {
  const { sample } = request;
  const message = (headers: OutgoingHttpHeaders, body: BodySample): Message => ({
    headers: withoutSecrets(headers),
    body: secret ? undefined : body.bytes(),
    sizeBytes: body.sizeBytes,
  });
  if (answer === undefined) return { request: message(request.headers, sample), answer };
  const sent = new BodySample();
  sent.take(Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body));
  return { request: message(request.headers, sample), answer: message(answer.headers, sent) };
}

/** The same with no more of the request's body than a journal keeps. */
export function shortened({ request, answer }: Exchange): Exchange {
  const { body } = request;
  if (body === undefined || body.length <= KEPT_BYTES) return { request, answer };
  // A copy: a part of a large body would keep all of it in memory.
  return { request: { ...request, body: Buffer.from(body.subarray(0, KEPT_BYTES)) }, answer };
}

function withoutSecrets(headers: OutgoingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    const text = String(value);
    if (!SECRET_HEADERS.has(name)) return [name, text];
    const [scheme = ''] = /^(?:basic|bearer) /i.exec(text) ?? [];
    return [name, `${scheme}${STRUCK_OUT}`];
  });
  return Object.fromEntries(shown);
}

/** As `GET /journal/{id}` shows it: `body` is null where it is not kept, and `cut` where only its beginning is. */
export function messageView(message: Message): unknown {
  const { text, cut } = bodyText(message) ?? { text: null, cut: false };
  return { headers: message.headers, body: text, size_bytes: message.sizeBytes, cut };
}

/** Undefined where it is not kept; `cut` where only its beginning is. */
export function bodyText({ headers, body, sizeBytes }: Message): { readonly text: string; readonly cut: boolean } | undefined {
  if (body === undefined) return undefined;
  const whole = unpacked(headers, body);
  return { text: whole.subarray(0, KEPT_BYTES).toString('utf8'), cut: body.length < sizeBytes || whole.length > KEPT_BYTES };
}

/** The beginning of a compressed body is the beginning of its text. What only says that it is compressed is shown as it came. */
function unpacked(headers: Message['headers'], body: Buffer): Buffer {
  if (headers['content-encoding'] !== 'gzip') return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_UNPACKED_BYTES });
  } catch {
    return body;
  }
}
