import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findColumnMeant } from '../find/fields.ts';
import { findNumberProblem } from '../find/value-rules.ts';
import { quoteTomlString } from '../store/toml.ts';
import {
  getHeaderPlace,
  getRowPlace,
  type RowPlace,
  type Table,
  type TableRow,
} from '../tables/table.ts';
import { findNamedColumns } from './column-names.ts';
import { type ColumnProfile, isOfFinds, profileColumns } from './column-profile.ts';
import {
  findCellDoubt,
  getTrimmedCell,
  makeColumnKeys,
  makeMissingColumnIssue,
  normalizeCell,
} from './columns.ts';
import type { ColumnQuestion } from './propose-columns.ts';

/** A row of a table of registration numbers, with at least one of the two identifiers. */
export type NumberRow = {
  readonly localId: string;
  readonly identCely: string;
  /** Trimmed, as the service requires. */
  readonly value: string;
  readonly place: RowPlace;
};

const NUMBER_COLUMNS = ['local_id', 'ident_cely', 'evidencni_cislo'] as const;
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];

/** Columns of a table of registration numbers, by their places. */
export type NumberColumns = {
  readonly places: ReadonlyMap<NumberColumn, number>;
  /** Columns between which a person must choose. */
  readonly questions: readonly (ColumnQuestion & { readonly element: NumberColumn })[];
};

/** Tells what the text of a cell names. */
export type KnownNames = {
  isFind(text: string): boolean;
  isIdent(text: string): boolean;
};

type NumberedColumn = ColumnProfile & { readonly index: number };

/**
 * Finds the columns of the find and of its registration number: by their own names, else by the
 * finds that the values name, and only without any by names that museums use. Where several fit,
 * none is chosen.
 */
export function findNumberColumns(table: Table, known: KnownNames): NumberColumns {
  const names = table.names ?? table.header;
  const places = new Map(
    NUMBER_COLUMNS.flatMap((column) => {
      const index = names.findIndex((name) => findColumnMeant(name) === column);
      return index === -1 ? [] : [[column, index] as const];
    }),
  );
  const questions: NumberColumns['questions'][number][] = [];
  const open = profileColumns(table)
    .map((profile, index): NumberedColumn => ({ ...profile, index }))
    .filter(({ index, filled }) => {
      const name = names[index] ?? '';
      return name !== '' && filled > 0 && findColumnMeant(name) === undefined;
    });
  const claim = (element: NumberColumn, claims: readonly NumberedColumn[], isSure = true): void => {
    const [only, another] = claims;
    if (only === undefined) return;
    if (another === undefined && isSure) places.set(element, only.index);
    else questions.push(makeQuestion(element, claims));
  };
  const idents = open.filter((column) => isOfFinds(column, known.isIdent));
  const finds = open.filter(
    (column) => !idents.includes(column) && isOfFinds(column, known.isFind),
  );
  const isFindNamed = places.has('local_id') || places.has('ident_cely');
  const named = finds.length + idents.length > 0 ? finds : listNamed(open, 'local_id');
  if (!isFindNamed) {
    claim('ident_cely', idents);
    claim('local_id', named);
  }
  const chosen = new Set([...places.values(), ...[...idents, ...finds].map(({ index }) => index)]);
  const others = open.filter(({ index }) => !chosen.has(index));
  if (!places.has('evidencni_cislo')) {
    const registered = listNamed(others, 'evidencni_cislo');
    const numbers = registered.length > 0 ? registered : listNamed(others, 'local_id');
    claim('evidencni_cislo', numbers.length > 0 ? numbers : others, numbers.length > 0);
  }
  return { places, questions };
}

/** Returns the columns that are called so, only those with the name itself where there are any. */
function listNamed(columns: readonly NumberedColumn[], element: NumberColumn): NumberedColumn[] {
  const matches = columns.map((column) => ({
    column,
    match: findNamedColumns(column.header).get(element),
  }));
  const exact = matches.filter(({ match }) => match === 'exact');
  const named = exact.length > 0 ? exact : matches.filter(({ match }) => match === 'like');
  return named.map(({ column }) => column);
}

function makeQuestion(element: NumberColumn, columns: readonly NumberedColumn[]) {
  const keys = columns.map(({ key }) => key);
  const all = keys.join(', ');
  const problem = msg`${element} may be any of these columns: ${all}.`;
  return { asks: 'column', element, keys, problem } as const;
}

/** Answers a question about the columns. */
export function chooseNumberColumn(
  table: Table,
  { places, questions }: NumberColumns,
  element: NumberColumn,
  key: string,
): NumberColumns {
  const index = makeColumnKeys(table.header).indexOf(key);
  return {
    places: new Map([...places, [element, index]]),
    questions: questions
      .filter((question) => question.element !== element)
      .map((question) => ({ ...question, keys: question.keys.filter((other) => other !== key) })),
  };
}

/** Reads the numbers of a table; its other columns are ignored. */
export function parseNumbers(
  table: Table,
  { places, questions }: NumberColumns,
): {
  readonly rows: readonly NumberRow[];
  readonly issues: readonly Issue[];
} {
  const missing = checkMissingColumns(table, { places, questions });
  const issues: Issue[] = [...table.issues, ...missing];
  if (missing.length > 0) return { rows: [], issues };
  const getCellText = (row: TableRow, column: NumberColumn): string =>
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
    const value = normalizeCell('evidencni_cislo', getCellText(row, 'evidencni_cislo'));
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

function checkMissingColumns(table: Table, { places, questions }: NumberColumns): Issue[] {
  const isAsked = (...columns: readonly NumberColumn[]): boolean =>
    questions.some(({ element }) => columns.includes(element));
  const issues = questions.map(({ element, keys, problem }) => {
    const line = `${quoteTomlString(keys[0] ?? '')} = ${quoteTomlString(element)}`;
    const message = msg`${problem} Write it in a column map, and name that with --map: ${line}`;
    return makeErrorIssue('number-column', message, getHeaderPlace(table));
  });
  const hasFind = places.has('local_id') || places.has('ident_cely');
  if (!hasFind && !isAsked('local_id', 'ident_cely'))
    issues.push(makeMissingColumnIssue(table, 'number-column', 'local_id', 'ident_cely'));
  if (!places.has('evidencni_cislo') && !isAsked('evidencni_cislo'))
    issues.push(makeMissingColumnIssue(table, 'number-column', 'evidencni_cislo'));
  return issues;
}
