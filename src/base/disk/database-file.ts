import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseError, isSound } from '../errors.ts';
import { msg, t } from '../message.ts';
import { runChildScript } from '../own-files.ts';
import {
  convertDatabaseErrors,
  DAMAGE_HINT,
  type Database,
  openDatabase,
  openSqlite,
  parseTexts,
  type Statement,
} from './database.ts';
import { flushFolder, renameOver } from './files.ts';

/**
 * Returns up to `limit` findings of SQLite's integrity check, none for a sound database; other
 * processes may use it meanwhile.
 * @throws DatabaseError when it is unreadable
 */
export function findDamage(path: string, limit = 3): string[] {
  return convertDatabaseErrors(path, () => {
    const database = openDatabase(path, { synchronous: 'normal', readonly: true });
    try {
      return findDamageIn(database.prepare(`pragma integrity_check(${limit})`));
    } finally {
      database.close();
    }
  });
}

function findDamageIn(check: Statement): string[] {
  return parseTexts(check.pluck().all())
    .flatMap((text) => text.split('\n'))
    .filter((text) => text !== 'ok' && !text.startsWith('***'));
}

/**
 * Copies a snapshot of a database, also while other processes write to it, and checks the copy
 * before it replaces `target`, which stays as it is until then.
 * @param finish writes into the copy before it is checked
 * @throws DatabaseError when the disk fails, or the file or its copy is damaged; errors of `finish`
 */
export function copyDatabase(
  path: string,
  target: string,
  finish?: (copy: Database) => void,
): void {
  assertUndamaged(path);
  const draft = `${target}.${randomUUID()}.tmp`;
  convertDatabaseErrors(target, () => {
    try {
      // Created here, since SQLite would make it readable by other users.
      closeSync(openSync(draft, 'wx', 0o600));
      vacuumInto(path, draft);
      if (finish !== undefined) writeInto(draft, finish);
      assertUndamaged(draft);
      syncToDisk(draft);
      renameOver(draft, target);
      flushFolder(dirname(target));
    } finally {
      deleteDatabase(draft);
    }
  });
}

/**
 * Asserts that SQLite finds no damage in a database.
 * @param check for an open file: its `pragma integrity_check(1)`
 * @throws DatabaseError when it finds any, or cannot read the file
 */
export function assertUndamaged(path: string, check?: Statement): void {
  const damage = (
    check === undefined
      ? findDamage(path, 1)
      : convertDatabaseErrors(path, () => findDamageIn(check))
  ).join('; ');
  if (damage === '') return;
  throw new DatabaseError(t`${path}: the database is damaged (${damage}).`, {
    damaged: true,
    hint: DAMAGE_HINT,
  });
}

/**
 * Returns an unused path with the time in UTC, for a backup that replaces no earlier one:
 * `outbox-2026-11-23T14-32-05Z.sqlite`. Nothing is created, so another process may take it.
 * @param start path without the time, such as `/backups/outbox`
 */
export function findFreeBackupPath(start: string, nowMs: number): string {
  const stamp = new Date(nowMs)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  for (let more = '', count = 2; ; more = `-${count++}`) {
    const path = `${start}-${stamp}${more}.sqlite`;
    if (!existsSync(path)) return path;
  }
}

function vacuumInto(path: string, draft: string): void {
  const source = convertDatabaseErrors(path, () =>
    openDatabase(path, { synchronous: 'full', readonly: true }),
  );
  try {
    source.prepare('vacuum into ?').run(draft);
  } finally {
    source.close();
  }
}

/** Journals beside a database, which hold changes not yet in it, or to be rolled back. */
export const JOURNALS = ['-wal', '-journal'] as const;
/** Files of a database that outlast its processes. */
const PERSISTENT_JOURNALS = ['', ...JOURNALS] as const;

/**
 * Copies a database with its journals to a temporary folder, since SQLite cannot open it where
 * nothing can be written. The caller must call `remove`; a failed copy leaves its folder behind.
 * @throws DatabaseError where it cannot be copied
 */
function copyToTempFolder(path: string): {
  readonly path: string;
  readonly remove: () => void;
} {
  return convertDatabaseErrors(path, () => {
    const folder = mkdtempSync(join(tmpdir(), 'pas-read-'));
    const copy = join(folder, basename(path));
    for (const suffix of PERSISTENT_JOURNALS)
      if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    return { path: copy, remove: () => rmSync(folder, { recursive: true, force: true }) };
  });
}

