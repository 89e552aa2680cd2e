import { BYTE_ORDER_MARK, formatCsvCell } from '../../base/csv.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { foldName } from '../../base/names.ts';
import { findColumnMeant, isStoredColumn } from '../../finds/fields.ts';
import { getDisplayedText, type Table, type TableRow } from '../table.ts';

/**
 * A cell of a written table: a value, a plain decimal with all its digits, or a text that a workbook
 * stores as the number or day that it reads as.
 */
export type RowCell =
  | string
  | number
  | boolean
  | { readonly decimal: string }
  | { readonly written: string };

/** Czech words for true and false, since a spreadsheet would replace these values by its own. */
export function formatTruth(value: boolean): string {
  return value ? 'ano' : 'ne';
}

const SEPARATORS = { semicolon: ';', comma: ',', tab: '\t' } as const;
type Separator = keyof typeof SEPARATORS;

/**
 * Writes rows, the first with headings, for Excel and LibreOffice: UTF-8 with byte order mark, CRLF,
 * formulas marked as texts. With semicolons it has decimal commas, which such locales use.
 */
export function* formatCsvLines(
  rows: Iterable<readonly RowCell[]>,
  separator: Separator,
): Generator<string> {
  let mark = BYTE_ORDER_MARK;
  for (const row of rows) {
    const cells = row.map((cell) => formatRowCell(cell, separator));
    yield `${mark}${cells.join(SEPARATORS[separator])}\r\n`;
    mark = '';
  }
}

/** A negative number would get the formula mark as a text. */
function formatRowCell(cell: RowCell, separator: Separator): string {
  const delimiter = SEPARATORS[separator];
  if (typeof cell === 'boolean') return formatTruth(cell);
  if (typeof cell !== 'object') return formatCsvCell(cell, delimiter);
  if ('decimal' in cell)
    return separator === 'semicolon' ? cell.decimal.replace('.', ',') : cell.decimal;
  const isNumber = /^-?\d+(?:[.,]\d+)?$/.test(cell.written);
  return isNumber ? cell.written : formatCsvCell(cell.written, delimiter);
}

/** Column with the issues of a row. It is ignored on import. */
export const ISSUES_COLUMN = 'issues';

type IssuesTable = {
  /** The first row has the headings. */
  readonly rows: Iterable<readonly RowCell[]>;
  readonly count: number;
  /** Rows with issues that could not be read, so the copy lacks them. */
  readonly left: readonly number[];
};

/** Issues by row. */
export type RowIssues = Map<number, Issue[]>;

/** Returns the displayed text, unless the stored value counts, or the display has fewer digits. */
function restoreCell(row: TableRow, index: number, header: string): string {
  const stored = row.cells[index] ?? '';
  const shown = getDisplayedText(row, index);
  const column = findColumnMeant(header);
  const isText = column === undefined ? Number(shown) === Number(stored) : !isStoredColumn(column);
  return isText ? shown : stored;
}

/**
 * Copies a table and adds the issues of each row, so that it can be corrected and imported again.
 * Rows with errors come first, otherwise in the order of the table.
 */
export function makeIssuesTable(table: Table, issues: RowIssues): IssuesTable {
  const keeps = table.header.map((name) => foldName(name) !== ISSUES_COLUMN);
  const makeRow = (row: TableRow): readonly RowCell[] => {
    const cells = row.cells.map((_, index) => restoreCell(row, index, table.header[index] ?? ''));
    const kept = cells.filter((_, index) => keeps[index] ?? true);
    const text = (issues.get(row.row) ?? []).map(formatIssue).join(' | ');
    return [text, ...kept.map((written) => ({ written }))];
  };
  const hasError = ({ row }: TableRow): boolean => hasErrors(issues.get(row) ?? []);
  const rows = function* (): Generator<readonly RowCell[]> {
    yield [ISSUES_COLUMN, ...table.header.filter((_, index) => keeps[index])];
    for (const row of table.rows) if (hasError(row)) yield makeRow(row);
    for (const row of table.rows) if (!hasError(row)) yield makeRow(row);
  };
  const left = new Set(issues.keys());
  for (const { row } of table.rows) left.delete(row);
  left.delete(table.headerRow ?? 1);
  return { rows: rows(), count: table.rowCount, left: [...left].sort((a, b) => a - b) };
}

function formatIssue({ severity, element, message }: Issue): string {
  return `${severity === 'error' ? '✗' : '!'} ${element === undefined ? '' : `${element}: `}${message}`;
}
