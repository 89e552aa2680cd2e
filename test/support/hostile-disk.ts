import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Home, PROJECT, type Run } from './run-pas.ts';

const BIN = join(PROJECT, 'bin', 'pas.js');
/** The superuser may write anywhere, so permissions are tested as the user of lowest rights. */
const ORDINARY_USER = 65_534;

export const isSuperuser = process.getuid?.() === 0;

/** Runs `pas` as a user whom permissions hold back. */
export function pasAsOrdinaryUser(home: Home, ...args: string[]): Run {
  if (isSuperuser)
    for (const path of everythingIn(home.folder)) chownSync(path, ORDINARY_USER, ORDINARY_USER);
  return pasAsOther(home, ...args);
}

/** The same where what is in the home stays whose it is. */
export function pasAsOther(home: Home, ...args: string[]): Run {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    env: home.env,
    cwd: '/',
    encoding: 'utf8',
    ...(isSuperuser ? { uid: ORDINARY_USER, gid: ORDINARY_USER } : {}),
  });
  return { code: status, signal, stdout, stderr };
}

const NAMESPACE = isSuperuser ? ['-m'] : ['-rm'];

/** Tells if a small disk can be mounted: not in every container, and on Linux only. */
export const canMountDisks =
  spawnSync('unshare', [...NAMESPACE, 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt'], {
    stdio: 'ignore',
  }).status === 0;

/**
 * Runs a script of bash, whose mounts only its own processes see; its `pas N …` runs `pas`.
 * @returns the N-th run
 */
export async function withMounts(
  home: Home,
  script: string,
  ...args: readonly string[]
): Promise<(number: number) => Run> {
  const pas = `pas() { number=$1; shift; "$NODE" "$PAS" "$@" >"$HOME/$number.out" 2>"$HOME/$number.err"; echo $? >"$HOME/$number.code"; }`;
  const command = [...NAMESPACE, 'bash', '-c', `${pas}\n${script}`, 'bash', ...args];
  const env = { ...home.env, NODE: process.execPath, PAS: BIN };
  await once(spawn('unshare', command, { env, cwd: home.folder, stdio: 'ignore' }), 'exit');
  const read = (name: string): string => readFileSync(join(home.folder, name), 'utf8');
  return (number) => ({
    code: Number(read(`${number}.code`)),
    signal: null,
    stdout: read(`${number}.out`),
    stderr: read(`${number}.err`),
  });
}

/**
 * Runs `pas` in a folder `disk` of the home on a disk of so many kilobytes, then again when the
 * disk has grown. What is on it afterwards stands in the home's folder `copy`.
 */
export async function pasOnSmallDisk(
  home: Home,
  kilobytes: number,
  ...args: string[]
): Promise<{ readonly full: Run; readonly again: Run }> {
  const script = `
    mkdir disk
    mount -t tmpfs -o size=${kilobytes}k none disk
    cd disk
    pas 1 "$@"
    mount -o remount,size=64m none "$HOME/disk"
    pas 2 "$@"
    cp -a . ../copy`;
  const run = await withMounts(home, script, ...args);
  return { full: run(1), again: run(2) };
}

export function everythingIn(folder: string): string[] {
  return [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ];
}

/** Overwrites the middle third of a file with nonsense. */
export function damage(path: string): void {
  const file = openSync(path, 'r+');
  const { size } = fstatSync(file);
  writeSync(
    file,
    Buffer.alloc(Math.floor(size / 3), 0xa5),
    0,
    Math.floor(size / 3),
    Math.floor(size / 3),
  );
  closeSync(file);
}

export function getMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
