import { chmodSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { memoize } from '../collections.ts';
import { DatabaseError, DatabaseTooNewError, getErrorCode, getErrorMessage } from '../errors.ts';
import { cmd, type Message, msg, t } from '../message.ts';
import { createFolder } from './files.ts';

/** For a Node that needs nothing compiled. */
const REINSTALL = msg`Reinstall pas with this Node, and with optional dependencies (without --omit=optional); or use the archive, which contains all that pas needs.`;
const COMPILE = msg`npm has not made it: install scripts were blocked (ignore-scripts), or it could neither download nor compile it. Run \`npm rebuild better-sqlite3-12 --ignore-scripts=false\` where pas is installed, or reinstall pas with Node 22.14 or newer, where nothing is compiled, or use the archive.`;

type ColumnGuard<T> = (value: unknown) => value is T;
type Columns = Readonly<Record<string, ColumnGuard<unknown>>>;
/** Type of the values that a guard accepts. */
export type GuardedType<G> = G extends ColumnGuard<infer T> ? T : never;
type RowOf<C extends Columns> = { readonly [Name in keyof C]: GuardedType<C[Name]> };

/** Guards of columns without null: a text, an integer or real number, a blob. */
export const isText: ColumnGuard<string> = (value) => typeof value === 'string';
export const isNumber: ColumnGuard<number> = (value) => typeof value === 'number';
export const isBytes: ColumnGuard<Buffer> = (value) => Buffer.isBuffer(value);

/** Makes the guard of a column that may also be null. */
export function orNull<T>(isValue: ColumnGuard<T>): ColumnGuard<T | null> {
  return (value): value is T | null => value === null || isValue(value);
}

/** Makes the guard of a column that contains one of these values. */
export function makeMemberGuard<T>(values: readonly T[]): ColumnGuard<T> {
  return (value): value is T => values.some((each) => each === value);
}

/**
 * Makes the type guard for rows of a query: each of these columns must have a value of its type.
 */
export function createRowGuard<C extends Columns>(columns: C): ColumnGuard<RowOf<C>> {
  const checks = Object.entries(columns);
  return (row): row is RowOf<C> => {
    if (!isAnyRow(row)) return false;
    for (const [name, isValue] of checks) if (!isValue(row[name])) return false;
    return true;
  };
}

/** Tells if a value is a row of a query, whatever its columns: those of foreign tables vary. */
export function isAnyRow(row: unknown): row is Readonly<Record<string, unknown>> {
  return typeof row === 'object' && row !== null;
}

/**
 * Makes the parser for rows of a query. It throws DatabaseError where a column has a value of
 * another type.
 */
export function createRowParser<C extends Columns>(columns: C): (row: unknown) => RowOf<C> {
  const isRow = createRowGuard(columns);
  return (row) => parseValue(isRow, row);
}

/**
 * Makes the guard and the parser for rows of a table, as {@link createRowGuard} and
 * {@link createRowParser}, and for its statements the lists of columns, of selected columns, of
 * named values and of assignments. The value `identCely` is in the column `ident_cely`.
 */
export function describeColumns<C extends Columns>(table: string, guards: C) {
  const names = Object.keys(guards);
  const columns = names.map((name) => name.replace(/[A-Z]/g, '_$&').toLowerCase());
  return {
    isRow: createRowGuard(guards),
    parse: createRowParser(guards),
    columns: columns.join(', '),
    selected: names.map((name, at) => `${table}.${columns[at]} as ${name}`).join(', '),
    values: `:${names.join(', :')}`,
    assigned: names.map((name, at) => `${columns[at]} = :${name}`).join(', '),
  };
}

/** Remedies for each kind of file; the error names the file. */
export const DAMAGE_HINT = msg`An outbox: \`${cmd`pas doctor --repair`}\` removes what is damaged and adds what the ledger has; or restore the last backup: ${cmd`pas restore`} FILE --replace. vocabulary.sqlite: delete it, then \`${cmd`pas harvest-vocab`}\`. The .harvest file of an output: delete both, and harvest again.`;

/**
 * Returns a value, or a row, of a query with the type that its guard accepts.
 * @throws DatabaseError (damaged) where the guard does not accept the value
 */
export function parseValue<T>(isValue: ColumnGuard<T>, value: unknown): T {
  if (isValue(value)) return value;
  throw new DatabaseError(msg`The database is damaged: a row has a value of the wrong type.`, {
    damaged: true,
    hint: DAMAGE_HINT,
  });
}

/**
 * Returns the values of a query's only column as texts.
 * @throws DatabaseError (damaged) where a value is no text
 */
export function parseTexts(values: readonly unknown[]): string[] {
  return values.map((value) => parseValue(isText, value));
}

/** A connection and a prepared statement of better-sqlite3, which only this module imports. */
export type Database = Sqlite.Database;
export type Statement = Sqlite.Statement;

/**
 * Opens a database, by its path, `:memory:` or its bytes, without the settings of pas.
 * @throws DatabaseError where SQLite cannot be loaded; errors of SQLite unchanged
 */
export function openSqlite(...file: ConstructorParameters<typeof Sqlite>): Database {
  const Constructor = loadSqlite();
  return new Constructor(...file);
}

let loaded: typeof Sqlite | undefined;

/**
 * Returns the class of SQLite's databases, whose native module is loaded by the first call.
 * @throws DatabaseError with the remedy, where that module is missing or built for another platform
 */
export function loadSqlite(): typeof Sqlite {
  if (loaded !== undefined) return loaded;
  // Version 13 is prebuilt and needs Node-API 10: a Node without it, such as 20, crashes. Version
  // 12 is built for one Node.
  const isReadyMade = Number(process.versions['napi']) >= 10;
  try {
    const Constructor: typeof Sqlite = isReadyMade
      ? createRequire(import.meta.url)('better-sqlite3')
      : createRequire(import.meta.url)('better-sqlite3-12');
    // The native module is loaded with the first database.
    new Constructor(':memory:').close();
    loaded = Constructor;
    return Constructor;
  } catch (thrown) {
    throw makeNotLoadedError(isReadyMade, thrown);
  }
}

function makeNotLoadedError(isReadyMade: boolean, thrown: unknown): DatabaseError {
  const { version, platform, arch } = process;
  // Node's message goes on with all searched paths.
  const [why = ''] = getErrorMessage(thrown).split(/(?: Tried:)?\n/, 1);
  return new DatabaseError(
    msg`SQLite cannot be loaded by Node ${version} on ${platform}-${arch}: ${why}`,
    { cause: thrown, hint: isReadyMade ? REINSTALL : COMPILE },
  );
}

type OpenOptions = {
  /**
   * `full`: a commit survives a power cut (outbox, ledger). `normal`: it survives a crash of the
   * process (caches).
   */
  readonly synchronous: 'full' | 'normal';
  /** Maximum wait for another process's write, in milliseconds; absent: 5000. */
  readonly busyTimeoutMs?: number;
  readonly readonly?: boolean;
  /** Locks the file from the first access until this connection or process ends. */
  readonly exclusive?: boolean;
};

/**
 * Opens an SQLite file in WAL mode and for its owner only; a missing file is created, also its
 * folder. With `readonly` the file must exist, and neither its mode nor its permissions change.
 * @throws DatabaseError where the file or its folder is unusable
 */
export function openDatabase(path: string, options: OpenOptions): Database {
  return convertDatabaseErrors(path, () => {
    if (path !== ':memory:' && options.readonly !== true) createFolder(dirname(path));
    const database = openSqlite(path, {
      timeout: options.busyTimeoutMs ?? 5000,
      readonly: options.readonly === true,
    });
    if (options.exclusive === true) database.pragma('locking_mode = exclusive');
    if (options.readonly !== true) {
      if (path !== ':memory:') chmodSync(path, 0o600);
      // Of a new file: a find with its document takes more than half a page of 4096 bytes.
      database.pragma('page_size = 8192');
      switchToWal(database);
      database.pragma(`synchronous = ${options.synchronous}`);
    }
    database.pragma('foreign_keys = on');
    return database;
  });
}

const MAX_SWITCHES = 20;

/**
 * Switches a file to WAL. SQLite does not wait here for a process that opens the same new file, so
 * it waits for its lock.
 */
function switchToWal(database: Database): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.pragma('journal_mode = wal');
      return;
    } catch (thrown) {
      if (attempt === MAX_SWITCHES || !isBusyError(thrown)) throw thrown;
      database.transaction(() => {}).exclusive();
    }
  }
}

