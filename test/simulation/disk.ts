import type { Database, Statement } from 'better-sqlite3';
import { openSqlite } from '../../src/base/disk/database.ts';
import type { DiskFault } from './scenario.ts';

type Told = Statement & { readonly database: Database };

const SAID = {
  full: { says: 'database or disk is full', code: 'SQLITE_FULL' },
  broken: { says: 'disk I/O error', code: 'SQLITE_IOERR_WRITE' },
} as const;

/**
 * From so many writes on, each one to a database in this folder fails, as SQLite says it: what a
 * transaction did is undone, and what was written before stays.
 * @returns a function that repairs the disk
 */
export function breakDisk(folder: string, { afterWrites, kind }: DiskFault): () => void {
  const probe = openSqlite(':memory:');
  const statement = probe.prepare('select 1');
  const kinds = Object.getPrototypeOf(statement) as Statement;
  const { SqliteError } = probe.constructor as unknown as {
    SqliteError: new (message: string, code: string) => Error;
  };
  probe.close();
  let writes = 0;
  const write = (written: Told): void => {
    const { database, readonly, source } = written;
    // A transaction is written when it is committed.
    const isWritten = database.inTransaction
      ? /^commit$/i.test(source)
      : !readonly && !/^begin/i.test(source);
    if (!isWritten || !database.name.startsWith(folder)) return;
    writes += 1;
    if (writes > afterWrites) throw new SqliteError(SAID[kind].says, SAID[kind].code);
  };
  const whole = (['run', 'get', 'all'] as const).map((name) => [name, kinds[name]] as const);
  for (const [name, real] of whole) {
    kinds[name] = function (this: Told, ...values: unknown[]): never {
      write(this);
      return (real as (...args: unknown[]) => never).apply(this, values);
    };
  }
  return () => {
    for (const [name, real] of whole) Object.assign(kinds, { [name]: real });
  };
}
