import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileError, messageOf, PasError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';

/**
 * Writes a file that the user named, whole or not at all: it gets its name when all of it is on disk.
 *
 * @param overwrite whether a file of that name may be replaced
 * @throws UsageError where there is a file already; FileError or DatabaseError when the disk refuses
 */
export function writeWholeFile(path: string, parts: Iterable<string | Buffer>, overwrite: boolean): void {
  refuseExisting(path, overwrite);
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    const file = openSync(draft, 'wx');
    try {
      for (const part of parts) writeAll(file, typeof part === 'string' ? Buffer.from(part) : part);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    refuseExisting(path, overwrite);
    renameSync(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    const error = toDatabaseError(path, thrown);
    if (error instanceof PasError || !isFileTrouble(error)) throw error;
    const reason = messageOf(thrown);
    throw new FileError(path, t`${path} cannot be written: ${reason}.`, { cause: thrown });
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

function refuseExisting(path: string, overwrite: boolean): void {
  if (overwrite || !existsSync(path)) return;
  throw new UsageError(t`There is a file ${path} already.`, { hint: t`Choose another name, or replace it with --force.` });
}

function isFileTrouble(thrown: unknown): boolean {
  return thrown instanceof Error && 'syscall' in thrown;
}
