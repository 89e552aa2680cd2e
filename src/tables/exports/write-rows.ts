import type { Cell } from 'write-excel-file/node';
import { formatSpreadsheetNumber } from '../../base/characters.ts';
import { BYTE_ORDER_MARK, formatCsvCell, protectFormulaMark } from '../../base/csv.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { foldName } from '../../base/names.ts';
import { isRealDate } from '../../finds/parse-cell.ts';
import { findColumnByName, isStoredValueRead } from '../columns/column-meaning.ts';
import { getDisplayedText, type Table, type TableRow } from '../table.ts';

/**
 * A cell of a written table: a value, a plain decimal with all its digits, or a text that a
 * workbook stores as the number or day that it reads as.
 */
export type RowCell =
  | string
  | number
  | boolean
  | { readonly decimal: string }
  | { readonly written: string };

/**
 * Formats a boolean as `ano` or `ne`, since a spreadsheet would replace true and false by its own
 * words.
 */
function formatTruth(value: boolean): string {
  return value ? 'ano' : 'ne';
}

/**
 * Yields the lines of a CSV table for Excel and LibreOffice: with a byte order mark, semicolons and
 * CRLF, texts that look like formulas marked as texts, and a `decimal` with a comma, as in
 * countries where a semicolon separates cells. A row is read only when its line is requested.
 */
export function* formatCsvLines(rows: Iterable<readonly RowCell[]>): Generator<string> {
  let mark = BYTE_ORDER_MARK;
  for (const row of rows) {
    yield `${mark}${row.map(formatRowCell).join(';')}\r\n`;
    mark = '';
  }
}

/**
 * Renders a table as the bytes of a workbook, which is made at once, or as the lines of CSV, which
 * are made, and their rows read, while the result is iterated; that is possible once.
 * @param rows the first has the headings
 * @param extension of the file, lower case, without a dot: `xlsx`, or any other for CSV
 * @param sheet name of the sheet in a workbook
 */
export async function renderTable(
  rows: Iterable<readonly RowCell[]>,
  extension: string,
  sheet: string,
): Promise<Iterable<string | Buffer>> {
  if (extension === 'xlsx') return [await makeWorkbook(new Map([[sheet, rows]]))];
  return formatCsvLines(rows);
}

/** Formats a cell of a text table. A negative number as a text would get the formula mark. */
function formatRowCell(cell: RowCell): string {
  if (typeof cell === 'boolean') return formatTruth(cell);
  if (typeof cell !== 'object') return formatCsvCell(cell);
  if ('decimal' in cell) return cell.decimal.replace('.', ',');
  const isNumber = /^-?\d+(?:[.,]\d+)?$/.test(cell.written);
  return isNumber ? cell.written : formatCsvCell(cell.written);
}

/** Column with the issues of a row. It is ignored on import. */
export const ISSUES_COLUMN = 'issues';

type IssuesTable = {
  /** The first row has the headings. */
  readonly rows: Iterable<readonly RowCell[]>;
  /** Number of rows without the headings. */
  readonly count: number;
  /** Rows with issues that the copy lacks. */
  readonly left: readonly number[];
};

/** Issues by row. */
export type RowIssues = Map<number, Issue[]>;

/** Returns the displayed text, unless the stored value counts, or the display has fewer digits. */
function restoreCell(row: TableRow, index: number, header: string): string {
  const stored = row.cells[index] ?? '';
  const shown = getDisplayedText(row, index);
  const column = findColumnByName(header);
  const isText =
    column === undefined ? Number(shown) === Number(stored) : !isStoredValueRead(column);
  return isText ? shown : stored;
}

/**
 * Makes the rows of a copy of a table, to be corrected and imported again: the first column has the
 * issues of each row, in place of such a column of an earlier copy. Rows with errors come first;
 * otherwise the order is that of the table. Rows that could not be read are left out, and so are
 * those with a misplaced date: as a text of the copy it would be accepted. The rows can be iterated
 * once.
 * @param issues by the number of their row; those of the header are not copied
 */
