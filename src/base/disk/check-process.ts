import { readFileSync, writeFileSync } from 'node:fs';
import { getErrorMessage } from '../errors.ts';
import { openDatabaseImage } from './database-file.ts';
import { acquireLockFile } from './lock-file.ts';

/**
 * Process of a check that the caller can kill; it writes its result to stdout. `database`: the
 * fault, or nothing, of the tables of a foreign database, given as bytes on stdin, since a crafted
 * file can keep SQLite busy without end. `lock`: `refused` or `acquired`, for the lock of the file
 * named on stdin.
 */
const input = readFileSync(0);
if (process.argv[2] === 'lock')
  writeFileSync(1, acquireLockFile(String(input)) === undefined ? 'refused' : 'acquired');
else writeFileSync(1, findFault(input));

/** Returns the first fault that SQLite reports in any table; empty for none. Throws nothing. */
function findFault(bytes: Buffer): string {
  try {
    const database = openDatabaseImage('', bytes);
    // Check constraints are evaluated, which may take unbounded time.
    database.pragma('ignore_check_constraints = on');
    const tables = database
      .prepare(
        "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'",
      )
      .pluck()
      .all();
    for (const name of ['sqlite_master', ...tables]) {
      const rows = database.pragma(`quick_check("${String(name).replaceAll('"', '""')}")`, {
        simple: true,
      });
      if (rows !== 'ok') return String(rows);
    }
    return '';
  } catch (thrown) {
    return getErrorMessage(thrown);
  }
}