/** Tells if a foreign database has a journal with content. */
export function hasJournal(path: string): boolean {
  return JOURNALS.some(
    (suffix) => (statSync(`${path}${suffix}`, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

const CLOSE_ELSEWHERE = msg`Open it in its program, for example the project in QGIS, close it there, and run the command again.`;
/** Attempts at a copy while the source changes. */
const MAX_COPIES = 5;

/**
 * Returns the bytes of a foreign database with its journal applied, also while another program has
 * it open and on read-only media. Nothing is locked, written or left beside it.
 * @throws DatabaseError where it cannot be copied, changes all the time, or its journal names other
 * files
 */
export function readImageWithJournal(path: string): Buffer {
  for (let copies = 0; copies < MAX_COPIES; copies++) {
    const before = describeFiles(path);
    const copy = copyToTempFolder(path);
    try {
      if (describeFiles(path) !== before) continue;
      assertNoAttachments(path, `${copy.path}-journal`);
      return convertDatabaseErrors(path, () => {
        const database = openSqlite(copy.path);
        try {
          return database.serialize();
        } finally {
          database.close();
        }
      });
    } finally {
      copy.remove();
    }
  }
  throw new DatabaseError(t`${path} is being written to by another program.`, {
    hint: CLOSE_ELSEWHERE,
  });
}

function describeFiles(path: string): string {
  return PERSISTENT_JOURNALS.map((suffix) => {
    const stats = statSync(`${path}${suffix}`, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size} ${stats.mtimeNs}`;
  }).join();
}

/**
 * Marks a journal that names a super-journal (file format, 3), which SQLite would open, and may
 * delete.
 */
const ATTACHMENT_MARKER = Buffer.from('d9d505f920a163d7', 'hex');

function assertNoAttachments(path: string, journal: string): void {
  if (
    !existsSync(journal) ||
    !readFileSync(journal).subarray(-ATTACHMENT_MARKER.length).equals(ATTACHMENT_MARKER)
  )
    return;
  throw new DatabaseError(
    t`${path}: its journal belongs to other databases as well, so pas does not read it.`,
    { hint: CLOSE_ELSEWHERE },
  );
}

/**
 * Applies `finish` and leaves a single file without a log, which is readable on read-only media.
 */
function writeInto(path: string, finish: (copy: Database) => void): void {
  const copy = openDatabase(path, { synchronous: 'full' });
  try {
    finish(copy);
    copy.pragma('journal_mode = delete');
  } finally {
    copy.close();
  }
}

/**
 * Tells if a file begins with the header of SQLite; an empty one does not.
 * @throws DatabaseError where it cannot be read
 */
export function isDatabaseFile(path: string): boolean {
  const head = Buffer.alloc(16);
  return convertDatabaseErrors(path, () => {
    const file = openSync(path, 'r');
    try {
      return (
        readSync(file, head) === head.length && head.toString('latin1') === 'SQLite format 3\0'
      );
    } finally {
      closeSync(file);
    }
  });
}

/**
 * Tells if SQLite finds no damage in a file.
 * @throws DatabaseError when it cannot be read at all
 */
export function isSoundDatabase(path: string): boolean {
  return isSound(() => findDamage(path, 1).length === 0);
}

/** Files that SQLite keeps beside a database. */
const SIDECAR_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

/**
 * Deletes the sidecar files of a database, then the database; missing ones are ignored.
 * @throws the error of the disk, unchanged
 */
export function deleteDatabase(path: string): void {
  for (const suffix of [...SIDECAR_SUFFIXES, '']) rmSync(`${path}${suffix}`, { force: true });
}

/**
 * Replaces an unusable database by a finished one, after a backup of it with its sidecar files. An
 * interruption leaves either of them in place; the old one may lack its log, which the backup has.
 * @param finished path of the new database, which is moved
 * @param aside path of the backup
 * @throws DatabaseError where the disk fails
 */
export function replaceDatabaseFile(path: string, finished: string, aside: string): void {
  convertDatabaseErrors(path, () => {
    // Changes that are only in the log would be left behind under the old name.
    writeInto(finished, () => {});
    const draft = `${aside}.${randomUUID()}.tmp`;
    try {
      const suffixes = ['', ...SIDECAR_SUFFIXES].filter((suffix) => existsSync(`${path}${suffix}`));
      for (const suffix of suffixes) {
        copyFileSync(`${path}${suffix}`, `${draft}${suffix}`, constants.COPYFILE_EXCL);
        syncToDisk(`${draft}${suffix}`);
      }
      // The main file comes last: its presence marks the backup as complete.
      for (const suffix of suffixes.reverse()) renameOver(`${draft}${suffix}`, `${aside}${suffix}`);
    } finally {
      deleteDatabase(draft);
    }
    flushFolder(dirname(aside));
    // The journal of the old database must not be applied to the new one, even after a power cut.
    for (const suffix of SIDECAR_SUFFIXES) rmSync(`${path}${suffix}`, { force: true });
    flushFolder(dirname(path));
    renameOver(finished, path);
    flushFolder(dirname(path));
  });
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const CHECK_MS = 20_000;

/**
 * Checks that SQLite can read the bytes of a foreign database: in a subprocess, for which this one
 * is blocked up to 20 seconds, since a crafted file can keep SQLite busy without end.
 * @param path for the error
 * @throws DatabaseError where it cannot
 */
export function assertImageReadableInTime(path: string, bytes: Buffer): void {
  const { stdout, status, error } = runChildScript(
    ['base/disk/check-process', 'database'],
    bytes,
    CHECK_MS,
  );
  if (status === 0 && stdout.length === 0) return;
  const seconds = CHECK_MS / 1000;
  const damage = String(stdout);
  throw new DatabaseError(
    error === undefined
      ? t`${path}: the database is damaged (${damage}).`
      : t`${path} cannot be read within ${seconds} seconds: it is damaged, or made to slow its reader down.`,
  );
}

/**
 * Opens the bytes of a foreign database in memory, for queries only: nothing is locked, written or
 * left beside the file. Changes that are only in its journal are missing.
 * @param path for errors
 * @param image its WAL flags are cleared in place, which saves a copy of a large file
 * @throws DatabaseError when the bytes are no database
 */
export function openDatabaseImage(path: string, image: Buffer): Database {
  // Both bytes are 2 for WAL, which an in-memory database cannot use (file format, 1.3.3).
  if (image[18] === 2) image[18] = 1;
  if (image[19] === 2) image[19] = 1;
  return convertDatabaseErrors(path, () => {
    const database = openSqlite(image);
    database.pragma('trusted_schema = off');
    database.pragma('query_only = on');
    return database;
  });
}

/**
 * Builds a database in memory and returns the bytes of its file.
 * @param fill called once with the empty database
 * @throws DatabaseError where SQLite cannot be loaded; errors of `fill`
 */
export function makeDatabaseImage(fill: (database: Database) => void): Buffer {
  const database = openSqlite(':memory:');
  try {
    fill(database);
    return database.serialize();
  } finally {
    database.close();
  }
}
