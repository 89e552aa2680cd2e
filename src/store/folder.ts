import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder for its owner only, with missing parents, and flushes them, so that a power cut does not undo it. */
export function makeFolder(folder: string): void {
  const first = madeFirst(folder);
  if (first === undefined) return;
  const topmost = dirname(resolve(first));
  for (let above = dirname(resolve(folder)); above.length >= topmost.length; above = dirname(above)) flushFolder(above);
}

/** Makes the folders and returns the topmost new one; undefined where none was missing. */
function madeFirst(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    // On an I/O error, Node checks if the folder exists, and reports ENOENT instead.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') thrown.code = 'EIO';
    throw thrown;
  }
}

/** Windows, and some network drives, cannot flush folders; a folder may be writable without being readable. */
const CANNOT_FLUSH = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM'];

/** Flushes the names of a folder's files to disk. */
export function flushFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && CANNOT_FLUSH.includes(String(thrown.code)))) throw thrown;
  }
}

/** `narrowed`: other users could read it until now. `open`: they still can, as on a disk without permissions. */
export function restrictPermissions(path: string): 'private' | 'narrowed' | 'open' {
  if (process.platform === 'win32' || !isAccessibleToOthers(path)) return 'private';
  try {
    chmodSync(path, statSync(path).mode & 0o7700);
  } catch {
    return 'open';
  }
  return isAccessibleToOthers(path) ? 'open' : 'narrowed';
}

export function isAccessibleToOthers(path: string): boolean {
  return (statSync(path).mode & 0o077) !== 0;
}
