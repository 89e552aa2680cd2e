import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { openReplaceable } from '../store/database.ts';
import { entriesOfService } from './entries.ts';
import type { ImportEntry } from './entry.ts';
import type { Outbox, ServiceOutbox } from './outbox.ts';

/** An outbox's own account of itself. */
type History = { readonly id: string; readonly machine: string; readonly attempts: number };

/** What a machine keeps of the outboxes that were pushed on it, where no copy of a data folder takes it along. */
export type Memory = {
  recall(id: string): { readonly attempts: number; readonly notedMs: number } | undefined;
  note(outbox: Outbox): void;
  close(): void;
};

export function openMemory(path: string, clock: Clock): Memory {
  const database = openReplaceable(path, (opened) => {
    opened.exec(`create table if not exists outboxes (
      id text primary key, attempts integer not null, noted_at integer not null) strict, without rowid`);
    opened.prepare('select id, attempts, noted_at from outboxes');
  });
  const read = database.prepare<[string], { attempts: number; notedMs: number }>(
    'select attempts, noted_at as notedMs from outboxes where id = ?',
  );
  const write = database.prepare(`insert into outboxes (id, attempts, noted_at) values (?, ?, ?)
    on conflict (id) do update set attempts = excluded.attempts, noted_at = excluded.noted_at`);
  return {
    recall: (id) => read.get(id),
    note: (outbox) => {
      const { id, attempts } = historyOf(outbox);
      write.run(id, attempts, Math.floor(clock.now()));
    },
    close: () => database.close(),
  };
}

export function historyOf(outbox: Outbox): History {
  return outbox.sql('select id, machine, attempts from history').get() as History;
}

/** From here on it is another outbox than the one that it is a copy of. */
export function beginHistory(outbox: Outbox, machine: string): void {
  outbox.sql('update history set id = ?, machine = ?').run(randomUUID(), machine);
}

export function settleOn(outbox: Outbox, machine: string): void {
  outbox.sql('update history set machine = ? where machine <> ?').run(machine, machine);
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
