import {
  type Clock,
  type Moment,
  measureElapsedMs,
  readClock,
  rejectOnAbort,
} from '../../base/clock.ts';
import { LongPauseError } from './exchange.ts';
import {
  computeGapMs,
  computePollIntervalMs,
  GUARD_MS,
  limitFutureTimes,
  MAX_LEASE_MS,
  MAX_PAUSE_MS,
  type PaceState,
  type PaceStore,
  type PaceUpdater,
  withReservation,
  withThrottle,
} from './pace-store.ts';

type PaceOptions = {
  readonly store: PaceStore;
  readonly clock: Clock;
  /** `address:…` and `account:…`: both intervals hold for every request (A-RATE-1, A-RATE-2). */
  readonly scopes: readonly string[];
  readonly intervalMs: number;
};

/**
 * Permission for one departure. `depart` or `release` must be called: else the lease blocks all
 * processes until it expires.
 */
export type Turn = {
  readonly waitedMs: number;
  /**
   * To be called after connecting, just before the first byte. Blocks the process until the time of
   * the turn; the next turn counts from here. False where the lease has expired: another process
   * may be departing, so the request must not be sent.
   */
  depart(): boolean;
  /** Releases the turn of a request that was not sent. */
  release(): void;
};

/**
 * `waitUntilNear` and `acquire` throw LongPauseError for a wait of more than two minutes. All but
 * `pauseAfterThrottle` throw the errors of the store, and at once the reason of an aborted signal.
 */
export type Pace = {
  /**
   * Resolves shortly before the next turn, to leave time for writing to the disk; returns the time
   * waited.
   */
  waitUntilNear(signal?: AbortSignal): Promise<number>;
  /** Resolves just before a request may depart, so that it can connect and be built. */
  acquire(signal?: AbortSignal): Promise<Turn>;
  /**
   * As `acquire`; undefined where a pause began since `waitUntilNear`, so that the caller can
   * release its entry.
   */
  acquireSoon(signal?: AbortSignal): Promise<Turn | undefined>;
  /**
   * Slows all processes down after a 429 (A-RATE-6): for `retryAfterMs`, else ten intervals.
   * Returns the length of the pause in milliseconds, as far as it is observed; the store is written
   * without waiting, and its failure is ignored.
   */
  pauseAfterThrottle(departedAtMs: number, retryAfterMs: number | undefined): number;
  /**
   * Returns the milliseconds until gap and pause allow a request, 0 for now; a turn that another
   * process holds is not waited for.
   */
  getWaitMs(signal?: AbortSignal): Promise<number>;
  /** Returns the rest of the pause that the service asked for, in milliseconds; 0 without one. */
  readPauseMs(): Promise<number>;
};

/**
 * Minimum time before the turn at which `waitUntilNear` resolves: commits take some milliseconds,
 * and more on a busy disk.
 */
const MIN_LEAD_MS = 30;
/** Time before the turn at which it may be taken. */
const TAKING_MS = 12;
const LEAD_DECAY = 0.9;
/** Time before the turn at which `acquire` resolves; `depart` blocks for the rest. */
const HELD_MS = 2;
/** Maximum sleep before the state, which other processes change, is read again. */
const MAX_SLEEP_MS = 500;
/** Longest pause that a command waits for, before it ends with {@link LongPauseError}. */
const LONG_PAUSE_MS = 120_000;
const PAUSE_WITHOUT_RETRY_AFTER_INTERVALS = 10;

/**
 * Makes a pace of at least `intervalMs` between departures in every scope (A-RATE-3). One request
 * takes a turn, shortly before its time, so a late departure delays the next one instead of
 * shortening the gap behind it.
 */
export function makePace(options: PaceOptions): Pace {
  return new StoredPace(options);
}

