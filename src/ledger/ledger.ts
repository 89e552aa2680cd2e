import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import { refuseOtherFile } from '../store/append-file.ts';
import { asDatabaseError, type Database, openDatabase, type Statement } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';

/** The notes of one harvest into a file, open. The modules beside this one hold what is done with them. */
export type Ledger = {
  readonly path: string;
  /** A prepared statement, made once. */
  sql(text: string): Statement;
  /** All of `work` or nothing; what the disk refuses is thrown as DatabaseError. */
  change<T>(work: () => T): T;
  /** @throws FileError where the file was taken away while it was written, or another one stands in its place */
  refuseOther(): void;
  close(): void;
};

/** As schemas/harvest sets it. */
const APPLICATION_ID = 0x70617368;

/** Another process that harvests into the same output holds it until it ends, so there is no point in waiting long. */
const BUSY_TIMEOUT_MS = 500;

/**
 * Opens or makes the notes, for this process alone until they are closed or the process dies.
 * @throws DatabaseError when another process has them open, or the file cannot be used; UsageError when it is another
 * program's database; DatabaseTooNewError
 */
export function openLedger(path: string): Ledger {
  const database = openDatabase(path, { synchronous: 'normal', busyTimeoutMs: BUSY_TIMEOUT_MS, exclusive: true });
  try {
    if (!asDatabaseError(path, () => isOurs(database))) {
      throw new UsageError(t`${path} is a database of something else.`, { hint: t`Give another --out.` });
    }
    asDatabaseError(path, () => {
      migrate(database, join(packageRoot, 'schemas', 'harvest'));
      // Takes the lock even where there was nothing to migrate.
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
    refuseOther: () => refuseOtherFile(path, opened),
    close: () => database.close(),
  };
}

/** One that holds nothing is as good as none: a process that was stopped may not have come further. */
function isOurs(database: Database): boolean {
  if (database.pragma('application_id', { simple: true }) === APPLICATION_ID) return true;
  return database.prepare('select count(*) from sqlite_schema').pluck().get() === 0;
}
