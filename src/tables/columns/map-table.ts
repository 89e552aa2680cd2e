import { createHash } from 'node:crypto';
import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { joinMessages, type Message, msg } from '../../base/message.ts';
import { foldName } from '../../base/names.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { getHeaderPlace, getRowPlace, type Table, type TableRow } from '../table.ts';
import {
  type ColumnMap,
  type ColumnName,
  type ColumnRule,
  POINT_COLUMNS,
  type Setting,
} from './column-meaning.ts';
import { type Columns, listColumnRules, parseColumns } from './columns.ts';
import { type MappedRow, mapRowToFind, type TableContext } from './map-row.ts';

type MapContext = TableContext & {
  /** Undefined where no vocabulary was harvested. */
  readonly lookupTerm: LookupTerm | undefined;
  /** Meanings of the columns of a foreign table. */
  readonly map?: ColumnMap;
  /** Values for all finds whose own cell is empty. */
  readonly fixed?: readonly Setting[];
};

const MAX_LOCAL_ID_LENGTH = 200;

/** The rows of a table as finds. */
export type MappedTable = {
  /** Issues of the table, its header and its keys. */
  readonly issues: readonly Issue[];
  /** Rows with their own issues, read during iteration. */
  readonly rows: Iterable<MappedRow>;
  /** Valid keys of all rows, also of those that share one or have no find. */
  readonly keys: KeySet;
};

/**
 * Reads the rows of a table as finds. The key of a row is its local id; in a table without a column
 * `local_id`, a digest of its content. The keys are collected now, and the rows are read during
 * each iteration; one with an unreadable cell has no find. Rows with an invalid local id, and all
 * rows that share one, are left out, with errors among `issues`. With an error of the header there
 * are neither rows nor keys.
 */
export function mapTableToFinds(
  table: Table,
  { lookupTerm, map, fixed, ...context }: MapContext,
): MappedTable {
  const { columns, issues: headerIssues } = parseColumns(table, map, fixed);
  const issues: Issue[] = [...headerIssues, ...table.issues];
  if (hasErrors(headerIssues)) return { issues, rows: [], keys: new Set() };

  const { keys, all } = columns.has('local_id')
    ? listLocalIds(table, columns, issues)
    : digestRows(table, columns, issues);
  const rowContext = { resolveReference: makeReferenceResolver(lookupTerm), ...context };
  const rows = function* (): Generator<MappedRow> {
    let index = 0;
    for (const row of table.rows) {
      const key = keys[index];
      index += 1;
      if (key !== undefined) yield mapRowToFind(row, key, columns, rowContext);
    }
  };
  return { issues, rows: { [Symbol.iterator]: rows }, keys: all };
}

type KeySet = { has(localId: string): boolean };

/** Local ids in the order of the rows; undefined for a row whose find is not certain. */
type TableKeys = { readonly keys: readonly (string | undefined)[]; readonly all: KeySet };

/**
 * Lists the local ids of the table. A row without one, or with a duplicate, has no key, since its
 * find is ambiguous.
 */
function listLocalIds(table: Table, columns: Columns, issues: Issue[]): TableKeys {
  const firstRows = new Map<string, number>();
  const shared = new Set<string>();
  const written = Array.from(table.rows, (row) => {
    const key = columns.getCell(row, 'local_id');
    const problem = findLocalIdProblem(key);
    const first = firstRows.get(key);
    const where = {
      ...getRowPlace(table, row),
      column: columns.getHeader('local_id') ?? 'local_id',
    };
    if (problem !== undefined) issues.push(makeErrorIssue('local-id', problem, where));
    else if (first === undefined) firstRows.set(key, row.row);
    else {
      shared.add(key);
      issues.push(
        makeErrorIssue(
          'local-id-twice',
          msg`Rows ${first} and ${row.row} have the same local_id "${key}". Give each find its own; neither was read.`,
          { ...where, find: key },
        ),
      );
    }
    return key;
  });
  const isCertain = (key: string): boolean => firstRows.has(key) && !shared.has(key);
  return { keys: written.map((key) => (isCertain(key) ? key : undefined)), all: firstRows };
}

/**
 * Returns why a text cannot be a local id: it is empty, has a line break or a tab, or is longer
 * than {@link MAX_LOCAL_ID_LENGTH} characters. Undefined where it can be one.
 */
export function findLocalIdProblem(key: string): Message | undefined {
  if (key === '')
    return msg`The row has no local_id. Write a key that no other find has, such as the bag number.`;
  return key.length > MAX_LOCAL_ID_LENGTH || /[\r\n\t]/.test(key)
    ? msg`The local_id must be one line of at most ${MAX_LOCAL_ID_LENGTH} characters, without tabs.`
    : undefined;
}

/**
 * Returns digests of the contents as keys, by which a row is known again until it is edited; equal
 * rows are numbered. A warning advises a column of local ids.
 */
function digestRows(table: Table, columns: Columns, issues: Issue[]): TableKeys {
  const message = msg`The table has no column local_id, so pas asks about a row that is edited later. Add one.`;
  if (table.rowCount > 0)
    issues.push(makeWarningIssue('local-id-missing', message, getHeaderPlace(table)));
  const seen = new Map<string, number>();
  const keys = Array.from(table.rows, (row) => {
    const digest = digestRow(row, columns);
    const occurrence = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, occurrence);
    return occurrence === 1 ? digest : `${digest}-${occurrence}`;
  });
  return { keys, all: new Set(keys) };
}

