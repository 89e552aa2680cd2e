import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseError } from '../base/errors.ts';
import { asDatabaseError, openDatabase } from './database.ts';

/**
 * What SQLite finds wrong in a file that may be in use, at most `limit` findings; none when it is sound.
 * @throws DatabaseError when it cannot be read at all
 */
export function findDamage(path: string, limit = 3): string[] {
  return asDatabaseError(path, () => {
    const database = openDatabase(path, { synchronous: 'normal', readonly: true });
    try {
      const found = database.pragma(`integrity_check(${limit})`) as { integrity_check: string }[];
      return found.flatMap((row) => row.integrity_check.split('\n')).filter((text) => text !== 'ok' && !text.startsWith('***'));
    } finally {
      database.close();
    }
  });
}

/**
 * Copies a database as it is at this moment, also while other processes write to it, and checks the copy before it gets
 * its name. What had the name before stays until then.
 * @throws DatabaseError when the disk refuses, or the file or its copy is damaged
 */
export function copyDatabase(path: string, target: string): void {
  refuseDamaged(path);
  const draft = `${target}.${process.pid}.tmp`;
  asDatabaseError(target, () => {
    try {
      // Made here, since SQLite would let everybody read it.
      closeSync(openSync(draft, 'wx', 0o600));
      vacuumInto(path, draft);
      refuseDamaged(draft);
      syncToDisk(draft);
      renameSync(draft, target);
    } finally {
      for (const file of [draft, `${draft}-journal`]) if (existsSync(file)) rmSync(file);
    }
  });
}

/** @throws DatabaseError when SQLite finds anything wrong in the file */
export function refuseDamaged(path: string): void {
  const damage = findDamage(path, 1);
  if (damage.length === 0) return;
  throw new DatabaseError(`${path}: the database is damaged (${damage.join('; ')}).`, {
    hint: 'Copy it aside and restore the last backup; see docs/reliability.md.',
  });
}

function vacuumInto(path: string, draft: string): void {
  const source = asDatabaseError(path, () => openDatabase(path, { synchronous: 'full', readonly: true }));
  try {
    source.prepare('vacuum into ?').run(draft);
  } finally {
    source.close();
  }
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
