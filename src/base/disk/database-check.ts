import { readFileSync, writeFileSync } from 'node:fs';
import { getErrorMessage } from '../errors.ts';
import { openDatabaseImage } from './database.ts';

/**
 * Process that checks if SQLite can read the tables of a foreign database, given as bytes on stdin;
 * it writes the fault, or nothing, to stdout. A crafted file can keep SQLite busy without end, so
 * the caller can kill this process.
 */
writeFileSync(1, findFault(readFileSync(0)));

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
