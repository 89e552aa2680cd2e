import type { Issue } from '../base/issue.ts';
import { findColumnMeant, isStoredColumn } from '../find/fields.ts';
import { BYTE_ORDER_MARK, formatCsvCell } from '../text/csv.ts';
import { foldName } from '../text/names.ts';
import { getDisplayedText, type Table, type TableRow } from './table.ts';

/** Column with the issues of a row. It is ignored on import. */
const ISSUES_COLUMN = 'issues';

type IssuesTable = {
  readonly header: readonly string[];
  /** Made again at each iteration. */
  readonly rows: Iterable<readonly string[]>;
  readonly count: number;
  /** Rows with issues that could not be read, so the copy lacks them. */
  readonly left: readonly number[];
};

/** Issues of each row of a table. */
export class RowTexts {
  readonly #table: Table;
  readonly #texts = new Map<number, string>();
  readonly #withErrors = new Set<number>();

  constructor(table: Table) {
    this.#table = table;
  }

  add(issue: Issue): void {
    if (issue.row === undefined || issue.file !== this.#table.file) return;
    const before = this.#texts.get(issue.row);
    const text = before === undefined ? formatIssue(issue) : `${before} | ${formatIssue(issue)}`;
    this.#texts.set(issue.row, text);
    if (issue.severity === 'error') this.#withErrors.add(issue.row);
  }

  hasError(row: number): boolean {
    return this.#withErrors.has(row);
  }

  get(row: number): string | undefined {
    return this.#texts.get(row);
  }

  getRows(): Set<number> {
    return new Set(this.#texts.keys());
  }
}

/** Returns the displayed text, unless the stored value counts, or the display has fewer digits. */
function restoreCell(row: TableRow, index: number, header: string): string {
  const [stored = '', shown] = [row.cells[index], getDisplayedText(row, index)];
  const column = findColumnMeant(header);
  const isText = column === undefined ? Number(shown) === Number(stored) : !isStoredColumn(column);
  return isText ? shown : stored;
}

/**
 * Copies a table and adds the issues of each row, so that it can be corrected and imported again.
 * Rows with errors come first, otherwise in the order of the table.
 */
export function makeIssuesTable(table: Table, texts: RowTexts): IssuesTable {
  const keeps = table.header.map((name) => foldName(name) !== ISSUES_COLUMN);
  const formatRow = (row: TableRow): readonly string[] => {
    const cells = row.cells.map((_, index) => restoreCell(row, index, table.header[index] ?? ''));
    return [texts.get(row.row) ?? '', ...cells.filter((_, index) => keeps[index] ?? true)];
  };
  const rows = function* (): Generator<readonly string[]> {
    for (const row of table.rows) if (texts.hasError(row.row)) yield formatRow(row);
    for (const row of table.rows) if (!texts.hasError(row.row)) yield formatRow(row);
  };
  const left = texts.getRows();
  for (const { row } of table.rows) left.delete(row);
  left.delete(table.headerRow ?? 1);
  const header = [ISSUES_COLUMN, ...table.header.filter((_, index) => keeps[index])];
  return {
    header,
    rows: { [Symbol.iterator]: rows },
    count: table.rowCount,
    left: [...left].sort((a, b) => a - b),
  };
}

function formatIssue({ severity, element, message }: Issue): string {
  return `${severity === 'error' ? '✗' : '!'} ${element === undefined ? '' : `${element}: `}${message}`;
}

/** Writes the copy as CSV; numbers stay numbers, formulas are marked as text. */
export function* formatIssuesCsv({ header, rows }: IssuesTable): Generator<string> {
  const formatLine = (cells: readonly string[]): string =>
    `${cells.map((cell) => (/^-?\d+(?:[.,]\d+)?$/.test(cell) ? cell : formatCsvCell(cell, ';'))).join(';')}\r\n`;
  yield BYTE_ORDER_MARK + formatLine(header);
  for (const row of rows) yield formatLine(row);
}

/**
 * Makes an XLSX file; a cell that reads as a number or a date is stored as such, an empty one is
 * left out.
 */
export async function makeIssuesWorkbook(
  { header, rows }: IssuesTable,
  sheet: string,
): Promise<Buffer> {
  const {
    makeDateCell,
    makeHeadingCell,
    makeNumberCell,
    makeTextCell,
    makeWorkbook: workbookBytes,
  } = await import('./write-workbook.ts');
  const cells = Array.from(rows, (row) =>
    row.map((cell) =>
      cell === '' ? null : (makeNumberCell(cell) ?? makeDateCell(cell) ?? makeTextCell(cell)),
    ),
  );
  return workbookBytes([header.map(makeHeadingCell), ...cells], sheet);
}
