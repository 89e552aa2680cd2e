import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as overHttp,
} from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import {
  type Clock,
  type Moment,
  measureElapsedMs,
  readClock,
  systemClock,
} from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { getLanguage, type Message, msg } from '../../base/message.ts';
import { getPackageVersion } from '../../base/own-files.ts';
import { Deadline } from './deadline.ts';
import {
  type AnswerHead,
  type Certificate,
  type ConnectionFacts,
  DEFAULT_ANSWER_TIMEOUT_MS,
  describeNetworkError,
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  TransportError,
  type TransportErrorReason,
} from './exchange.ts';
import {
  CONNECT_TIMEOUT_MS,
  describeProxyRefusal,
  formatProxyAddress,
  IDLE_MS,
  makeProxyError,
  type NetworkSettings,
  openRoutes,
  type Route,
} from './proxy.ts';

const DEFAULT_MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/**
 * Size from which the buffer grows to the limit at once, since each copy leaves a buffer to the
 * garbage collector.
 */
const LARGE_BYTES = 8 * 1024 * 1024;
/** Time limit of a request body without progress. */
const STALLED_BODY_MS = 60_000;

/** All connections of a process; `close` ends them, also busy ones. */
export type Connections = { readonly send: Exchange; close(): Promise<void> };

type ConnectionsOptions = {
  readonly maxConnections: number;
  readonly clock?: Clock;
  /** Default: no proxy, and the authorities that Node knows. */
  readonly network?: NetworkSettings;
};

/**
 * Opens a pool of connections, through which `send` sends each request once: redirects are answers,
 * and nothing is repeated. `send` throws TransportError where no whole answer came, and ConfigError
 * for an unusable proxy or file of certificates.
 */
export function openConnections({
  maxConnections,
  clock = systemClock,
  network = { environment: {} },
}: ConnectionsOptions): Connections {
  const routes = openRoutes({ maxConnections, clock, network });
  const idle = new IdleConnections(clock);
  return {
    send: async (request) => {
      const route = await routes.find(request.url);
      return new Promise((resolve, reject) =>
        new RequestTask(request, { resolve, reject, clock, idle, route }).start(),
      );
    },
    close: async () => routes.close(),
  };
}

function openRequest(request: HttpRequest, { agent, tls }: Route): ClientRequest {
  const target = {
    ...urlToHttpOptions(new URL(request.url)),
    auth: null,
    method: request.method,
    headers: makeHeaders(request),
    agent,
  };
  return target.protocol === 'https:' ? overHttps({ ...target, ...tls }) : overHttp(target);
}

function makeHeaders({ method, headers, body }: HttpRequest): Record<string, string> {
  const all: Record<string, string> = {
    'user-agent': `pas/${getPackageVersion()}`,
    'accept-language': getLanguage(),
    'accept-encoding': 'identity',
    ...headers,
  };
  if (body !== undefined) all['content-type'] = body.contentType;
  // Without a length, Node announces a chunked body for methods that may have one.
  if (body !== undefined || method !== 'GET')
    all['content-length'] = String(body?.lengthBytes ?? 0);
  return all;
}

type SendingOptions = {
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: TransportError) => void;
  readonly clock: Clock;
  readonly idle: IdleConnections;
  readonly route: Route;
};

/**
 * One request: it connects, departs, waits for the answer and reads it. Without a whole answer it
 * tells if the request may have arrived.
 */
class RequestTask {
  readonly #request: HttpRequest;
  readonly #body: Readable | Buffer | undefined;
  readonly #options: SendingOptions;
  readonly #answer: AnswerBody;
  readonly #deadline: Deadline;
  readonly #onAbort = () => this.#fail('aborted', msg`stopped while it was in progress`);
  #outgoing: ClientRequest | undefined;
  #socket: Socket | undefined;
  #departed = false;
  #waits = false;
  #settled = false;
  #head: AnswerHead | undefined;

  constructor(request: HttpRequest, options: SendingOptions) {
    this.#request = request;
    this.#body = request.body?.open();
    this.#options = options;
    this.#answer = new AnswerBody(request.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES);
    this.#deadline = new Deadline({
      clock: options.clock,
      getProgress: () => (this.#socket?.bytesRead ?? 0) + this.#answer.sizeBytes,
      getAnsweredBytes: () => this.#answer.sizeBytes,
    });
    // From the start, since a file can fail before there is a connection.
    if (this.#body instanceof Readable)
      this.#body.on('error', (error) => this.#fail('body', getErrorMessage(error), error));
  }

