import type { Issue } from '../base/issue.ts';
import { findColumnMeant, isStoredColumn } from '../find/fields.ts';
import { foldName } from '../text/names.ts';
import type { RowCell } from './row-cell.ts';
import { getDisplayedText, type Table, type TableRow } from './table.ts';

/** Column with the issues of a row. It is ignored on import. */
export const ISSUES_COLUMN = 'issues';

type IssuesTable = {
  /** The first row has the headings. */
  readonly rows: Iterable<readonly RowCell[]>;
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
export function makeIssuesTable(table: Table, texts: RowTexts): IssuesTable {
  const keeps = table.header.map((name) => foldName(name) !== ISSUES_COLUMN);
  const makeRow = (row: TableRow): readonly RowCell[] => {
    const cells = row.cells.map((_, index) => restoreCell(row, index, table.header[index] ?? ''));
    const kept = cells.filter((_, index) => keeps[index] ?? true);
    return [texts.get(row.row) ?? '', ...kept.map((written) => ({ written }))];
  };
  const rows = function* (): Generator<readonly RowCell[]> {
    yield [ISSUES_COLUMN, ...table.header.filter((_, index) => keeps[index])];
    for (const row of table.rows) if (texts.hasError(row.row)) yield makeRow(row);
    for (const row of table.rows) if (!texts.hasError(row.row)) yield makeRow(row);
  };
  const left = texts.getRows();
  for (const { row } of table.rows) left.delete(row);
  left.delete(table.headerRow ?? 1);
  return {
    rows: rows(),
    count: table.rowCount,
    left: [...left].sort((a, b) => a - b),
  };
}

function formatIssue({ severity, element, message }: Issue): string {
  return `${severity === 'error' ? '✗' : '!'} ${element === undefined ? '' : `${element}: `}${message}`;
}
