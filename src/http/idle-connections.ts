import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, elapsedMs, type Moment, momentOf } from '../base/clock.ts';

/** An idle connection is given up early, because a create that meets the server's own idle limit would end in doubt. */
export const IDLE_MS = 2000;

/** Closes connections that lay idle while the process was paused: their own timers may not have fired yet. */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #lastUsed = new WeakMap<Socket, Moment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes the end of an answer, from which on the connection is idle. */
  noteUse(socket: Socket): void {
    this.#lastUsed.set(socket, momentOf(this.#clock));
  }

  /** Closes those that a request must not be given any more. */
  closeStale({ freeSockets }: Agent): void {
    for (const sockets of Object.values(freeSockets)) {
      // Node takes from the end and skips closed ones at the beginning only, where those stand that are idle for longest.
      const lastStale = sockets?.findLastIndex((socket) => this.#isStale(socket)) ?? -1;
      for (const socket of sockets?.slice(0, lastStale + 1) ?? []) socket.destroy();
    }
  }

  #isStale(socket: Socket): boolean {
    const since = this.#lastUsed.get(socket);
    return since !== undefined && elapsedMs(this.#clock, since) > IDLE_MS;
  }
}
