import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { OutboxLeasedError } from '../base/errors.ts';
import { refuseDamaged } from '../store/database-file.ts';
import type { Outbox } from './outbox.ts';

type LeaseRow = { pid: number; host: string; processMark: string; takenAt: number };

export type Lease = { release(): void };

/** How a process is told from another with the same number, at another time or after a restart of the machine. */
export type ProcessTable = {
  readonly pid: number;
  readonly host: string;
  /** A mark that no other process of this number ever has, or undefined when no such process runs. */
  markOf(pid: number): string | undefined;
};

/**
 * Takes the outbox for pushing. A lease whose holder no longer runs on this machine is taken over.
 * @throws OutboxLeasedError naming the holder's pid and start time
 * @throws DatabaseError when the file is damaged: what it says of entries could then be wrong, and finds be sent twice
 */
export function takeLease(outbox: Outbox, processes: ProcessTable): Lease {
  refuseDamaged(outbox.path);
  const mark = processes.markOf(processes.pid) ?? 'unknown';
  outbox.change(() => {
    const held = outbox.sql(`select pid, host, process_mark as processMark, taken_at as takenAt from lease`).get() as
      | LeaseRow
      | undefined;
    if (held !== undefined && isAlive(held, processes)) throw leasedBy(held, processes);
    outbox
      .sql(
        `insert into lease (only, pid, host, process_mark, taken_at) values (1, :pid, :host, :mark, :now)
         on conflict (only) do update set pid = :pid, host = :host, process_mark = :mark, taken_at = :now`,
      )
      .run({ pid: processes.pid, host: processes.host, mark, now: Math.floor(outbox.clock.now()) });
  });
  return {
    release: () => {
      outbox.sql(`delete from lease where pid = ? and host = ? and process_mark = ?`).run(processes.pid, processes.host, mark);
    },
  };
}

function isAlive(held: LeaseRow, processes: ProcessTable): boolean {
  // Of another machine's processes nothing can be known from here (an outbox on a shared drive), so they count as alive.
  if (held.host !== processes.host) return true;
  return processes.markOf(held.pid) === held.processMark;
}

function leasedBy(held: LeaseRow, processes: ProcessTable): OutboxLeasedError {
  const where = held.host === processes.host ? '' : ` on ${held.host}`;
  return new OutboxLeasedError(
    `Another pas is pushing this outbox: process ${held.pid}${where}, since ${new Date(held.takenAt).toISOString()}.`,
    { hint: 'Wait until it is done. Two pushes of one outbox would send finds twice.' },
  );
}

export const systemProcesses: ProcessTable = {
  pid: process.pid,
  host: hostname(),
  markOf(pid) {
    try {
      // Linux: the machine's boot and the process's start in clock ticks since then.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${afterName[19]}`;
    } catch {
      return markWithoutProc(pid);
    }
  },
};

function markWithoutProc(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (thrown) {
    // EPERM: it runs, under another user.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM' ? 'alive' : undefined;
  }
}