class StoredPace implements Pace {
  readonly #options: PaceOptions;
  readonly #maxReservedMs: number;
  #throttles = 0;
  #leadMs = MIN_LEAD_MS;
  #nearAtMs: number | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#maxReservedMs = Math.max(MAX_LEASE_MS, 2 * options.intervalMs);
  }

  async waitUntilNear(signal?: AbortSignal): Promise<number> {
    const startedMs = this.#options.clock.monotonicMs();
    for (;;) {
      const remainingMs = (await this.getWaitMs(signal)) - this.#leadMs;
      this.#nearAtMs = this.#options.clock.monotonicMs();
      if (remainingMs <= 0) return this.#nearAtMs - startedMs;
      await this.#sleepCapped(remainingMs, signal);
    }
  }

  acquire(signal?: AbortSignal): Promise<Turn> {
    // Without a limit, a turn is always found.
    return this.#acquireWithin(Number.POSITIVE_INFINITY, signal) as Promise<Turn>;
  }

  acquireSoon(signal?: AbortSignal): Promise<Turn | undefined> {
    return this.#acquireWithin(Math.max(MAX_SLEEP_MS, 2 * this.#options.intervalMs), signal);
  }

  async #acquireWithin(maxWaitMs: number, signal?: AbortSignal): Promise<Turn | undefined> {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    this.#learnLead(startedMs);
    for (;;) {
      const since = readClock(clock);
      const throttlesBefore = this.#throttles;
      const outcome = await rejectOnAbort(
        signal,
        () => this.#tryDepart(),
        (late) => 'mark' in late && this.#release(late.mark),
      );
      if ('pollIntervalMs' in outcome) {
        if (outcome.pollIntervalMs > maxWaitMs) return undefined;
        await this.#sleepCapped(outcome.pollIntervalMs, signal);
        continue;
      }
      const turn = this.#makeTurn(outcome, since, outcome.atMs - startedMs);
      const earlyMs = outcome.atMs - HELD_MS - clock.monotonicMs();
      try {
        if (earlyMs > 0) await clock.sleep(earlyMs, signal);
      } catch (thrown) {
        turn.release();
        throw thrown;
      }
      if (this.#throttles === throttlesBefore) return turn;
      turn.release();
    }
  }

  pauseAfterThrottle(departedAtMs: number, retryAfterMs: number | undefined): number {
    const { store, clock, scopes, intervalMs } = this.#options;
    this.#throttles += 1;
    const pauseMs = retryAfterMs ?? intervalMs * PAUSE_WITHOUT_RETRY_AFTER_INTERVALS;
    const agoMs = clock.monotonicMs() - departedAtMs;
    ignoreFailure(
      store.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((state) =>
          withThrottle(state, { departedAtMs: nowMs - agoMs, nowMs, pauseMs, intervalMs }),
        ),
      })),
    );
    return Math.min(pauseMs, MAX_PAUSE_MS);
  }

  getWaitMs(signal?: AbortSignal): Promise<number> {
    return rejectOnAbort(signal, () =>
      this.#update((states, nowMs, minIntervalMs) => ({
        result: this.#waitIn(states, nowMs, minIntervalMs),
      })),
    );
  }

  readPauseMs(): Promise<number> {
    return this.#update((states, nowMs) => ({
      result: Math.max(0, ...states.map(({ pausedUntilMs }) => pausedUntilMs - nowMs)),
    }));
  }

  #update<T>(change: PaceUpdater<T>): Promise<T> {
    const { store, scopes } = this.#options;
    return store.update<T>(scopes, (storedStates, nowMs, minIntervalMs) =>
      change(
        storedStates.map((state) => limitFutureTimes(state, nowMs)),
        nowMs,
        minIntervalMs,
      ),
    );
  }

  #waitIn(states: readonly PaceState[], nowMs: number, minIntervalMs = 0): number {
    const { intervalMs } = this.#options;
    const spacingMs = intervalMs === 0 ? 0 : Math.max(intervalMs, minIntervalMs);
    const freeAt = states.map((state) =>
      Math.max(state.lastDepartureMs + computeGapMs(state, spacingMs), state.pausedUntilMs),
    );
    return ceilToHundredth(Math.max(0, Math.max(...freeAt) - nowMs));
  }

  /**
   * Takes the turn if it is near and free, else returns when to look again:
   *
   * ```text
   * last departure   TAKING_MS before   HELD_MS before         time of the turn
   *        |--- look again ---|----- sleep -----|-- connect, block --|
   *                      turn taken      acquire resolves         depart
   * ```
   */
  #tryDepart(): Promise<Reservation | { readonly pollIntervalMs: number }> {
    return this.#update<Reservation | { pollIntervalMs: number }>(
      (states, nowMs, minIntervalMs) => {
        const remainingMs = this.#waitIn(states, nowMs, minIntervalMs);
        const reservedUntilMs = Math.max(...states.map((state) => state.reservedUntilMs));
        const othersMs = computePollIntervalMs(reservedUntilMs, nowMs);
        const pollIntervalMs = Math.max(remainingMs - TAKING_MS, othersMs);
        if (pollIntervalMs > 0)
          return { result: { pollIntervalMs: ceilToHundredth(pollIntervalMs) }, next: states };
        const mark = nowMs + this.#maxReservedMs;
        return {
          result: { mark, atMs: this.#options.clock.monotonicMs() + remainingMs },
          next: states.map((state) => withReservation(state, nowMs, mark)),
        };
      },
    );
  }

  /** Sets the lead for the next turn to the time of the work since `waitUntilNear`. */
  #learnLead(nowMs: number): void {
    const preparedMs = nowMs - (this.#nearAtMs ?? nowMs);
    this.#nearAtMs = undefined;
    const neededMs = Math.max(preparedMs + 2 * HELD_MS, this.#leadMs * LEAD_DECAY);
    this.#leadMs = Math.max(MIN_LEAD_MS, Math.min(neededMs, this.#options.intervalMs / 2));
  }

  async #sleepCapped(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    if (ms > LONG_PAUSE_MS) {
      const pausedMs = await rejectOnAbort(signal, () => this.readPauseMs());
      throw new LongPauseError(Math.max(ms, pausedMs), clock.now());
    }
    await clock.sleep(Math.min(ms, MAX_SLEEP_MS), signal);
  }

  #makeTurn({ mark, atMs }: Reservation, since: Moment, waitedMs: number): Turn {
    const { clock, intervalMs } = this.#options;
    let open = true;
    return {
      waitedMs,
      depart: () => {
        if (!open) return false;
        clock.hold(atMs - clock.monotonicMs());
        // One gap before the lease expires, so that the process that takes the next turn keeps its
        // distance.
        if (measureElapsedMs(clock, since) > this.#maxReservedMs - intervalMs - GUARD_MS)
          return false;
        open = false;
        const leftAtMs = clock.monotonicMs();
        // The next request may follow only once the bytes are out: the process may be paused just
        // before them.
        queueMicrotask(() => this.#release(mark, leftAtMs));
        return true;
      },
      release: () => {
        if (open) this.#release(mark);
        open = false;
      },
    };
  }

  /** Ends the lease that `mark` identifies. */
  #release(mark: number, leftAtMs?: number): void {
    const { store, clock, scopes } = this.#options;
    // The process may have been paused before or after the first byte: up to GUARD_MS counts as
    // after it, the rest as before.
    const agoMs = leftAtMs === undefined ? 0 : Math.min(clock.monotonicMs() - leftAtMs, GUARD_MS);
    ignoreFailure(
      store.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((state) => ({
          ...state,
          reservedUntilMs: state.reservedUntilMs === mark ? 0 : state.reservedUntilMs,
          lastDepartureMs:
            leftAtMs === undefined
              ? state.lastDepartureMs
              : Math.max(state.lastDepartureMs, nowMs - agoMs),
        })),
      })),
    );
  }
}

/** Turn with the mark of its holder, and its time on the monotonic clock of this machine. */
type Reservation = { readonly mark: number; readonly atMs: number };

/**
 * Ignores the failure of an update that is not awaited: the next departure fails as well and
 * reports it.
 */
function ignoreFailure(update: Promise<unknown>): void {
  update.catch(() => undefined);
}

/** Rounds up to a hundredth: adding a smaller remainder would not change the time of a clock. */
function ceilToHundredth(ms: number): number {
  return Math.ceil(100 * ms) / 100;
}
