import { extname, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import { type IssuesTable, issuesCsv, issuesTable } from '../find/issues-table.ts';
import type { Table } from '../find/table.ts';
import { refuseExisting, writeOutputFile } from '../store/output-file.ts';

export type IssuesFileOptions = { readonly issuesTo?: string; readonly onlyBad?: boolean; readonly force?: boolean };

/** Before anything is done. @throws UsageError where the copy could not be written later */
export function refuseIssuesFile(files: readonly string[], { issuesTo, onlyBad, force }: IssuesFileOptions): void {
  if (issuesTo === undefined) {
    if (onlyBad === true) throw new UsageError(t`--only-bad says something of --issues-to FILE. Give both.`);
    return;
  }
  if (issuesTo === '-') throw new UsageError(t`--issues-to needs the name of a file.`);
  if (files.length > 1) throw new UsageError(t`--issues-to copies one table. Import the tables one by one.`);
  if (files.some((file) => resolve(file) === resolve(issuesTo))) {
    throw new UsageError(t`${issuesTo} is the table itself. Choose another name for the copy.`);
  }
  refuseExisting(issuesTo, force === true);
}

/**
 * Writes a copy of the table with a column of what is wrong with each row: a workbook where the name ends in `.xlsx`, else CSV.
 * @throws UsageError for a format whose rows are no rows of a spreadsheet
 */
export async function writeIssuesFile(
  { terminal }: Context,
  table: Table,
  issues: readonly Issue[],
  { issuesTo: file = '', onlyBad, force }: IssuesFileOptions,
): Promise<void> {
  if (table.unit !== undefined) {
    throw new UsageError(t`--issues-to copies tables of CSV and XLSX; ${table.file} is neither.`, {
      hint: t`Leave it out, and mend what was printed.`,
    });
  }
  const copy = issuesTable(table, issues, onlyBad === true ? 'bad' : 'all');
  const content = extname(file).toLowerCase() === '.xlsx' ? [await workbookOf(copy, table.sheet ?? 'issues')] : issuesCsv(copy);
  await writeOutputFile(file, content, { overwrite: force === true });
  const count = copy.rows.length;
  terminal.note(
    ngettext(
      msgid`${file} has ${count} row, with what is wrong in the column issues. Mend it and import it.`,
      `${file} has ${count} rows, with what is wrong in the column issues. Mend them and import the file.`,
      count,
    ),
  );
  if (copy.left.length === 0) return;
  const rows = copy.left.join(', ');
  terminal.warn(t`Not in the copy, because they could not be taken apart: rows ${rows}. Mend them in ${table.file}.`);
}

async function workbookOf({ header, rows }: IssuesTable, sheet: string): Promise<Buffer> {
  const { headingCell, numberCell, textCell, workbookBytes } = await import('../find/export/write-workbook.ts');
  const cells = rows.map((row) => row.map((cell) => (cell === '' ? null : (numberCell(cell) ?? textCell(cell)))));
  return workbookBytes([header.map(headingCell), ...cells], sheet);
}
