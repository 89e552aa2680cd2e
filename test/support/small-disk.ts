import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { numberedRuns } from './numbered-runs.ts';
import { type Home, PROJECT, type Run } from './run-pas.ts';

const NAMESPACE = process.getuid?.() === 0 ? ['-m'] : ['-rm'];

/**
 * Runs `pas` in a folder `disk` of the home on a disk of so many kilobytes that only its own
 * processes see, then again when the disk has grown. What is on it afterwards stands in the home's
 * folder `copy`.
 */
export function pasOnSmallDisk(
  home: Home,
  kilobytes: number,
  ...args: string[]
): { readonly full: Run; readonly again: Run } {
  const script = `
    mkdir -p disk copy
    mount -t tmpfs -o size=${kilobytes}k none disk
    pas() { number=$1; shift; (cd disk && "$NODE" "$PAS" "$@") >"$number.out" 2>"$number.err"; echo $? >"$number.code"; }
    pas 1 "$@"
    mount -o remount,size=64m none disk
    pas 2 "$@"
    cp -a disk/. copy/`;
  spawnSync('unshare', [...NAMESPACE, 'bash', '-c', script, 'bash', ...args], {
    env: { ...home.env, NODE: process.execPath, PAS: join(PROJECT, 'bin', 'pas.js') },
    cwd: home.folder,
  });
  const run = numberedRuns(home.folder);
  return { full: run(1), again: run(2) };
}