/** Returns the digest of the cells, independent of the order and spelling of the columns. */
function digestRow(row: TableRow, columns: Columns): string {
  const content: string[][] = columns.names
    .map((name) => [name, columns.getCell(row, name)])
    .filter(([, text]) => text !== '');
  if (row.point !== undefined)
    content.push(['point', `${row.point.system} ${row.point.x} ${row.point.y}`]);
  return `row-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`;
}

/** Columns that distinguish a find from a remark: object, place, date and photographs. */
const TELLING: readonly ColumnName[] = [
  'druh_nalezu',
  'specifikace',
  'obdobi',
  'presna_datace',
  'datum_nalezu',
  'lokalizace',
  'photos',
  ...POINT_COLUMNS,
];

const TOTAL =
  /^(?:celkem|celkov[ýáé] (?:součet|počet)|součet|mezisoučet|úhrnem|suma|dohromady|(?:grand |sub)?total|sum|summe|gesamt|insgesamt|[σ∑])[\s:.=,\d]*(?:(?:ks|kusů|nálezů|finds|pcs)[\s:.=]*)?$/i;
const NUMBER = /^[-+]?[\d\s.,]+%?$/;
const SEPARATOR = /^[-–—=_*.·~+|/\\\s]+$/;

/**
 * Returns the table without the rows that are no finds, with a warning for each: totals, repeated
 * headers, separators, and remarks: rows without object, place, day, photograph and usual local id
 * that are fewer than those with one of the first four. Tables of features, waypoints or documents
 * of the service stay as they are, since each of their rows is a find.
 * @param map meanings of the columns of a foreign table
 * @param advice for the end of each warning: what to do if the row is a find
 */
export function omitRowsWithoutFinds(table: Table, map?: ColumnMap, advice?: Message): Table {
  if (table.unit !== undefined) return table;
  const left = findOtherRows(table, listColumnRules(table, map), advice);
  if (left.size === 0) return table;
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) if (!left.has(row.row)) yield row;
  };
  return {
    ...table,
    rows: { [Symbol.iterator]: rows },
    rowCount: table.rowCount - left.size,
    issues: [...table.issues, ...left.values()],
  };
}

/**
 * Tells if a row is a total, a separator, or the header repeated.
 * @param names folded names of the columns
 */
function isBetweenFinds({ cells }: TableRow, names: readonly string[]): boolean {
  const at = cells.findIndex((cell) => cell !== '');
  const first = cells[at] ?? '';
  const listLaterCells = (): string[] => cells.slice(at + 1).filter((cell) => cell !== '');
  if (TOTAL.test(first) && listLaterCells().every((cell) => NUMBER.test(cell))) return true;
  if (SEPARATOR.test(first) && listLaterCells().every((cell) => SEPARATOR.test(cell))) return true;
  return (
    cells.every((cell, index) => cell === '' || foldName(cell) === (names[index] ?? '')) &&
    listLaterCells().length > 0
  );
}

function makeOtherRowIssue(
  table: Table,
  row: TableRow,
  isRemark: boolean,
  advice: Message | undefined,
): Issue {
  const first = (row.cells.find((cell) => cell !== '') ?? '').slice(0, MAX_SHOWN);
  const why = isRemark
    ? msg`The row ("${first}") has no object, place or date, unlike all other rows, so it was skipped.`
    : msg`The row ("${first}") is a total, a heading or a separator, so it was skipped.`;
  const message = advice === undefined ? why : joinMessages([why, advice], ' ');
  return makeWarningIssue('row-no-find', message, getRowPlace(table, row));
}

const MAX_SHOWN = 60;

/**
 * Returns the issues of rows that are no finds, by their numbers. A remark lacks object, place,
 * date and a usual key, unlike most rows.
 */
function findOtherRows(
  table: Table,
  rules: readonly (ColumnRule | undefined)[],
  advice: Message | undefined,
): ReadonlyMap<number, Issue> {
  const meanings = rules.map((rule) => rule?.element);
  const telling = meanings.flatMap((name, index) =>
    name !== undefined && TELLING.includes(name) ? [index] : [],
  );
  const names = table.header.map(foldName);
  const key = meanings.indexOf('local_id');
  const left = new Map<number, Issue>();
  const leave = (row: TableRow, isRemark: boolean): void =>
    void left.set(row.row, makeOtherRowIssue(table, row, isRemark, advice));
  const silent: TableRow[] = [];
  let finds = 0;
  let haveDigits = true;
  for (const row of table.rows) {
    if (isBetweenFinds(row, names)) leave(row, false);
    else if (row.point !== undefined || telling.some((index) => (row.cells[index] ?? '') !== '')) {
      const id = row.cells[key] ?? '';
      finds += 1;
      haveDigits &&= /\d/.test(id);
    } else silent.push(row);
  }
  const isCalledSo = (id: string): boolean => id !== '' && (!haveDigits || /\d/.test(id));
  const remarks = silent.filter(({ cells }) => key === -1 || !isCalledSo(cells[key] ?? ''));
  if (telling.length > 0 && remarks.length < finds) for (const row of remarks) leave(row, true);
  return new Map([...left].sort(([a], [b]) => a - b));
}
