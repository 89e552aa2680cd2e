import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findNumberProblem } from '../find/value-rules.ts';
import { getRowPlace, type RowPlace, type Table, type TableRow } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import { findCellDoubt, getTrimmedCell, makeMissingColumnIssue } from './columns.ts';

/** A row of a table of registration numbers, with at least one of the two identifiers. */
export type NumberRow = {
  readonly localId: string;
  readonly identCely: string;
  /** Trimmed, as the service requires. */
  readonly value: string;
  readonly place: RowPlace;
};

const COLUMNS = {
  local_id: ['local_id', 'inv_c', 'inventarni_cislo', 'find', 'nalez'],
  ident_cely: ['ident_cely', 'ident', 'identifier', 'identifikator', 'amcr_id'],
  evidencni_cislo: [
    'evidencni_cislo',
    'ev_c',
    'ev_cislo',
    'evid_c',
    'registration_number',
    'registration_no',
    'reg_no',
    'number',
  ],
} as const;
type Column = keyof typeof COLUMNS;

/**
 * Reads the numbers of a table with the columns `local_id` or `ident_cely`, and `evidencni_cislo`;
 * other columns are ignored.
 */
export function parseNumbers(table: Table): {
  readonly rows: readonly NumberRow[];
  readonly issues: readonly Issue[];
} {
  const places = findNumberColumns(table);
  const missing = checkMissingColumns(table, places);
  const issues: Issue[] = [...table.issues, ...missing];
  if (missing.length > 0) return { rows: [], issues };
  const getCellText = (row: TableRow, column: Column): string =>
    getTrimmedCell(row, places.get(column) ?? -1, column);
  const rows: NumberRow[] = [];
  for (const row of table.rows) {
    const place = getRowPlace(table, row);
    const doubts = [...places].flatMap(([column, index]) => {
      const doubt = findCellDoubt(row, index, column);
      return doubt === undefined ? [] : [{ ...doubt, column: table.header[index] ?? column }];
    });
    for (const { severity, rule, problem, column } of doubts) {
      const issue =
        severity === 'error' ? makeErrorIssue(rule, problem) : makeWarningIssue(rule, problem);
      issues.push(issue.with({ ...place, column }));
    }
    if (doubts.some(({ severity }) => severity === 'error')) continue;
    const localId = getCellText(row, 'local_id');
    const identCely = getCellText(row, 'ident_cely');
    const value = getCellText(row, 'evidencni_cislo');
    const problem = checkNumberRow(localId || identCely, value);
    if (problem === undefined) rows.push({ localId, identCely, value, place });
    else issues.push(problem.with(place));
  }
  return { rows, issues };
}

/** An empty number is not assigned yet, which is a warning. */
function checkNumberRow(find: string, value: string): Issue | undefined {
  if (value === '')
    return makeWarningIssue(
      'number-empty',
      msg`${find} has no number yet, so the row was skipped.`,
      { element: 'evidencni_cislo' },
    );
  if (find === '') {
    return makeErrorIssue(
      'number-find',
      msg`The row does not say which find ${value} is for. Fill in local_id or ident_cely.`,
    );
  }
  const unfit = findNumberProblem(value);
  return unfit && makeErrorIssue(unfit.rule, unfit.problem, { element: 'evidencni_cislo' });
}

function findNumberColumns(table: Table): Map<Column, number> {
  const names = (table.names ?? table.header).map(foldName);
  return new Map(
    (Object.entries(COLUMNS) as [Column, readonly string[]][]).flatMap(([column, spellings]) => {
      const place = spellings.map((name) => names.indexOf(name)).find((index) => index !== -1);
      return place === undefined ? [] : [[column, place] as const];
    }),
  );
}

function checkMissingColumns(table: Table, places: ReadonlyMap<Column, number>): Issue[] {
  const issues: Issue[] = [];
  if (!places.has('local_id') && !places.has('ident_cely'))
    issues.push(makeMissingColumnIssue(table, 'number-column', 'local_id', 'ident_cely'));
  if (!places.has('evidencni_cislo'))
    issues.push(makeMissingColumnIssue(table, 'number-column', 'evidencni_cislo'));
  return issues;
}
