import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { writePrivateFile } from '../base/disk/files.ts';
import { type LockFile, waitForLockFile } from '../base/disk/lock-file.ts';
import { DatabaseError, OutboxLeasedError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';

/**
 * Lock of a service and account on this machine, and that beside the file of the outbox, which
 * another user or machine may share.
 */
type LockedOutbox = {
  /** Folder and name of the first lock. */
  readonly folder: string;
  readonly scope: string;
  readonly outboxFolder: string;
  readonly clock: Clock;
};

export type PushLockOptions = LockedOutbox & {
  /** Identifies this process in the message to refused ones. */
  readonly holder: { readonly pid: number; readonly host: string };
};

export type PushLock = {
  /** Releases the lock. A second call does nothing. */
  release(): void;
};

/**
 * Takes both locks of an outbox, which whatever sends, reconciles, restores, repairs or moves it
 * holds. They end with their process, also in a container. Tries {@link MAX_TRIES} times.
 * @throws OutboxLeasedError with the holder's process, computer and start, as far as its text file
 * has them
 * @throws DatabaseError where the lock file cannot be created or opened: with exit code 5 where the
 * disk is full, else with 12
 */
export function acquirePushLock({ holder, ...outbox }: PushLockOptions): PushLock {
  const lock = tryLock(outbox);
  if (lock === undefined) throw makeHeldError(readHolder(outbox));
  writeHolder(outbox, holder);
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      // Before the lock is released: afterwards the text may be the next holder's.
      removeHolder(outbox);
      lock.release();
    },
  };
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
export function isPushRunning(outbox: LockedOutbox): boolean {
  if (!existsSync(getLockFile(outbox, 'lock'))) return false;
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
function tryLock(outbox: LockedOutbox): LockFile | undefined {
  const first = waitForLockFile(getLockFile(outbox, 'lock'), outbox.clock, MAX_TRIES);
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

function getLockFile({ folder, scope }: LockedOutbox, ending: 'lock' | 'holder'): string {
  return join(folder, `${scope}.${ending}`);
}

/** Content of the text file, for display only: it remains when a process is killed. */
type HolderText = { readonly pid: string; readonly host: string; readonly since: string };

const HOLDER = /^process (?<pid>\d{1,10}) on (?<host>.{1,255}) since (?<since>[\d:.TZ+-]{1,30})\n$/;

function writeHolder(outbox: LockedOutbox, { pid, host }: PushLockOptions['holder']): void {
  try {
    const since = new Date(Math.floor(outbox.clock.now())).toISOString();
    writePrivateFile(getLockFile(outbox, 'holder'), `process ${pid} on ${host} since ${since}\n`);
  } catch {
    // The lock is valid without the text; an older text would name the wrong process.
    removeHolder(outbox);
  }
}

function removeHolder(outbox: LockedOutbox): void {
  try {
    rmSync(getLockFile(outbox, 'holder'), { force: true });
  } catch {
    // A remaining text affects only a message.
  }
}

function readHolder(outbox: LockedOutbox): HolderText | undefined {
  try {
    const { pid, host, since } =
      HOLDER.exec(readFileSync(getLockFile(outbox, 'holder'), 'utf8'))?.groups ?? {};
    return pid === undefined || host === undefined || since === undefined
      ? undefined
      : { pid, host, since };
  } catch {
    return undefined;
  }
}

function makeHeldError(holder: HolderText | undefined): OutboxLeasedError {
  if (holder === undefined) {
    return new OutboxLeasedError(msg`Another pas process is using this outbox.`, {
      hint: msg`Wait until it is done. If no other pas process is running, locks may not work on this disk: run \`${cmd`pas doctor`}\`.`,
    });
  }
  const { pid, host, since } = holder;
  return new OutboxLeasedError(
    msg`Another pas process is using this outbox: process ${pid} on ${host}, since ${since}.`,
    {
      hint: msg`Wait until it is done. If two processes pushed one outbox, finds would be sent twice.`,
    },
  );
}
