import { msg } from '../../base/message.ts';
import type { HarvestedFind } from '../../find/harvested-find.ts';
import { projectOf } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import { parseStored } from '../../outbox/events.ts';
import { type Outbox, updateHeader } from '../../outbox/open-outbox.ts';
import type { ListedFind } from '../harvest/harvest-finds.ts';

/** Records as looks have shown them, and identifiers of those that were listed and not shown. */
type Unexplained = { readonly records: readonly HarvestedFind[]; readonly hidden: readonly string[] };

/** Judges a record that a look lists. */
export type IsUnexplained = (identCely: string, listed: ListedFind) => boolean;

/**
 * Keeps what a look shows and no event explains. A look shows only what changed since the one before, and a find or a photograph may be
 * queued after the look that showed its equal.
 */
export function rememberUnexplained(
  outbox: Outbox,
  listed: readonly (readonly [string, ListedFind])[],
  isUnexplained: IsUnexplained,
): void {
  const known = outbox.sql('select 1 from unexplained where ident_cely = ?');
  const forget = outbox.sql('delete from unexplained where ident_cely = ?');
  const remember = outbox.sql('insert or replace into unexplained (ident_cely, record) values (?, ?)');
  outbox.change(() => {
    for (const [identCely, lookup] of listed) {
      if (isUnexplained(identCely, lookup))
        remember.run(identCely, lookup.kind === 'shown' ? JSON.stringify(lookup.record) : null);
      // What was shown before and is not shown now is there all the same.
      else if (lookup.kind !== 'withheld' && known.get(identCely) !== undefined) forget.run(identCely);
    }
  });
}

export function unexplainedSoFar({ path, sql }: Outbox): Unexplained {
  const rows = sql('select ident_cely as identCely, record from unexplained order by ident_cely').all() as {
    readonly identCely: string;
    readonly record: string | null;
  }[];
  return {
    records: rows.flatMap(({ identCely, record }) =>
      record === null ? [] : [parseStored(path, msg`the looked-up state of ${identCely}`, record) as HarvestedFind],
    ),
    hidden: rows.flatMap(({ identCely, record }) => (record === null ? [identCely] : [])),
  };
}

/** As long as an entry is held, the next look at its project begins where this one began: it must see again what holds it. */
export function recordLookups(
  outbox: Outbox,
  projects: ReadonlySet<string>,
  held: readonly Entry[],
  at: { beganMs: number; endedMs: number },
): void {
  const open = new Set(held.map((entry) => projectOf(entry) ?? ''));
  const keep = outbox.sql('insert into project_looks (project, server_at) values (?, ?) on conflict (project) do nothing');
  const advance = outbox.sql(
    `insert into project_looks (project, server_at) values (?, ?)
     on conflict (project) do update set server_at = excluded.server_at`,
  );
  for (const project of projects) {
    if (open.has(project)) keep.run(project, Math.floor(at.beganMs));
    else advance.run(project, Math.floor(at.endedMs));
  }
  if (held.length === 0) updateHeader(outbox, { mustLook: false });
}
