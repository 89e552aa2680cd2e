import type { Database, Statement } from 'better-sqlite3';
import { makeStatementCache } from './statements.ts';

/** The table of {@link Counters}, by SQL that may run again. */
export const COUNTER_TABLES = `
create table if not exists counters (name text primary key, value integer not null) strict;
`;

/** Higher than every number of a seed. */
const FIRST = 1_000_001;

/**
 * Running numbers of the service's internal identifiers (`hist-<n>`, `soub-<n>`), stored in the
 * data file.
 */
export class Counters {
  readonly #database: Database;
  readonly #prepare: (sql: string) => Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#prepare = makeStatementCache(database);
  }

  takeNext(name: 'hist' | 'soub'): string {
    const value = this.#prepare(
      'insert into counters (name, value) values (@name, @first) on conflict (name) do update set value = value + 1 returning value',
    )
      .pluck()
      .get({ name, first: FIRST });
    return `${name}-${value}`;
  }

  clear(): void {
    this.#database.exec('delete from counters');
  }
}
