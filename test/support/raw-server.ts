import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export type Listening = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  /** Connections so far. */
  connections(): number;
};

/** Has it listen on a port of its own; all connections are cut when it is disposed of. */
export async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () => sockets.size,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

/**
 * A server that writes to the wire what it likes, which no HTTP library would. `answer` is called
 * for each request of which the head came whole and the announced body too; `nth` counts them from
 * 0.
 * @param onBytes told all that comes, as it comes
 */
export async function startRawServer(
  answer: (socket: Socket, nth: number, head: string) => void,
  onBytes: (bytes: Buffer) => void = () => {},
): Promise<Listening> {
  let requests = 0;
  const server = createServer((socket) => {
    let waiting = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      onBytes(chunk);
      waiting = Buffer.concat([waiting, chunk]);
      for (let end = endOfRequest(waiting); end !== undefined; end = endOfRequest(waiting)) {
        const head = waiting.subarray(0, waiting.indexOf('\r\n\r\n')).toString('latin1');
        waiting = waiting.subarray(end);
        answer(socket, requests++, head);
      }
    });
  });
  return listen(server);
}

function endOfRequest(bytes: Buffer): number | undefined {
  const endOfHead = bytes.indexOf('\r\n\r\n');
  if (endOfHead < 0) return undefined;
  const length =
    /^content-length: *(\d+)/im.exec(bytes.subarray(0, endOfHead).toString('latin1'))?.[1] ?? '0';
  const end = endOfHead + 4 + Number(length);
  return bytes.length < end ? undefined : end;
}

/** An answer as it goes over the wire. */
export function rawAnswer(
  status: number,
  body = '',
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([k, v]) => `${k}: ${v}\r\n`);
  return `HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n${body}`;
}
