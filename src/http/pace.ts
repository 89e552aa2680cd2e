import type { Clock } from '../base/clock.ts';

/** One scope's share of the pace, kept where every process that shares the scope can see it. */
export type PaceState = {
  /** When the last request of this scope left, on the machine's monotonic clock. */
  readonly lastDepartureMs: number;
  /** No request of this scope leaves before. */
  readonly blockedUntilMs: number;
  /** What is added to the interval since the service last called the pace too fast. */
  readonly extraMs: number;
};

/** Reads all scopes, lets `change` decide, and writes, as one step that no other process can come between. */
export type PaceStore = {
  update<T>(
    scopes: readonly string[],
    change: (states: readonly PaceState[]) => { readonly result: T; readonly next?: readonly PaceState[] },
  ): T;
};

export type PaceOptions = {
  readonly store: PaceStore;
  readonly clock: Clock;
  /** `address:…` and `account:…`: both limits hold for every request (contract, "Limits"). */
  readonly scopes: readonly string[];
  readonly intervalMs: number;
};

export type Pace = {
  /** Resolves shortly before the next slot, so that what must be on disk first does not eat into it. */
  approach(signal?: AbortSignal): Promise<void>;
  /** Resolves when the request may leave, having taken the slot. Returns how long it waited. */
  depart(signal?: AbortSignal): Promise<number>;
  /** The request really left only now, after connecting: the next one counts from here. */
  departed(): void;
  /** The service refused for frequency: everybody slows down; `retryAfterMs` is what it asked for. */
  slowDown(departedAtMs: number, retryAfterMs: number | undefined): void;
  /** How long until a request could leave. */
  waitMs(): number;
};

/**
 * Room for what the network and the server's own scheduling do to a gap of exactly the interval. Measured against the
 * mock over loopback: 3 ms keep every arrival at 100 ms or more.
 */
const GUARD_MS = 3;
/** How early `approach` returns: a commit that reaches the disk takes a few milliseconds. */
const LEAD_MS = 12;
const EXTRA_AT_FIRST_MS = 5;
const MOST_EXTRA_INTERVALS = 20;
/** Each departure takes back this share of what was added. */
const RECOVERY = 0.05;
/** A service that was left alone for a while is slow to wake, unevenly, so the first gaps are a little wider. */
const IDLE_MS = 10_000;
const EXTRA_AFTER_IDLE_MS = 15;
const BACKOFF_WITHOUT_RETRY_AFTER_INTERVALS = 10;

/**
 * Spaces departures by at least the interval in every scope. A slot is taken at the moment of departure, not booked
 * ahead, so a late departure pushes the next one on instead of closing the gap behind it.
 */
export function makePace({ store, clock, scopes, intervalMs }: PaceOptions): Pace {
  const earliest = (states: readonly PaceState[]): number =>
    Math.max(...states.map((state) => Math.max(state.lastDepartureMs + gapMs(state, intervalMs), state.blockedUntilMs)));

  /** Milliseconds until the slot, or 0 when it was taken. */
  const tryDepart = (): number =>
    store.update(scopes, (found) => {
      const now = clock.monotonicMs();
      const states = found.map((state) => sinceBoot(state, now));
      const waitMs = earliest(states) - now;
      if (waitMs > 0) return { result: waitMs };
      return { result: 0, next: states.map((state) => ({ ...state, lastDepartureMs: now, extraMs: nextExtraMs(state, now) })) };
    });

  const waitMs = (): number =>
    store.update(scopes, (found) => {
      const now = clock.monotonicMs();
      return { result: Math.max(0, earliest(found.map((state) => sinceBoot(state, now))) - now) };
    });

  return {
    waitMs,
    async approach(signal) {
      for (;;) {
        const remainingMs = waitMs() - LEAD_MS;
        if (remainingMs <= 0) return;
        await clock.sleep(remainingMs, signal);
      }
    },
    async depart(signal) {
      const startedMs = clock.monotonicMs();
      for (;;) {
        const remainingMs = tryDepart();
        if (remainingMs === 0) return clock.monotonicMs() - startedMs;
        await clock.sleep(remainingMs, signal);
      }
    },
    departed() {
      store.update(scopes, (states) => {
        const now = clock.monotonicMs();
        return {
          result: undefined,
          next: states.map((state) => ({ ...state, lastDepartureMs: Math.max(state.lastDepartureMs, now) })),
        };
      });
    },
    slowDown(departedAtMs, retryAfterMs) {
      store.update(scopes, (states) => {
        const now = clock.monotonicMs();
        const pauseMs = retryAfterMs ?? intervalMs * BACKOFF_WITHOUT_RETRY_AFTER_INTERVALS;
        return {
          result: undefined,
          next: states.map((state) => ({
            ...state,
            // Requests that left before the last slow-down tell nothing new about the pace since.
            extraMs: departedAtMs < state.blockedUntilMs ? state.extraMs : slower(state, intervalMs),
            blockedUntilMs: Math.max(state.blockedUntilMs, now + pauseMs),
          })),
        };
      });
    },
  };
}

function gapMs(state: PaceState, intervalMs: number): number {
  return intervalMs === 0 ? 0 : intervalMs + GUARD_MS + state.extraMs;
}

function slower(state: PaceState, intervalMs: number): number {
  return Math.min(Math.max(state.extraMs * 2, EXTRA_AT_FIRST_MS), intervalMs * MOST_EXTRA_INTERVALS);
}

function nextExtraMs(state: PaceState, now: number): number {
  if (now - state.lastDepartureMs > IDLE_MS) return Math.max(state.extraMs, EXTRA_AFTER_IDLE_MS);
  const extraMs = state.extraMs * (1 - RECOVERY);
  return extraMs < 0.5 ? 0 : extraMs;
}

/** The monotonic clock starts anew with the machine: a time ahead of it is from before, and long past. */
function sinceBoot(state: PaceState, now: number): PaceState {
  return state.lastDepartureMs > now ? { lastDepartureMs: 0, blockedUntilMs: 0, extraMs: state.extraMs } : state;
}
