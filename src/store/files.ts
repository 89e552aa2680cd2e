import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseError, getErrorCode } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';
import { flushFolder, makeFolder, renameOver } from './folder.ts';

/**
 * Returns an unpredictable name for a temporary file, which no other process or link can have. It
 * has the process id.
 */
export function makeTempPath(folder: string): string {
  return join(folder, `.${randomUUID()}.${process.pid}.tmp`);
}

const TEMP_PATTERN = /^\.[\da-f-]{36}(?:\.(?<pid>\d+))?\.tmp$/;

/** Longer than any write takes. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

/**
 * Removes abandoned temporary files beside a draft: older than a day by the disk's own clock, and
 * of no living process.
 */
export function removeStaleTemps(draft: string): void {
  const folder = dirname(draft);
  try {
    const nowMs = statSync(draft).mtimeMs;
    for (const name of readdirSync(folder)) {
      const match = TEMP_PATTERN.exec(name);
      if (match === null || isAlive(Number(match.groups?.['pid'] ?? 0))) continue;
      if (nowMs - statSync(join(folder, name)).mtimeMs > LEFT_AFTER_MS)
        rmSync(join(folder, name), { recursive: true, force: true });
    }
  } catch {
    // Not fatal; a later call may succeed.
  }
}

/** Tells if a process of this machine exists, also one of another user. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (thrown) {
    return getErrorCode(thrown) !== 'ESRCH';
  }
}

/**
 * Writes a file for its owner only, atomically, flushed and read back.
 * @throws DatabaseError when the disk fails
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const draft = makeTempPath(dirname(path));
  try {
    makeFolder(dirname(path));
    writeDurable(draft, bytes);
    if (!readFileSync(draft).equals(bytes)) throw writeVerificationError(path);
    removeStaleTemps(draft);
    renameOver(draft, path);
    flushFolder(dirname(path));
  } catch (thrown) {
    removeTemp(draft);
    throw toDatabaseError(path, thrown);
  }
}

/**
 * Creates a file for its owner only and flushes it.
 * @throws the error of the disk, unchanged
 */
export function writeDurable(path: string, bytes: Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    // Unlike a single write, it reports a partial write on a full disk.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a draft and ignores errors, so that the original error is reported. */
export function removeTemp(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // The name is never reused.
  }
}

/**
 * Writes a file piece by piece, atomically. It gets its name when it is flushed; {@link
 * flushFolder} makes the name durable, once for all files of a folder.
 * @param chooseName inspects the finished draft and returns its final path
 * @throws the error of the disk, unchanged, and errors of the pieces and of `chooseName`
 */
export async function writeAtomic(
  folder: string,
  mode: number,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  chooseName: (draft: string) => string | Promise<string>,
): Promise<void> {
  const draft = makeTempPath(folder);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    renameOver(draft, await chooseName(draft));
  } catch (thrown) {
    removeTemp(draft);
    throw thrown;
  }
}

export function writeVerificationError(path: string): DatabaseError {
  return new DatabaseError(t`${path}: the disk returns other data than was written.`, {
    hint: t`Check the disk or the network drive, then run the command again.`,
  });
}
