import { type Database, runTransaction, type Statement } from './database.ts';

/** A database whose errors name its file, whatever runs on it. */
export type GuardedDatabase = {
  /** Returns the statement of a text, which is prepared once. */
  sql(text: string): Statement;
  /** Runs `work` on one snapshot. */
  read<T>(work: () => T): T;
  /** Runs `work` in a write transaction, or in the one that runs. */
  change<T>(work: () => T): T;
};

/**
 * Wraps a database so that statements are prepared once, and transactions may be nested.
 * @param toError returns the error to throw in place of any other
 */
export function guardDatabase(
  database: Database,
  toError: (thrown: unknown) => unknown,
): GuardedDatabase {
  const statements = new Map<string, Statement>();
  const guard =
    <V extends unknown[], T>(work: (...values: V) => T) =>
    (...values: V): T => {
      try {
        return work(...values);
      } catch (thrown) {
        throw toError(thrown);
      }
    };
  const prepare = guard((text: string): Statement => {
    const statement = database.prepare(text);
    const { iterate } = statement;
    return Object.assign(statement, {
      get: guard(statement.get.bind(statement)),
      all: guard(statement.all.bind(statement)),
      run: guard(statement.run.bind(statement)),
      *iterate(...values: unknown[]) {
        try {
          yield* iterate.apply(statement, values);
        } catch (thrown) {
          throw toError(thrown);
        }
      },
    });
  });
  return {
    sql(text) {
      const statement = statements.get(text) ?? prepare(text);
      statements.set(text, statement);
      return statement;
    },
    read: (work) => guard(database.inTransaction ? work : database.transaction(work))(),
    change: (work) =>
      guard(() => (database.inTransaction ? work() : runTransaction(database, work)))(),
  };
}
