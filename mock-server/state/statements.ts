import type { Database, Statement } from 'better-sqlite3';

/** Prepares each text once: preparing costs more than running, and what is prepared lives until it is collected. */
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
