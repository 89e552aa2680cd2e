import type { Issue } from '../base/issue.ts';
import { BYTE_ORDER_MARK, csvCell } from '../text/csv.ts';
import { foldName } from '../text/names.ts';
import type { Table } from './table.ts';

/** The column that says what is wrong with a row. Tables that are imported may have it; it is not read. */
const ISSUES_COLUMN = 'issues';

type IssuesTable = {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Rows that something is wrong with and that could not be read, so that they stand in no copy. */
  readonly left: readonly number[];
};

/** A copy of a table in which each row says what is wrong with it, to be mended and imported again. */
export function issuesTable(table: Table, issues: readonly Issue[], only: 'all' | 'bad'): IssuesTable {
  const texts = new Map<number, string[]>();
  for (const issue of issues) {
    if (issue.row === undefined || issue.file !== table.file) continue;
    texts.set(issue.row, [...(texts.get(issue.row) ?? []), textOf(issue)]);
  }
  const keeps = table.header.map((name) => foldName(name) !== ISSUES_COLUMN);
  const rows: string[][] = [];
  const copied = new Set<number>();
  for (const { row, cells } of table.rows) {
    copied.add(row);
    const own = texts.get(row) ?? [];
    if (only === 'bad' && own.length === 0) continue;
    rows.push([own.join(' | '), ...cells.filter((_, index) => keeps[index] ?? true)]);
  }
  const left = [...texts.keys()].filter((row) => !copied.has(row) && row !== (table.headerRow ?? 1)).sort((a, b) => a - b);
  return { header: [ISSUES_COLUMN, ...table.header.filter((_, index) => keeps[index])], rows, left };
}

function textOf({ severity, element, message }: Issue): string {
  return `${severity === 'error' ? '✗' : '!'} ${element === undefined ? '' : `${element}: `}${message}`;
}

/** Numbers stay numbers; what a spreadsheet would take for a formula is marked as text. */
export function* issuesCsv({ header, rows }: IssuesTable): Generator<string> {
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell) => (/^-?\d+(?:[.,]\d+)?$/.test(cell) ? cell : csvCell(cell, ';'))).join(';')}\r\n`;
  yield BYTE_ORDER_MARK + line(header);
  for (const row of rows) yield line(row);
}

/** The same as a workbook. */
export async function issuesWorkbook({ header, rows }: IssuesTable, sheet: string): Promise<Buffer> {
  const { headingCell, numberCell, textCell, workbookBytes } = await import('./write-workbook.ts');
  const cells = rows.map((row) => row.map((cell) => (cell === '' ? null : (numberCell(cell) ?? textCell(cell)))));
  return workbookBytes([header.map(headingCell), ...cells], sheet);
}
