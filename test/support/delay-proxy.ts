import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type DelayProxy = AsyncDisposable & { readonly url: string };

/** Milliseconds that what passes at this moment is under way. */
export type DelayModel = () => number;

/**
 * A link in front of a server: all that passes is delayed, each way by a model of its own, and in order within each
 * connection, as TCP delivers it.
 */
export async function startDelayProxy(target: string, makeDelay: () => DelayModel): Promise<DelayProxy> {
  const { hostname, port } = new URL(target);
  const [there, back] = [makeDelay(), makeDelay()];
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
    }
    relay(client, service, there);
    relay(service, client, back);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function relay(from: Socket, to: Socket, delay: DelayModel): void {
  let lastAt = 0;
  const later = (work: () => void): void => {
    lastAt = Math.max(lastAt, performance.now() + delay());
    setTimeout(work, lastAt - performance.now());
  };
  from.on('data', (chunk) => later(() => to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('close', () => later(() => to.destroy()));
}

export type Jitter = { readonly baseMs: number; readonly spreadMs: number };

/** Every chunk draws its delay anew, knowing nothing of the one before: harsher than any queue. */
export function independentJitter({ baseMs, spreadMs }: Jitter, random: () => number): DelayModel {
  return () => baseMs + spreadMs * (2 * random() - 1);
}

/**
 * A delay that wanders within the spread, as queues fill and drain: in 100 ms it moves by `stepMs` in root mean square,
 * and turns round at the bounds.
 */
export function wanderingJitter({ baseMs, spreadMs }: Jitter, stepMs: number, random: () => number): DelayModel {
  const TICK_MS = 10;
  const tickStepMs = stepMs * Math.sqrt((3 * TICK_MS) / 100);
  let offsetMs = spreadMs * (2 * random() - 1);
  let walkedUntilMs = performance.now();
  return () => {
    for (; walkedUntilMs < performance.now(); walkedUntilMs += TICK_MS) {
      offsetMs += tickStepMs * (2 * random() - 1);
      if (Math.abs(offsetMs) > spreadMs) offsetMs = 2 * spreadMs * Math.sign(offsetMs) - offsetMs;
    }
    return baseMs + offsetMs;
  };
}
