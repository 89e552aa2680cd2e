import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, elapsedMs, type Moment, momentOf } from '../base/clock.ts';

/** Maximum idle time, below that of servers: a create on a connection that the server closes would become uncertain. */
export const IDLE_MS = 2000;

/** Closes connections that were idle while the process was paused and whose timers have not fired yet. */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #lastUsed = new WeakMap<Socket, Moment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the end of an answer, from which the connection is idle. */
  noteUse(socket: Socket): void {
    this.#lastUsed.set(socket, momentOf(this.#clock));
  }

  /** Closes the free sockets that were idle for longer than IDLE_MS. */
  closeStale({ freeSockets }: Agent): void {
    for (const sockets of Object.values(freeSockets)) {
      // Node takes sockets from the end and skips closed ones only at the beginning, where the longest idle ones are.
      const lastStale = sockets?.findLastIndex((socket) => this.#isStale(socket)) ?? -1;
      for (const socket of sockets?.slice(0, lastStale + 1) ?? []) socket.destroy();
    }
  }

  #isStale(socket: Socket): boolean {
    const since = this.#lastUsed.get(socket);
    return since !== undefined && elapsedMs(this.#clock, since) > IDLE_MS;
  }
}
