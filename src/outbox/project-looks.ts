import { createRowParser, isText, orNull } from '../store/row.ts';
import type { Outbox } from './open-outbox.ts';

/** Tables `project_looks` and `unexplained`: the last look at each project, and the records that no event explains. */

/** Returns the server time up to which a project was looked at; undefined where it never was. */
export function lastLookAt(outbox: Outbox, project: string): number | undefined {
  const at = outbox.sql('select server_at from project_looks where project = ?').pluck().get(project);
  return typeof at === 'number' ? at : undefined;
}

/** Stores the server time of a look. @param keepsEarlier keeps the time of an earlier look where there is one */
export function saveLook(outbox: Outbox, project: string, serverAt: number, keepsEarlier: boolean): void {
  const change = keepsEarlier ? 'nothing' : 'update set server_at = excluded.server_at';
  outbox
    .sql(`insert into project_looks (project, server_at) values (?, ?) on conflict (project) do ${change}`)
    .run(project, Math.floor(serverAt));
}

/** Stores that other accounts write into a project, so that its hidden records hold no entry any more. */
export function recordOtherWriters(outbox: Outbox, project: string): void {
  outbox.sql('update project_looks set others_write = 1 where project = ?').run(project);
}

export function hasOtherWriters(outbox: Outbox, project: string): boolean {
  return outbox.sql('select 1 from project_looks where project = ? and others_write = 1').get(project) !== undefined;
}

const parseUnexplained = createRowParser({ identCely: isText, record: orNull(isText) });

/** Returns the records that no event explains; `record` is JSON, or null for one that is listed and not shown. */
export function unexplainedRecords(outbox: Outbox): ReturnType<typeof parseUnexplained>[] {
  const rows = outbox.sql('select ident_cely as identCely, record from unexplained order by ident_cely').all();
  return rows.map(parseUnexplained);
}

/** @param record JSON, or null for one that is listed and not shown */
export function saveUnexplained(outbox: Outbox, identCely: string, record: string | null): void {
  outbox.sql('insert or replace into unexplained (ident_cely, record) values (?, ?)').run(identCely, record);
}

export function deleteUnexplained(outbox: Outbox, identCely: string): void {
  outbox.sql('delete from unexplained where ident_cely = ?').run(identCely);
}
