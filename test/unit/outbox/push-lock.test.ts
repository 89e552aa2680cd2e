import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { acquireLockFile, type LockFile } from '../../../src/base/disk/lock-file.ts';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { acquirePushLock, withPushLock } from '../../../src/outbox/push-lock.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  canMakeNameSpaces,
  type LockProcess,
  NAME_SPACE,
  type Refusal,
  startLockProcess,
} from './lock-process.ts';

const started: LockProcess[] = [];
const taken: LockFile[] = [];

afterEach(async () => {
  for (const lock of taken.splice(0)) lock.release();
  await Promise.all(started.splice(0).map((each) => each.kill()));
});

async function start(options: Parameters<typeof startLockProcess>[0] = {}): Promise<LockProcess> {
  const process = await startLockProcess(options);
  started.push(process);
  return process;
}

async function kill(process: LockProcess): Promise<void> {
  started.splice(started.indexOf(process), 1);
  await process.kill();
}

function anOutbox() {
  const place = {
    folder: join(tempFolder(), 'locks'),
    scope: 'service-account',
    outboxFolder: tempFolder(),
  };
  const options = { ...place, clock: manualClock() };
  const take = (): LockFile => {
    const lock = acquirePushLock(options);
    taken.push(lock);
    return lock;
  };
  return { place, options, take, lockPath: join(place.folder, `${place.scope}.lock`) };
}

function catchError(work: () => unknown): OutboxLeasedError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('the lock of an outbox', () => {
  test('refuses a second holder', () => {
    const { take } = anOutbox();
    take();
    const error = catchError(take);
    expect(error.hint).toMatch(/locks may not work on this disk: run `pas doctor`/);
    expect(error).toMatchObject({ code: 'outbox-leased', exitCode: 11 });
  });

  test('excludes another copy of the outbox, and another machine at the same file', () => {
    const { take, options } = anOutbox();
    take();
    const copy = { ...options, outboxFolder: tempFolder() };
    expect(catchError(() => acquirePushLock(copy)).exitCode).toBe(11);
    const elsewhere = { ...options, folder: join(tempFolder(), 'locks') };
    expect(catchError(() => acquirePushLock(elsewhere)).exitCode).toBe(11);
  });

  test('waits for a command that holds it for a moment', () => {
    const { options, place, lockPath } = anOutbox();
    mkdirSync(place.folder);
    const looking = acquireLockFile(lockPath) as LockFile;
    const clock = { ...options.clock, hold: () => looking.release() };
    taken.push(acquirePushLock({ ...options, clock }));
  });
});

describe('work under the lock', () => {
  test('that fails releases it', async () => {
    const { options, take } = anOutbox();
    await expect(withPushLock(options, () => Promise.reject(new Error('cut off')))).rejects.toThrow(
      'cut off',
    );
    take();
  });
});

describe('between processes', () => {
  test('a killed process holds nothing', async () => {
    const { take, place } = anOutbox();
    const other = await start();
    expect(await other.say({ order: 'acquire', ...place })).toBe('acquired');
    catchError(take);
    await kill(other);
    take();
    catchError(take);
  });

  test('a lock is held even if the program does not use it again', async () => {
    const { take, place } = anOutbox();
    const other = await start({ nodeFlags: ['--expose-gc'] });
    expect(await other.say({ order: 'acquire', ...place, keep: false })).toBe('acquired');
    expect(await other.say({ order: 'collect' })).toBe('collected');
    expect(await other.say({ order: 'collect' })).toBe('collected');
    catchError(take);
  });

  test('of eight that race exactly one gets it, every time, also after a kill', async () => {
    const [holder, ...racers] = await Promise.all(Array.from({ length: 9 }, () => start()));
    if (holder === undefined) throw new Error('no process was started');
    const { place: leftByKill } = anOutbox();
    await holder.say({ order: 'acquire', ...leftByKill });
    await kill(holder);
    for (const place of [leftByKill, ...Array.from({ length: 9 }, () => anOutbox().place)]) {
      const answers = await Promise.all(
        racers.map((each) => each.say({ order: 'acquire', ...place })),
      );
      expect(answers.filter((each) => each === 'acquired')).toHaveLength(1);
      expect(answers.filter((each) => (each as Refusal).exitCode === 11)).toHaveLength(7);
      await Promise.all(racers.map((each) => each.say({ order: 'release' })));
    }
  });

  describe.skipIf(!canMakeNameSpaces)('with separate process ids', () => {
    test('a container excludes this process, and holds nothing when it is killed', async () => {
      const { take, place } = anOutbox();
      const inside = await start({ within: NAME_SPACE });
      expect(await inside.say({ order: 'acquire', ...place })).toBe('acquired');
      catchError(take);
      await kill(inside);
      take();
    });
  });
});
