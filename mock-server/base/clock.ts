import { setTimeout as delay } from 'node:timers/promises';

/** Source of time: the system, or a test. Milliseconds since 1970 UTC, with fractions. */
export type MockTime = { now(): number; sleep(ms: number): Promise<void> };

const SYSTEM_TIME: MockTime = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: async (ms) => void (await delay(ms)),
};

const TURN_MS = 1;
const LATE_TURN_MS = 3 * TURN_MS;
/** A new connection is accepted a turn before its request is read. */
const TURNS_BEFORE_READ = 3;
const WATCHED_MS = 2000;

/**
 * Measures by how much the event loop is late while it computes or has no processor; only while
 * requests arrive.
 */
class LoopWatch {
  #timer: NodeJS.Timeout | undefined;
  #turnMs = 0;
  #onTimeMs = 0;
  #onTimeCount = 0;
  #askedMs = 0;

  /**
   * Returns by how many milliseconds a request that is read now may have arrived earlier, by a turn
   * of the event loop.
   */
  measureLatenessMs(): number {
    const nowMs = performance.now();
    this.#askedMs = nowMs;
    if (this.#timer === undefined) {
      this.#onTimeMs = nowMs;
      this.#turnMs = nowMs;
      this.#timer = setInterval(() => this.#turn(performance.now()), TURN_MS).unref();
    }
    const lateMs = nowMs - this.#onTimeMs;
    return lateMs > LATE_TURN_MS ? lateMs : 0;
  }

  #turn(nowMs: number): void {
    this.#onTimeCount = nowMs - this.#turnMs <= LATE_TURN_MS ? this.#onTimeCount + 1 : 0;
    if (this.#onTimeCount >= TURNS_BEFORE_READ) this.#onTimeMs = nowMs;
    this.#turnMs = nowMs;
    if (nowMs - this.#askedMs < WATCHED_MS) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Clock of the mock: the system's time with an offset, or a fixed time. */
export class MockClock {
  readonly #time: MockTime;
  #offsetMs = 0;
  #frozenAtMs: number | undefined;
  /** Total time by which the clock was set back. */
  #backMs = 0;
  readonly #loop = new LoopWatch();

  constructor(time: MockTime = SYSTEM_TIME) {
    this.#time = time;
  }

  /** Milliseconds since 1970 UTC, with fractions. */
  now(): number {
    return this.#frozenAtMs ?? this.#time.now() + this.#offsetMs;
  }

  /**
   * Returns milliseconds that never decrease: they follow the clock forwards, and stay where it is
   * set back.
   */
  getElapsedMs(): number {
    return this.now() + this.#backMs;
  }

  /** Returns the milliseconds by which a request that is read now may have arrived earlier. */
  measureLatenessMs(): number {
    return this.#time === SYSTEM_TIME && !this.frozen ? this.#loop.measureLatenessMs() : 0;
  }

  /** Sleeps in real time, independent of this clock. */
  sleep(ms: number): Promise<void> {
    return this.#time.sleep(ms);
  }

  advance(ms: number): void {
    this.#backMs += Math.max(0, -ms);
    if (this.#frozenAtMs === undefined) this.#offsetMs += ms;
    else this.#frozenAtMs += ms;
  }

  set(ms: number): void {
    this.#backMs += Math.max(0, this.now() - ms);
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

  get frozen(): boolean {
    return this.#frozenAtMs !== undefined;
  }

  reset(): void {
    this.set(this.#time.now());
    this.#offsetMs = 0;
    this.#frozenAtMs = undefined;
  }
}