/**
 * Tells if an error, or the cause of a DatabaseError, says that another connection holds the lock.
 */
export function isBusyError(thrown: unknown): boolean {
  return getErrorCode(thrown instanceof DatabaseError ? thrown.cause : thrown).startsWith(
    'SQLITE_BUSY',
  );
}

/** Maximum pause between two attempts to take the write lock. */
const POLL_MS = 5;

/**
 * Runs `work` in a write transaction. SQLite has no queue of writers, and its own pauses of up to
 * 100 ms miss the moments in which an import has released the lock; so the lock is tried every few
 * milliseconds, which blocks the thread, until the connection's timeout.
 * @throws the error of SQLite where the lock was not free in that time; errors of `work`
 */
export function runTransaction<T>(database: Database, work: () => T): T {
  const timeoutMs = Number(database.pragma('busy_timeout', { simple: true }));
  let hasBegun = false;
  const transaction = database.transaction(() => {
    hasBegun = true;
    return work();
  });
  database.pragma(`busy_timeout = ${Math.min(POLL_MS, timeoutMs)}`);
  try {
    for (let waitedMs = POLL_MS; ; waitedMs += POLL_MS) {
      try {
        return transaction.immediate();
      } catch (thrown) {
        if (hasBegun || waitedMs >= timeoutMs || !isBusyError(thrown)) throw thrown;
      }
    }
  } finally {
    database.pragma(`busy_timeout = ${timeoutMs}`);
  }
}

