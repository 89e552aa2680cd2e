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
 * Returns up to `limit` findings of SQLite's integrity check, in its English; none for a sound
 * database. Other processes may use the database meanwhile.
 * @throws DatabaseError where the file cannot be read as a database
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
 * Copies a snapshot of a database to `target`, also while other processes write to the database.
 * The copy replaces an existing `target` only once it was checked and flushed.
 * @param finish called with the open copy, to change it before it is checked
 * @throws DatabaseError where the disk fails, or the database or its copy is damaged; errors of
 * `finish`
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
 * @param check `pragma integrity_check(1)`, or that of one table, of the connection that has the
 * file open; without it the file is opened, and all of it checked
 * @throws DatabaseError where there is damage (damaged), or the file cannot be read
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
 * Returns a path at which no file exists, for a backup that replaces no earlier one: `start` with
 * the time in UTC, as in `/backups/outbox-2026-11-23T14-32-05Z.sqlite`. Nothing is created there,
 * so another process may take the path.
 * @param start beginning of the path, such as `/backups/outbox`
 */
export function findFreeBackupPath(start: string, nowMs: number): string {
  const stamp = new Date(nowMs)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`;
    const path = `${start}-${stamp}${suffix}.sqlite`;
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

/** Tells if a database has a journal beside it that is not empty. */
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
 * the database open, and on read-only media. The database is copied to a temporary folder: nothing
 * is locked, written or left beside it.
 * @throws DatabaseError where it cannot be copied or opened, changes during each of five copies, or
 * has a journal that names other files
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
 * Tells if a file begins with the header of SQLite; an empty file does not.
 * @throws DatabaseError where the file cannot be read; the error of the disk, unchanged, where it
 * is missing
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
 * Tells if a file is a database in which SQLite finds no damage.
 * @throws DatabaseError where that cannot be told: the file is missing, locked or not accessible
 */
export function isSoundDatabase(path: string): boolean {
  return isSound(() => findDamage(path, 1).length === 0);
}

/** Files that SQLite keeps beside a database. */
const SIDECAR_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

/**
 * Deletes the files that SQLite keeps beside a database, then the database; missing ones are
 * ignored.
 * @throws the error of the disk, unchanged
 */
export function deleteDatabase(path: string): void {
  for (const suffix of [...SIDECAR_SUFFIXES, '']) rmSync(`${path}${suffix}`, { force: true });
}

/**
 * Replaces an unusable database by a finished one, after a backup of the old one with the files
 * that SQLite keeps beside it. An interruption leaves the old or the new database in place; the old
 * one may then lack its log, which the backup has.
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
 * Asserts that SQLite reads all tables of a foreign database within 20 seconds, and finds no
 * damage. The check runs in a subprocess, since a crafted file can keep SQLite busy without end;
 * this process is blocked meanwhile.
 * @param path for the error
 * @param image bytes of the database
 * @throws DatabaseError where a table is damaged, or the time is over
 */
export function assertImageReadableInTime(path: string, image: Buffer): void {
  const { stdout, status, error } = runChildScript(
    ['base/disk/check-process', 'database'],
    image,
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
 * left beside its file. Changes that are only in its journal are missing.
 * @param path for errors
 * @param image changed in place, which saves a copy of a large file: its WAL flags are cleared
 * @throws DatabaseError where the bytes are no database
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
export function makeDatabaseBytes(fill: (database: Database) => void): Buffer {
  const database = openSqlite(':memory:');
  try {
    fill(database);
    return database.serialize();
  } finally {
    database.close();
  }
}
