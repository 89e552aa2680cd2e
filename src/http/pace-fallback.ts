import type { Clock } from '../base/clock.ts';
import type { Message } from '../base/message.ts';
import type { PaceStore } from './pace-state.ts';
import { PaceStoreError } from './redis-pace-store.ts';

type SharedStore = PaceStore & { close(): void };

type FallbackOptions = {
  /** @throws PaceStoreError */
  readonly connect: (signal: AbortSignal) => Promise<SharedStore>;
  /** Shared by the processes of this machine alone. */
  readonly local: PaceStore;
  /** Far more than the service's interval: an unknown number of machines lost the store as well. */
  readonly fallbackIntervalMs: number;
  readonly clock: Clock;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly onLost: (reason: Message) => void;
  readonly onBack: () => void;
};

/** Interval of attempts to reconnect. */
const LOOK_AGAIN_MS = 1000;

/**
 * Opens the shared store. While it does not answer, requests use the local store at `fallbackIntervalMs`, and it reconnects.
 * @throws PaceStoreError where the shared store refuses at first
 */
export async function openWithFallback(options: FallbackOptions): Promise<PaceStore & { close(): void }> {
  const { connect, local, fallbackIntervalMs, clock, random, onLost, onBack } = options;
  const closing = new AbortController();
  let shared: SharedStore | undefined;
  /** Connected again, but without the departures from the local store yet. */
  let found: SharedStore | undefined;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let looking = false;
  let alone = false;
  let comingBack: Promise<void> | undefined;

  const lookForIt = (): void => {
    if (looking || closing.signal.aborted || clock.monotonicMs() - lookedMs < LOOK_AGAIN_MS) return;
    looking = true;
    connect(closing.signal)
      .then((store) => {
        if (closing.signal.aborted) store.close();
        else found = store;
      })
      // The next departure tries again.
      .catch(() => undefined)
      .finally(() => {
        looking = false;
        lookedMs = clock.monotonicMs();
      });
  };

  const lose = (lost: SharedStore | undefined, thrown: unknown): void => {
    if (!(thrown instanceof PaceStoreError)) throw thrown;
    if (shared !== lost) return;
    lost?.close();
    shared = undefined;
    alone = false;
    // Another server may have replaced it: connects at once.
    lookedMs = lost === undefined ? clock.monotonicMs() : Number.NEGATIVE_INFINITY;
    if (!closing.signal.aborted) onLost(thrown.message);
  };

  /** Delays the first local departure by a random time: other machines lost the store at the same moment. */
  const goAlone = async (scopes: readonly string[]): Promise<void> => {
    if (alone) return;
    alone = true;
    const pauseMs = random() * fallbackIntervalMs;
    await local.update(scopes, (states, nowMs) => ({
      result: undefined,
      next: states.map((state) => ({
        ...state,
        lastDepartureMs: Math.max(state.lastDepartureMs, nowMs),
        blockedUntilMs: Math.max(state.blockedUntilMs, nowMs + fallbackIntervalMs + pauseMs),
      })),
    }));
  };

  /** Returns to the shared store once no local slot is taken, and records a departure there. */
  const comeBack = async (scopes: readonly string[]): Promise<void> => {
    const back = found;
    if (back === undefined) return;
    const quiet = await local.update(scopes, (states, nowMs) => ({
      result: states.every(({ leavingUntilMs }) => leavingUntilMs <= nowMs),
    }));
    if (!quiet) return;
    found = undefined;
    try {
      await back.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((state) => ({ ...state, lastDepartureMs: Math.max(state.lastDepartureMs, nowMs) })),
      }));
      shared = back;
      onBack();
    } catch (thrown) {
      back.close();
      lookedMs = clock.monotonicMs();
      if (!(thrown instanceof PaceStoreError)) throw thrown;
    }
  };

  try {
    shared = await connect(closing.signal);
  } catch (thrown) {
    if (thrown instanceof PaceStoreError && thrown.kind === 'refused') throw thrown;
    lose(undefined, thrown);
  }

  return {
    async update(scopes, change) {
      // Concurrent calls wait, so that none departs by the local store.
      if (shared === undefined) {
        comingBack ??= comeBack(scopes).finally(() => {
          comingBack = undefined;
        });
        await comingBack;
      }
      const store = shared;
      if (store !== undefined) {
        try {
          return await store.update(scopes, change);
        } catch (thrown) {
          lose(store, thrown);
        }
      }
      lookForIt();
      await goAlone(scopes);
      return local.update(scopes, (states, nowMs) => change(states, nowMs, fallbackIntervalMs));
    },
    close() {
      closing.abort();
      shared?.close();
      found?.close();
    },
  };
}