/**
 * Runs `work` and converts errors of SQLite or the disk to one that names the file.
 * @throws DatabaseError for these; other errors unchanged
 */
export function convertDatabaseErrors<T>(path: string, work: () => T): T {
  return runGuarded((thrown) => toDatabaseError(path, thrown), work);
}

/**
 * Converts an error of SQLite or the disk, by {@link FAILURES}, to a DatabaseError with a hint;
 * returns any other value unchanged, also an error about a missing file (ENOENT).
 */
export function toDatabaseError(path: string, thrown: unknown): unknown {
  const errorCode = isSchemaDamage(thrown) ? 'SQLITE_CORRUPT' : getErrorCode(thrown);
  const code =
    /^SQLITE_(?:CANTOPEN|IOERR)/.test(errorCode) && isFull(dirname(path))
      ? 'SQLITE_FULL'
      : errorCode;
  const failure = FAILURES.find(({ codes }) => codes.some((prefix) => code.startsWith(prefix)));
  if (failure === undefined) return thrown;
  const { words, hint, passing, damaged } = failure;
  return new DatabaseError(`${path}: ${words} (${getErrorMessage(thrown)}).`, {
    cause: thrown,
    hint,
    passing,
    damaged,
  });
}

/**
 * Tells if a disk is full: SQLite reports a sidecar file without space only as one that cannot be
 * opened or written.
 */
function isFull(folder: string): boolean {
  try {
    const { bavail, ffree, files } = statfsSync(folder);
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}

const CHECK_FOLDER = msg`Check the permissions of the path and of its folder, or choose another one. For files of pas itself that is PAS_HOME for the data, PAS_STATE for the state.`;

type Failure = {
  /** Beginnings of the codes of SQLite and the system. */
  readonly codes: readonly string[];
  readonly words: Message;
  readonly hint: Message;
  readonly passing?: true;
  readonly damaged?: true;
};

/** The first that holds. */
const FAILURES: readonly Failure[] = [
  {
    // SHMSIZE: the shared memory file could not be enlarged.
    codes: ['SQLITE_FULL', 'ENOSPC', 'SQLITE_IOERR_SHMSIZE', 'EDQUOT'],
    words: msg`the disk is full`,
    hint: msg`Free some space and run the command again; what was committed before is safe.`,
    passing: true,
  },
  {
    codes: ['EFBIG'],
    words: msg`the file has reached the limit of its size`,
    hint: msg`Choose another place, or raise the limit of file sizes.`,
    passing: true,
  },
  { codes: ['EACCES', 'EPERM'], words: msg`permission denied`, hint: CHECK_FOLDER },
  {
    codes: ['SQLITE_BUSY'],
    words: msg`another program is writing to the database`,
    hint: msg`Wait until it is done and run the command again.`,
    passing: true,
  },
  {
    codes: ['SQLITE_CORRUPT', 'SQLITE_NOTADB'],
    words: msg`the database is damaged`,
    hint: DAMAGE_HINT,
    damaged: true,
  },
  {
    codes: ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EROFS', 'ENOTDIR', 'EEXIST'],
    words: msg`it cannot be opened or written`,
    hint: CHECK_FOLDER,
  },
  {
    codes: ['SQLITE_IOERR', 'EIO', 'ENODEV', 'ENXIO', 'ESTALE'],
    words: msg`the disk reported an error`,
    hint: msg`Check the disk or the network drive, then run the command again.`,
  },
];

/**
 * Opens a database as {@link openDatabase}, and closes it again where it cannot be prepared.
 * @param prepare makes the tables, or settings
 * @throws DatabaseError for errors of SQLite in `prepare`; its other errors unchanged
 */
export function openPreparedDatabase(
  path: string,
  options: OpenOptions,
  prepare: (database: Database) => void,
): Database {
  const database = openDatabase(path, options);
  try {
    convertDatabaseErrors(path, () => prepare(database));
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/**
 * Applies the numbered SQL files of `folder` (000001_name.sql, …) that the database lacks, in one
 * transaction with the last number in `user_version`. Forward only: a released file is never
 * edited.
 * @throws DatabaseTooNewError when the database has a higher number than the newest file; errors of
 * SQLite unchanged
 */
export function migrateDatabase(database: Database, folder: string): void {
  const migrations = listMigrations(folder);
  const newest = migrations.at(-1)?.number ?? 0;
  const step = (): void => {
    // In the transaction: two processes that start together must not both apply a file.
    const current = readCurrentVersion(database);
    // With the tables of the newest file, only the number is damaged.
    if (current !== newest && !hasNewestSchema(database, folder)) {
      const file = basename(database.name);
      if (current > newest)
        throw new DatabaseTooNewError(
          t`${file} was written by a newer pas (schema ${current}; this pas knows ${newest}).`,
          { hint: t`Install the newest pas. Nothing was changed.` },
        );
      for (const { number, path } of migrations)
        if (number > current) database.exec(readFileSync(path, 'utf8'));
    }
    database.pragma(`user_version = ${newest}`);
  };
  if (readCurrentVersion(database) !== newest) runTransaction(database, step);
}

function listMigrations(folder: string): { readonly number: number; readonly path: string }[] {
  return readdirSync(folder)
    .filter((name) => /^\d{6}_.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 6)), path: join(folder, name) }));
}

