import type { Database, Statement } from 'better-sqlite3';

/** Caches prepared statements: preparing one costs more than running it. */
export function makeStatementCache(database: Database): (sql: string) => Statement {
  const statements = new Map<string, Statement>();
  return (sql) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
}
