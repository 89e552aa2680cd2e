import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { asOutputError } from './output-file.ts';

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
    throw asOutputError(path, thrown);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** @throws UsageError where a file is there that may not be replaced; FileError where a folder or a device is */
export function refuseExisting(path: string, overwrite: boolean): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) throw new FileError(path, t`${path} is a folder, not a file.`);
  if (!found.isFile()) throw new FileError(path, t`${path} is not a regular file.`);
  if (overwrite) return;
  throw new UsageError(t`There is a file ${path} already.`, { hint: t`Choose another name, or replace it with --force.` });
}
