import { readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { systemClock } from '../../../dist/src/base/clock.js';
import { openSqlite } from '../../../dist/src/base/disk/database.js';
import { acquireLockFile, isLockingReliable } from '../../../dist/src/base/disk/lock-file.js';
import { acquirePushLock } from '../../../dist/src/outbox/push-lock.js';

// A process that takes and releases locks as lock-process.ts says: one order a line on stdin, one
// answer a line on stdout.

/** State as a program holds it that does not read it again. */
const releases = [];

const ORDERS = {
  acquire({ keep = true, ...outbox }) {
    const lock = acquirePushLock({ ...outbox, clock: systemClock });
    if (keep) releases.push(() => lock.release());
    return 'acquired';
  },
  release() {
    for (const release of releases.splice(0)) release();
    return 'released';
  },
  file: ({ path }) => (acquireLockFile(path) === undefined ? 'refused' : 'acquired'),
  reliable: ({ folder }) => isLockingReliable(folder),
  collect() {
    for (let times = 0; times < 4; times += 1) globalThis.gc();
    return 'collected';
  },
};

if (process.env.LOCK_PROCESS_USER !== undefined) {
  const user = Number(process.env.LOCK_PROCESS_USER);
  // Loaded first: the other account may have no access to the folder of the project.
  openSqlite(':memory:').close();
  process.chdir('/');
  process.setgroups([]);
  process.setgid(user);
  process.setuid(user);
}

// In another name space of process numbers this one has another number than the one by which it can
// be killed from outside.
answer(Number(readlinkSync('/proc/self')));
for await (const line of createInterface({ input: process.stdin })) {
  const { order, ...details } = JSON.parse(line);
  try {
    answer(ORDERS[order](details));
    // The turn in which Node closes a database that is collected.
    await new Promise((next) => setImmediate(next));
  } catch (thrown) {
    answer({ error: thrown.message, hint: thrown.hint, exitCode: thrown.exitCode });
  }
}

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
