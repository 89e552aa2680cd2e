import { FileError, UsageError } from '../base/errors.ts';
import { type Issue, makeWarningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { TablePlace } from '../finds/find.ts';
import { findColumnByName } from './columns/column-meaning.ts';
import type { Table, TableRow } from './table.ts';

/** First and last row of the header in the file, from 1; equal for a header of one line. */
export type HeaderRows = { readonly first: number; readonly last: number };

type Header = HeaderRows & { readonly names: readonly string[]; readonly issues: readonly Issue[] };

/**
 * Parses the rows of the header as given by a person: `3`, or `2-3` for two lines.
 * @throws UsageError where the text is neither one row number nor two consecutive ones
 */
export function parseHeaderRows(text: string): HeaderRows {
  const [, first = '', last = first] =
    /^([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?$/.exec(text.trim()) ?? [];
  const rows = { first: Number(first), last: Number(last) };
  if (first !== '' && rows.last - rows.first >= 0 && rows.last - rows.first <= 1) return rows;
  throw new UsageError(
    msg`"${text}" is not a row of names. Write its number, such as 3, or 2-3 if the names take two lines.`,
  );
}

/** Maximum of rows above a header: title, author, date, legend. */
const ROWS_LOOKED_AT = 30;

/**
 * Returns the non-empty rows from which the header is found: up to the named header, else the first
 * {@link ROWS_LOOKED_AT}. At most one further row is read.
 */
function readFirstRows(rows: Iterable<TableRow>, named: HeaderRows | undefined): TableRow[] {
  const leadingRows: TableRow[] = [];
  for (const row of rows) {
    if (named !== undefined && row.row > named.last) break;
    if (row.cells.every((cell) => cell === '')) continue;
    leadingRows.push(row);
    if (named === undefined && leadingRows.length === ROWS_LOOKED_AT) break;
  }
  return leadingRows;
}

/**
 * Finds the header of a table: the rows that the user named, else normally the first row that is
 * not empty. Such a row is a title, and passed over, if it has no known name and fills at most half
 * of the columns. Two rows are one header where one has the names that the other lacks, or the
 * second has units. A warning says which rows were detected, unless it is the first row alone.
 * Undefined where all rows are empty and none was named.
 * @param allRows in the order of the file; only the first are read
 * @throws FileError where a named row is empty or missing
 */
export function findHeader(
  place: TablePlace,
  allRows: Iterable<TableRow>,
  named: HeaderRows | undefined,
): Header | undefined {
  const rows = readFirstRows(allRows, named);
  if (named !== undefined) return getNamedHeader(place, rows, named);
  const [top] = rows;
  if (top === undefined) return undefined;
  const [first, last] = detectHeaderLines(rows, top);
  const header = { first: first.row, last: last.row, names: mergeHeaderNames(first, last) };
  return { ...header, issues: last === top ? [] : [makeHeaderNote(place, header)] };
}

/** Detects the first and the last line of the header, which may be the same row. */
function detectHeaderLines(rows: readonly TableRow[], top: TableRow): [TableRow, TableRow] {
  const half = Math.max(...rows.map(countFilled)) / 2;
  const index = isTitle(top, half)
    ? rows.findIndex((row) => row !== top && countFilled(row) > half && row.cells.every(isName))
    : 0;
  const names = rows[index] ?? top;
  const above = rows[index - 1];
  if (above?.row === names.row - 1 && isCompleting(names, above)) return [above, names];
  const below = rows[index + 1];
  const hasSecondLine =
    below?.row === names.row + 1 &&
    ((isCompleting(names, below) && isSecondLine(below, names)) || hasUnits(below));
  return [names, hasSecondLine ? below : names];
}

function getNamedHeader(
  place: TablePlace,
  rows: readonly TableRow[],
  { first, last }: HeaderRows,
): Header {
  const one = rows.find(({ row }) => row === first);
  const two = rows.find(({ row }) => row === last);
  if (one === undefined || two === undefined) {
    const row = one === undefined ? first : last;
    throw new FileError(
      place.file,
      msg`${place.file} has nothing in row ${row}, which --header-row names.`,
    );
  }
  return { first, last, names: mergeHeaderNames(one, two), issues: [] };
}

function makeHeaderNote(place: TablePlace, { first, last, names }: Omit<Header, 'issues'>): Issue {
  const shown = names
    .filter((name) => name !== '')
    .slice(0, 3)
    .join(', ');
  const rows = first === last ? `${last}` : `${first}–${last}`;
  const says = msg`The names of the columns are read from row ${rows} (${shown} …). If that is wrong, delete what is above the names; pas import has --header-row for it.`;
  return makeWarningIssue('table-header-row', says, place);
}

const countFilled = ({ cells }: TableRow): number => cells.filter((cell) => cell !== '').length;

/**
 * Tells if the first row fills at most half of the columns, and none of its cells is a known name.
 */
function isTitle(top: TableRow, half: number): boolean {
  return (
    countFilled(top) <= half && top.cells.every((cell) => findColumnByName(cell) === undefined)
  );
}

/**
 * Tells if a cell may be a column's name: such names have no digits, except those of coordinate
 * systems.
 */
function isName(cell: string): boolean {
  return !/\d/.test(cell.replace(/\b(?:wgs\W?84|4326|5514)\b/gi, '')) && cell.length <= 60;
}

/** Tells if `other` is a row of names that fills all gaps of the first row, which has some. */
function isCompleting({ cells }: TableRow, other: TableRow): boolean {
  const end = other.cells.findLastIndex((cell) => cell !== '');
  const gaps = cells.flatMap((cell, index) => (cell === '' && index <= end ? [index] : []));
  return (
    gaps.length > 0 && gaps.every((index) => other.cells[index] !== '') && other.cells.every(isName)
  );
}

/**
 * Tells if the row below is a second header line: under a name it must be empty or have a unit,
 * except under the name of a group of columns.
 */
function isSecondLine(below: TableRow, { cells }: TableRow): boolean {
  const isGroup = (index: number): boolean =>
    cells[index + 1] === '' && findColumnByName(cells[index] ?? '') === undefined;
  return below.cells.every(
    (cell, index) => cell === '' || cells[index] === '' || isGroup(index) || UNIT.test(cell),
  );
}

const UNIT = /^(?:[([].{1,12}[)\]]|[cdm]?m|ks|pcs|kg|g)\.?$/i;

function hasUnits({ cells }: TableRow): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return filled.length > 0 && filled.every((cell) => UNIT.test(cell));
}

/**
 * Merges two lines of names: the lower name counts, the upper one only where that is empty. A unit,
 * or a lower name that occurs twice, gets the nearest upper name at or before it as prefix.
 */
function mergeHeaderNames(top: TableRow, bottom: TableRow): readonly string[] {
  if (top === bottom) return top.cells;
  let group = '';
  return Array.from({ length: Math.max(top.cells.length, bottom.cells.length) }, (_, index) => {
    const above = top.cells[index] ?? '';
    const below = bottom.cells[index] ?? '';
    if (above !== '') group = above;
    if (below === '') return above;
    return UNIT.test(below) || bottom.cells.filter((cell) => cell === below).length > 1
      ? `${group} ${below}`.trim()
      : below;
  });
}

/** Identifying columns of exports: ODK Central and Briefcase, and KoboToolbox. */
const OF_FORMS = [
  ['SubmissionDate', 'KEY'],
  ['_id', '_uuid', '_submission_time'],
] as const;
/** Columns that link a row of a repeated group to its form. */
const OF_REPEATS = [
  ['PARENT_KEY', 'KEY'],
  ['_parent_index', '_parent_table_name'],
] as const;

function hasAll(header: readonly string[], columns: readonly string[]): boolean {
  return columns.every((column) => header.includes(column));
}

/**
 * Tells if a table has the columns that ODK or KoboToolbox adds to filled forms; false for a table
 * of their repeated groups.
 */
export function isFormTable(table: Table): boolean {
  return OF_FORMS.some((columns) => hasAll(table.header, columns)) && !isRepeatedGroupTable(table);
}

/** Tells if a table has the columns that link the rows of a repeated group to their forms. */
export function isRepeatedGroupTable({ header }: Table): boolean {
  return OF_REPEATS.some((columns) => hasAll(header, columns));
}
