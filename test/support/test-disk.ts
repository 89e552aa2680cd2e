import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_DISK = '/dev/shm';
/** A quarter of the bytes that a whole run writes. */
const NEEDED_BYTES = 4 * 1024 ** 3;

let before: string | undefined;
let folder: string | undefined;

/**
 * One folder for everything that a run writes, removed at its end. It is in memory where there is
 * room: tests make thousands of small databases, whose commits would wait for the disk.
 */
export function setup(): void {
  before = process.env['TMPDIR'];
  const disk = hasRoomInMemory() ? MEMORY_DISK : tmpdir();
  sweep(disk);
  folder = mkdtempSync(join(disk, `pas-run-${process.pid}-`));
  // Some tests go on as another user.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder === undefined) return;
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A run that was killed could not take its folder away, and memory is dear. */
function sweep(disk: string): void {
  for (const name of readdirSync(disk)) {
    const pid = /^pas-run-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(disk, name), { recursive: true, force: true });
    } catch {
      // Processes of the killed run may still write there, or another run sweeps it: a later run
      // takes it away.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}

function hasRoomInMemory(): boolean {
  if (!existsSync(MEMORY_DISK) || !existsSync('/proc/mounts')) return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, place]) => place === MEMORY_DISK);
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  // Packages with machine code are installed there.
  return (
    mount?.[2] === 'tmpfs' &&
    mount[3]?.includes('noexec') === false &&
    bavail * bsize >= NEEDED_BYTES
  );
}
