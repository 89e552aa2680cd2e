import { type Database, openDatabase } from '../store/database.ts';
import type { PaceState, PaceStore } from './pace.ts';

const UNSEEN: PaceState = { lastDepartureMs: 0, blockedUntilMs: 0, extraMs: 0 };

/**
 * The pace of all `pas` processes of one user on this machine, in a small SQLite file outside any outbox, so that
 * different outboxes and accounts that share a service address share its pace too.
 */
export function openPaceStore(path: string): PaceStore & { close(): void } {
  // Nothing here is worth a flush to disk: after a power cut more than an interval has passed anyway.
  const database = openDatabase(path, { synchronous: 'normal' });
  database.exec(`create table if not exists pace (
    scope text primary key, last_departure_ms real not null, blocked_until_ms real not null, extra_ms real not null
  ) strict`);
  const read = database.prepare<[string], PaceState>(
    `select last_departure_ms as lastDepartureMs, blocked_until_ms as blockedUntilMs, extra_ms as extraMs from pace where scope = ?`,
  );
  const write = database.prepare<[string, number, number, number]>(
    `insert into pace (scope, last_departure_ms, blocked_until_ms, extra_ms) values (?, ?, ?, ?)
     on conflict (scope) do update set last_departure_ms = excluded.last_departure_ms,
       blocked_until_ms = excluded.blocked_until_ms, extra_ms = excluded.extra_ms`,
  );
  return {
    update: (scopes, change) =>
      immediately(database, () => {
        const { result, next } = change(scopes.map((scope) => read.get(scope) ?? UNSEEN));
        next?.forEach((state, index) => {
          const scope = scopes[index];
          if (scope !== undefined) write.run(scope, state.lastDepartureMs, state.blockedUntilMs, state.extraMs);
        });
        return result;
      }),
    close: () => database.close(),
  };
}

function immediately<T>(database: Database, work: () => T): T {
  return database.transaction(work).immediate();
}
