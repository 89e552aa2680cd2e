import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isInList, toPlainAddress } from './base/address-list.ts';
import { type Addresses, CONTROL_PATH, getAddressesAt, makeAddresses } from './base/addresses.ts';
import { getErrorMessage, isStorageFailure } from './base/error-message.ts';
import { BodySample, type Exchange, makeExchange, maskExchange } from './base/exchange.ts';
import {
  type Answer,
  ClientDisconnected,
  ControlRefusal,
  HttpError,
  type Incoming,
  onDisconnect,
  parseTarget,
  spellHeaders,
} from './base/http-message.ts';
import { createWording } from './base/messages.ts';
import { makeDetailAnswer, makeHtmlPage, makeJsonAnswer } from './base/problem.ts';
import { startListening } from './listener.ts';
import { routeRequest } from './router.ts';
import { type SentAnswer, SimulatedDisconnect } from './rules/run-under-fault.ts';
import { findClientAddress } from './state/access.ts';
import { createMock } from './state/create-mock.ts';
import type { Mock } from './state/mock.ts';
import { type MockServerOptions, readMockServerOptions } from './state/options.ts';
import { loadSeed } from './state/seed/load-seed.ts';
import { Tenants } from './state/tenants.ts';

export {
  addMockServerOptions,
  type MockServerOptions,
  parseMockServerOptions,
} from './state/options.ts';
export type { FaultRule } from './state/parse-fault-rules.ts';

/**
 * A running server, with its addresses as `--json` prints them; `close` ends it and its tenants.
 */
export type MockServer = AsyncDisposable & {
  readonly base_url: string;
  readonly oai_base: string;
  readonly schema_base: string;
  readonly control_url: string;
  /** Port on which it listens, which its addresses may not show. */
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
};

/** Time in milliseconds for which an answered client may continue to send an unread body. */
const LINGER_MS = 5_000;

/**
 * Starts a mock server; it accepts connections when the promise resolves. Servers in one process
 * share nothing.
 * @throws SeedError, ShapeError, or an error of the data file or the port, each with a readable
 * reason
 */
