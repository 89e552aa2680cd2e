import { integer, nullable, object, readOneOf, text } from '../../base/shape.ts';
import { type ArchiveRecord, ENTITIES, type Entity, type RecordHeader } from './record.ts';

/** The table of all records with its indexes, by SQL that may run again. */
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
-- Lists run newest first. The trailing columns let lists of headers and counts read the index alone.
create index if not exists records_by_time on records (datestamp_ms desc, ident, entity, set_spec, deleted);
create index if not exists records_by_entity on records (entity, datestamp_ms desc, ident, set_spec, deleted);
create index if not exists records_by_set on records (set_spec, datestamp_ms desc, ident, entity, deleted);
create index if not exists records_by_project on records (project, ident) where project is not null;
`;

/** A part of a statement, with its named parameters (`@name`). */
type Selection = {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | number>>;
};

/** Conditions on listed records, all of which must hold; without any, every record is listed. */
export type RecordFilter = {
  /** A set with all its subsets (`heslo`), or one subset (`heslo:obdobi`). */
  readonly set?: string;
  /** Both bounds are inclusive. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly without?: readonly Entity[];
  /** Only records that are not deleted. */
  readonly isLive?: boolean;
  readonly stav?: number;
  /** Text in a value of the record, in any case. */
  readonly text?: string;
  /** Replacements of some records in a list; undefined: not listed. */
  readonly instead?: ReadonlyMap<string, ArchiveRow | undefined>;
  /** Continue after this record. */
  readonly after?: { readonly datestampMs: number; readonly ident: string };
};
/** A part of a list: `limit` records, after `offset` others. */
export type ListQuery = RecordFilter & { readonly offset?: number; readonly limit: number };

const HEADER = { ident: text(), set_spec: text(), datestamp_ms: integer({}), deleted: integer({}) };
const ROW = {
  ...HEADER,
  entity: readOneOf(ENTITIES),
  stav: nullable(integer({})),
  pristupnost: nullable(text()),
  creator: nullable(text()),
  organisation: nullable(text()),
  project: nullable(text()),
  body: text(),
};
/**
 * Reads a whole row of the table.
 * @throws ShapeError where the data file was changed by hand
 */
export const parseArchiveRow = object(ROW);
/**
 * Reads a row of {@link HEADER_COLUMNS}.
 * @throws ShapeError where the data file was changed by hand
 */
export const parseHeaderRow = object(HEADER);
type HeaderRow = ReturnType<typeof parseHeaderRow>;

/** A record as its table holds it: names are those of the columns, the body is JSON. */
export type ArchiveRow = Readonly<ReturnType<typeof parseArchiveRow>>;

/** All columns, for `select` and `insert`. */
export const COLUMNS = Object.keys(ROW).join(', ');
/** Those columns that a header needs, which an index holds. */
export const HEADER_COLUMNS = Object.keys(HEADER).join(', ');

/** Makes `from` and `where` of a list. */
export function makeSelection(query: RecordFilter): Selection {
  const parts: string[] = [];
  const parameters: Record<string, string | number> = {};
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
  for (const entity of query.without ?? []) parts.push(`entity <> '${entity}'`);
  if (query.isLive === true) parts.push('deleted = 0');
  if (query.stav !== undefined) {
    parts.push('stav = @stav');
    parameters['stav'] = query.stav;
  }
  if (query.text !== undefined) {
    // The whole body first, as it is quick; then only the values in it, so that element names don't
    // count.
    parts.push('instr(lower(body), lower(@quoted)) > 0');
    parts.push('exists (select 1 from json_tree(body) where instr(lower(atom), lower(@text)) > 0)');
    parameters['text'] = query.text;
    parameters['quoted'] = JSON.stringify(query.text).slice(1, -1);
  }
  const isReplaced = query.instead !== undefined && query.instead.size > 0;
  if (isReplaced)
    parameters['instead'] = JSON.stringify(
      [...query.instead].map(([ident, row]) => ({ ident, row })),
    );
  const where = parts.length === 0 ? '' : `where ${parts.join(' and ')}`;
  return { sql: `from ${isReplaced ? REPLACED : 'records'} ${where}`, parameters };
}

/** `records` with some of them replaced. */
const REPLACED = `(
  select ${COLUMNS} from records where ident not in (select value ->> 'ident' from json_each(@instead))
  union all select ${COLUMNS.split(', ')
    .map((name) => `value -> 'row' ->> '${name}' as ${name}`)
    .join(', ')} from json_each(@instead) where value ->> 'row' is not null
)`;

/** Converts a row to the header of its record. */
export function toHeader({ ident, set_spec, datestamp_ms, deleted }: HeaderRow): RecordHeader {
  return { ident, setSpec: set_spec, datestampMs: datestamp_ms, deleted: deleted === 1 };
}

/**
 * Converts a row to its record. Its members are explicit: spreading an object takes as long as
 * parsing its body.
 */
export function toRecord(row: ArchiveRow): ArchiveRecord {
  const { ident, entity, stav, pristupnost, creator, organisation, project } = row;
  return {
    ident,
    entity,
    setSpec: row.set_spec,
    datestampMs: row.datestamp_ms,
    deleted: row.deleted === 1,
    stav,
    pristupnost,
    creator,
    organisation,
    project,
    body: JSON.parse(row.body),
  };
}

/** Converts a record to its row; the opposite of {@link toRecord}. */
export function toRow({ setSpec, datestampMs, deleted, body, ...same }: ArchiveRecord): ArchiveRow {
  return {
    ...same,
    set_spec: setSpec,
    datestamp_ms: datestampMs,
    deleted: deleted ? 1 : 0,
    body: JSON.stringify(body),
  };
}
