import { ENTRY_KINDS, ENTRY_STATES, type EntryKind, type EntryState } from './entry.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/**
 * How many there are of what. Triggers of the outbox keep the counts in two small tables, in the transaction of each change, so that
 * asking costs the same of ten finds and of a million (schemas/outbox/000008_counts.sql).
 */

type Counts = Readonly<Record<EntryKind, Readonly<Record<EntryState, number>>>>;

/** Entries by kind and state. */
export function countEntries(outbox: ServiceOutbox): Counts {
  const counts = Object.fromEntries(
    ENTRY_KINDS.map((kind) => [kind, Object.fromEntries(ENTRY_STATES.map((state) => [state, 0]))]),
  ) as Record<EntryKind, Record<EntryState, number>>;
  const rows = outbox
    .sql('select kind, state, sum(count) as count from entry_counts where service_id = ? group by kind, state')
    .all(outbox.serviceId) as { kind: EntryKind; state: EntryState; count: number }[];
  for (const { kind, state, count } of rows) counts[kind][state] = count;
  return counts;
}

export function countFinds(outbox: Outbox): number {
  return (outbox.sql('select coalesce(sum(count), 0) as count from find_counts').get() as { count: number }).count;
}

/** What waits of itself: changes for their find's import, or for one that was given up, and entries for a moment. */
export type Waiting = { readonly forImport: number; readonly forGivenUp: number; readonly forTime: number };

export function countWaiting(outbox: ServiceOutbox): Waiting {
  return outbox
    .sql(
      `select
         (select coalesce(sum(count), 0) from entry_counts where service_id = :serviceId and waits_for = 'import') as forImport,
         (select coalesce(sum(count), 0) from entry_counts where service_id = :serviceId and waits_for = 'given_up') as forGivenUp,
         (select count(*) from entries where service_id = :serviceId and state = 'queued' and (kind = 'import' or ident_cely is not null)
            and not_before_at > :now) as forTime`,
    )
    .get({ serviceId: outbox.serviceId, now: Math.floor(outbox.clock.now()) }) as Waiting;
}

/** Finds that other services have or are to have, and this one never had. */
export function countElsewhere(outbox: ServiceOutbox): number {
  const rows = outbox.sql('select imports, count from find_counts where count <> 0').all() as {
    imports: string;
    count: number;
  }[];
  return rows.reduce((sum, { imports, count }) => (isElsewhere(imports, outbox.serviceId) ? sum + count : sum), 0);
}

function isElsewhere(imports: string, serviceId: number): boolean {
  const standings = JSON.parse(imports) as Readonly<Record<string, 'dropped' | 'unsent' | 'sent'>>;
  return standings[serviceId] === undefined && Object.values(standings).some((standing) => standing !== 'dropped');
}

/** What other accounts of the service have queued, by their user names. */
export function countOfOthers({ sql, serviceId, username }: ServiceOutbox): ReadonlyMap<string, number> {
  const rows = sql(
    `select username, sum(count) as count from entry_counts
     where service_id = ? and username not in ('', ?) and state = 'queued' group by username having sum(count) > 0`,
  ).all(serviceId, username) as { username: string; count: number }[];
  return new Map(rows.map(({ username: other, count }) => [other, count]));
}

/** The tables of counts, the view that really counts what each holds, and what it is counted by. */
const KEPT = [
  ['entry_counts', 'entries_counted', ['service_id', 'username', 'kind', 'state', 'waits_for']],
  ['find_counts', 'finds_counted', ['imports']],
] as const;

/** Whether the counts are those of what is there; reads the whole outbox. */
export function countsAreRight(outbox: Outbox): boolean {
  return KEPT.every(([table, view, columns]) => {
    const keys = columns.join(', ');
    const kept = `select ${keys}, count from ${table} where count <> 0`;
    const counted = `select ${keys}, count from ${view}`;
    return (
      outbox
        .sql(`select * from (${kept} except ${counted}) union all select * from (${counted} except ${kept}) limit 1`)
        .get() === undefined
    );
  });
}

/** Counts everything anew. */
export function recount(outbox: Outbox): void {
  outbox.change(() => {
    for (const [table, view, columns] of KEPT) {
      const keys = columns.join(', ');
      outbox.sql(`delete from ${table}`).run();
      outbox.sql(`insert into ${table} (${keys}, count) select ${keys}, count from ${view}`).run();
    }
  });
}
