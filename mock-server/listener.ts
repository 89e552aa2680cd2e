import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getErrorMessage } from './base/error-message.ts';
import { spellHeaders } from './base/http-message.ts';
import { makeHtmlPage } from './base/problem.ts';
import type { MockServerOptions } from './state/options.ts';

/** Timeouts of the proxies and the application server before the service (A-WIRE-3). */
const TIMEOUTS = { requestTimeout: 600_000, keepAliveTimeout: 60_000 } as const;

type Listening = {
  readonly server: Server;
  /** Reachable address. */
  readonly origin: string;
  readonly port: number;
  /**
   * Ends the server and all connections, also those without a request or a TLS handshake, which
   * Node would wait for.
   */
  close(): Promise<void>;
};

/**
 * Listens, with TLS where a certificate is given.
 * @throws Error where the certificate or the port cannot be used
 */
export async function startListening(options: MockServerOptions): Promise<Listening> {
  const { tlsCert, tlsKey, host = '127.0.0.1' } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Error('--tls-cert and --tls-key are given together');
  const isSecure = tlsCert !== undefined && tlsKey !== undefined;
  const server = isSecure ? createSecureServer(tlsCert, tlsKey) : createServer(TIMEOUTS);
  answerMalformed(server);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  return {
    server,
    origin: `${isSecure ? 'https' : 'http'}://${toReachableHost(host)}:${port}`,
    port,
    close,
  };
}

/**
 * Answers bytes that are no request with a page, as a proxy does. Behind a body that is longer than
 * its head declares, the answer to the request itself goes first.
 */
function answerMalformed(server: Server): void {
  const newest = new WeakMap<Duplex, readonly [IncomingMessage, ServerResponse]>();
  const remember = (message: IncomingMessage, response: ServerResponse): void =>
    void newest.set(message.socket, [message, response]);
  server.on('request', remember);
  server.on('checkContinue', remember);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const [message, response] = newest.get(socket) ?? [];
    const isUnfinished = response !== undefined && !response.writableFinished;
    const refuse = (): void => {
      const page = makeRawPage(error.code);
      if (socket.writable) socket.end(page, () => socket.destroy());
      else socket.destroy();
    };
    if (isUnfinished && message?.complete === true) response.once('close', refuse);
    else if (isUnfinished && response.headersSent) socket.destroy();
    else refuse();
  });
}

const REFUSALS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
};

function makeRawPage(code = ''): string {
  const [status, title] = REFUSALS[code] ?? [400, 'Bad Request'];
  const { headers, body } = makeHtmlPage(status, title);
  const lines = Object.entries(
    spellHeaders({ ...headers, 'content-length': body.length, connection: 'close' }),
  );
  return `HTTP/1.1 ${status} ${title}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${String(body)}`;
}

function createSecureServer(certFile: string, keyFile: string): Server {
  const [cert, key] = [certFile, keyFile].map((file) => {
    try {
      return readFileSync(file);
    } catch (thrown) {
      throw new Error(`${file} cannot be read: ${getErrorMessage(thrown)}`, { cause: thrown });
    }
  });
  try {
    return createTlsServer({ ...TIMEOUTS, cert, key });
  } catch (thrown) {
    throw new Error(
      `the certificate ${certFile} cannot be used with ${keyFile}: ${getErrorMessage(thrown)}`,
      { cause: thrown },
    );
  }
}

/** Returns a reachable address, also where the server listens on all of them. */
function toReachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function isTaken(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'EADDRINUSE';
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (thrown: Error): void =>
      reject(isTaken(thrown) ? new Error(`${thrown.message}; --port 0 takes a free one`) : thrown);
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}
