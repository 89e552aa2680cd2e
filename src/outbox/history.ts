import { randomUUID } from 'node:crypto';
import { openReplaceable } from '../store/database.ts';
import { entriesOfService } from './entries.ts';
import type { ImportEntry } from './entry.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** An outbox's own account of itself. */
type History = { readonly id: string; readonly machine: string; readonly attempts: number };

/** What a machine keeps of the outboxes that were pushed on it, where no copy of a data folder takes it along. */
export type Memory = {
  recall(id: string): Recalled | undefined;
  /**
   * Notes the outbox's next request, before it leaves.
   * @returns false where it is not this outbox's to make: a copy of it has made as many, or goes on in its place
   */
  advance(outbox: Outbox): boolean;
  /** A copy of this outbox goes on in its place, as another one. */
  divide(outbox: Outbox): void;
  close(): void;
};

type Recalled = {
  readonly attempts: number;
  /** The last entry that it may share with a copy, which goes on with those; null where it has none. */
  readonly sharedUntil: number | null;
};

export function openMemory(path: string): Memory {
  // Behind after a power cut, it would take an older copy of the outbox for one that knows all.
  const database = openReplaceable(path, 'full', (opened) => {
    opened.exec(`create table if not exists outboxes (
      id text primary key, attempts integer not null, shared_until integer) strict, without rowid`);
    opened.prepare('select id, attempts, shared_until from outboxes');
  });
  const read = database.prepare<[string], Recalled>('select attempts, shared_until as sharedUntil from outboxes where id = ?');
  const advance = database.prepare(`insert into outboxes (id, attempts) values (?, ?)
    on conflict (id) do update set attempts = excluded.attempts where excluded.attempts > attempts and shared_until is null`);
  const divide = database.prepare(`insert into outboxes (id, attempts, shared_until) values (?, ?, ?)
    on conflict (id) do update set shared_until = max(coalesce(shared_until, 0), excluded.shared_until)`);
  return {
    recall: (id) => read.get(id),
    advance: (outbox) => {
      const { id, attempts } = historyOf(outbox);
      return advance.run(id, attempts).changes === 1;
    },
    divide: (outbox) => {
      const { id, attempts } = historyOf(outbox);
      divide.run(id, attempts, lastEntryId(outbox));
    },
    close: () => database.close(),
  };
}

function lastEntryId(outbox: Outbox): number {
  return outbox.sql('select coalesce(max(id), 0) from entries').pluck().get() as number;
}

export function historyOf(outbox: Outbox): History {
  return outbox.sql('select id, machine, attempts from history').get() as History;
}

/** From here on it is another outbox than the one that it is a copy of. */
export function beginHistory(outbox: Outbox, machine: string): void {
  outbox.sql('update history set id = ?, machine = ?').run(randomUUID(), machine);
}

/** A push begins on this machine: it counts as a request, so that of two copies that know the same only one can begin. */
export function countPush(outbox: Outbox, machine: string): void {
  outbox.change(() => outbox.sql('update history set machine = ?, attempts = attempts + 1').run(machine));
}

/** When the last request was made of which it knows, by this machine's clock; of an outbox without any, when its first entry was queued. */
export function lastRequestMs(outbox: Outbox): number | undefined {
  const at = outbox
    .sql(`select coalesce((select max(coalesce(ended_at, started_at)) from attempts), (select min(created_at) from entries))`)
    .pluck()
    .get();
  return typeof at === 'number' ? at : undefined;
}

export function noteLook({ sql, serviceId, username, clock }: ServiceOutbox): void {
  sql(`insert into looks (service_id, username, looked_at) values (?, ?, ?)
    on conflict (service_id, username) do update set looked_at = excluded.looked_at`).run(
    serviceId,
    username,
    Math.floor(clock.now()),
  );
}

/** Finds that have been waiting since before this account last looked at the service: a copy of the outbox may have sent them since. */
export function waitingSinceLook(outbox: ServiceOutbox): ImportEntry[] {
  const { serviceId, username } = outbox;
  return entriesOfService(
    outbox,
    `kind = 'import' and state = 'queued'
     and created_at < (select looked_at from looks where looks.service_id = :serviceId and looks.username = :looker)`,
    { serviceId, looker: username },
  ).flatMap((entry) => (entry.kind === 'import' ? [entry] : []));
}
