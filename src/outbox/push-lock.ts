import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { type LockFile, waitForLockFile } from '../base/disk/lock-file.ts';
import { OutboxLeasedError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { type Outbox, readHeader, requireLedger, updateHeader } from './open-outbox.ts';
import { requestFullUnion } from './unite.ts';

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
 * Takes both locks of an outbox, or none; `release` frees them, as does the end of the process.
 * Only under them may a process send from an outbox, or reconcile, restore, repair or move it.
 * @throws OutboxLeasedError where another process holds one for longer than 35 ms
 * @throws DatabaseError where the lock file cannot be created or opened: with exit code 5 where the
 * disk is full, else with 12
 */
export function acquirePushLock(options: PushLockOptions): LockFile {
  const ofAccount = takeLock(join(options.folder, `${options.scope}.lock`), options);
  try {
    const besideFile = takeLock(join(options.outboxFolder, 'push.lock'), options);
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
 * Runs `work` under both locks of an outbox, and returns its result.
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

/**
 * Where the outbox was pushed last. `new`: nowhere; `own`: here; `foreign`: it, or a copy of it,
 * may be pushed from another place; `lost-ledger`: this machine had another ledger, or an older
 * one.
 */
type PushPlace = 'new' | 'own' | 'foreign' | 'lost-ledger';

/**
 * Returns where the outbox was pushed last: its header names machine and ledger, and they are
 * compared with these.
 * @param machine identifier of this machine; empty where it has none
 * @throws DatabaseError or DatabaseTooNewError where the ledger is unusable
 */
export function getPushPlace(outbox: Outbox, machine: string): PushPlace {
  const { id } = requireLedger(outbox);
  const { ledger, machine: last } = readHeader(outbox);
  if (ledger === '') return 'new';
  const areKnown = machine !== '' && last !== '';
  if (ledger === id) return areKnown && machine !== last ? 'foreign' : 'own';
  return areKnown && machine === last ? 'lost-ledger' : 'foreign';
}

/**
 * Stores in the header that the outbox is pushed from here; the caller holds the push lock. After
 * another place, or with a lost ledger, the next push must search the service as for the first
 * time, and the next union compares all facts.
 * @param machine identifier of this machine; empty where it has none
 * @param place as {@link getPushPlace} returned it
 */
export function storePushPlace(outbox: Outbox, machine: string, place: PushPlace): void {
  const { ledger, machine: last } = readHeader(outbox);
  const { id } = requireLedger(outbox);
  if (ledger === id && (machine === '' || machine === last)) return;
  outbox.change(() => {
    updateHeader(outbox, { ledger: id, machine });
    if (place === 'new' || place === 'own') return;
    updateHeader(outbox, { mustLook: true, lookedFrom: null, lookedUntil: null });
    requestFullUnion(outbox);
  });
}
