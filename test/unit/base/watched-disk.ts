import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/** Tells if the file of a flush is known. */
export const canWatchDisk = fs.existsSync('/proc/self/fd');

type Flush = (file: number) => void;

/**
 * Tells in which order `work` flushes files and folders and gives files their names, as `flush
 * NAME` and `name NAME`. Drafts, with unpredictable names, are called `draft`.
 * @param onFlush told which file or folder was flushed; what it throws, the disk reports
 */
export async function watchDisk(
  work: () => unknown,
  onFlush: (path: string) => void = () => {},
): Promise<string[]> {
  const seen: string[] = [];
  const flushed: Flush = (file) => {
    const path = fs.readlinkSync(`/proc/self/fd/${file}`);
    seen.push(`flush ${called(path)}`);
    onFlush(path);
  };
  const named = (_draft: unknown, path: unknown): void => {
    seen.push(`name ${called(String(path))}`);
  };
  const handle = await open('.');
  const handles = Object.getPrototypeOf(handle) as {
    sync(): Promise<void>;
    datasync(): Promise<void>;
  };
  await handle.close();
  const restore = [
    ...(['fsync', 'fsyncSync'] as const).map((name) =>
      before(fs, name, (file) => flushed(file as number)),
    ),
    before(fs, 'renameSync', named),
    before(fs.promises, 'rename', named),
    ...(['sync', 'datasync'] as const).map((name) =>
      before(handles, name, function (this: { readonly fd: number }) {
        flushed(this.fd);
      }),
    ),
  ];
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const each of restore) each();
    syncBuiltinESMExports();
  }
  return seen;
}

function called(path: string): string {
  return path.endsWith('.tmp') ? 'draft' : basename(path);
}

/** Calls `first` before each call of a function. Returns how to leave that off. */
function before<Name extends string>(
  holder: { [name in Name]: unknown },
  name: Name,
  first: (...args: unknown[]) => void,
): () => void {
  const original = holder[name] as (...args: unknown[]) => unknown;
  holder[name] = function (this: unknown, ...args: unknown[]): unknown {
    first.apply(this, args);
    return original.apply(this, args);
  };
  return () => {
    holder[name] = original;
  };
}
