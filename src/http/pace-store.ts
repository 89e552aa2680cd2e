import type { Clock } from '../base/clock.ts';
import { DatabaseError } from '../base/errors.ts';
import { asDatabaseError, type Database, openReplaceable } from '../store/database.ts';
import { createRowParser, isNumber } from '../store/row.ts';
import { type PaceState, type PaceStore, UNSEEN } from './pace-state.ts';

/** SQLite blocks the process, also for signals, while it waits for a lock; so it waits in short pieces. */
const STANDING_MS = 100;
const PAUSE_MS = 10;
const MAX_BUSY_MS = 5000;

const parsePaceState = createRowParser({
  ...{ lastDepartureMs: isNumber, leavingUntilMs: isNumber, blockedUntilMs: isNumber },
  ...{ askedUntilMs: isNumber, jitterMs: isNumber, wakingMs: isNumber },
});

/**
 * Opens the SQLite file with the pace of all processes of one user on this machine. It belongs to no outbox: all outboxes and
 * accounts that share an address share its pace.
 * @throws DatabaseError, as does every `update`
 */
export function openPaceStore(path: string, clock: Clock): PaceStore & { close(): void } {
  const database = openReplaceable(path, 'normal', prepare);
  const read = database.prepare(
    `select last_departure_ms as lastDepartureMs, leaving_until_ms as leavingUntilMs, blocked_until_ms as blockedUntilMs,
       asked_until_ms as askedUntilMs, jitter_ms as jitterMs, waking_ms as wakingMs
     from shared_pace where scope = ?`,
  );
  const write = database.prepare<[PaceState & { readonly scope: string }]>(
    `insert into shared_pace (scope, last_departure_ms, leaving_until_ms, blocked_until_ms, asked_until_ms, jitter_ms, waking_ms)
     values (:scope, :lastDepartureMs, :leavingUntilMs, :blockedUntilMs, :askedUntilMs, :jitterMs, :wakingMs)
     on conflict (scope) do update set last_departure_ms = :lastDepartureMs, leaving_until_ms = :leavingUntilMs,
       blocked_until_ms = :blockedUntilMs, asked_until_ms = :askedUntilMs, jitter_ms = :jitterMs, waking_ms = :wakingMs`,
  );
  return {
    // Synchronous unless another process is writing, so that the decision is stored before the caller acts on it.
    update: async (scopes, change) => {
      const untilMs = clock.monotonicMs() + MAX_BUSY_MS;
      for (;;) {
        try {
          return immediately(path, database, () => {
            const { result, next } = change(
              scopes.map((scope) => {
                const state = read.get(scope);
                return state === undefined ? UNSEEN : parsePaceState(state);
              }),
              clock.monotonicMs(),
            );
            next?.forEach((state, index) => {
              const scope = scopes[index];
              if (scope !== undefined) write.run({ ...state, scope });
            });
            return result;
          });
        } catch (thrown) {
          if (!isBusy(thrown) || clock.monotonicMs() >= untilMs) throw thrown;
          await clock.sleep(PAUSE_MS);
        }
      }
    },
    close: () => database.close(),
  };
}

function isBusy(thrown: unknown): boolean {
  const cause = thrown instanceof DatabaseError ? thrown.cause : undefined;
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('SQLITE_BUSY');
}

function prepare(database: Database): void {
  database.pragma(`busy_timeout = ${STANDING_MS}`);
  // A flush could delay a request; after a power cut the times are past anyway.
  database.pragma('synchronous = off');
  database.exec(`create table if not exists shared_pace (
    scope text primary key, last_departure_ms real not null, leaving_until_ms real not null,
    blocked_until_ms real not null, asked_until_ms real not null default 0,
    jitter_ms real not null, waking_ms real not null
  ) strict`);
  // Fails for a file with other columns.
  database.prepare(
    'select scope, last_departure_ms, leaving_until_ms, blocked_until_ms, asked_until_ms, jitter_ms, waking_ms from shared_pace',
  );
}

function immediately<T>(path: string, database: Database, work: () => T): T {
  return asDatabaseError(path, () => database.transaction(work).immediate());
}
