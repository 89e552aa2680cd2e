import { spawnSync } from 'node:child_process';
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
import { DatabaseError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import { asDatabaseError, type Database, openDatabase, openSqlite, type Statement } from './database.ts';
import { flushFolder } from './folder.ts';
import { renameOver } from './rename-over.ts';

/**
 * What SQLite finds wrong in a file that may be in use, at most `limit` findings; none when it is sound.
 * @throws DatabaseError when it cannot be read at all
 */
export function findDamage(path: string, limit = 3): string[] {
  return asDatabaseError(path, () => {
    const database = openDatabase(path, { synchronous: 'normal', readonly: true });
    try {
      return damageIn(database.prepare(`pragma integrity_check(${limit})`));
    } finally {
      database.close();
    }
  });
}

function damageIn(check: Statement): string[] {
  const found = check.all() as { integrity_check: string }[];
  return found.flatMap((row) => row.integrity_check.split('\n')).filter((text) => text !== 'ok' && !text.startsWith('***'));
}

/**
 * Copies a database as it is at this moment, also while other processes write to it, and checks the copy before it gets
 * its name. What had the name before stays until then.
 * @param finish writes into the copy before it is checked
 * @throws DatabaseError when the disk refuses, or the file or its copy is damaged
 */
export function copyDatabase(path: string, target: string, finish?: (copy: Database) => void): void {
  refuseDamaged(path);
  const draft = `${target}.${randomUUID()}.tmp`;
  asDatabaseError(target, () => {
    try {
      // Made here, since SQLite would let everybody read it.
      closeSync(openSync(draft, 'wx', 0o600));
      vacuumInto(path, draft);
      if (finish !== undefined) writeInto(draft, finish);
      refuseDamaged(draft);
      syncToDisk(draft);
      renameOver(draft, target);
      flushFolder(dirname(target));
    } finally {
      removeDatabase(draft);
    }
  });
}

/**
 * @param check where the file is open already: `pragma integrity_check(1)` of that connection
 * @throws DatabaseError when SQLite finds anything wrong in the file
 */
export function refuseDamaged(path: string, check?: Statement): void {
  const damage = (check === undefined ? findDamage(path, 1) : asDatabaseError(path, () => damageIn(check))).join('; ');
  if (damage === '') return;
  throw new DatabaseError(t`${path}: the database is damaged (${damage}).`, {
    damaged: true,
    hint: t`Put the last backup back: ${cmd`pas restore`} FILE --replace keeps the damaged file aside.`,
  });
}

/** The name of a file that is set aside at this moment, which no file has: nothing that was set aside before is replaced. */
export function asidePath(start: string, nowMs: number): string {
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
  const source = asDatabaseError(path, () => openDatabase(path, { synchronous: 'full', readonly: true }));
  try {
    source.prepare('vacuum into ?').run(draft);
  } finally {
    source.close();
  }
}

/** What SQLite keeps beside a database that was not yet written into it, or has to be taken back. */
export const JOURNALS = ['-wal', '-journal'] as const;
/** What of a database outlasts its programs. */
const LASTING = ['', ...JOURNALS] as const;

/**
 * Copies a database to a folder of its own, with what is in its log only: for reading it where nothing can be written, so that SQLite
 * cannot open it.
 */
export function copyToRead(path: string): { readonly path: string; readonly remove: () => void } {
  return asDatabaseError(path, () => {
    const folder = mkdtempSync(join(tmpdir(), 'pas-read-'));
    const copy = join(folder, basename(path));
    for (const suffix of LASTING) if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    return { path: copy, remove: () => rmSync(folder, { recursive: true, force: true }) };
  });
}

/** Whether something beside a database of somebody else's belongs to what it holds. */
export function hasJournal(path: string): boolean {
  return JOURNALS.some((suffix) => (statSync(`${path}${suffix}`, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

/** How often a copy is made of what changes while it is copied. */
const MOST_COPIES = 5;

/**
 * The bytes of somebody else's database as SQLite sees them, with what stands in its log only, also while another program has it open
 * and where nothing can be written. Nothing is locked, written or left beside it.
 * @throws DatabaseError where it is written to all the time, or names files of others
 */
export function imageWithJournal(path: string): Buffer {
  for (let copies = 0; copies < MOST_COPIES; copies++) {
    const before = standingsOf(path);
    const copy = copyToRead(path);
    try {
      if (standingsOf(path) !== before) continue;
      refuseNamingOthers(path, `${copy.path}-journal`);
      return asDatabaseError(path, () => {
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
    hint: t`Close it there, for example the project in QGIS, and run the command again.`,
  });
}

function standingsOf(path: string): string {
  return LASTING.map((suffix) => {
    const found = statSync(`${path}${suffix}`, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? '' : `${found.size} ${found.mtimeNs}`;
  }).join();
}

/** Ends a journal that names a journal of several databases (file format, 3): SQLite would look for that one, and may delete it. */
const NAMES_OTHERS = Buffer.from('d9d505f920a163d7', 'hex');

function refuseNamingOthers(path: string, journal: string): void {
  if (!existsSync(journal) || !readFileSync(journal).subarray(-NAMES_OTHERS.length).equals(NAMES_OTHERS)) return;
  throw new DatabaseError(t`${path}: its journal belongs to other databases as well, and is not read.`, {
    hint: t`Open the project in QGIS once, close it, and run the command again.`,
  });
}

const CANNOT_WRITE = /^(SQLITE_(READONLY|CANTOPEN|FULL|IOERR)|ENOSPC|EDQUOT|EROFS|EACCES|EPERM)/;

/** Whether it could not be opened since nothing can be written beside it. */
export function cannotWrite(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && CANNOT_WRITE.test(codeOf(thrown.cause));
}

/** Leaves one file, with no log beside it: a copy may be read where nothing can be written. */
function writeInto(path: string, finish: (copy: Database) => void): void {
  const copy = openDatabase(path, { synchronous: 'full' });
  try {
    finish(copy);
    copy.pragma('journal_mode = delete');
  } finally {
    copy.close();
  }
}

export function isDatabase(path: string): boolean {
  const head = Buffer.alloc(16);
  return asDatabaseError(path, () => {
    const file = openSync(path, 'r');
    try {
      return readSync(file, head) === head.length && head.toString('latin1') === 'SQLite format 3\0';
    } finally {
      closeSync(file);
    }
  });
}

/** Whether SQLite cannot use what is there. False where nothing is. @throws DatabaseError when the file cannot be read at all */
export function isUnusable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    return findDamage(path, 1).length > 0;
  } catch (thrown) {
    if (thrown instanceof DatabaseError && NO_DATABASE.test(codeOf(thrown.cause))) return true;
    throw thrown;
  }
}

const NO_DATABASE = /^SQLITE_(CORRUPT|NOTADB)/;

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

/** The names that SQLite gives to what it keeps beside a database. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

/** Takes a database away with all that belongs to it. */
export function removeDatabase(path: string): void {
  for (const suffix of [...BESIDE, '']) rmSync(`${path}${suffix}`, { force: true });
}

/**
 * Puts a finished database into the place of one that cannot be used, which is copied aside as it is, with what SQLite
 * kept beside it. Whenever it is stopped, there is the old one or the new one.
 */
export function replaceUnusable(path: string, finished: string, aside: string): void {
  asDatabaseError(path, () => {
    // What is still in its log only would be left behind under the old name.
    writeInto(finished, () => {});
    const draft = `${aside}.${randomUUID()}.tmp`;
    try {
      const suffixes = ['', ...BESIDE].filter((suffix) => existsSync(`${path}${suffix}`));
      for (const suffix of suffixes) {
        copyFileSync(`${path}${suffix}`, `${draft}${suffix}`, constants.COPYFILE_EXCL);
        syncToDisk(`${draft}${suffix}`);
      }
      // Last the one that says that it is whole.
      for (const suffix of suffixes.reverse()) renameOver(`${draft}${suffix}`, `${aside}${suffix}`);
    } finally {
      removeDatabase(draft);
    }
    flushFolder(dirname(aside));
    // A log of the old one must not meet the new one, also where the power is cut.
    for (const suffix of BESIDE) rmSync(`${path}${suffix}`, { force: true });
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

const CHECK_PROCESS = join(packageRoot, 'dist', 'src', 'store', 'database-check.js');
const CHECK_MS = 20_000;

/**
 * Whether SQLite can read the bytes of somebody else's database to their end, found out by a process that is given up after a while:
 * a file can be made so that SQLite never ends.
 * @throws DatabaseError where it cannot
 */
export function refuseEndless(path: string, bytes: Buffer): void {
  const { stdout, status, error } = spawnSync(process.execPath, [CHECK_PROCESS], {
    ...{ input: bytes, timeout: CHECK_MS, killSignal: 'SIGKILL', stdio: ['pipe', 'pipe', 'ignore'] },
  });
  if (status === 0 && stdout.length === 0) return;
  const [seconds, damage] = [CHECK_MS / 1000, String(stdout)];
  throw new DatabaseError(
    error === undefined
      ? t`${path}: the database is damaged (${damage}).`
      : t`${path} cannot be read in ${seconds} seconds: it is damaged, or was made to hold its reader up.`,
  );
}
