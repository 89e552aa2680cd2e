import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ConfigError, DatabaseError, getErrorCode } from '../errors.ts';
import { msg } from '../message.ts';
import { runChildScript } from '../own-files.ts';
import { convertDatabaseErrors, type Database, isBusyError, openSqlite } from './database.ts';
import { createFolder, restrictPermissions } from './files.ts';

/** A lock that this process holds until it releases it or ends in any way. */
export type LockFile = {
  release(): void;
};

/**
 * Keeps the connections of held locks reachable: garbage collection would close them and release
 * the lock.
 */
const held = new Set<Database>();

/**
 * Takes the lock of an empty SQLite file, and returns at once. A missing file is created; it is
 * never removed, or two processes could lock two files of one name. On POSIX systems a process
 * loses its locks of a file as soon as it closes any descriptor of that file, so no other code may
 * open it.
 * @returns undefined where another process, or this one already, holds the lock
 * @throws DatabaseError where the file cannot be created, opened or locked, or is not empty: with
 * exit code 5 where the disk is full, else with 12
 */
export function acquireLockFile(path: string): LockFile | undefined {
  return convertDatabaseErrors(path, () => {
    createFolder(dirname(path));
    createEmptyFile(path);
    restrictPermissions(path);
    assertEmptyFile(path);
    const database = openSqlite(path, { fileMustExist: true, timeout: 0 });
    try {
      // Rollback mode with a journal in memory: nothing is written to disk, so a full disk and a
      // kill do no harm.
      database.pragma('journal_mode = memory');
      // The change stays in memory. It fails for a read-only file, on which "begin immediate" takes
      // no lock.
      database.exec('begin immediate; pragma user_version = 1');
    } catch (thrown) {
      database.close();
      if (isBusyError(thrown)) return undefined;
      throw thrown;
    }
    held.add(database);
    return {
      release() {
        if (held.delete(database)) database.close();
      },
    };
  });
}

const PAUSE_MS = 5;

/**
 * Takes a lock as {@link acquireLockFile}; while another process holds it, tries again after pauses
 * of 5 ms that block the thread.
 * @param maxTries at least 1
 * @returns undefined where the last try failed
 * @throws DatabaseError as {@link acquireLockFile}
 */
export function waitForLockFile(
  path: string,
  clock: Clock,
  maxTries: number,
): LockFile | undefined {
  for (let tries = 1; ; tries += 1) {
    const lock = acquireLockFile(path);
    if (lock !== undefined || tries === maxTries) return lock;
    clock.hold(PAUSE_MS);
  }
}

/** A holder changes one small file, which takes milliseconds. */
const MAX_TRIES = 400;

/**
 * Takes the lock under which pas changes a small file; blocks the thread for two seconds at most
 * while another process holds it.
 * @param path of the lock file, which is beside the changed one
 * @throws ConfigError where another process keeps the lock; DatabaseError as
 * {@link acquireLockFile}
 */
export function acquireChangeLock(path: string, clock: Clock): LockFile {
  const lock = waitForLockFile(path, clock, MAX_TRIES);
  if (lock !== undefined) return lock;
  throw new ConfigError(msg`${path}: another pas process is changing this file.`, {
    hint: msg`Run the command again.`,
  });
}

/**
 * Creates the file where it is missing. SQLite would make it readable by other users, and does not
 * report a full disk.
 */
function createEmptyFile(path: string): void {
  try {
    // Closing the descriptor releases no lock: the file is new, so this process holds none of it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (getErrorCode(thrown) !== 'EEXIST') throw thrown;
  }
}

/**
 * @throws DatabaseError for anything but an empty file: a database with content may be in another
 * mode
 */
function assertEmptyFile(path: string): void {
  const stats = statSync(path);
  if (stats.isFile() && stats.size === 0) return;
  throw new DatabaseError(msg`${path}: a lock must be an empty file, and this is something else.`, {
    hint: msg`Move the file away if it does not belong to pas.`,
  });
}

const CHECK_MS = 20_000;

/**
 * Tells if a lock in a folder excludes another process of this machine, by a temporary lock file
 * and a second process, for which the thread is blocked for 20 seconds at most: SQLite tracks locks
 * of its own process without the file system. Locks between two machines cannot be tested this way.
 * @returns false where both processes get the lock, where this one does not get it, and where the
 * second one does not answer
 * @throws DatabaseError where no file can be created or opened in the folder
 */
export function isLockingReliable(folder: string): boolean {
  const path = join(folder, `.${randomUUID()}.lock`);
  try {
    const lock = acquireLockFile(path);
    if (lock === undefined) return false;
    try {
      const { stdout } = runChildScript(['base/disk/check-process', 'lock'], path, CHECK_MS);
      return String(stdout) === 'refused';
    } finally {
      lock.release();
    }
  } finally {
    rmSync(path, { force: true });
  }
}