export function makeIssuesTable(table: Table, issues: RowIssues): IssuesTable {
  const keeps = table.header.map((name) => foldName(name) !== ISSUES_COLUMN);
  const makeRow = (row: TableRow): readonly RowCell[] => {
    const cells = row.cells.map((_, index) => restoreCell(row, index, table.header[index] ?? ''));
    const kept = cells.filter((_, index) => keeps[index] ?? true);
    const text = (issues.get(row.row) ?? []).map(formatIssue).join(' | ');
    return [text, ...kept.map((written) => ({ written }))];
  };
  const left = new Set(issues.keys());
  left.delete(table.headerRow ?? 1);
  let count = 0;
  for (const { row } of table.rows)
    if (
      !issues.get(row)?.some(({ rule, severity }) => rule === 'cell-date' && severity === 'error')
    ) {
      left.delete(row);
      count += 1;
    }
  const hasError = ({ row }: TableRow): boolean => hasErrors(issues.get(row) ?? []);
  const rows = function* (): Generator<readonly RowCell[]> {
    yield [ISSUES_COLUMN, ...table.header.filter((_, index) => keeps[index])];
    for (const row of table.rows) if (hasError(row) && !left.has(row.row)) yield makeRow(row);
    for (const row of table.rows) if (!hasError(row)) yield makeRow(row);
  };
  return { rows: rows(), count, left: [...left].sort((a, b) => a - b) };
}

function formatIssue({ severity, element, message }: Issue): string {
  return `${severity === 'error' ? '✗' : '!'} ${element === undefined ? '' : `${element}: `}${message}`;
}

/** Column width in characters. */
const WIDTH = 20;

/**
 * Makes the bytes of an XLSX workbook; all rows are held in memory meanwhile.
 * @param sheets rows by the name of their sheet, in the order of the sheets; the first row of each
 * has the headings, which stay in sight
 */
export async function makeWorkbook(
  sheets: ReadonlyMap<string, Iterable<readonly RowCell[]>>,
): Promise<Buffer> {
  const { default: write } = await import('write-excel-file/node');
  const written = [...sheets].map(([sheet, [header = [], ...dataRows]]) => {
    const headings = header.map((heading): Cell => {
      const value = escapeForWorkbook(String(heading));
      return { value, type: String, fontWeight: 'bold' };
    });
    const data = [headings, ...dataRows.map((row) => row.map(makeCell))];
    return { data, sheet, stickyRowsCount: 1, columns: headings.map(() => ({ width: WIDTH })) };
  });
  return write(written).toBuffer();
}

/** Spreadsheets do not agree on the numbers of the days before, since 1900 was no leap year. */
const FIRST_SAFE_DAY = '1900-03-01';

/** Makes a date cell; undefined for a text that is no day as `YYYY-MM-DD`, or an earlier one. */
function makeDateCell(text: string): Cell | undefined {
  if (text < FIRST_SAFE_DAY || !isRealDate(text)) return undefined;
  return { value: new Date(`${text}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
}

function makeTextCell(text: string): Cell {
  return { value: escapeForWorkbook(protectFormulaMark(text)), type: String };
}

/** Makes a number cell; undefined for a text that is no number, or would lose digits. */
function makeNumberCell(text: string): Cell | undefined {
  return text !== '' && formatSpreadsheetNumber(Number(text)) === text
    ? { value: Number(text), type: Number }
    : undefined;
}

/**
 * Escapes a text: in a workbook `_x0041_` stands for a letter, so a text of that form is escaped
 * itself, and so are characters that the library would drop (non-characters, lone surrogates,
 * U+FFFD). It also escapes names of object members such as `toString`, which the library mistakes
 * for texts that it has seen.
 */
function escapeForWorkbook(text: string): string {
  const written = text
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replace(/\p{Noncharacter_Code_Point}|\p{Cs}|\ufffd/gu, escapeMarkup);
  return written in {} ? escapeMarkup(written.slice(0, 1)) + written.slice(1) : written;
}

function escapeMarkup(character: string): string {
  const codes = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return codes.map((code) => `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`).join('');
}

/** Makes a cell of a workbook; null for ''. A decimal that would lose digits stays a text. */
function makeCell(cell: RowCell): Cell {
  if (cell === '') return null;
  if (typeof cell === 'string') return makeTextCell(cell);
  if (typeof cell === 'number') return { value: cell, type: Number };
  if (typeof cell === 'boolean') return makeTextCell(formatTruth(cell));
  if ('decimal' in cell) return makeNumberCell(cell.decimal) ?? makeTextCell(cell.decimal);
  const { written } = cell;
  return makeNumberCell(written) ?? makeDateCell(written) ?? makeCell(written);
}
