import { hash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { getErrorCode } from '../errors.ts';

/**
 * Creates a folder with its missing parents, for their owner only, and flushes their names, so that
 * a power cut does not undo them. An existing folder stays as it is, with its permissions.
 * @throws the error of the disk, unchanged
 */
export function createFolder(folder: string): void {
  const first = createFolders(folder);
  if (first === undefined) return;
  const topmost = dirname(resolve(first));
  for (let path = resolve(folder); path.length > topmost.length; path = dirname(path))
    flushFolder(dirname(path));
}

/**
 * Deletes files and folders that killed processes have left in a folder; a missing folder has none.
 * @param name matches their names
 * @param beforeMs only what was last changed before this time is deleted, in milliseconds since
 * 1970 UTC by the clock of the disk
 * @throws the error of the disk, unchanged
 */
export function deleteLeftovers(folder: string, name: RegExp, beforeMs: number): void {
  if (!existsSync(folder)) return;
  for (const each of readdirSync(folder).filter((found) => name.test(found))) {
    const path = join(folder, each);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < beforeMs)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Creates the folders and returns the topmost new one; undefined where none was missing. */
function createFolders(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    // On an I/O error, Node checks if the folder exists, and reports ENOENT instead.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')
      thrown.code = 'EIO';
    throw thrown;
  }
}

/**
 * Windows, and some network drives, cannot flush folders; a folder may be writable without being
 * readable.
 */
const CANNOT_FLUSH = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM'];

/**
 * Flushes the names in a folder to disk; does nothing where the system cannot.
 * @throws the error of the disk, unchanged
 */
export function flushFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (!CANNOT_FLUSH.includes(getErrorCode(thrown))) throw thrown;
  }
}

/**
 * Takes the permissions of the group and of other users on a file or folder away.
 * @returns `private` where they had none, and always on Windows; `narrowed` where they had some
 * until now; `open` where they still have, as on a disk without permissions
 * @throws Error where the path does not exist, except on Windows
 */
export function restrictPermissions(path: string): 'private' | 'narrowed' | 'open' {
  if (process.platform === 'win32' || !isAccessibleToOthers(path)) return 'private';
  try {
    chmodSync(path, statSync(path).mode & 0o7700);
  } catch {
    return 'open';
  }
  return isAccessibleToOthers(path) ? 'open' : 'narrowed';
}

/**
 * Tells if the group or other users have any permission.
 * @throws Error where the path does not exist
 */
function isAccessibleToOthers(path: string): boolean {
  return (statSync(path).mode & 0o077) !== 0;
}

/**
 * Errors of Windows while a scanner, an indexer or another program has one of the two files open.
 */
const OPEN_ELSEWHERE = ['EACCES', 'EBUSY', 'EPERM'];
const FIRST_PAUSE_MS = 10;
/** The pauses add up to two and a half seconds. */
const LAST_PAUSE_MS = 1280;

type RenameSystem = {
  readonly platform: NodeJS.Platform;
  rename(from: string, to: string): void;
  blockFor(ms: number): void;
};

const SYSTEM: RenameSystem = {
  platform: process.platform,
  // Looked up at each call, so that a test can replace it.
  rename: (from, to) => renameSync(from, to),
  blockFor: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/**
 * Renames a file, in place of another one of the new name. On Windows that fails while another
 * program has one of them open, so it is tried again, after pauses that block the thread for two
 * and a half seconds in all. Tests replace the system by the third parameter.
 * @throws the error of the last try, unchanged
 */
export function renameOver(
  from: string,
  to: string,
  { platform, rename, blockFor } = SYSTEM,
): void {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      rename(from, to);
      return;
    } catch (thrown) {
      const isPassing = OPEN_ELSEWHERE.includes(getErrorCode(thrown));
      if (platform !== 'win32' || !isPassing || pauseMs > LAST_PAUSE_MS) throw thrown;
      blockFor(pauseMs);
    }
  }
}

/**
 * Returns the names of files and folders in a folder; none where it is missing or cannot be listed,
 * though its files may be readable.
 */
export function listNamesInFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Makes the path of a temporary file in a folder, with an unpredictable name, which no other
 * process or link can have.
 */
export function makeTempPath(folder: string): string {
  return join(folder, `.${randomUUID()}.tmp`);
}

/** Longer than any write takes. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

/**
 * Deletes abandoned temporary files in the folder of a new one: those last changed more than a day
 * before the new one, so that only the disk's own clock counts. Errors are ignored.
 * @param draft path of the new temporary file
 */
export function deleteStaleTempsBeside(draft: string): void {
  try {
    const beforeMs = statSync(draft).mtimeMs - LEFT_AFTER_MS;
    deleteLeftovers(dirname(draft), /^\.[\da-f-]{36}\.tmp$/, beforeMs);
  } catch {
    // Not fatal; a later call may succeed.
  }
}

/**
 * Creates a file for its owner only, and flushes its content; its name is flushed by
 * {@link flushFolder}.
 * @throws the error of the disk, unchanged, also where the file exists (EEXIST); a part of a new
 * file may be left
 */
export function writeDurableFile(path: string, bytes: Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    // Unlike a single write, it reports a partial write on a full disk.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Deletes a temporary file or folder; errors are ignored: the one that led here is reported. */
export function deleteTemp(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // The name is never reused.
  }
}

/**
 * Writes a file piece by piece, atomically: a temporary file is flushed, then renamed. {@link
 * flushFolder} makes the new name durable, once for all files of a folder. An error leaves no file.
 * @param folder of the temporary file
 * @param mode permissions, such as 0o600
 * @param chooseName called with the path of the flushed temporary file; returns the final path
 * @throws the error of the disk, unchanged, and errors of the pieces and of `chooseName`
 */
export async function writeAtomicFile(
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
    deleteTemp(draft);
    throw thrown;
  }
}

/**
 * Returns the SHA-512 of bytes in hexadecimal, by which the contract and pas name content
 * (A-DIGEST-1).
 */
export function hashSha512(bytes: Buffer): string {
  return hash('sha512', bytes, 'hex');
}

const PIECE_BYTES = 1024 * 1024;

/**
 * Yields the bytes of a file in pieces of at most 1 MiB. The next piece is read while the consumer
 * works on the last one, which Node's file streams do not do: a digest and the disk would wait for
 * each other.
 * @throws the error of the disk, unchanged, during the iteration
 */
export async function* readFileInPieces(path: string): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    // Not much larger than the file: otherwise many small photographs would produce as much garbage
    // as large ones.
    const pieceBytes = Math.min((await file.stat()).size + 1, PIECE_BYTES);
    for (let coming = readPiece(file, pieceBytes); ; ) {
      const piece = await coming;
      if (piece.length === 0) return;
      coming = readPiece(file, pieceBytes);
      // Suppresses an unhandled rejection where the consumer stops early.
      coming.catch(() => undefined);
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(sizeBytes));
  return bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
}
