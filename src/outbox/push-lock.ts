import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { type LockFile, waitForLockFile } from '../base/disk/lock-file.ts';
import { OutboxLeasedError } from '../base/errors.ts';
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
 * Takes both locks of an outbox, or none. Whatever sends, reconciles, restores, repairs or moves it
 * holds them. They end with their process, also in a container.
 * @throws OutboxLeasedError where another process holds one for longer than 35 ms
 * @throws DatabaseError where the lock file cannot be created or opened: with exit code 5 where the
 * disk is full, else with 12
 */
export function acquirePushLock(outbox: PushLockOptions): LockFile {
  const ofAccount = takeLock(join(outbox.folder, `${outbox.scope}.lock`), outbox);
  try {
    const besideFile = takeLock(join(outbox.outboxFolder, 'push.lock'), outbox);
    return {
      release() {
        besideFile.release();
        ofAccount.release();
      },
    };
  } catch (thrown) {
    ofAccount.release();
    throw thrown;
  }
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

/** An answer of a person holds the lock for a moment, which must not refuse a push. */
const MAX_TRIES = 8;

function takeLock(path: string, { clock }: PushLockOptions): LockFile {
  const lock = waitForLockFile(path, clock, MAX_TRIES);
  if (lock !== undefined) return lock;
  throw new OutboxLeasedError(msg`Another pas process is using this outbox.`, {
    hint: msg`Wait until it is done. If no other pas process is running, locks may not work on this disk: run \`${cmd`pas doctor`}\`.`,
  });
}