export async function startMockServer(givenOptions: MockServerOptions = {}): Promise<MockServer> {
  const options = readMockServerOptions(givenOptions, 'options');
  const { server, origin, port, close: closeListener } = await startListening(options);
  const addresses = makeAddresses(origin, options);
  const tenants: NonNullable<Mock['tenants']> = new Tenants(async (mount, tenantOptions) => {
    // Each tenant has its own data and faults.
    const { data: _data, faults: _faults, records: _records, ...shared } = options;
    const content =
      tenantOptions.seed === undefined ? mock.seed : await loadSeed(tenantOptions.seed);
    return createMock({ ...shared, ...tenantOptions }, makeAddresses(origin, options, mount), {
      schemas: mock.schemas,
      seed: content,
    });
  });
  const ready = createMock(options, addresses, { tenants });
  // A client that connects before the seed is loaded waits for it.
  const take = (message: IncomingMessage, response: ServerResponse): void => {
    ready
      .then((started) => serve(started, message, response))
      .catch(() => message.socket.destroy());
  };
  server.on('request', take);
  // A client that waits for `100 Continue` is checked by the head first (RFC 9110, section 10.1.1).
  server.on('checkContinue', take);
  const mock = await ready.catch((thrown: unknown) => {
    void closeListener();
    throw thrown;
  });
  // Compiling the schema and reading the areas take longest. Both are prepared before the first
  // import, so that no request is delayed.
  const warmUp = setTimeout(() => {
    mock.areas.findPlacement([0, 0]);
    void mock.schemas.warmUp('2.2').catch(() => {});
  }, 50);
  warmUp.unref();
  const close = async (): Promise<void> => {
    clearTimeout(warmUp);
    await closeListener();
    mock.dispose();
  };
  return {
    base_url: addresses.baseUrl,
    oai_base: addresses.oaiBase,
    schema_base: addresses.schemaBase,
    control_url: addresses.controlUrl,
    port,
    pid: process.pid,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Answers a request over any transport. */
export async function serve(
  server: Mock,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestTarget = parseTarget(message.url ?? '/');
  let mock = server;
  let target = requestTarget.target;
  let refusal: Answer | undefined;
  try {
    const tenant = server.tenants?.findTenant(target);
    mock = tenant?.mock ?? server;
    target = tenant?.target ?? target;
  } catch (thrown) {
    if (!(thrown instanceof ControlRefusal)) throw thrown;
    refusal = makeJsonAnswer(thrown.status, { error: thrown.message });
  }
  const startedMs = performance.now();
  const incoming = makeIncoming(mock, message, response, {
    target,
    authority: requestTarget.authority,
    sample: new BodySample(),
  });
  if (refusal !== undefined) return send(mock, incoming, response, refusal);
  if (mock.resetting !== undefined) await mock.resetting;
  const { method, path, address } = incoming;
  const request = { method, path: path + incoming.search, address, atMs: mock.clock.now() };
  const entry = mock.journal.open(request, !path.startsWith(CONTROL_PATH));
  let answer: SentAnswer | undefined;
  try {
    answer =
      makePreflightAnswer(mock.cors, incoming) ??
      (await routeRequest(mock, incoming, entry).catch(toAnswer));
    entry.status = answer.status;
    send(mock, incoming, response, answer);
  } catch (thrown) {
    if (thrown instanceof SimulatedDisconnect) {
      entry.status = 0;
      if (thrown.kind === 'reset') reset(message.socket);
    } else if (thrown instanceof ClientDisconnected || !mock.database.open) {
      // No client is left to answer: it disconnected, or this server was closed under a slow
      // request.
      entry.status = 0;
      response.destroy();
    } else {
      entry.status = 500;
      const isFull = isStorageFailure(thrown);
      process.stderr.write(
        `mock server: ${!isFull && thrown instanceof Error ? thrown.stack : getErrorMessage(thrown)}\n`,
      );
      answer = isFull
        ? makeUnstored(mock, incoming, getErrorMessage(thrown))
        : makeHtmlPage(500, 'Server Error');
      send(mock, incoming, response, answer);
    }
  }
  const outcome = {
    rules: incoming.reported,
    change: incoming.change ?? null,
    ms: performance.now() - startedMs,
  };
  const takeExchange = (): Exchange => {
    const whole = makeExchange(incoming, answer);
    return isSecret(path) ? maskExchange(whole) : whole;
  };
  // A request refused by its head is in the journal with its body, too.
  const isThere = entry.status === 0 || isReadToItsEnd(message) || !incoming.isInvited();
  mock.journal.close(entry, outcome, takeExchange, isThere ? undefined : waitForEndOfBody(message));
}

function isReadToItsEnd({
  complete,
  readableEnded,
  readableLength,
  destroyed,
}: IncomingMessage): boolean {
  return readableEnded || destroyed || (complete && readableLength === 0);
}

/** Resolves when a body has ended, or its client has disconnected. */
function waitForEndOfBody(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = message;
    const settle = (): void => {
      socket.off('close', settle);
      resolve();
    };
    message.once('end', settle);
    // Node does not report a closed connection to a message whose answer was sent.
    socket.once('close', settle);
    onDisconnect(message, settle);
  });
}

/** Makes the answer where the disk failed to store the result of a request. */
function makeUnstored(mock: Mock, incoming: Incoming, reason: string): Answer {
  if (incoming.path.startsWith(CONTROL_PATH))
    return makeJsonAnswer(500, { error: `nothing was stored: ${reason}` });
  if (!incoming.path.startsWith('/api/')) return makeHtmlPage(500, 'Server Error');
  return makeDetailAnswer(500, createWording(incoming, mock.seedNumber)('storage-failed'));
}

/** Resets a connection; one under TLS can only be closed. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Tells if a path handles passwords or tokens. */
function isSecret(path: string): boolean {
  return path.startsWith('/api/token-auth');
}

/** Returns the answer in an exception; other errors are rethrown. */
function toAnswer(thrown: unknown): Answer {
  if (thrown instanceof HttpError) return thrown.answer;
  throw thrown;
}

type RequestDetails = {
  readonly sample: BodySample;
  readonly target: string;
  readonly authority: string | undefined;
};

function makeIncoming(
  mock: Mock,
  message: IncomingMessage,
  response: ServerResponse,
  { target, authority, sample }: RequestDetails,
): Incoming {
  const arrivedAtMs = mock.clock.getElapsedMs();
  let isInvited = message.headers.expect?.toLowerCase() !== '100-continue';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? '' : target.slice(mark);
  const forwarded = message.headers['x-forwarded-for'];
  return {
    method: message.method ?? 'GET',
    path,
    search,
    query: new URLSearchParams(search),
    headers: message.headers,
    address: findClientAddress(
      message.socket.remoteAddress ?? '',
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      mock.access.trustedProxies,
    ),
    addresses: getAddressesUsed(mock, message, authority),
    arrivedAtMs,
    lateMs: mock.clock.measureLatenessMs(),
    message,
    sample,
    isInvited: () => isInvited,
    inviteBody: () => {
      if (!isInvited) response.writeContinue();
      isInvited = true;
    },
    reported: [],
  };
}

