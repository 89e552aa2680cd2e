import { join } from 'node:path';
import { isSound } from '../base/errors.ts';
import { packageRoot } from '../base/package-root.ts';
import { type Database, isAnyRow, migrate, openSqlite, parseTexts } from '../store/database.ts';
import { findDamage } from '../store/database-file.ts';
import type { Outbox } from './open-outbox.ts';
import { ENTRY_ROWS, type NamedEntry, nameEntries } from './stored-finds.ts';

/** Tables whose rows a damaged file may still have; the caches are made again. */
const TRUTH = ['header', 'account', 'accepted_people', 'intents', 'facts'] as const;

/** Tells if SQLite finds no damage in the file, and its tables are those of an outbox. */
export function isSoundFile(path: string): boolean {
  return isSound(() => findDamage(path, 1).length === 0 && readSchema(path) === makeSchema());
}

const SCHEMA = 'select sql from sqlite_schema where sql is not null order by name';

function readSchema(path: string): string {
  return withDatabase(openSqlite(path, { readonly: true }), (database) =>
    parseTexts(database.prepare(SCHEMA).pluck().all()).join('\n'),
  );
}

function makeSchema(): string {
  return withDatabase(openSqlite(':memory:'), (database) => {
    migrate(database, join(packageRoot, 'schemas', 'outbox'));
    return parseTexts(database.prepare(SCHEMA).pluck().all()).join('\n');
  });
}

function withDatabase<T>(database: Database, work: (database: Database) => T): T {
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/**
 * Copies all rows that can still be read from a damaged file to a new outbox.
 * @returns the entries of its finds
 */
export function salvageRows(path: string, outbox: Outbox): NamedEntry[] {
  return withDatabase(openSqlite(path, { readonly: true }), (from) => {
    // Whatever of the schema is damaged, the other tables stay readable.
    from.unsafeMode();
    from.pragma('writable_schema = on');
    outbox.change(() => {
      for (const table of TRUTH) copyRows(from, table, outbox);
    });
    return nameEntries(readFromBothEnds(from, ENTRY_ROWS));
  });
}

function copyRows(from: Database, table: string, { sql }: Outbox): void {
  const rows = readFromBothEnds(from, `select * from ${table} not indexed`);
  const columns = parseTexts(sql(`select name from pragma_table_info('${table}')`).pluck().all());
  const insert = sql(
    `insert or replace into ${table} (${columns.join(', ')}) values (${columns.map((name) => `:${name}`).join(', ')})`,
  );
  for (const row of rows)
    try {
      insert.run(row);
    } catch {
      // A value that its column does not take is damaged: the row is left out.
    }
}

/** Returns most rows twice: a damaged page hides only its own ones. */
function readFromBothEnds(from: Database, query: string): unknown[] {
  return [query, `${query} order by rowid desc`].flatMap((each) => listReadableRows(from, each));
}

function listReadableRows(from: Database, query: string): unknown[] {
  const rows: unknown[] = [];
  try {
    for (const row of from.prepare(query).iterate()) if (isAnyRow(row)) rows.push(row);
  } catch {
    // The rows behind are on a damaged page, or the table itself is unknown.
  }
  return rows;
}
