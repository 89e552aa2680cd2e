import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Service } from '../support/run-pas.ts';

/** Something that stands between `pas` and the service. `service` has its addresses. */
export type Middle = AsyncDisposable & { readonly service: Service };

export type CutRule = {
  /** Connections of which the first request's head holds this text… */
  readonly head: string;
  /** …are dropped, both ways and without a word, after so many bytes from the client. */
  readonly afterBytes: number;
  /** Number of dropped requests; later ones pass. */
  readonly times: number;
};

/** A wire that passes bytes on, and drops some connections in the middle of a request. */
export async function startCuttingWire(
  service: Service,
  rule: CutRule,
): Promise<Middle & { cuts(): number }> {
  const target = new URL(service.base_url);
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let sentBytes = 0;
    const drop = (): void => {
      client.destroy();
      upstream.destroy();
    };
    let watched = false;
    client.on('data', (chunk: Buffer) => {
      watched ||= cuts < rule.times && chunk.includes(rule.head);
      if (watched && sentBytes + chunk.length > rule.afterBytes) {
        cuts += 1;
        upstream.write(chunk.subarray(0, Math.max(0, rule.afterBytes - sentBytes)), drop);
        client.pause();
        return;
      }
      sentBytes += watched ? chunk.length : 0;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const socket of [client, upstream]) socket.on('error', drop).on('close', drop);
  });
  return { ...(await listening(server, service)), cuts: () => cuts };
}

export type PageRule = {
  /** Requests to paths that end so… */
  readonly path: string;
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
  /** …are answered so, `passOn` saying whether the service got the request first. */
  readonly passOn: boolean;
  readonly times: number;
};

/** A proxy that gives pages of its own in place of the service's answers. */
export async function startPageProxy(service: Service, rule: PageRule): Promise<Middle> {
  let left = rule.times;
  const server = createHttpServer((incoming, outgoing) => {
    const path = new URL(incoming.url ?? '/', service.base_url).pathname;
    const spoil = left > 0 && incoming.method !== 'GET' && path.endsWith(rule.path);
    if (spoil) left -= 1;
    const page = (): void => {
      outgoing
        .writeHead(rule.status, { 'content-type': rule.contentType ?? 'text/html' })
        .end(rule.body);
    };
    if (spoil && !rule.passOn) {
      incoming.resume().on('end', page);
      return;
    }
    forward(service, incoming, outgoing, spoil ? page : undefined);
  });
  return listening(server, service);
}

function forward(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  instead: (() => void) | undefined,
): void {
  const { method, headers, url = '/' } = incoming;
  const onward = httpRequest(
    new URL(url, service.base_url),
    { ...(method === undefined ? {} : { method }), headers },
    (answer) => {
      if (instead === undefined) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      } else {
        answer.resume().on('end', instead);
      }
    },
  );
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

async function listening(server: Server, service: Service): Promise<Middle> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    // The schema's address is part of every document, so it stays the service's own.
    service: { ...service, base_url: address },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
