import type { Clock } from '../../base/clock.ts';
import {
  convertDatabaseErrors,
  type Database,
  isBusyError,
  openPreparedDatabase,
} from '../../base/disk/database.ts';
import { deleteDatabase } from '../../base/disk/database-file.ts';
import { DatabaseError, getErrorCode, LocalizedError } from '../../base/errors.ts';
import type { Message } from '../../base/message.ts';

/**
 * State of one scope (an address or an account), shared by all processes that use it. Times are on
 * the clock of the store.
 */
export type PaceState = {
  readonly lastDepartureMs: number;
  /** Lease of the turn: until then only its holder may depart. */
  readonly reservedUntilMs: number;
  /** No request departs before this time. */
  readonly pausedUntilMs: number;
  /** Extra gap for network jitter, learnt from throttling, as of the last departure. */
  readonly jitterMs: number;
  /** Extra gap for a service that was idle. */
  readonly coldStartMs: number;
};

/** State of a scope from which nothing has departed. */
export const UNSEEN: PaceState = {
  lastDepartureMs: 0,
  reservedUntilMs: 0,
  pausedUntilMs: 0,
  jitterMs: 0,
  coldStartMs: 0,
};

/** Result of a decision; without `next` nothing is written. */
type PaceChange<T> = { readonly result: T; readonly next?: readonly PaceState[] };

/** Store of the states: a file for the processes of a machine, Redis for several machines. */
export type PaceStore = {
  /**
   * Reads the scopes, calls `change` and writes, as one atomic step. `change` must be pure: it is
   * called again after a conflict. `nowMs` is on the clock of the store; `minIntervalMs` is the
   * interval of a store that replaces another.
   */
  update<T>(scopes: readonly string[], change: PaceUpdater<T>): Promise<T>;
};

/**
 * Thrown where the store cannot be used: `unavailable` may pass, `rejected` (access, database) does
 * not.
 */
export class PaceStoreError extends LocalizedError {
  readonly kind: 'unavailable' | 'rejected';
  constructor(kind: 'unavailable' | 'rejected', message: Message) {
    super(message);
    this.kind = kind;
  }
}

/** Decides on the states of all scopes of a request; see {@link PaceStore.update}. */
export type PaceUpdater<T> = (
  states: readonly PaceState[],
  nowMs: number,
  minIntervalMs?: number,
) => PaceChange<T>;

/**
 * Extra gap for the scheduling of the server: with 2 ms every arrival at the mock is 100 ms or more
 * apart over loopback.
 */
export const GUARD_MS = 2;
/**
 * Time from taking a turn to the departure, including connecting. After it the lease has expired
 * and the request must not depart.
 */
export const MAX_LEASE_MS = 3000;
/** Polling interval of a turn that another process holds: it grows with the waiting time. */
const FIRST_LOOK_AGAIN_MS = 2;
const MAX_POLL_MS = 50;
const LOOKS_PER_DOUBLING = 8;
/**
 * Jitter doubles with each throttling, from this value, and halves in 42 s
 * (docs/decisions/0005-own-pace.md).
 */
const FIRST_JITTER_MS = 10;
const JITTER_DECAY_MS = 60_000;
const MAX_JITTER_INTERVALS = 20;
const MAX_HEADROOM_MS = 60_000;
/**
 * After so long without requests the first gaps are wider, by 0.1 s in all: an idle service answers
 * unevenly.
 */
const IDLE_MS = 10_000;
const COLD_START_MS = 15;
const COLD_START_DECAY = 0.15;

/**
 * Returns the minimum time between two departures of a scope, in milliseconds: the interval
 * (A-RATE-1, A-RATE-2) with all extra gaps; 0 without an interval.
 */
export function computeGapMs(state: PaceState, intervalMs: number): number {
  return intervalMs === 0 ? 0 : intervalMs + GUARD_MS + state.jitterMs + state.coldStartMs;
}

/**
 * Returns the milliseconds until the next look at a turn that another process holds: the more, the
 * longer the turn has been held, but not beyond the end of its lease. 0 or less where no process
 * holds the turn.
 */
export function computePollIntervalMs(reservedUntilMs: number, nowMs: number): number {
  const sinceMs = nowMs - (reservedUntilMs - MAX_LEASE_MS);
  return Math.min(
    Math.max(FIRST_LOOK_AGAIN_MS, sinceMs / LOOKS_PER_DOUBLING),
    MAX_POLL_MS,
    reservedUntilMs - nowMs,
  );
}

/**
 * Returns the state after a turn was taken at `nowMs`, until `reservedUntilMs`. That counts as a
 * departure. The gap for jitter shrinks, and that for a cold start does, or begins after ten
 * seconds without a departure.
 */
export function withReservation(
  state: PaceState,
  nowMs: number,
  reservedUntilMs: number,
): PaceState {
  const sinceMs = nowMs - state.lastDepartureMs;
  return {
    ...state,
    lastDepartureMs: nowMs,
    reservedUntilMs,
    jitterMs: zeroIfNegligible(state.jitterMs * Math.exp(-sinceMs / JITTER_DECAY_MS)),
    coldStartMs:
      sinceMs > IDLE_MS
        ? COLD_START_MS
        : zeroIfNegligible(state.coldStartMs * (1 - COLD_START_DECAY)),
  };
}

type Throttle = {
  readonly departedAtMs: number;
  readonly nowMs: number;
  readonly pauseMs: number;
  readonly intervalMs: number;
};

/**
 * Returns the state after a throttling (A-RATE-5): paused for `pauseMs`, but MAX_PAUSE_MS at most,
 * and with twice the jitter, at least 10 ms and at most 20 intervals. The jitter stays where the
 * request had departed before the last pause ended; a pause that lasts longer is not shortened.
 */