  start(): void {
    if (this.#request.signal?.aborted === true) {
      this.#fail('aborted', msg`stopped before it was sent`);
      return;
    }
    this.#request.signal?.addEventListener('abort', this.#onAbort, { once: true });
    const { idle, route } = this.#options;
    idle.closeStale(route.agent);
    try {
      this.#outgoing = openRequest(this.#request, route);
    } catch (thrown) {
      this.#fail('connect', describeNetworkError(thrown), thrown);
      return;
    }
    // Interim answers (1xx) are ignored: RFC 9110, section 15.2.
    this.#outgoing
      .on('socket', (socket) => this.#connect(socket))
      .on('response', (incoming) => this.#read(incoming))
      .on('error', (error) => this.#breakOff(describeNetworkError(error), error))
      .on('close', () => this.#head ?? this.#breakOff(msg`the connection was lost`));
  }

  #connect(socket: Socket): void {
    this.#socket = socket;
    const secure = socket instanceof TLSSocket;
    const isConnected = !socket.connecting && !(secure && socket.alpnProtocol === null);
    if (isConnected) {
      this.#depart(socket);
      return;
    }
    this.#limit(CONNECT_TIMEOUT_MS, 'connect', msg`the connection timed out`);
    socket.once(secure ? 'secureConnect' : 'connect', () => this.#depart(socket));
  }

  /** Builds the request in a corked socket, so that its bytes leave right at the turn. */
  #depart(socket: Socket): void {
    const outgoing = this.#outgoing;
    const body = this.#body;
    if (this.#settled || outgoing === undefined) return;
    this.#request.onConnection?.(getConnectionFacts(socket, this.#options.route));
    socket.cork();
    if (!(body instanceof Readable)) {
      if (body === undefined) outgoing.flushHeaders();
      else outgoing.write(body);
      if (!this.#leave(socket)) return;
      outgoing.end();
      this.#wait();
      return;
    }
    outgoing.flushHeaders();
    const seconds = STALLED_BODY_MS / 1000;
    this.#limit(
      STALLED_BODY_MS,
      'timeout',
      msg`nothing could be sent to the network for ${seconds} seconds`,
    );
    body.once('data', () => this.#leave(socket));
    body.on('data', () => this.#waits || this.#deadline.restart());
    body.once('end', () => this.#wait());
    body.pipe(outgoing);
  }

  #leave(socket: Socket): boolean {
    if (this.#settled) return false;
    this.#departed = this.#request.onDeparture?.() !== false;
    if (this.#departed) socket.uncork();
    else this.#fail('connect', msg`the connection timed out`);
    return this.#departed;
  }

  #wait(): void {
    if (this.#settled || this.#waits) return;
    this.#waits = true;
    const limitMs = this.#request.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS;
    const seconds = Math.round(limitMs / 100) / 10;
    this.#limit(limitMs, 'timeout', msg`the answer took longer than ${seconds} seconds`);
  }

  #read(incoming: IncomingMessage): void {
    const { proxy } = this.#options.route;
    if (proxy !== undefined && incoming.statusCode === 407) {
      // A proxy that wants a password has not passed the request on: RFC 9110, section 15.5.8.
      this.#departed = false;
      const error = makeProxyError(proxy, describeProxyRefusal(407));
      this.#fail('connect', error.says, error);
      return;
    }
    const headers = flatten(incoming.headers);
    this.#head = { status: incoming.statusCode ?? 0, headers };
    // An answer may arrive before the last byte of the request has left.
    this.#wait();
    // Older versions of Node use a connection until the moment at which the server closes it.
    const keptSeconds = /\btimeout=(\d+)/i.exec(headers['keep-alive'] ?? '')?.[1];
    if (this.#outgoing !== undefined && Number(keptSeconds) * 1000 <= IDLE_MS)
      this.#outgoing.shouldKeepAlive = false;
    incoming
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#finish())
      .on('error', (error) => this.#breakOff(describeNetworkError(error), error));
  }

  #take(chunk: Buffer): void {
    const { maxBytes } = this.#answer;
    if (this.#answer.sizeBytes + chunk.length <= maxBytes) this.#answer.append(chunk);
    else this.#fail('too-large', msg`the answer is larger than ${maxBytes} bytes`);
  }

  #finish(): void {
    if (this.#settled || this.#head === undefined) return;
    this.#settle();
    if (this.#socket !== undefined) this.#options.idle.recordUse(this.#socket);
    if (this.#outgoing?.writableFinished === false) this.#abort();
    this.#options.resolve({ ...this.#head, body: this.#answer.getBytes() });
  }

  #limit(limitMs: number, reason: TransportErrorReason, message: Message): void {
    this.#deadline.begin(limitMs, () => this.#fail(reason, message));
  }

  #breakOff(message: Message, cause?: unknown): void {
    this.#fail(this.#departed ? 'reset' : 'connect', message, cause);
  }

  #fail(reason: TransportErrorReason, message: Message, cause?: unknown): void {
    if (this.#settled) return;
    const mayHaveArrived = this.#departed && this.#isBodyHandedOver();
    this.#settle();
    this.#abort();
    const head = this.#head;
    this.#options.reject(new TransportError(reason, mayHaveArrived, message, { cause, head }));
  }

  /** Tells if the service can have all bytes: a stream that has not ended still has some. */
  #isBodyHandedOver(): boolean {
    return !(this.#body instanceof Readable) || this.#body.readableEnded;
  }

  #abort(): void {
    if (this.#body instanceof Readable) this.#body.destroy();
    this.#outgoing?.destroy();
  }

  #settle(): void {
    this.#settled = true;
    this.#deadline.cancel();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** A body in one growing buffer: many small chunks would take a multiple of their size. */
class AnswerBody {
  readonly maxBytes: number;
  sizeBytes = 0;
  #buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  append(chunk: Buffer): void {
    const sizeBytes = this.sizeBytes + chunk.length;
    if (sizeBytes > this.#buffer.length) {
      const grownBytes =
        sizeBytes > LARGE_BYTES ? this.maxBytes : Math.max(sizeBytes, 2 * this.sizeBytes);
      const roomier = Buffer.allocUnsafe(Math.min(grownBytes, this.maxBytes));
      this.#buffer.copy(roomier, 0, 0, this.sizeBytes);
      this.#buffer = roomier;
    }
    chunk.copy(this.#buffer, this.sizeBytes);
    this.sizeBytes = sizeBytes;
  }

  getBytes(): Buffer {
    return this.#buffer.subarray(0, this.sizeBytes);
  }
}

/** Returns the facts of a connected socket, with each certificate once, up to the authority's. */
function getConnectionFacts(socket: Socket, { proxy }: Route): ConnectionFacts {
  const { remoteAddress = '', remoteFamily = '' } = socket;
  const certificates: Certificate[] = [];
  // The last certificate is its own issuer.
  const seen = new Set<string>();
  let next = socket instanceof TLSSocket ? socket.getPeerCertificate(true) : undefined;
  while (next?.subject !== undefined && !seen.has(next.fingerprint256)) {
    seen.add(next.fingerprint256);
    const { CN, O } = next.subject;
    certificates.push({ owner: String(CN ?? O ?? ''), validUntilMs: Date.parse(next.valid_to) });
    next = next.issuerCertificate;
  }
  return {
    address: remoteAddress,
    family: remoteFamily,
    proxy: proxy && formatProxyAddress(proxy),
    certificates,
  };
}

function flatten(headers: IncomingMessage['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

/**
 * Closes connections that were idle while the process was paused and whose timers have not fired
 * yet.
 */
class IdleConnections {
  readonly #clock: Clock;
  readonly #lastUsed = new WeakMap<Socket, Moment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the end of an answer, from which the connection is idle. */
  recordUse(socket: Socket): void {
    this.#lastUsed.set(socket, readClock(this.#clock));
  }

  /** Closes the free sockets that were idle for longer than IDLE_MS. */
  closeStale({ freeSockets }: Agent): void {
    for (const sockets of Object.values(freeSockets)) {
      // Node takes sockets from the end and skips closed ones only at the beginning, where the
      // longest idle ones are.
      const lastStale = sockets?.findLastIndex((socket) => this.#isStale(socket)) ?? -1;
      for (const socket of sockets?.slice(0, lastStale + 1) ?? []) socket.destroy();
    }
  }

  #isStale(socket: Socket): boolean {
    const since = this.#lastUsed.get(socket);
    return since !== undefined && measureElapsedMs(this.#clock, since) > IDLE_MS;
  }
}
