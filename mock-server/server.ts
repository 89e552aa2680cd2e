import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientAddress } from './access.ts';
import { addressesOf, CONTROL_PATH } from './addresses.ts';
import { ControlRefusal } from './control/refusal.ts';
import { BodySample, exchangeOf, shortened } from './exchange.ts';
import { type Answer, AnswerNow, ClientGone, type Incoming } from './http-message.ts';
import { sayIn } from './messages.ts';
import type { Mock } from './mock.ts';
import { type MockServerOptions, readMockServerOptions } from './options.ts';
import { detail, htmlPage, json } from './problem.ts';
import { RECORDED_BODY_BYTES, Recording } from './recording.ts';
import { route } from './router.ts';
import { loadSeed } from './seed.ts';
import { createMock } from './state.ts';
import { Tenants } from './tenants.ts';
import { isStorageFailure, messageOf } from './thrown.ts';
import { NoAnswer, type SentAnswer } from './trouble.ts';

export type { FaultRule } from './fault-rules.ts';
export { addMockServerOptions, type MockServerOptions, parseMockServerOptions } from './options.ts';

export type MockServer = AsyncDisposable & {
  readonly base_url: string;
  readonly oai_base: string;
  readonly schema_base: string;
  readonly control_url: string;
  /** Where it listens, whatever its addresses say. */
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
};

/** As the proxies and the application server in front of the service (A-WIRE-3). */
const REQUEST_TIMEOUT_MS = 600_000;
/** How long an answered client may go on sending a body that nobody reads. */
const LINGER_MS = 5_000;

/**
 * Starts a mock server; it accepts connections when the promise resolves. Servers in one process share nothing.
 * @throws SeedError, ShapeError, or an error of the data file or the port, each with a readable reason
 */
