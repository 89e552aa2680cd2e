/** The mock's time. It runs with the system's, shifted, or stands still until it is moved. */
export class MockClock {
  #offsetMs = 0;
  #frozenAtMs: number | undefined;

  /** Milliseconds since 1970 UTC, with fractions. */
  now(): number {
    return this.#frozenAtMs ?? systemNow() + this.#offsetMs;
  }

  advance(ms: number): void {
    if (this.#frozenAtMs === undefined) this.#offsetMs += ms;
    else this.#frozenAtMs += ms;
  }

  set(ms: number): void {
    if (this.#frozenAtMs === undefined) this.#offsetMs = ms - systemNow();
    else this.#frozenAtMs = ms;
  }

  freeze(): void {
    this.#frozenAtMs = this.now();
  }

  unfreeze(): void {
    if (this.#frozenAtMs === undefined) return;
    this.#offsetMs = this.#frozenAtMs - systemNow();
    this.#frozenAtMs = undefined;
  }

  get frozen(): boolean {
    return this.#frozenAtMs !== undefined;
  }

  reset(): void {
    this.#offsetMs = 0;
    this.#frozenAtMs = undefined;
  }
}

function systemNow(): number {
  return performance.timeOrigin + performance.now();
}
