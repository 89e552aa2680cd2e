import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type * as undici from 'undici';
import type { Agent, Dispatcher } from 'undici';
import { messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Exchange, type HttpRequest, type HttpResponse, NoAnswerError, type NoAnswerReason } from './exchange.ts';

const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;
const DEFAULT_MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** A body of which the network takes nothing for this long is given up. */
const STALLED_BODY_MS = 60_000;

export type Connections = { readonly send: Exchange; close(): Promise<void> };

/**
 * The one place where requests leave. Redirects are not followed and nothing is sent twice; an idle connection is
 * given up early, because a create that meets the server's own idle limit would end in doubt.
 */
export function openConnections(options: { readonly maxConnections: number }): Connections {
  // Alone: whoever asks the service would wait 0.1 s longer for the rest of undici (docs/decisions/0015-one-file-of-undici.md).
  const Agents = createRequire(import.meta.url)('undici/lib/dispatcher/agent.js') as typeof undici.Agent;
  const agent = new Agents({
    connections: options.maxConnections,
    pipelining: 1,
    keepAliveTimeout: 2000,
    keepAliveMaxTimeout: 2000,
    connect: { timeout: 15_000 },
  });
  return {
    send: (request) => sendOnce(agent, request),
    close: () => agent.destroy(),
  };
}

/** @throws NoAnswerError when no whole answer came, saying whether the request may have arrived. */
function sendOnce(agent: Agent, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const url = new URL(request.url);
    const body = request.body?.open();
    const answer = new Answer(request, body, resolve, reject);
    if (request.signal?.aborted === true) {
      answer.fail('aborted', t`stopped before it was sent`);
      return;
    }
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: {
          ...request.headers,
          ...(request.body === undefined
            ? {}
            : { 'content-type': request.body.contentType, 'content-length': String(request.body.lengthBytes) }),
        },
        ...(body === undefined ? {} : { body }),
        headersTimeout: request.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS,
        bodyTimeout: request.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS,
      },
      answer,
    );
  });
}

/** Collects one answer, and knows how far the request got when there is none. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #body: Readable | Buffer | undefined;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: NoAnswerError) => void;
  readonly #onAbort = () => this.fail('aborted', t`stopped while it was under way`);
  #controller: Dispatcher.DispatchController | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #settled = false;
  #nothingLeft = false;
  #head: { status: number; headers: Record<string, string> } | undefined;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;

  constructor(
    request: HttpRequest,
    body: Readable | Buffer | undefined,
    resolve: (response: HttpResponse) => void,
    reject: (error: NoAnswerError) => void,
  ) {
    this.#request = request;
    this.#body = body;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) {
      controller.abort(new Error('no longer wanted'));
      return;
    }
    const body = this.#body;
    if (body === undefined || Buffer.isBuffer(body)) {
      this.#depart();
      return;
    }
    // The head of a streamed request leaves with the first piece of its body, which this listener meets first.
    body.once('data', () => this.#depart());
    this.#watchBody(body);
  }

  #depart(): void {
    if (this.#settled || this.#request.onDeparture?.() !== false) return;
    this.#nothingLeft = true;
    this.fail('connect', t`it took too long to connect`);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Dispatcher.ResponseData['headers']): void {
    if (status < 200) return;
    this.#head = { status, headers: flatten(headers) };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#sizeBytes += chunk.length;
    const mostBytes = this.#request.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    if (this.#sizeBytes > mostBytes) {
      this.fail('too-large', t`the answer is larger than ${mostBytes} bytes`);
      return;
    }
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#head === undefined) return;
    this.#end();
    this.#resolve({ ...this.#head, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.fail(this.#controller === undefined ? 'connect' : reasonOf(error), messageOf(error), error);
  }

  fail(reason: NoAnswerReason, message: string, cause?: unknown): void {
    if (this.#settled) return;
    const mayHaveArrived = this.#controller !== undefined && !this.#nothingLeft && this.#bodyWasHandedOver();
    this.#end();
    if (typeof this.#body === 'object' && 'destroy' in this.#body) this.#body.destroy();
    this.#controller?.abort(new Error(message));
    const head = this.#head;
    this.#reject(new NoAnswerError(reason, mayHaveArrived, message, { cause, ...(head === undefined ? {} : { head }) }));
  }

  /** A stream that has not ended still holds bytes of the body, so the service cannot have them all. */
  #bodyWasHandedOver(): boolean {
    return this.#body === undefined || Buffer.isBuffer(this.#body) || this.#body.readableEnded;
  }

  #watchBody(body: Readable): void {
    this.#watchdog = setTimeout(() => {
      const seconds = STALLED_BODY_MS / 1000;
      if (!body.readableEnded) this.fail('timeout', t`the network took nothing for ${seconds} seconds`);
    }, STALLED_BODY_MS);
    body.on('data', () => this.#watchdog?.refresh());
    body.on('error', (error) => this.fail('body', messageOf(error), error));
  }

  #end(): void {
    this.#settled = true;
    clearTimeout(this.#watchdog);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function reasonOf(error: Error): NoAnswerReason {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connect';
  return 'reset';
}
