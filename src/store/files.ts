import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';
import { flushFolder, makeFolder } from './folder.ts';
import { renameOver } from './rename-over.ts';

/** A name that nobody foresees: no other process writes there, and no link waits under it. It says which process writes. */
export function draftIn(folder: string): string {
  return join(folder, `.${randomUUID()}.${process.pid}.tmp`);
}

export const DRAFT_NAME = /^\.[\da-f-]{36}(?:\.(?<pid>\d+))?\.tmp$/;

/** Nobody writes one file for so long. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

/** Takes away what processes that were killed left beside a draft: what is older by a day, by the disk's own clock, and nobody's. */
export function sweepBeside(draft: string): void {
  const folder = dirname(draft);
  try {
    const nowMs = statSync(draft).mtimeMs;
    for (const name of readdirSync(folder)) {
      const found = DRAFT_NAME.exec(name);
      if (found === null || isAlive(Number(found.groups?.['pid'] ?? 0))) continue;
      if (nowMs - statSync(join(folder, name)).mtimeMs > LEFT_AFTER_MS)
        rmSync(join(folder, name), { recursive: true, force: true });
    }
  } catch {
    // The next one may be able to.
  }
}

/** Whether a process of this machine has that number. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (thrown) {
    return !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH');
  }
}

/**
 * Writes a file that only its owner can read, whole or not at all: what was there before stays until the new one is on
 * disk and was read back.
 * @throws DatabaseError when the disk refuses
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const draft = draftIn(dirname(path));
  try {
    makeFolder(dirname(path));
    writeFlushed(draft, bytes, 0o600);
    if (!readFileSync(draft).equals(bytes)) throw notAsWritten(path);
    sweepBeside(draft);
    renameOver(draft, path);
    flushFolder(dirname(path));
  } catch (thrown) {
    removeDraft(draft);
    throw toDatabaseError(path, thrown);
  }
}

/** Makes a file that is on disk when this returns. @throws what the disk refuses, as it comes */
export function writeFlushed(path: string, bytes: Buffer, mode: number): void {
  const file = openSync(path, 'wx', mode);
  try {
    // Unlike a single write, of which a disk that fills up takes a part without an error.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Why it was not finished is what a person must know, not that it cannot be taken away either. */
export function removeDraft(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // It lies there under a name that nobody uses.
  }
}

/**
 * Writes a file piece by piece, whole or not at all. It gets its name when all of it is on disk; that the name outlasts a
 * power cut takes {@link flushFolder}, which one call does for all files of a folder.
 * @param nameOf looks at the finished draft and says what becomes its path
 * @throws what the disk refuses, as it comes; what the pieces and `nameOf` throw
 */
export async function writeWhole(
  folder: string,
  mode: number,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  nameOf: (draft: string) => string | Promise<string>,
): Promise<void> {
  const draft = draftIn(folder);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    renameOver(draft, await nameOf(draft));
  } catch (thrown) {
    removeDraft(draft);
    throw thrown;
  }
}

export function notAsWritten(path: string): DatabaseError {
  return new DatabaseError(t`${path}: the disk gives back something else than was written.`, {
    hint: t`Check the disk or the network drive, then run the command again.`,
  });
}
