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
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { getErrorCode } from '../errors.ts';

/**
 * Makes a folder for its owner only, with missing parents, and flushes them, so that a power cut
 * does not undo it. An existing one stays as it is.
 * @throws the error of the disk, unchanged
 */
export function makeFolder(folder: string): void {
  const first = makeFolders(folder);
  if (first === undefined) return;
  const topmost = dirname(resolve(first));
  for (let path = resolve(folder); path.length > topmost.length; path = dirname(path))
    flushFolder(dirname(path));
}

/**
 * Removes files and folders that killed processes have left in a folder.
 * @param name matches their names
 * @param beforeMs only what was last changed before this time
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

/** Makes the folders and returns the topmost new one; undefined where none was missing. */
function makeFolders(folder: string): string | undefined {
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
 * Flushes the names in a folder, where the system can do so.
 * @throws the error of the disk
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
 * Takes the permissions of other users away. `narrowed`: they could read it until now; `open`:
 * they still can, as on a disk without permissions. Always `private` on Windows.
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
export function isAccessibleToOthers(path: string): boolean {
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
 * Renames a file over another one. On Windows that fails while another program has one of them
 * open, so it is retried for a while.
 * @throws the error of the last try
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
 * Returns the names in a folder; none where it cannot be listed, though its files may be
 * readable.
 */
export function listNamesInFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
