import { type AddressInfo, createServer, type Socket } from 'node:net';

export type FakeRedis = AsyncDisposable & { readonly url: string };

/** Something that speaks like a Redis, and says what it likes. @param answer gets a command's words and gives the bytes of the reply */
export async function startFakeRedis(answer: (words: readonly string[]) => string): Promise<FakeRedis> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let waiting = '';
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      for (let found = firstCommand(waiting); found !== undefined; found = firstCommand(waiting)) {
        waiting = waiting.slice(found.length);
        socket.write(answer(found.words));
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

/** An array of bulk strings, once it is there as a whole. */
function firstCommand(text: string): { readonly words: string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let length = head[0].length;
  while (words.length < Number(head[1])) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(length));
    if (size === null) return undefined;
    const start = length + size[0].length;
    length = start + Number(size[1]) + 2;
    if (text.length < length) return undefined;
    words.push(text.slice(start, length - 2));
  }
  return { words, length };
}

export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
