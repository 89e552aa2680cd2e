import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/base/disk/database.ts';
import { acquireLockFile, isLockingReliable } from '../../../src/base/disk/lock-file.ts';
import { DatabaseError } from '../../../src/base/errors.ts';
import { canMountDisks, isSuperuser } from '../../support/hostile-disk.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { type Answer, startLockProcess } from '../outbox/lock-process.ts';

const ORDINARY_USER = 65_534;

function getRefusal(path: string): DatabaseError {
  try {
    acquireLockFile(path);
  } catch (thrown) {
    if (thrown instanceof DatabaseError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('a lock file', () => {
  test('is created for its owner alone, in a folder for its owner alone', () => {
    const folder = join(tempFolder(), 'state', 'outboxes');
    const lock = acquireLockFile(join(folder, 'a.lock'));
    expect(
      [join(folder, '..'), folder, join(folder, 'a.lock')].map(
        (path) => statSync(path).mode & 0o777,
      ),
    ).toEqual([0o700, 0o700, 0o600]);
    lock?.release();
  });

  test('that others can read is restricted', () => {
    const path = join(tempFolder(), 'a.lock');
    writeFileSync(path, '');
    chmodSync(path, 0o644);
    acquireLockFile(path)?.release();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('stays empty with nothing beside it, while it is held and afterwards', () => {
    const folder = tempFolder();
    const lock = acquireLockFile(join(folder, 'a.lock'));
    const found = (): unknown => [readdirSync(folder), statSync(join(folder, 'a.lock')).size];
    expect(found()).toEqual([['a.lock'], 0]);
    lock?.release();
    expect(found()).toEqual([['a.lock'], 0]);
  });

  test('is held by one connection of a process, and by no later one until it is released', () => {
    const path = join(tempFolder(), 'a.lock');
    const first = acquireLockFile(path);
    expect([acquireLockFile(path), acquireLockFile(path)]).toEqual([undefined, undefined]);
    first?.release();
    const second = acquireLockFile(path);
    expect(second).toBeDefined();
    first?.release();
    expect(acquireLockFile(path)).toBeUndefined();
    second?.release();
  });

  test('with content is refused and stays unchanged', () => {
    const path = join(tempFolder(), 'a.lock');
    writeFileSync(path, 'letters of an archaeologist');
    expect(getRefusal(path)).toMatchObject({
      exitCode: 12,
      message: expect.stringContaining('a lock must be an empty file'),
    });
    expect(readFileSync(path, 'utf8')).toBe('letters of an archaeologist');
  });

  test('is never a database with a log, which locks in another way', () => {
    const path = join(tempFolder(), 'a.lock');
    const database = openSqlite(path);
    database.pragma('journal_mode = wal');
    database.exec('create table t (x)');
    database.close();
    expect(getRefusal(path).exitCode).toBe(12);
  });

  test('cannot be a folder', () => {
    const path = join(tempFolder(), 'a.lock');
    mkdirSync(path);
    expect(getRefusal(path).exitCode).toBe(12);
  });

  test('cannot be created below a file', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    expect(getRefusal(join(file, 'a.lock')).exitCode).toBe(12);
  });
});

describe.skipIf(!isSuperuser)('in a read-only place', () => {
  const ask = async (path: string): Promise<Answer> => {
    const other = await startLockProcess({ user: ORDINARY_USER });
    try {
      return await other.say({ order: 'file', path });
    } finally {
      await other.kill();
    }
  };

  test('a missing lock is refused as a configuration error', async () => {
    const folder = tempFolder();
    chmodSync(folder, 0o555);
    expect(await ask(join(folder, 'a.lock'))).toMatchObject({
      exitCode: 12,
      error: expect.stringContaining('permission denied'),
    });
  });
});

describe.skipIf(!canMountDisks)('on a disk of its own', () => {
  /**
   * Asks for `disk/SUB/a.lock` after what the shell did, in a name space of mounts that ends with
   * it.
   */
  const askOn = async (sub: string, prepare: string): Promise<Answer> => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'disk'));
    const script = `cd "$FOLDER" && ${prepare} && exec "$@"`;
    const within = ['unshare', ...(isSuperuser ? ['-m'] : ['-rm']), 'bash', '-c', script, 'bash'];
    const inside = await startLockProcess({ within, env: { FOLDER: folder } });
    try {
      return await inside.say({ order: 'file', path: join(folder, 'disk', sub, 'a.lock') });
    } finally {
      await inside.kill();
    }
  };

  test.each([
    ['its folder', 'new'],
    ['the lock', ''],
  ])('that is full when %s is created, it is refused until there is space', async (_, sub) => {
    const answer = await askOn(sub, 'mount -t tmpfs -o size=64k,nr_inodes=1 none disk');
    expect(answer).toMatchObject({
      exitCode: 5,
      error: expect.stringContaining('the disk is full'),
    });
  });

  test('that is full, an existing lock is acquired', async () => {
    const fill = '{ dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null; true; }';
    expect(
      await askOn(
        '',
        `mount -t tmpfs -o size=64k,nr_inodes=3 none disk && touch disk/a.lock && ${fill}`,
      ),
    ).toBe('acquired');
  });

  test.each([
    ['is missing', 'true'],
    ['is there', 'touch disk/a.lock'],
  ])(
    'that is read-only, a lock that %s is refused as a configuration error',
    async (_, prepare) => {
      const answer = await askOn(
        '',
        `mount -t tmpfs none disk && ${prepare} && mount -o remount,ro none disk`,
      );
      expect(answer).toMatchObject({ exitCode: 12 });
    },
  );
});

describe('the locks of a file system', () => {
  test('are reliable if a second process is excluded, and the trial leaves nothing behind', () => {
    const folder = tempFolder();
    expect(isLockingReliable(folder)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  const canCompile =
    process.platform === 'linux' &&
    spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;

  test.skipIf(!canCompile).each([
    ['that lets everybody have them', 'return 0;'],
    ['that has none', 'errno = ENOLCK; return -1;'],
  ])('are not, on one %s', async (_, body) => {
    const folder = tempFolder();
    const build = tempFolder();
    const library = join(build, 'locks.so');
    const source = join(build, 'locks.c');
    writeFileSync(source, playedLocks(body));
    const { status, stderr } = spawnSync(
      'gcc',
      ['-shared', '-fPIC', '-o', library, source, '-ldl'],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([0, '']);
    const process = await startLockProcess({ env: { LD_PRELOAD: library } });
    expect(await process.say({ order: 'reliable', folder })).toBe(false);
    await process.kill();
    expect(existsSync(folder) && readdirSync(folder)).toEqual([]);
  });
});

/** Stands before the program's `fcntl` and answers what asks for locks. */
function playedLocks(body: string): string {
  const call = (name: string): string => `int ${name}(int fd, int command, ...) {
    va_list rest; va_start(rest, command); void *value = va_arg(rest, void *); va_end(rest);
    if (command == F_SETLK || command == F_SETLKW) { ${body} }
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, "${name}");
    return real(fd, command, value);
  }`;
  const head = ['dlfcn', 'errno', 'fcntl', 'stdarg']
    .map((name) => `#include <${name}.h>`)
    .join('\n');
  return `#define _GNU_SOURCE\n${head}\n${call('fcntl')}\n${call('fcntl64')}\n`;
}
