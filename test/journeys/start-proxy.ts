import { createServer, request as overHttp, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from '../support/raw-server.ts';

/** Name that only the proxy knows; it leads to this machine. */
export const HIDDEN_HOST = 'finds.museum.test';

type ProxyOptions = {
  /** `user:password` that it wants. */
  readonly account?: string;
  readonly manner?: 'silent' | 'refusing' | 'closing' | 'no proxy';
};

export type Proxy = AsyncDisposable & {
  readonly host: string;
  /** Request lines of what it was asked for. */
  readonly asked: string[];
  /** Closes the connection of the next request that brings so many bytes, before its answer. */
  closeAfter(bytes: number): void;
};

/** Starts a proxy that forwards http and opens tunnels (RFC 9110, sections 7.6 and 9.3.6). */
export async function startProxy({ account, manner }: ProxyOptions = {}): Promise<Proxy> {
  const asked: string[] = [];
  let leftBytes = Number.POSITIVE_INFINITY;
  const wanted =
    account === undefined ? undefined : `Basic ${Buffer.from(account).toString('base64')}`;
  const forward: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
      response.writeHead(407, { 'content-type': 'text/html' }).end('<html>407</html>');
      return;
    }
    const { 'proxy-authorization': _account, 'proxy-connection': _, ...headers } = request.headers;
    const { port, pathname, search } = new URL(String(request.url));
    const target = { host: '127.0.0.1', port: port || 80, path: `${pathname}${search}` };
    const outgoing = overHttp({ ...target, method: request.method, headers }, (answer) => {
      if (leftBytes <= 0) {
        leftBytes = Number.POSITIVE_INFINITY;
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.writeHead(502).end());
    request.on('data', (chunk: Buffer) => {
      leftBytes -= chunk.length;
    });
    request.on('close', () => request.complete || outgoing.destroy());
    request.pipe(outgoing);
  };
  const server = createServer(forward).on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.on('error', () => socket.destroy());
    if (manner === 'silent') return;
    if (manner === 'no proxy') {
      socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n');
      return;
    }
    if (manner === 'closing') {
      socket.destroy();
      return;
    }
    const status = request.headers['proxy-authorization'] === wanted ? 403 : 407;
    if (manner === 'refusing' || status === 407) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      // Any 2xx opens the tunnel.
      socket.write(`HTTP/1.1 ${account === undefined ? 200 : 201} Established\r\n\r\n`);
      socket.pipe(target);
      target.pipe(socket);
    });
    target.on('error', () => socket.destroy());
    socket.on('close', () => target.destroy());
  });
  const { port, [Symbol.asyncDispose]: close } = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    asked,
    closeAfter: (bytes) => {
      leftBytes = bytes;
    },
    [Symbol.asyncDispose]: close,
  };
}
