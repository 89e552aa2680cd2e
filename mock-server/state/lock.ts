import type { MockClock } from '../base/clock.ts';
import type { Settings } from './settings.ts';

/** Locks of records (A-LOCK-1). An unreleased lock expires. */
export class Locks {
  readonly #expiryMs = new Map<string, number>();
  readonly #clock: MockClock;

  constructor(clock: MockClock) {
    this.#clock = clock;
  }

  /**
   * Tries `max_retries` times, with waits.
   * @returns a function that releases the lock; undefined where it is held
   */
  async acquire(ident: string, settings: Settings): Promise<(() => void) | undefined> {
    const { retry_delay_ms, max_retries } = settings.record_lock_params;
    for (let tries = 0; tries < max_retries; tries += 1) {
      if (this.hold(ident, settings.record_lock_ttl_ms)) {
        const mine = this.#expiryMs.get(ident);
        // An expired lock may belong to another request now.
        return () => {
          if (this.#expiryMs.get(ident) === mine) this.release(ident);
        };
      }
      await this.#clock.sleep(retry_delay_ms);
    }
    return undefined;
  }

  /** Holds the lock for `ms` of the mock's time; false while another request holds it. */
  hold(ident: string, ms: number): boolean {
    if ((this.#expiryMs.get(ident) ?? 0) > this.#clock.getElapsedMs()) return false;
    this.#expiryMs.set(ident, this.#clock.getElapsedMs() + ms);
    return true;
  }

  release(ident: string): void {
    this.#expiryMs.delete(ident);
  }

  clear(): void {
    this.#expiryMs.clear();
  }
}
