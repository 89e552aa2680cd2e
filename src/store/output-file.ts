import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileError, messageOf, PasError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';

type OutputOptions = {
  /** Permissions of the file. */
  readonly mode: number;
  /** Stops between two pieces. */
  readonly signal: AbortSignal;
};

/** Pieces are gathered to so many characters before they are written. */
const BLOCK_LENGTH = 256 * 1024;

/**
 * Writes a file piece by piece, whole or not at all: until the last piece is on disk, what was there before stays.
 * @returns its size in bytes
 * @throws DatabaseError when the disk is full; FileError when the place cannot be written to; what the pieces throw
 */
export async function writeOutputFile(path: string, pieces: AsyncIterable<string>, options: OutputOptions): Promise<number> {
  const target = realPath(path);
  const draft = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomUUID()}.tmp`);
  try {
    const sizeBytes = await writeDraft(draft, pieces, options);
    await rename(draft, target);
    return sizeBytes;
  } catch (thrown) {
    await rm(draft, { force: true }).catch(() => {});
    throw asOutputError(path, thrown);
  }
}

async function writeDraft(draft: string, pieces: AsyncIterable<string>, { mode, signal }: OutputOptions): Promise<number> {
  const file = await open(draft, 'wx', mode);
  try {
    let sizeBytes = 0;
    let block: string[] = [];
    let blockLength = 0;
    const flush = async (): Promise<void> => {
      const bytes = Buffer.from(block.join(''));
      await file.writeFile(bytes);
      sizeBytes += bytes.length;
      [block, blockLength] = [[], 0];
    };
    for await (const piece of pieces) {
      signal.throwIfAborted();
      block.push(piece);
      blockLength += piece.length;
      if (blockLength >= BLOCK_LENGTH) await flush();
    }
    signal.throwIfAborted();
    await flush();
    await file.sync();
    return sizeBytes;
  } finally {
    await file.close();
  }
}

/** The first bytes of a file as text; undefined where there is no such file. @throws FileError where it is none, or unreadable */
export function beginningOf(path: string, bytes: number): string | undefined {
  try {
    if (!statSync(path).isFile()) throw new FileError(path, t`${path} is not a file.`, { hint: t`Name the file to make.` });
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0)).toString('utf8');
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw asOutputError(path, thrown);
  }
}

/** Through a symbolic link, so that the link stays one. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const PASSING = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** What kept a file from being written, in words; anything but the disk's refusal comes back as it is. */
export function asOutputError(path: string, thrown: unknown): unknown {
  if (thrown instanceof PasError || !(thrown instanceof Error) || !('code' in thrown)) return thrown;
  const code = String(thrown.code);
  if (PASSING.includes(code)) return toDatabaseError(path, thrown);
  const folder = dirname(path);
  if (code === 'ENOENT' || code === 'ENOTDIR') return new FileError(path, t`There is no folder ${folder}.`, { cause: thrown });
  if (code === 'EISDIR') return new FileError(path, t`${path} is a folder, not a file.`, { cause: thrown });
  if (!/^E[A-Z]+$/.test(code)) return thrown;
  const why = messageOf(thrown);
  return new FileError(path, t`${path} cannot be written: ${why}.`, { cause: thrown, hint: t`Choose another place.` });
}
