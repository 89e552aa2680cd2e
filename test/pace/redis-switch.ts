import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { RedisProcess } from './redis-process.ts';

/**
 * One address behind which the Redis is exchanged, as a failover does it, and on which its clock
 * can be set.
 */
export type RedisSwitch = AsyncDisposable & {
  readonly url: string;
  /** Connected clients lose the connection and reach the other server from then on. */
  failOver(to: RedisProcess): void;
  /** Sets its clock to this offset in seconds; connections stay. */
  setClock(aheadSeconds: number): void;
};

/** Answer with the time for pas: `TIME` as the first two parts of an answer of three. */
const TIME_IN_ANSWER = /(\*3\r\n\$10\r\n)(\d{10})(\r\n)/g;

export async function startRedisSwitch(first: RedisProcess): Promise<RedisSwitch> {
  let target = first;
  let aheadSeconds = 0;
  const open = new Set<Socket>();
  const cutAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer({ noDelay: true }, (client) => {
    const redis = connect({ host: '127.0.0.1', port: target.port, noDelay: true });
    for (const socket of [client, redis]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        for (const each of [client, redis]) each.destroy();
      });
    }
    client.pipe(redis);
    redis.on('data', (chunk: Buffer) => {
      const output = chunk
        .toString('latin1')
        .replace(
          TIME_IN_ANSWER,
          (_, head: string, seconds: string, tail: string) =>
            `${head}${Number(seconds) + aheadSeconds}${tail}`,
        );
      client.write(Buffer.from(output, 'latin1'));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}/0`,
    failOver: (to) => {
      target = to;
      cutAll();
    },
    setClock: (ahead) => {
      aheadSeconds = ahead;
    },
    [Symbol.asyncDispose]: async () => {
      cutAll();
      await new Promise((closed) => server.close(closed));
    },
  };
}
