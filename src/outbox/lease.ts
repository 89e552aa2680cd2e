import { OutboxLeasedError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { refuseDamaged } from '../store/database-file.ts';
import type { Outbox } from './outbox.ts';
import { type ProcessTable, systemProcesses } from './process-table.ts';

type LeaseHolder = {
  readonly pid: number;
  readonly host: string;
  readonly machine: string;
  readonly processMark: string;
  readonly takenAt: number;
};

type Lease = { release(): void };

type LeaseOptions = {
  readonly processes?: ProcessTable;
  /** A person says that a holder of whom nothing can be known from here is gone. */
  readonly takeOver?: boolean;
};

/** `unknown`: it is another machine's or another container's, whose processes cannot be seen from here. */
type HolderLife = 'alive' | 'dead' | 'unknown';

/**
 * Takes the outbox for pushing. A lease whose holder no longer runs on this machine is taken over, whatever the machine
 * was renamed to since.
 * @throws OutboxLeasedError naming the holder's pid and start time
 * @throws DatabaseError when the file is damaged: what it says of entries could then be wrong, and finds be sent twice
 */
export function takeLease(outbox: Outbox, { processes = systemProcesses, takeOver = false }: LeaseOptions = {}): Lease {
  refuseDamaged(outbox.path);
  const mark = processes.markOf(processes.pid) ?? 'unknown';
  outbox.change(() => {
    const held = leaseHolder(outbox);
    const life = held === undefined ? 'dead' : lifeOf(held, processes);
    if (held !== undefined && (life === 'alive' || (life === 'unknown' && !takeOver))) throw leasedBy(held, life);
    outbox
      .sql(
        `insert into lease (only, pid, host, machine, process_mark, taken_at) values (1, :pid, :host, :machine, :mark, :now)
         on conflict (only) do update set pid = :pid, host = :host, machine = :machine, process_mark = :mark, taken_at = :now`,
      )
      .run({
        pid: processes.pid,
        host: processes.host,
        machine: processes.machine ?? '',
        mark,
        now: Math.floor(outbox.clock.now()),
      });
  });
  return {
    release: () => {
      outbox.sql(`delete from lease where pid = ? and process_mark = ?`).run(processes.pid, mark);
    },
  };
}

export function leaseHolder(outbox: Outbox): LeaseHolder | undefined {
  return outbox.sql(`select pid, host, machine, process_mark as processMark, taken_at as takenAt from lease`).get() as
    | LeaseHolder
    | undefined;
}

/** Names can be changed and shared, so they say that two machines differ, and never that a process is dead. */
export function lifeOf(held: LeaseHolder, processes: ProcessTable = systemProcesses): HolderLife {
  const [boot, , nameSpace] = held.processMark.split(':');
  const [ownBoot, , ownNameSpace] = (processes.markOf(processes.pid) ?? '').split(':');
  if (nameSpace !== undefined && boot === ownBoot && nameSpace === ownNameSpace) {
    return processes.markOf(held.pid) === held.processMark ? 'alive' : 'dead';
  }
  // The same machine since a restart, which no process survives.
  if (held.machine !== '' && held.machine === processes.machine) return boot === ownBoot ? 'unknown' : 'dead';
  if (held.machine !== '' || held.host !== processes.host || nameSpace !== ownNameSpace) return 'unknown';
  return processes.markOf(held.pid) === held.processMark ? 'alive' : 'dead';
}

function leasedBy({ pid, host, takenAt }: LeaseHolder, life: HolderLife): OutboxLeasedError {
  const since = new Date(takenAt).toISOString();
  if (life === 'alive') {
    return new OutboxLeasedError(t`Another pas is pushing this outbox: process ${pid}, since ${since}.`, {
      hint: t`Wait until it is done. Two pushes of one outbox would send finds twice.`,
    });
  }
  return new OutboxLeasedError(t`Another pas is pushing this outbox: process ${pid} on ${host}, since ${since}.`, {
    hint: t`Whether it still runs cannot be seen from here. If you know that it does not, add --take-over.`,
  });
}