export async function startMockServer(given: MockServerOptions = {}): Promise<MockServer> {
  const options = readMockServerOptions(given, 'options');
  const host = options.host ?? '127.0.0.1';
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: 60_000 });
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  const origin = `http://${reachable(host)}:${port}`;
  const addresses = addressesOf(origin, options);
  const tenants: NonNullable<Mock['tenants']> = new Tenants(async (mount, own) => {
    // What is stored is each one's own, and so are its faults.
    const { data: _data, faults: _faults, records: _records, ...shared } = options;
    const content = own.seed === undefined ? mock.seed : await loadSeed(own.seed);
    return createMock({ ...shared, ...own }, addressesOf(origin, options, mount), { schemas: mock.schemas, seed: content });
  });
  const recording = recordingOf(options.record, server);
  const ready = createMock(options, addresses, { tenants, recording });
  // Who connects before the seed is in waits for it.
  server.on('request', (message, response) => {
    ready.then((started) => serve(started, message, response)).catch(() => message.socket.destroy());
  });
  const mock = await ready.catch((thrown: unknown) => {
    server.close();
    server.closeAllConnections();
    recording?.close();
    throw thrown;
  });
  // Compiling the schema and reading the areas' borders take longer than anything else: both are ready before the first
  // import, so that nobody waits for them and no request that comes meanwhile is noticed late.
  const warmUp = setTimeout(() => {
    mock.areas.placementOf([0, 0]);
    void mock.schemas.warmUp('2.2').catch(() => {});
  }, 50);
  warmUp.unref();
  const close = async (): Promise<void> => {
    clearTimeout(warmUp);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
    recording?.close();
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

/** @throws Error where it cannot be made: then nothing is served either */
function recordingOf(path: string | undefined, server: Server): Recording | undefined {
  try {
    return path === undefined ? undefined : new Recording(path);
  } catch (thrown) {
    server.close();
    throw thrown;
  }
}

/** An address that one can connect to, also where the server listens on all of them. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Answers a request as the server does, over whatever it came. */
export async function serve(server: Mock, message: IncomingMessage, response: ServerResponse): Promise<void> {
  let mock = server;
  try {
    const tenant = server.tenants?.of(message.url ?? '/');
    mock = tenant?.mock ?? server;
    message.url = tenant?.target ?? message.url;
  } catch (thrown) {
    if (!(thrown instanceof ControlRefusal)) throw thrown;
    return send(server, message, response, json(thrown.status, { error: thrown.message }));
  }
  const arrivedAtMs = mock.clock.elapsed();
  const startedMs = performance.now();
  const incoming = incomingOf(mock, message, arrivedAtMs, server.recording);
  const { method, path, address } = incoming;
  const request = { method, path: path + incoming.search, address, atMs: mock.clock.now() };
  const entry = mock.journal.open(request, !path.startsWith(CONTROL_PATH));
  let answer: SentAnswer | undefined;
  try {
    answer = await route(mock, incoming, entry).catch(answerOf);
    entry.status = answer.status;
    send(mock, message, response, answer);
  } catch (thrown) {
    if (thrown instanceof NoAnswer) {
      entry.status = 0;
      if (thrown.kind === 'reset') message.socket.resetAndDestroy();
    } else if (thrown instanceof ClientGone || !mock.database.open) {
      // Nobody is there to be answered: the client left, or this server was closed under a slow request.
      entry.status = 0;
      response.destroy();
    } else {
      entry.status = 500;
      const isFull = isStorageFailure(thrown);
      process.stderr.write(`mock server: ${!isFull && thrown instanceof Error ? thrown.stack : messageOf(thrown)}\n`);
      answer = isFull ? unstored(mock, incoming, messageOf(thrown)) : htmlPage(500, 'Server Error');
      send(mock, message, response, answer);
    }
  }
  const outcome = { rules: incoming.told, change: incoming.change ?? null, ms: performance.now() - startedMs };
  mock.journal.close(entry, outcome, () => {
    const exchange = exchangeOf(incoming, answer, isSecret(path));
    server.recording?.write(mock.addresses.mount, entry, exchange);
    return shortened(exchange);
  });
}

/** The disk did not take what a request was to leave there. */
function unstored(mock: Mock, incoming: Incoming, reason: string): Answer {
  if (incoming.path.startsWith(CONTROL_PATH)) return json(500, { error: `nothing was stored: ${reason}` });
  if (!incoming.path.startsWith('/api/')) return htmlPage(500, 'Server Error');
  return detail(500, sayIn(incoming, mock.seedNumber)('storage-failed'));
}

/** Passwords go in, and tokens come out. */
function isSecret(path: string): boolean {
  return path.startsWith('/api/token-auth');
}

/** An answer that came as an exception; anything else goes on. */
function answerOf(thrown: unknown): Answer {
  if (thrown instanceof AnswerNow) return thrown.answer;
  throw thrown;
}

function incomingOf(mock: Mock, message: IncomingMessage, arrivedAtMs: number, recording: Mock['recording']): Incoming {
  const target = message.url ?? '/';
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
    address: clientAddress(
      message.socket.remoteAddress ?? '',
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      mock.access.trustedProxies,
    ),
    arrivedAtMs,
    message,
    sample: new BodySample(recording === undefined ? undefined : RECORDED_BODY_BYTES),
    told: [],
  };
}

function send(mock: Mock, message: IncomingMessage, response: ServerResponse, answer: SentAnswer): void {
  const body = Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body, 'utf8');
  response.writeHead(answer.status, {
    date: new Date(mock.clock.now()).toUTCString(),
    // RFC 9110, section 10.2.4: clients see that nothing here is real.
    server: 'pas-mock-server',
    ...answer.headers,
    'content-length': body.length,
  });
  if (!message.complete) {
    message.resume();
    setTimeout(() => {
      if (!message.complete) message.socket.destroy();
    }, LINGER_MS).unref();
  }
  if (answer.truncated === true) response.write(body.subarray(0, Math.floor(body.length / 2)), () => message.socket.destroy());
  else if (message.method === 'HEAD') response.end();
  else response.end(body);
}