/**
 * Returns the addresses by the target's authority (RFC 9112, 3.2.2), else by `Host`, or as a
 * trusted proxy reports.
 */
function getAddressesUsed(
  mock: Mock,
  { headers, socket }: IncomingMessage,
  authority: string | undefined,
): Addresses {
  const isProxied = isInList(
    mock.access.trustedProxies,
    toPlainAddress(socket.remoteAddress ?? ''),
  );
  const getReported = (name: 'x-forwarded-host' | 'x-forwarded-proto'): string | undefined =>
    isProxied
      ? String(headers[name] ?? '')
          .split(',')[0]
          ?.trim() || undefined
      : undefined;
  const host = getReported('x-forwarded-host') ?? authority ?? headers.host ?? '';
  return getAddressesAt(mock.addresses, {
    host,
    protocol: `${getReported('x-forwarded-proto') ?? ''}:`,
  });
}

function send(mock: Mock, incoming: Incoming, response: ServerResponse, answer: SentAnswer): void {
  const { message, sample } = incoming;
  const isWaiting = !incoming.isInvited();
  const body = Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body, 'utf8');
  const cors = makeCorsHeaders(mock.cors, incoming);
  const vary = [cors['vary'], answer.headers['vary']]
    .filter((name) => name !== undefined)
    .join(', ');
  const spelled = spellHeaders({
    date: new Date(mock.clock.now()).toUTCString(),
    // Shows clients that this is no real service (RFC 9110, section 10.2.4).
    server: 'pas-mock-server',
    ...cors,
    ...answer.headers,
    'content-length': body.length,
  });
  if (vary !== '') spelled['Vary'] = vary;
  // The client may or may not send the body for which it waits, so the connection cannot be reused.
  if (isWaiting) spelled['Connection'] = 'close';
  response.writeHead(answer.status, spelled);
  if (!isWaiting && !isReadToItsEnd(message)) sample.follow(message);
  if (!message.complete) {
    message.resume();
    setTimeout(() => {
      if (!message.complete) message.socket.destroy();
    }, LINGER_MS).unref();
  }
  if (answer.truncated === true)
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => message.socket.destroy());
  else if (message.method === 'HEAD') response.end();
  else response.end(body);
}

/** Response headers beside the CORS-safelisted ones (Fetch standard). */
const EXPOSED = 'Location, X-Record-ID, Retry-After, WWW-Authenticate, Date';
const METHODS = 'GET, HEAD, POST, PATCH';

/**
 * Makes the headers that allow a page of another origin to read an answer; never for the control
 * interface.
 * @param allowed origins, separated by commas, or `*`
 */
export function makeCorsHeaders(
  allowed: string | undefined,
  { headers, path }: Incoming,
): Readonly<Record<string, string>> {
  const { origin } = headers;
  if (allowed === undefined || origin === undefined || path.startsWith(CONTROL_PATH)) return {};
  const isAny = allowed === '*';
  if (!isAny && !allowed.split(',').includes(origin)) return {};
  const named: Record<string, string> = isAny
    ? { 'access-control-allow-origin': '*' }
    : { 'access-control-allow-origin': origin, vary: 'Origin' };
  return { ...named, 'access-control-expose-headers': EXPOSED };
}

/** Makes the answer to a CORS preflight request; undefined for any other request. */
export function makePreflightAnswer(
  allowed: string | undefined,
  incoming: Incoming,
): Answer | undefined {
  const { method, headers } = incoming;
  const isPreflight =
    method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!isPreflight || Object.keys(makeCorsHeaders(allowed, incoming)).length === 0)
    return undefined;
  const requestTarget = headers['access-control-request-headers'];
  return {
    status: 200,
    headers: {
      'access-control-allow-methods': METHODS,
      ...(requestTarget === undefined ? {} : { 'access-control-allow-headers': requestTarget }),
      'access-control-max-age': '600',
    },
    body: '',
  };
}
