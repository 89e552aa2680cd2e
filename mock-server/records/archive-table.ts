import { type ArchiveRecord, type Body, isEntity, type RecordHeader } from './record.ts';

export const ARCHIVE_TABLES = `
create table if not exists records (
  ident text primary key,
  entity text not null,
  set_spec text not null,
  datestamp_ms integer not null,
  deleted integer not null,
  stav integer,
  pristupnost text,
  creator text,
  organisation text,
  project text,
  body text not null
) strict;
-- Lists run newest first. The trailing columns let counting under a visibility rule read the index alone.
create index if not exists records_by_time on records (datestamp_ms desc, ident, entity, stav, creator, organisation, deleted);
create index if not exists records_by_entity on records (entity, datestamp_ms desc, ident, stav, creator, organisation, deleted);
create index if not exists records_by_set on records (set_spec, datestamp_ms desc, ident, entity, stav, creator, organisation, deleted);
create index if not exists records_by_project on records (project, ident) where project is not null;
`;

/** A condition over the columns of `records`, with its named parameters (`@name`). */
export type Condition = { readonly sql: string; readonly parameters: Readonly<Record<string, string | number>> };

export type ListQuery = {
  /** A set with all its subsets (`heslo`), or one subset (`heslo:obdobi`). */
  readonly set?: string;
  /** Both bounds are inclusive. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly visible?: Condition;
  /** Identifiers of records to leave out. */
  readonly without?: readonly string[];
  /** Go on behind this record. */
  readonly after?: { readonly datestampMs: number; readonly ident: string };
  readonly offset?: number;
  readonly limit: number;
};

/** A record as its table holds it: names are those of the columns, the body is JSON. */
export type ArchiveRow = Omit<ArchiveRecord, 'body' | 'deleted' | 'setSpec' | 'datestampMs'> & {
  readonly set_spec: string;
  readonly datestamp_ms: number;
  readonly deleted: number;
  readonly body: string;
};

export type HeaderRow = Pick<ArchiveRow, 'ident' | 'set_spec' | 'datestamp_ms' | 'deleted'>;

export const COLUMNS = 'ident, entity, set_spec, datestamp_ms, deleted, stav, pristupnost, creator, organisation, project, body';

/** The `where` of a list. */
export function conditionOf(query: Omit<ListQuery, 'limit'>): Condition {
  const parts: string[] = [];
  const parameters: Record<string, string | number> = { ...query.visible?.parameters };
  if (query.set !== undefined) {
    parts.push(query.set.includes(':') ? 'set_spec = @set' : 'entity = @set');
    parameters['set'] = query.set;
  }
  if (query.fromMs !== undefined) {
    parts.push('datestamp_ms >= @fromMs');
    parameters['fromMs'] = query.fromMs;
  }
  if (query.untilMs !== undefined) {
    parts.push('datestamp_ms <= @untilMs');
    parameters['untilMs'] = query.untilMs;
  }
  if (query.after !== undefined) {
    parts.push('(datestamp_ms < @afterMs or (datestamp_ms = @afterMs and ident > @afterIdent))');
    parameters['afterMs'] = query.after.datestampMs;
    parameters['afterIdent'] = query.after.ident;
  }
  if (query.without !== undefined && query.without.length > 0) {
    parts.push('ident not in (select value from json_each(@without))');
    parameters['without'] = JSON.stringify(query.without);
  }
  if (query.visible !== undefined) parts.push(`(${query.visible.sql})`);
  return { sql: parts.length === 0 ? 'true' : parts.join(' and '), parameters };
}

export function toHeader({ ident, set_spec, datestamp_ms, deleted }: HeaderRow): RecordHeader {
  return { ident, setSpec: set_spec, datestampMs: datestamp_ms, deleted: deleted === 1 };
}

export function toRecord(row: ArchiveRow): ArchiveRecord {
  const { set_spec, datestamp_ms, deleted, body, ...same } = row;
  if (!isEntity(same.entity)) throw new Error(`the archive holds an unknown entity ${same.entity}`);
  return { ...same, setSpec: set_spec, datestampMs: datestamp_ms, deleted: deleted === 1, body: JSON.parse(body) as Body };
}