export function withThrottle(state: PaceState, throttle: Throttle): PaceState {
  const { nowMs, pauseMs } = throttle;
  // A request that departed before the last throttling says nothing about the pace since.
  const wasBlocked = throttle.departedAtMs < state.pausedUntilMs;
  const widerMs = Math.min(
    Math.max(state.jitterMs * 2, FIRST_JITTER_MS),
    throttle.intervalMs * MAX_JITTER_INTERVALS,
  );
  return {
    ...state,
    jitterMs: wasBlocked ? state.jitterMs : widerMs,
    pausedUntilMs: Math.max(state.pausedUntilMs, nowMs + Math.min(pauseMs, MAX_PAUSE_MS)),
  };
}

function zeroIfNegligible(ms: number): number {
  return ms < 0.5 ? 0 : ms;
}

/** Longest pause: a longer `Retry-After` may be a mistake of the service. */
export const MAX_PAUSE_MS = 3_600_000;

/**
 * Returns the state without times too far in the future, as a clock that was set back or restarted
 * leaves them. A departure after `nowMs` counts as one now, and ends the lease and the pause, which
 * are by the same clock. Otherwise both end within an hour, and extra gaps have their maximum.
 */
export function limitFutureTimes(state: PaceState, nowMs: number): PaceState {
  const past =
    state.lastDepartureMs > nowMs
      ? { ...state, lastDepartureMs: nowMs, reservedUntilMs: 0, pausedUntilMs: 0 }
      : state;
  return {
    lastDepartureMs: past.lastDepartureMs,
    reservedUntilMs: Math.min(past.reservedUntilMs, nowMs + MAX_PAUSE_MS),
    pausedUntilMs: Math.min(past.pausedUntilMs, nowMs + MAX_PAUSE_MS),
    jitterMs: Math.min(past.jitterMs, MAX_HEADROOM_MS),
    coldStartMs: Math.min(past.coldStartMs, COLD_START_MS),
  };
}

/**
 * SQLite blocks the process, also for signals, while it waits for a lock; so it waits in short
 * pieces.
 */
const STANDING_MS = 100;
const PAUSE_MS = 10;
const MAX_BUSY_MS = 5000;

/** In the order of the numbers in the stores. */
const STORED_FIELDS = [
  'lastDepartureMs',
  'reservedUntilMs',
  'pausedUntilMs',
  'jitterMs',
  'coldStartMs',
] as const;

/** Formats a state as the text of a store: its numbers, separated by blanks. */
export function formatPaceState(state: PaceState): string {
  return STORED_FIELDS.map((field) => state[field]).join(' ');
}

/** Parses the text of {@link formatPaceState}; undefined where it is not five numbers from 0. */
export function parsePaceState(text: string): PaceState | undefined {
  const numbers = text.split(' ').map(Number);
  if (numbers.length !== STORED_FIELDS.length) return undefined;
  if (!numbers.every((number) => Number.isFinite(number) && number >= 0)) return undefined;
  const state = { ...UNSEEN };
  for (const [index, field] of STORED_FIELDS.entries()) state[field] = numbers[index] ?? 0;
  return state;
}

/**
 * Opens the SQLite file with the pace of all processes of one user on this machine; a missing or
 * damaged file is made anew. The file belongs to no outbox: all outboxes and accounts that share an
 * address share its pace. `update` waits up to five seconds for the write of another process.
 * @throws DatabaseError where the file cannot be used, as does every `update`
 */
export function openPaceStore(path: string, clock: Clock): PaceStore & { close(): void } {
  const database = openOrRecreate(path);
  const read = database.prepare('select state from shared_pace where scope = ?').pluck();
  const write = database.prepare('insert or replace into shared_pace (scope, state) values (?, ?)');
  return {
    // Synchronous unless another process is writing, so that the decision is stored before the
    // caller acts on it.
    update: async (scopes, change) => {
      const untilMs = clock.monotonicMs() + MAX_BUSY_MS;
      for (;;) {
        try {
          const decide = database.transaction(() => {
            const { result, next } = change(
              scopes.map((scope) => parsePaceState(String(read.get(scope))) ?? UNSEEN),
              clock.monotonicMs(),
            );
            next?.forEach((state, index) => {
              const scope = scopes[index];
              if (scope !== undefined) write.run(scope, formatPaceState(state));
            });
            return result;
          });
          return convertDatabaseErrors(path, () => decide.immediate());
        } catch (thrown) {
          if (!isBusyError(thrown) || clock.monotonicMs() >= untilMs) throw thrown;
          await clock.sleep(PAUSE_MS);
        }
      }
    },
    close: () => database.close(),
  };
}

/** A file of another form, or a damaged one, is dispensable. */
function openOrRecreate(path: string): Database {
  const open = (): Database => openPreparedDatabase(path, { synchronous: 'normal' }, prepare);
  try {
    return open();
  } catch (thrown) {
    const code = getErrorCode(thrown instanceof DatabaseError ? thrown.cause : thrown);
    if (!/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) throw thrown;
    deleteDatabase(path);
    return open();
  }
}

function prepare(database: Database): void {
  database.pragma(`busy_timeout = ${STANDING_MS}`);
  // A flush could delay a request; after a power cut the times are past anyway.
  database.pragma('synchronous = off');
  database.exec(
    'create table if not exists shared_pace (scope text primary key, state text not null) strict',
  );
  // Fails for a file with other columns.
  database.prepare('select scope, state from shared_pace');
}
