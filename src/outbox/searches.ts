import { createRowParser, isText, orNull } from '../store/database.ts';
import type { Outbox } from './open-outbox.ts';

/**
 * Tables `project_searches` and `unexplained`: the last search of each project, and the records
 * that no fact explains.
 */

/** Returns the server time up to which a project was searched; undefined where it never was. */
export function getLastSearchAt(outbox: Outbox, project: string): number | undefined {
  const at = outbox
    .sql('select server_at from project_searches where project = ?')
    .pluck()
    .get(project);
  return typeof at === 'number' ? at : undefined;
}

/**
 * Stores the server time of a search.
 * @param keepsEarlier keeps the time of an earlier search
 */
export function recordSearch(
  outbox: Outbox,
  project: string,
  serverAt: number,
  keepsEarlier: boolean,
): void {
  const change = keepsEarlier ? 'nothing' : 'update set server_at = excluded.server_at';
  outbox
    .sql(
      `insert into project_searches (project, server_at) values (?, ?) on conflict (project) do ${change}`,
    )
    .run(project, Math.floor(serverAt));
}

const parseUnexplained = createRowParser({ identCely: isText, record: orNull(isText) });

/**
 * Returns the records that no fact explains; `record` is JSON, or null for one that is listed and
 * not shown.
 */
export function listUnexplained(outbox: Outbox): ReturnType<typeof parseUnexplained>[] {
  const rows = outbox
    .sql('select ident_cely as identCely, record from unexplained order by ident_cely')
    .all();
  return rows.map(parseUnexplained);
}

/** @param record JSON, or null for one that is listed and not shown */
export function storeUnexplained(outbox: Outbox, identCely: string, record: string | null): void {
  outbox
    .sql('insert or replace into unexplained (ident_cely, record) values (?, ?)')
    .run(identCely, record);
}

export function deleteUnexplained(outbox: Outbox, identCely: string): void {
  outbox.sql('delete from unexplained where ident_cely = ?').run(identCely);
}
