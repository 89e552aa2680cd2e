import type { Clock } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import { type PaceStore, PaceStoreError, type PaceUpdater } from './pace-store.ts';

type SharedStore = PaceStore & { close(): void };

type FallbackOptions = {
  /** Rejects with PaceStoreError where the shared store is unavailable. */
  readonly connect: (signal: AbortSignal) => Promise<SharedStore>;
  /** Shared by the processes of this machine alone. */
  readonly local: PaceStore;
  /** Exceeds the service's interval: an unknown number of machines lost the store as well. */
  readonly fallbackIntervalMs: number;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly onLost: (reason: Message) => void;
  readonly onBack: () => void;
};

/** Interval of attempts to reconnect. */
const LOOK_AGAIN_MS = 1000;

/**
 * Opens a store that several machines share. While that does not answer, `update` uses the local
 * store with the interval `fallbackIntervalMs`, and tries to reconnect every second.
 * @throws errors of `connect`, except PaceStoreError; `update` throws errors of the local store
 */
export async function openFallbackPaceStore(options: FallbackOptions): Promise<SharedStore> {
  const store = new FallbackStore(options);
  await store.open();
  return store;
}

class FallbackStore implements SharedStore {
  readonly #options: FallbackOptions;
  readonly #closing = new AbortController();
  #shared: SharedStore | undefined;
  /** Connected again, but without the departures from the local store yet. */
  #found: SharedStore | undefined;
  /**
   * Time of the next attempt to reconnect; infinite during one, and until what it found is lost.
   */
  #lookAtMs = Number.NEGATIVE_INFINITY;
  #isAlone = false;
  #rejoining: Promise<void> | undefined;

  constructor(options: FallbackOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    try {
      this.#shared = await this.#options.connect(this.#closing.signal);
    } catch (thrown) {
      this.#markLost(undefined, thrown);
    }
  }

  async update<T>(scopes: readonly string[], change: PaceUpdater<T>): Promise<T> {
    // Concurrent calls wait, so that none departs by the local store.
    if (this.#shared === undefined) {
      this.#rejoining ??= this.#rejoin(scopes).finally(() => {
        this.#rejoining = undefined;
      });
      await this.#rejoining;
    }
    const store = this.#shared;
    if (store !== undefined) {
      try {
        return await store.update(scopes, change);
      } catch (thrown) {
        this.#markLost(store, thrown);
      }
    }
    this.#reconnect();
    await this.#useLocalStore(scopes);
    const { local, fallbackIntervalMs } = this.#options;
    return local.update(scopes, (states, nowMs) => change(states, nowMs, fallbackIntervalMs));
  }

  close(): void {
    this.#closing.abort();
    this.#shared?.close();
    this.#found?.close();
  }

  #reconnect(): void {
    const { connect, clock } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted || clock.monotonicMs() < this.#lookAtMs) return;
    this.#lookAtMs = Number.POSITIVE_INFINITY;
    connect(signal)
      .then((store) => {
        if (signal.aborted) store.close();
        else this.#found = store;
      })
      .catch(() => this.#lookAgainLater());
  }

  #lookAgainLater(): void {
    this.#lookAtMs = this.#options.clock.monotonicMs() + LOOK_AGAIN_MS;
  }

  #markLost(lost: SharedStore | undefined, thrown: unknown): void {
    if (!(thrown instanceof PaceStoreError)) throw thrown;
    if (this.#shared !== lost) return;
    lost?.close();
    this.#shared = undefined;
    this.#isAlone = false;
    // Another server may have replaced it: connects at once.
    if (lost === undefined) this.#lookAgainLater();
    else this.#lookAtMs = Number.NEGATIVE_INFINITY;
    if (!this.#closing.signal.aborted) this.#options.onLost(thrown.message);
  }

  /**
   * Delays the first local departure by a random time: other machines lost the store at the same
   * moment.
   */
  async #useLocalStore(scopes: readonly string[]): Promise<void> {
    if (this.#isAlone) return;
    this.#isAlone = true;
    const { local, random, fallbackIntervalMs } = this.#options;
    const pauseMs = random() * fallbackIntervalMs;
    await local.update(scopes, (states, nowMs) => ({
      result: undefined,
      next: states.map((state) => ({
        ...state,
        lastDepartureMs: Math.max(state.lastDepartureMs, nowMs),
        pausedUntilMs: Math.max(state.pausedUntilMs, nowMs + fallbackIntervalMs + pauseMs),
      })),
    }));
  }

  /** Returns to the shared store once no local turn is taken, and records a departure there. */
  async #rejoin(scopes: readonly string[]): Promise<void> {
    const { local, onBack } = this.#options;
    const back = this.#found;
    if (back === undefined) return;
    const quiet = await local.update(scopes, (states, nowMs) => ({
      result: states.every(({ reservedUntilMs }) => reservedUntilMs <= nowMs),
    }));
    if (!quiet) return;
    this.#found = undefined;
    try {
      await back.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((state) => ({
          ...state,
          lastDepartureMs: Math.max(state.lastDepartureMs, nowMs),
        })),
      }));
      this.#shared = back;
      onBack();
    } catch (thrown) {
      back.close();
      this.#lookAgainLater();
      if (!(thrown instanceof PaceStoreError)) throw thrown;
    }
  }
}
