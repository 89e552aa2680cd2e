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
  /** Nobody knows how many others lost the shared store, too, so this is far more than the service's interval. */
  readonly fallbackIntervalMs: number;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onLost: (reason: Message) => void;
  readonly onBack: () => void;
};

/** How often a store that is lost is looked for. */
const LOOK_AGAIN_MS = 1000;

/**
 * The shared store while it answers; while it does not, a slow pace of this machine's own, and a look now and then
 * whether it is back.
 * @throws PaceStoreError when it answers at first, but refuses
 */
export async function openWithFallback(options: FallbackOptions): Promise<PaceStore & { close(): void }> {
  const { connect, local, fallbackIntervalMs, clock, random, onLost, onBack } = options;
  const closing = new AbortController();
  let shared: SharedStore | undefined;
  /** Back, but not yet told of what left meanwhile. */
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
      // Not yet; whoever departs next looks again.
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
    // Another server may stand in its place already: then nobody need leave alone.
    lookedMs = lost === undefined ? clock.monotonicMs() : Number.NEGATIVE_INFINITY;
    if (!closing.signal.aborted) onLost(thrown.message);
  };

  /** Others lost it in the same moment: who goes first is left to chance. */
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

  /** Only when nobody of this machine is leaving by the local pace, and counting from now. */
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
      // Whoever asks meanwhile must not leave by the local pace.
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
