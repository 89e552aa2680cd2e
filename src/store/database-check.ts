import { readFileSync, writeFileSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { openDatabaseImage } from './database.ts';

/**
 * A process of its own that looks whether SQLite can read the tables of somebody else's database, given as bytes on stdin; says on stdout
 * what is wrong, or nothing. A file can be made so that SQLite never ends; here its caller can give it up.
 */
writeFileSync(1, findingOf(readFileSync(0)));

function findingOf(bytes: Buffer): string {
  try {
    const database = openDatabaseImage('', bytes);
    // They are computed, and nothing is said of what takes long to compute.
    database.pragma('ignore_check_constraints = on');
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
      .pluck()
      .all();
    for (const name of ['sqlite_master', ...tables]) {
      const found = database.pragma(`quick_check("${String(name).replaceAll('"', '""')}")`, { simple: true });
      if (found !== 'ok') return String(found);
    }
    return '';
  } catch (thrown) {
    return messageOf(thrown);
  }
}
