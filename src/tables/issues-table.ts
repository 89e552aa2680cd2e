import { hasErrors, type Issue } from '../base/issue.ts';
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
