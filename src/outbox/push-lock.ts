import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { type LockFile, waitForLockFile } from '../base/disk/lock-file.ts';
import { DatabaseError, OutboxLeasedError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';

/**
 * Lock of a service and account on this machine, and that beside the file of the outbox, which
 * another user or machine may share.
 */
export type PushLockOptions = {
  /** Folder and name of the first lock. */
  readonly folder: string;
  readonly scope: string;
  readonly outboxFolder: string;
  readonly clock: Clock;
};

/**
 * Takes both locks of an outbox, which whatever sends, reconciles, restores, repairs or moves it
 * holds. They end with their process, also in a container. Tries {@link MAX_TRIES} times.
 * @throws OutboxLeasedError where another process holds one
 * @throws DatabaseError where the lock file cannot be created or opened: with exit code 5 where the
 * disk is full, else with 12
 */
export function acquirePushLock(outbox: PushLockOptions): LockFile {
  const lock = tryLock(outbox);
  if (lock === undefined) throw makeHeldError();
  return lock;
}

/**
 * Runs `work` under an outbox's lock.
 * @throws OutboxLeasedError, DatabaseError as {@link acquirePushLock}; errors of `work`
 */
export async function withPushLock<T>(
  options: PushLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const lock = acquirePushLock(options);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Tells if a process holds the lock now, for display only: a command that depends on it takes the
 * lock. It creates no file.
 * @returns false as well where this user cannot open the file
 */
export function isPushRunning(outbox: PushLockOptions): boolean {
  if (!existsSync(getLockFile(outbox))) return false;
  try {
    const lock = tryLock(outbox);
    lock?.release();
    return lock === undefined;
  } catch (thrown) {
    if (thrown instanceof DatabaseError) return false;
    throw thrown;
  }
}

/** {@link isPushRunning} holds the lock for a moment, which must not refuse a push. */
const MAX_TRIES = 8;

/** Takes both locks, or none. */
function tryLock(outbox: PushLockOptions): LockFile | undefined {
  const first = waitForLockFile(getLockFile(outbox), outbox.clock, MAX_TRIES);
  if (first === undefined) return undefined;
  let second: LockFile | undefined;
  try {
    const path = join(outbox.outboxFolder, 'push.lock');
    second = waitForLockFile(path, outbox.clock, MAX_TRIES);
  } finally {
    if (second === undefined) first.release();
  }
  const both = second;
  if (both === undefined) return undefined;
  return {
    release() {
      both.release();
      first.release();
    },
  };
}

function makeHeldError(): OutboxLeasedError {
  return new OutboxLeasedError(msg`Another pas process is using this outbox.`, {
    hint: msg`Wait until it is done. If no other pas process is running, locks may not work on this disk: run \`${cmd`pas doctor`}\`.`,
  });
}

function getLockFile({ folder, scope }: PushLockOptions): string {
  return join(folder, `${scope}.lock`);
}
