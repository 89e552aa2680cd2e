import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { getErrorMessage, isLockedFile } from '../base/error-message.ts';
import { ACCOUNT_TABLES } from './accounts.ts';
import { COUNTER_TABLES } from './counters.ts';
import { PHOTOGRAPH_TABLES } from './photographs.ts';
import { ARCHIVE_TABLES } from './records/archive-table.ts';

/** Incremented with each change of the tables; a file of another version is refused. */
const SCHEMA_NUMBER = 2;

/** Seed of a state; no row while it is being filled. */
const ORIGIN_TABLES = 'create table if not exists origin (seed text not null) strict;\n';

/**
 * Opens the mock's state: in memory, or in a file that loses no acknowledged write when the process
 * is killed.
 * @throws Error with a readable reason when the file is no database, is in use, or was written by
 * another version of the mock
 */
export function openState(file: string | undefined): Database {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true });
  const database = openFile(file);
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = full');
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version !== 0 && version !== SCHEMA_NUMBER) {
    database.close();
    throw new Error(
      `${file} was written by another version of the mock server; move it away to start afresh`,
    );
  }
  database.exec(
    ORIGIN_TABLES + ARCHIVE_TABLES + ACCOUNT_TABLES + COUNTER_TABLES + PHOTOGRAPH_TABLES,
  );
  database.pragma(`user_version = ${SCHEMA_NUMBER}`);
  return database;
}

/** Undefined where the file is empty, or filling it was interrupted. */
export function readOrigin(database: Database): string | undefined {
  const seed = database.prepare('select seed from origin').pluck().get();
  return typeof seed === 'string' ? seed : undefined;
}

/** @param seed undefined while it is being filled */
export function setOrigin(database: Database, seed: string | undefined): void {
  database.transaction(() => {
    database.exec('delete from origin');
    if (seed !== undefined) database.prepare('insert into origin (seed) values (?)').run(seed);
  })();
}

function openFile(file: string | undefined): Database {
  if (file === '-' || file === '')
    throw new Error(
      'the data file needs a name: the state is written and read, which a stream cannot be; without one it stays in memory',
    );
  const Constructor = loadSqlite();
  try {
    const database = new Constructor(file ?? ':memory:', { timeout: 0 });
    // Locked until it is closed, or its process ends: two servers would miss each other's writes.
    database.pragma('locking_mode = exclusive');
    database.exec('begin exclusive; commit');
    return database;
  } catch (thrown) {
    if (isLockedFile(thrown))
      throw new Error(`${file} is in use by another server: end that one, or name another file`, {
        cause: thrown,
      });
    throw new Error(`${file} cannot be used as a data file: ${getErrorMessage(thrown)}`, {
      cause: thrown,
    });
  }
}

/**
 * The native module of SQLite is missing, or was built for another Node, C library or processor.
 */
export class NotLoadedError extends Error {}

function loadSqlite(): typeof Sqlite {
  try {
    // Version 13 requires Node-API 10; a Node without it crashes.
    const Constructor: typeof Sqlite =
      Number(process.versions['napi']) >= 10
        ? createRequire(import.meta.url)('better-sqlite3')
        : createRequire(import.meta.url)('better-sqlite3-12');
    new Constructor(':memory:').close();
    return Constructor;
  } catch (thrown) {
    const why = getErrorMessage(thrown).split('\n')[0];
    throw new NotLoadedError(
      `SQLite cannot be loaded by Node ${process.version}: ${why}\nInstall the package anew with Node 22.14 or newer, or with a C++ compiler, make and Python.`,
      { cause: thrown },
    );
  }
}
