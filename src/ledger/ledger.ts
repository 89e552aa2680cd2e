import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import { assertSameFile } from '../store/append-file.ts';
import { asDatabaseError, type Database, migrate, openDatabase, type Statement } from '../store/database.ts';

/** The open ledger of a harvest into a file; the other modules of this folder work on it. */
export type Ledger = {
  readonly path: string;
  /** Returns a prepared statement from the cache. */
  sql(text: string): Statement;
  /** Runs `work` in a transaction; a failure of the disk is thrown as DatabaseError. */
  change<T>(work: () => T): T;
  /** Begins a group where none is open: its changes are committed together. Ends with `commitGroup` or `dropGroup`. */
  beginGroup(): void;
  isInGroup(): boolean;
  commitGroup(): void;
  dropGroup(): void;
  /** @throws FileError where the file was removed or replaced meanwhile */
  refuseOther(): void;
  close(): void;
};

/** Equal to that in schemas/harvest. */
const APPLICATION_ID = 0x70617368;

/** Another harvest into the same output holds the lock until it ends, so a longer wait is useless. */
const BUSY_TIMEOUT_MS = 500;

/**
 * Opens or creates the ledger with an exclusive lock, which ends with the process.
 * @throws DatabaseError when another process has it open, or the file is unusable; UsageError when it is another program's
 * database; DatabaseTooNewError
 */
export function openLedger(path: string): Ledger {
  const database = openDatabase(path, { synchronous: 'normal', busyTimeoutMs: BUSY_TIMEOUT_MS, exclusive: true });
  try {
    if (!asDatabaseError(path, () => isOurs(database))) {
      throw new UsageError(t`${path} is a database of another program.`, { hint: t`Give another --out.` });
    }
    asDatabaseError(path, () => {
      migrate(database, join(packageRoot, 'schemas', 'harvest'));
      // Takes the lock even where no migration was needed.
      database.transaction(() => {}).immediate();
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  const opened = statSync(path, { bigint: true });
  const statements = new Map<string, Statement>();
  return {
    path,
    sql: (text) => {
      const statement = statements.get(text) ?? asDatabaseError(path, () => database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
    change: (work) => asDatabaseError(path, () => database.transaction(work).immediate()),
    beginGroup: () => {
      if (!database.inTransaction) asDatabaseError(path, () => database.exec('begin'));
    },
    isInGroup: () => database.inTransaction,
    commitGroup: () => {
      asDatabaseError(path, () => database.exec('commit'));
    },
    dropGroup: () => {
      if (database.inTransaction) asDatabaseError(path, () => database.exec('rollback'));
    },
    refuseOther: () => assertSameFile(path, opened),
    close: () => database.close(),
  };
}

/** An empty file is accepted: a killed process may have created it. */
function isOurs(database: Database): boolean {
  if (database.pragma('application_id', { simple: true }) === APPLICATION_ID) return true;
  return database.prepare('select count(*) from sqlite_schema').pluck().get() === 0;
}
