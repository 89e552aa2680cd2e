import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder for its owner alone, with those above it that are missing. A power cut does not take them away again. */
export function makeFolder(folder: string): void {
  const first = madeFirst(folder);
  if (first === undefined) return;
  const topmost = dirname(resolve(first));
  for (let above = dirname(resolve(folder)); above.length >= topmost.length; above = dirname(above)) flushFolder(above);
}

/** The topmost folder that was missing and is made now; undefined where none was. */
function madeFirst(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    // Where a disk reports an error, Node looks whether the folder is there by now, and says that instead.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') thrown.code = 'EIO';
    throw thrown;
  }
}

/** Windows, and some drives of a network, have no flush for folders; a folder may be open for writing alone. */
const CANNOT_FLUSH = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM'];

/** The names of a folder's files are on disk when this returns, not only in the cache. */
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

/** `narrowed`: others could read it until now. `open`: they still can, on a disk without permissions or where it is somebody else's. */
export function keepPrivate(path: string): 'private' | 'narrowed' | 'open' {
  if (process.platform === 'win32' || !isOpenToOthers(path)) return 'private';
  try {
    chmodSync(path, statSync(path).mode & 0o7700);
  } catch {
    return 'open';
  }
  return isOpenToOthers(path) ? 'open' : 'narrowed';
}

export function isOpenToOthers(path: string): boolean {
  return (statSync(path).mode & 0o077) !== 0;
}
