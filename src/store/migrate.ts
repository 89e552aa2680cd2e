import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseTooNewError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Database } from './database.ts';

/**
 * Applies the numbered SQL files of `folder` (000001_name.sql, …) that the database lacks, each in one transaction with its
 * number in `user_version`. Forward only: a released file is never edited.
 * @param onUpgrade called before a database with content is changed
 * @throws DatabaseTooNewError when the database has a higher number than the newest file
 */
export function migrate(database: Database, folder: string, onUpgrade?: () => void): void {
  const migrations = readdirSync(folder)
    .filter((name) => /^\d{6}_.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 6)), path: join(folder, name) }));
  const newest = migrations.at(-1)?.number ?? 0;
  const step = database.transaction(() => {
    // Read inside the write transaction, so that two processes that start together do not both apply a file.
    const current = currentVersion(database);
    if (current > newest) {
      const file = basename(database.name);
      throw new DatabaseTooNewError(t`${file} was written by a newer pas (schema ${current}; this pas knows ${newest}).`, {
        hint: t`Install the newest pas. Nothing was changed.`,
      });
    }
    if (current > 0 && current < newest) onUpgrade?.();
    for (const migration of migrations.filter(({ number }) => number > current)) {
      database.exec(readFileSync(migration.path, 'utf8'));
      database.pragma(`user_version = ${migration.number}`);
    }
  });
  if (currentVersion(database) !== newest) step.immediate();
}

function currentVersion(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}
