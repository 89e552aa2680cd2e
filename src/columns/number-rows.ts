import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue, toIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { ColumnName } from '../find/fields.ts';
import type { RowPlace } from '../find/find.ts';
import { findNumberProblem } from '../find/value-rules.ts';
import { quoteTomlString } from '../store/toml.ts';
import { getHeaderPlace, getRowPlace, type Table } from '../tables/table.ts';
import { findNamedColumns } from './column-names.ts';
import { type ColumnProfile, isOfFinds, profileColumns } from './column-profile.ts';
import { type ColumnMap, type ColumnRule, NUMBER_COLUMNS } from './column-rule.ts';
import { listColumnRules, makeMissingColumnIssue, parseColumns } from './columns.ts';
import type { ColumnQuestion, TableProposal } from './propose-columns.ts';

/** A row of a table of registration numbers, with at least one of the two identifiers. */
export type NumberRow = {
  readonly localId: string;
  readonly identCely: string;
  /** Trimmed, as the service requires. */
  readonly value: string;
  readonly place: RowPlace;
};

/** Columns of a table of registration numbers; either identifier names a find. */
export type NumberColumns = Pick<TableProposal, 'questions' | 'undecided'> & {
  /** Meanings of the columns that were found; the others are ignored. */
  readonly map: ColumnMap;
};

/** Tells what the text of a cell names. */
export type KnownNames = {
  isFind(text: string): boolean;
  isIdent(text: string): boolean;
};

/**
 * Finds the columns of the find and of its registration number: by their own names, else by the
 * finds that the values name, and only without any by names that museums use. Where several fit,
 * none is chosen.
 */
export function findNumberColumns(
  table: Table,
  known: KnownNames,
  given?: ColumnMap,
): NumberColumns {
  const own = listColumnRules(table, given);
  const profiles = profileColumns(table);
  const rules = new Map<string, ColumnRule>(profiles.map(({ key }) => [key, { kind: 'ignored' }]));
  const found = new Set<ColumnName>(given?.localId === undefined ? [] : ['local_id']);
  const take = (element: ColumnName, { key }: ColumnProfile, rule?: ColumnRule): void => {
    if (found.has(element)) return;
    found.add(element);
    rules.set(key, rule ?? { kind: 'read', element });
  };
  for (const [index, profile] of profiles.entries()) {
    const rule = own[index];
    const element = NUMBER_COLUMNS.find((each) => rule?.kind === 'read' && rule.element === each);
    if (element !== undefined) take(element, profile, rule);
  }
  const questions: ColumnQuestion[] = [];
  const open = profiles.filter(({ filled }, index) => filled > 0 && own[index] === undefined);
  const claim = (element: ColumnName, claims: readonly ColumnProfile[], isSure = true): void => {
    const [only, another] = claims;
    if (only === undefined) return;
    if (another === undefined && isSure) take(element, only);
    else questions.push(makeQuestion(element, claims));
  };
  const idents = open.filter((column) => isOfFinds(column, known.isIdent));
  const finds = open.filter(
    (column) => !idents.includes(column) && isOfFinds(column, known.isFind),
  );
  const named = finds.length + idents.length > 0 ? finds : listNamed(open, 'local_id');
  if (!found.has('local_id') && !found.has('ident_cely')) {
    claim('ident_cely', idents);
    claim('local_id', named);
  }
  const others = open.filter(
    (column) => ![...idents, ...finds].includes(column) && rules.get(column.key)?.kind !== 'read',
  );
  if (!found.has('evidencni_cislo')) {
    const registered = listNamed(others, 'evidencni_cislo');
    const numbers = registered.length > 0 ? registered : listNamed(others, 'local_id');
    claim('evidencni_cislo', numbers.length > 0 ? numbers : others, numbers.length > 0);
  }
  for (const { element } of questions) found.add(element);
  const undecided = NUMBER_COLUMNS.filter(
    (element) =>
      !found.has(element) &&
      (element === 'evidencni_cislo' || (element === 'local_id' && !found.has('ident_cely'))),
  );
  const { file = table.file, columns = [], localId } = given ?? {};
  const map = { file, columns: new Map([...columns, ...rules]), fixed: [], localId };
  return { map, questions, undecided };
}

/** Returns the columns that are called so, only those with the name itself where there are any. */
function listNamed(columns: readonly ColumnProfile[], element: ColumnName): ColumnProfile[] {
  const matches = columns.map((column) => ({
    column,
    match: findNamedColumns(column.header).get(element),
  }));
  const exact = matches.filter(({ match }) => match === 'exact');
  const named = exact.length > 0 ? exact : matches.filter(({ match }) => match === 'like');
  return named.map(({ column }) => column);
}

function makeQuestion(element: ColumnName, columns: readonly ColumnProfile[]): ColumnQuestion {
  const keys = columns.map(({ key }) => key);
  const all = keys.join(', ');
  const problem = msg`${element} may be any of these columns: ${all}.`;
  return { asks: 'column', element, keys, problem };
}

/** Answers a question about the columns. */
export function chooseNumberColumn(
  { map, questions, undecided }: NumberColumns,
  element: ColumnName,
  key: string,
): NumberColumns {
  return {
    undecided,
    map: { ...map, columns: new Map([...map.columns, [key, { kind: 'read', element }]]) },
    questions: questions
      .filter((question) => question.element !== element)
      .map((question) => ({ ...question, keys: question.keys.filter((other) => other !== key) })),
  };
}

/** Reads the numbers of a table; its other columns are ignored. */
export function parseNumbers(
  table: Table,
  { map, questions, undecided }: NumberColumns,
): {
  readonly rows: readonly NumberRow[];
  readonly issues: readonly Issue[];
} {
  const { columns, issues: headerIssues } = parseColumns(table, map);
  const missing = [
    ...headerIssues,
    ...questions.map((question) => makeChoiceIssue(table, question)),
    ...undecided.map((element) =>
      element === 'evidencni_cislo'
        ? makeMissingColumnIssue(table, 'number-column', element)
        : makeMissingColumnIssue(table, 'number-column', element, 'ident_cely'),
    ),
  ];
  const issues: Issue[] = [...table.issues, ...missing];
  if (missing.length > 0) return { rows: [], issues };
  const rows: NumberRow[] = [];
  const above = new Map<ColumnName, string>();
  for (const row of table.rows) {
    const place = getRowPlace(table, row);
    const doubts = columns.names.flatMap((name) => {
      const doubt = columns.findDoubt(row, name, above.get(name));
      const where = { ...place, column: columns.getHeader(name) };
      return doubt === undefined ? [] : [toIssue(doubt, where)];
    });
    issues.push(...doubts);
    for (const name of columns.names) above.set(name, columns.getCell(row, name));
    if (hasErrors(doubts)) continue;
    const localId = columns.getCell(row, 'local_id');
    const identCely = columns.getCell(row, 'ident_cely');
    const value = columns.getCell(row, 'evidencni_cislo');
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
  return unfit && toIssue(unfit, { element: 'evidencni_cislo' });
}

function makeChoiceIssue(table: Table, { element, keys, problem }: ColumnQuestion): Issue {
  const line = `${quoteTomlString(keys[0] ?? '')} = ${quoteTomlString(element)}`;
  const message = msg`${problem} Write it in a column map, and name that with --map: ${line}`;
  return makeErrorIssue('number-column', message, getHeaderPlace(table));
}
