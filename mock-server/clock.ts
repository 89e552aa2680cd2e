import { setTimeout as delay } from 'node:timers/promises';

/** Where time comes from: the system, or whoever plays it. Milliseconds since 1970 UTC, with fractions. */
export type MockTime = { now(): number; sleep(ms: number): Promise<void> };

const SYSTEM_TIME: MockTime = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: async (ms) => void (await delay(ms)),
};

/** How far it is from the system's, or where it stands still. */
export type ClockState = { readonly offsetMs: number; readonly frozenAtMs: number | undefined };

/** The mock's time. It runs with the system's, shifted, or stands still until it is moved. */
export class MockClock {
  readonly #time: MockTime;
  #offsetMs = 0;
  #frozenAtMs: number | undefined;

  constructor(time: MockTime = SYSTEM_TIME) {
    this.#time = time;
  }

  /** Milliseconds since 1970 UTC, with fractions. */
  now(): number {
    return this.#frozenAtMs ?? this.#time.now() + this.#offsetMs;
  }

  /** Time that really passes, however this clock is set. */
  sleep(ms: number): Promise<void> {
    return this.#time.sleep(ms);
  }

  advance(ms: number): void {
    if (this.#frozenAtMs === undefined) this.#offsetMs += ms;
    else this.#frozenAtMs += ms;
  }

  set(ms: number): void {
    if (this.#frozenAtMs === undefined) this.#offsetMs = ms - this.#time.now();
    else this.#frozenAtMs = ms;
  }

  freeze(): void {
    this.#frozenAtMs = this.now();
  }

  unfreeze(): void {
    if (this.#frozenAtMs === undefined) return;
    this.#offsetMs = this.#frozenAtMs - this.#time.now();
    this.#frozenAtMs = undefined;
  }

  state(): ClockState {
    return { offsetMs: this.#offsetMs, frozenAtMs: this.#frozenAtMs };
  }

  take({ offsetMs, frozenAtMs }: ClockState): void {
    this.#offsetMs = offsetMs;
    this.#frozenAtMs = frozenAtMs;
  }

  get frozen(): boolean {
    return this.#frozenAtMs !== undefined;
  }

  reset(): void {
    this.#offsetMs = 0;
    this.#frozenAtMs = undefined;
  }
}
