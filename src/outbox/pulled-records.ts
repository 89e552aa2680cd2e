import {
  createRowParser,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../base/disk/database.ts';
import { readStored } from './facts.ts';
import type { Outbox } from './open-outbox.ts';

/** Visibility of a sent record in the service's harvest, for one account. */
export type RemoteStatus = (typeof STANDINGS)[number];
const STANDINGS = ['shown', 'withheld', 'deleted', 'missing'] as const;

/**
 * Last harvested data of a record. Times are milliseconds since 1970 UTC, `datestampMs` by the
 * server's clock.
 */
export type PulledRecord = {
  readonly identCely: string;
  readonly standing: RemoteStatus;
  readonly datestampMs: number | null;
  /** State and record when they were last visible. The outbox does not interpret the record. */
  readonly stav: number | null;
  readonly record: unknown;
  /** Time since which the status is unchanged. */
  readonly sinceMs: number;
  readonly seenMs: number;
};

type PulledStanding = {
  readonly identCely: string;
  readonly standing: RemoteStatus;
  readonly datestampMs: number | null;
  readonly shown?: { readonly stav: number; readonly record: unknown };
};

const parsePulled = createRowParser({
  identCely: isText,
  standing: makeMemberGuard(STANDINGS),
  datestampMs: orNull(isNumber),
  stav: orNull(isNumber),
  record: orNull(isText),
  sinceMs: isNumber,
  seenMs: isNumber,
});

const COLUMNS = `ident_cely as identCely, standing, datestamp_at as datestampMs, stav, record, since_at as sinceMs, seen_at as seenMs`;

/**
 * Returns the pulled state; undefined where none is stored.
 * @throws DatabaseError where it is damaged
 */
export function findPulledRecord(outbox: Outbox, identCely: string): PulledRecord | undefined {
  const stored = outbox.sql(`select ${COLUMNS} from pulled where ident_cely = ?`).get(identCely);
  if (stored === undefined) return undefined;
  const row = parsePulled(stored);
  const { record: text } = row;
  const record = text === null ? null : readStored(outbox.path, 'pulled', () => JSON.parse(text));
  return { ...row, record };
}

/** Returns the registration numbers of pulled records, by their identifiers. */
export function listPulledNumbers(
  outbox: Outbox,
): (readonly [identCely: string, number: string])[] {
  return outbox
    .sql(
      `select ident_cely as identCely, record ->> '$.elements.evidencni_cislo' as number from pulled
       where number is not null`,
    )
    .all()
    .map((row) => {
      const { identCely, number } = parseNumber(row);
      return [identCely, number] as const;
    });
}

const parseNumber = createRowParser({ identCely: isText, number: isText });

/** Stores the status of a record; its last visible content is kept while it is not shown. */
export function saveStanding(
  outbox: Outbox,
  { identCely, standing, datestampMs, shown }: PulledStanding,
): void {
  outbox
    .sql(
      `insert into pulled (ident_cely, standing, datestamp_at, stav, record, since_at, seen_at)
       values (:identCely, :standing, :datestampMs, :stav, :record, :now, :now)
       on conflict (ident_cely) do update set
         since_at = case when standing = excluded.standing then since_at else excluded.since_at end,
         standing = excluded.standing, datestamp_at = excluded.datestamp_at, stav = coalesce(excluded.stav, stav),
         record = coalesce(excluded.record, record), seen_at = excluded.seen_at`,
    )
    .run({
      identCely,
      standing,
      datestampMs,
      stav: shown?.stav ?? null,
      record: shown === undefined ? null : JSON.stringify(shown.record),
      now: Math.floor(outbox.clock.now()),
    });
}

/** Confirms a record that a complete pull did not list as changed. */
export function recordUnchanged(outbox: Outbox, identCely: string): void {
  outbox
    .sql('update pulled set seen_at = ? where ident_cely = ?')
    .run(Math.floor(outbox.clock.now()), identCely);
}

/** Returns the server time up to which everything is pulled. */
export function pullWatermarkMs(outbox: Outbox): number | undefined {
  const watermark = outbox.sql('select watermark_at from pulls').pluck().get();
  return typeof watermark === 'number' ? watermark : undefined;
}

/** Stores the server time, in milliseconds since 1970 UTC, at which the next pull begins. */
export function completePull(outbox: Outbox, watermarkMs: number): void {
  outbox
    .sql(
      `insert into pulls (only, watermark_at, completed_at) values (1, ?, ?)
       on conflict (only) do update set watermark_at = excluded.watermark_at, completed_at = excluded.completed_at`,
    )
    .run(Math.floor(watermarkMs), Math.floor(outbox.clock.now()));
}

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
