import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Tells if this system can limit the file size of a running process: Linux can. */
export const canLimitFiles = spawnSync('prlimit', ['--fsize'], { stdio: 'ignore' }).status === 0;

/**
 * Lets no file of this process grow beyond so many bytes while `work` runs. As on a disk that fills
 * up, the write that gets there takes a part without an error, and only the next one is refused.
 */
export async function withFilesUpTo<T>(bytes: number, work: () => T | Promise<T>): Promise<T> {
  const [, before] = /^Max file size +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  limitFiles(bytes);
  try {
    return await work();
  } finally {
    limitFiles(before ?? 'unlimited');
  }
}

/** Memory of a process that may have ended by now; this one where none is named. */
export function limitFiles(bytes: number | string, pid?: number): void {
  const { status, stderr } = spawnSync(
    'prlimit',
    ['--pid', `${pid ?? process.pid}`, `--fsize=${bytes}:`],
    { encoding: 'utf8' },
  );
  if (status !== 0 && pid === undefined) throw new Error(`prlimit ended with ${status}: ${stderr}`);
}
