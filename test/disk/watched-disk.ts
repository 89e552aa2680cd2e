import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home, Run } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SOURCE = join(import.meta.dirname, 'watched-disk.c');

export const FAULTS = ['EIO', 'ENOSPC', 'SHORT', 'FULL', 'KILL', 'TORN'] as const;
export type Fault = (typeof FAULTS)[number];

/** Requirements to intercept a program's calls: the C library's own loader, and a compiler. */
export const canWatchCalls =
  process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

/** A call on a file of the home; `needs` is what watched-disk.c says that it does. */
export type Call = {
  readonly number: number;
  readonly name: string;
  readonly needs: number;
  readonly path: string;
};

/**
 * Tells if a call can fail in this way: reading needs no room, and only a write can be cut in two.
 */
export function canHave({ needs }: Call, fault: Fault): boolean {
  if (fault === 'EIO') return true;
  if (fault === 'KILL') return needs !== 0;
  if (fault === 'ENOSPC') return (needs & 2) !== 0;
  return (needs & 4) !== 0;
}

let library: string | undefined;

function compiled(): string {
  if (library !== undefined) return library;
  library = join(tempFolder(), 'watched-disk.so');
  const { status, stderr } = spawnSync(
    'gcc',
    ['-O2', '-shared', '-fPIC', '-o', library, SOURCE, '-ldl'],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return library;
}

export type WatchedRun = Run & {
  readonly calls: readonly Call[];
  /** The call that did not go as it should; undefined where none came to that. */
  readonly struck: Call | undefined;
};

/**
 * Runs `pas` in a process of its own, where one call on a file of the home goes wrong, if so
 * planned.
 */
export async function pasWatched(
  home: Home,
  args: readonly string[],
  planned: { readonly fault?: readonly [number, Fault]; readonly trace?: string } = {},
): Promise<WatchedRun> {
  const list = `${home.folder}.calls`;
  const watched = home.with({
    LD_PRELOAD: compiled(),
    // Work of the kernel alone cannot be intercepted.
    UV_USE_IO_URING: '0',
    IO_ROOT: home.folder,
    IO_CALLS: list,
    IO_FAULT: planned.fault?.join(':'),
    IO_TRACE: planned.trace,
  });
  const run = await watched.start(...args).ended;
  const lines = existsSync(list) ? readFileSync(list, 'utf8').split('\n').slice(0, -1) : [];
  rmSync(list, { force: true });
  const struck = lines.find((line) => line.startsWith('fault '))?.slice('fault '.length);
  return {
    ...run,
    calls: lines.filter((line) => !line.startsWith('fault ')).map(parseCall),
    struck: struck === undefined ? undefined : parseCall(struck),
  };
}

function parseCall(line: string): Call {
  const [number = '', name = '', needs = '', ...path] = line.split(' ');
  return { number: Number(number), name, needs: Number(needs), path: path.join(' ') };
}
