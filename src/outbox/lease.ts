import { OutboxLeasedError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { refuseDamaged } from '../store/database-file.ts';
import type { Outbox } from './open-outbox.ts';
import type { ProcessTable } from './process-table.ts';

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

/** `unknown`: nothing here proves the one or the other, as of a process of another machine or container. */
type HolderLife = 'alive' | 'dead' | 'unknown';

/**
 * Takes the outbox for pushing. A lease whose holder is proven to have ended is taken over, whatever the machine was
 * renamed to since.
 * @throws OutboxLeasedError naming the holder's pid and start time
 * @throws DatabaseError when the file is damaged: what it says of entries could then be wrong, and finds be sent twice
 */
export function takeLease(outbox: Outbox, { processes = outbox.processes, takeOver = false }: LeaseOptions = {}): Lease {
  refuseDamaged(outbox.path, outbox.sql('pragma integrity_check(1)'));
  const { boot, start, nameSpace } = processes.self();
  const own: LeaseHolder = {
    pid: processes.pid,
    host: processes.host,
    machine: processes.machine(),
    processMark: `${boot}:${start}:${nameSpace}`,
    takenAt: Math.floor(outbox.clock.now()),
  };
  // What is asked of the system may take seconds, so it is asked before others are kept from writing. Whoever takes the
  // lease meanwhile is looked at anew, and no person has said anything of that one.
  for (let mayTakeOver = takeOver; ; mayTakeOver = false) {
    const held = leaseHolder(outbox);
    const life = held === undefined ? 'dead' : lifeOf(held, processes);
    if (held !== undefined && (life === 'alive' || (life === 'unknown' && !mayTakeOver))) throw leasedBy(held, life);
    const isTaken = outbox.change(() => {
      if (held !== undefined) outbox.sql(GIVE_UP).run(held);
      return outbox.sql(TAKE).run(own).changes === 1;
    });
    if (isTaken) return { release: () => void outbox.sql(GIVE_UP).run(own) };
  }
}

const TAKE = `insert into lease (only, pid, host, machine, process_mark, taken_at)
  values (1, :pid, :host, :machine, :processMark, :takenAt) on conflict (only) do nothing`;
const GIVE_UP = `delete from lease where pid = :pid and host = :host and machine = :machine
  and process_mark = :processMark and taken_at = :takenAt`;

export function leaseHolder(outbox: Outbox): LeaseHolder | undefined {
  return outbox.sql(`select pid, host, machine, process_mark as processMark, taken_at as takenAt from lease`).get() as
    | LeaseHolder
    | undefined;
}

/** Proof or nothing: a name can be changed and shared, and a number, a clock and a time zone change as well. */
export function lifeOf(held: LeaseHolder, processes: ProcessTable): HolderLife {
  const [boot = '', start = '', ...rest] = held.processMark.split(':');
  const nameSpace = rest.join(':');
  const self = processes.self();
  const isSameBoot = boot !== '' && boot === self.boot;
  if (!isSameBoot && (held.machine === '' || held.machine !== processes.machine())) return 'unknown';
  // The same machine since a restart, which no process survives.
  if (!isSameBoot && boot !== '' && self.boot !== '') return 'dead';
  if (nameSpace === '' || nameSpace !== self.nameSpace) return 'unknown';
  const seen = processes.seen(held.pid);
  if (seen === 'gone') return 'dead';
  if (seen === 'hidden' || start === '') return 'unknown';
  return seen.start === start ? 'alive' : 'dead';
}

function leasedBy({ pid, host, takenAt }: LeaseHolder, life: HolderLife): OutboxLeasedError {
  const since = new Date(takenAt).toISOString();
  if (life === 'alive') {
    return new OutboxLeasedError(msg`Another pas is pushing this outbox: process ${pid}, since ${since}.`, {
      hint: msg`Wait until it is done. Two pushes of one outbox would send finds twice.`,
    });
  }
  return new OutboxLeasedError(msg`Another pas is pushing this outbox: process ${pid} on ${host}, since ${since}.`, {
    hint: msg`Whether it still runs cannot be seen from here. Look on ${host} whether process ${pid} is a pas (it may be called node). If it is not, add --take-over.`,
  });
}
