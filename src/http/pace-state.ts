/** One scope's share of the pace, kept where everybody who shares the scope can see it. Times are the store's. */
export type PaceState = {
  /** When the last request of this scope left. */
  readonly lastDepartureMs: number;
  /** Somebody took the slot and has not said yet that the request is out; nobody else leaves before this. */
  readonly leavingUntilMs: number;
  /** No request of this scope leaves before. */
  readonly blockedUntilMs: number;
  /** Until when the service asked for that, where it is longer than anybody pauses unasked; or 0. */
  readonly askedUntilMs: number;
  /** Room for the network's jitter, as learnt from the service's throttling; as of the last departure. */
  readonly jitterMs: number;
  /** Room for a service that is slow to wake, after a while without requests. */
  readonly wakingMs: number;
};

export const UNSEEN: PaceState = {
  lastDepartureMs: 0,
  leavingUntilMs: 0,
  blockedUntilMs: 0,
  askedUntilMs: 0,
  jitterMs: 0,
  wakingMs: 0,
};

export type Pause = {
  /** For how long everybody still pauses; 0 where nobody does. */
  readonly keptMs: number;
  /** For how long the service still wants that, where it is longer than anybody pauses unasked; or 0. */
  readonly askedMs: number;
};

/** `next` is left out where nothing is to be written. */
type PaceChange<T> = { readonly result: T; readonly next?: readonly PaceState[] };

/** Where the pace is kept: a file for the processes of a machine, Redis for several machines. */
export type PaceStore = {
  /**
   * Reads all scopes, lets `change` decide, and writes, as one step that nobody else can come between. `change` may be
   * called again when somebody did come first, and must do nothing but compute. `nowMs` is the time on the clock that
   * all who share this store share. `minIntervalMs` is what the store itself asks for, where it stands in for another.
   */
  update<T>(scopes: readonly string[], change: PaceDecision<T>): Promise<T>;
};

type PaceDecision<T> = (states: readonly PaceState[], nowMs: number, minIntervalMs?: number) => PaceChange<T>;

/**
 * Room for what the server's own scheduling does to a gap of exactly the interval. Measured against the mock over
 * loopback: 2.5 ms keep every arrival at 100 ms or more.
 */
export const GUARD_MS = 2.5;
/** Connecting may take a while. Who takes longer than this is taken for dead, and does not leave any more. */
export const MAX_DEPARTING_MS = 3000;
/** When to look whether somebody has left: at once, and less often the longer it takes. */
const FIRST_LOOK_AGAIN_MS = 2;
const MAX_POLL_MS = 50;
const LOOKS_PER_DOUBLING = 8;
/** Up at once, to this at first and then to twice as much; down by half in 42 s (docs/decisions/0005-own-pace.md). */
const FIRST_JITTER_MS = 10;
const JITTER_DECAY_MS = 60_000;
const MAX_JITTER_INTERVALS = 20;
const MAX_HEADROOM_MS = 60_000;
/** A service that was left alone for a while wakes unevenly, so the first gaps are wider: 0.1 s in all. */
const IDLE_MS = 10_000;
const WAKING_MS = 15;
const WAKING_RECOVERY = 0.15;

export function gapMs(state: PaceState, intervalMs: number): number {
  return intervalMs === 0 ? 0 : intervalMs + GUARD_MS + state.jitterMs + state.wakingMs;
}

export function pollIntervalMs(leavingUntilMs: number, nowMs: number): number {
  const sinceMs = nowMs - (leavingUntilMs - MAX_DEPARTING_MS);
  return Math.min(Math.max(FIRST_LOOK_AGAIN_MS, sinceMs / LOOKS_PER_DOUBLING), MAX_POLL_MS, leavingUntilMs - nowMs);
}

export function withReservation(state: PaceState, nowMs: number, leavingUntilMs: number): PaceState {
  const sinceMs = nowMs - state.lastDepartureMs;
  return {
    ...state,
    lastDepartureMs: nowMs,
    leavingUntilMs,
    jitterMs: orNothing(state.jitterMs * Math.exp(-sinceMs / JITTER_DECAY_MS)),
    wakingMs: sinceMs > IDLE_MS ? WAKING_MS : orNothing(state.wakingMs * (1 - WAKING_RECOVERY)),
  };
}

type Throttle = { readonly departedAtMs: number; readonly nowMs: number; readonly pauseMs: number; readonly intervalMs: number };

export function withBackoff(state: PaceState, throttle: Throttle): PaceState {
  const { nowMs, pauseMs } = throttle;
  // What left before the last slow-down tells nothing new about the pace since.
  const known = throttle.departedAtMs < state.blockedUntilMs;
  const widerMs = Math.min(Math.max(state.jitterMs * 2, FIRST_JITTER_MS), throttle.intervalMs * MAX_JITTER_INTERVALS);
  return {
    ...state,
    jitterMs: known ? state.jitterMs : widerMs,
    blockedUntilMs: Math.max(state.blockedUntilMs, nowMs + Math.min(pauseMs, MAX_PAUSE_MS)),
    askedUntilMs: pauseMs > MAX_PAUSE_MS ? nowMs + Math.min(pauseMs, MAX_KEPT_PAUSE_MS) : state.askedUntilMs,
  };
}

function orNothing(ms: number): number {
  return ms < 0.5 ? 0 : ms;
}

/** Nobody pauses for longer without asking again: a service that asks for more may mean it, or have slipped by some zeros. */
export const MAX_PAUSE_MS = 3_600_000;
/** Nor for longer than this where a person has said that the service means it. */
export const MAX_KEPT_PAUSE_MS = 24 * 3_600_000;

/**
 * A clock that was set back, or began anew with its machine, finds times ahead of itself. They mean nothing but that
 * somebody may have left just now. What no pas would write holds nobody up for longer than a pas would.
 */
export function clampToNow(state: PaceState, nowMs: number): PaceState {
  const past =
    state.lastDepartureMs > nowMs
      ? { ...state, lastDepartureMs: nowMs, leavingUntilMs: 0, blockedUntilMs: 0, askedUntilMs: 0 }
      : state;
  const askedUntilMs = past.askedUntilMs > nowMs && past.askedUntilMs <= nowMs + MAX_KEPT_PAUSE_MS ? past.askedUntilMs : 0;
  return {
    lastDepartureMs: past.lastDepartureMs,
    leavingUntilMs: Math.min(past.leavingUntilMs, nowMs + MAX_PAUSE_MS),
    blockedUntilMs: Math.min(past.blockedUntilMs, Math.max(nowMs + MAX_PAUSE_MS, askedUntilMs)),
    askedUntilMs,
    jitterMs: Math.min(past.jitterMs, MAX_HEADROOM_MS),
    wakingMs: Math.min(past.wakingMs, WAKING_MS),
  };
}