/** Tells if a database has exactly the tables and indexes that the SQL files of a folder make. */
export function hasNewestSchema(database: Database, folder: string): boolean {
  const model = openSqlite(':memory:');
  for (const { path } of listMigrations(folder)) model.exec(readFileSync(path, 'utf8'));
  const query = 'select sql from sqlite_schema where sql is not null order by name';
  const read = (from: Database): string => from.prepare(query).pluck().all().join('\n');
  return read(database) === read(model);
}

function readCurrentVersion(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/**
 * Messages of SQLite about a damaged header or schema, or text in place of JSON; a sound file
 * causes none of them.
 */
const SCHEMA_DAMAGE =
  /^(no such (table|column|function|index)|unknown function|foreign key mismatch|malformed|unsupported file format)|has no column named|already exists$/;

/** Tells if SQLite reports a damaged schema, for which it has no error code of its own. */
function isSchemaDamage(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    getErrorCode(thrown) === 'SQLITE_ERROR' &&
    SCHEMA_DAMAGE.test(thrown.message)
  );
}

/** A database whose errors name its file, whatever runs on it. */
export type GuardedDatabase = {
  /** Returns the statement of a text, which is prepared once. */
  sql(text: string): Statement;
  /** Returns the texts of a query with one column. */
  listTexts(text: string, ...values: unknown[]): string[];
  /** Runs `work` in a write transaction, or in the one that runs. */
  change<T>(work: () => T): T;
};

/**
 * Wraps a database so that statements are prepared once, and transactions may be nested: an inner
 * one is a part of the outer one, and is not undone alone.
 * @param toError called with each error of a statement or transaction; returns the error to throw
 * in its place
 */
export function guardDatabase(database: Database, toError: ToError): GuardedDatabase {
  const prepare = memoize((text: string) =>
    runGuarded(toError, () => guardStatement(database.prepare(text), toError)),
  );
  return {
    sql: prepare,
    listTexts: (text, ...values) =>
      parseTexts(
        prepare(text)
          .pluck()
          .all(...values),
      ),
    change: (work) =>
      runGuarded(toError, () => (database.inTransaction ? work() : runTransaction(database, work))),
  };
}

type ToError = (thrown: unknown) => unknown;

function runGuarded<T>(toError: ToError, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw toError(thrown);
  }
}

/** Replaces the functions of a statement that run it by those that convert its errors. */
function guardStatement(statement: Statement, toError: ToError): Statement {
  const { get, all, run, iterate } = statement;
  return Object.assign(statement, {
    get: (...values: unknown[]) => runGuarded(toError, () => get.apply(statement, values)),
    all: (...values: unknown[]) => runGuarded(toError, () => all.apply(statement, values)),
    run: (...values: unknown[]) => runGuarded(toError, () => run.apply(statement, values)),
    *iterate(...values: unknown[]) {
      try {
        yield* iterate.apply(statement, values);
      } catch (thrown) {
        throw toError(thrown);
      }
    },
  });
}
