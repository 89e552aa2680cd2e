import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue, toIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { ColumnName } from '../find/fields.ts';
import type { RowPlace } from '../find/find.ts';
import { findNumberProblem } from '../find/value-rules.ts';
import { quoteTomlString } from '../store/toml.ts';
import { getHeaderPlace, getRowPlace, type Table } from '../tables/table.ts';
import { findNamedColumns } from './column-names.ts';
import { type ColumnMap, IGNORED, NUMBER_COLUMNS } from './column-rule.ts';
import { type ColumnProfile, isOfFinds, LAST_RANK, profileColumns } from './column-tests.ts';
import { listColumnRules, makeMissingColumnIssue, parseColumns } from './columns.ts';
import {
  assignMeanings,
  type ColumnMeanings,
  type ColumnQuestion,
  type KnownNames,
  listMeanings,
  type Meaning,
  makeMapOfProposal,
  type TableAnswers,
  type TableProposal,
} from './propose-columns.ts';

/** A row of a table of registration numbers, with at least one of the two identifiers. */
export type NumberRow = {
  readonly localId: string;
  readonly identCely: string;
  /** Trimmed, as the service requires. */
  readonly value: string;
  readonly place: RowPlace;
};

/**
 * Makes the function that proposes the columns of the find and of its registration number: those
 * with their own names, else by the finds that the values name, and only without any by names that
 * museums use. Where several fit, none is chosen; other columns are ignored.
 */
export function makeNumberProposer(table: Table, known: KnownNames, given?: ColumnMap) {
  const own = listColumnRules(table, given);
  const profiles = profileColumns(table);
  const ownRules = profiles.flatMap(({ key }, index) => {
    const rule = own[index];
    return NUMBER_COLUMNS.some((element) => element === rule?.element) && rule !== undefined
      ? [[key, rule] as const]
      : [];
  });
  const areFindsNamed =
    given?.localId !== undefined ||
    ownRules.some(([, { element }]) => element !== 'evidencni_cislo');
  const open = profiles.filter(({ filled }, index) => filled > 0 && own[index] === undefined);
  const meanings = listNumberMeanings(open, known);
  return (answers: TableAnswers): TableProposal => {
    const rules = new Map([...ownRules, ...answers.rules]);
    const { columns, questions } = assignMeanings(
      profiles,
      meanings,
      rules,
      areFindsNamed ? NAMES : [],
      () => IGNORED,
    );
    const read = columns.flatMap(({ rule }) => rule.element ?? []);
    const isNumbered = read.includes('evidencni_cislo');
    const others = open.filter((column) => meanings.get(column)?.length === 0);
    if (questions.length === 0 && !isNumbered && others.length > 0)
      questions.push(makeQuestion('evidencni_cislo', others));
    const missing: ColumnName[] = isNumbered ? [] : ['evidencni_cislo'];
    if (!areFindsNamed && !read.some((element) => NAMES.includes(element)))
      missing.unshift('local_id');
    return { columns, fixed: [], undecided: questions.length > 0 ? [] : missing, questions };
  };
}

/** Columns that name a find. */
const NAMES: readonly ColumnName[] = ['local_id', 'ident_cely'];

/** A column called as the find's number may be the registration number beside another of these. */
function listNumberMeanings(columns: readonly ColumnProfile[], known: KnownNames): ColumnMeanings {
  const hasIdents = columns.some((column) => isOfFinds(column, known.isIdent));
  const elements = hasIdents ? NUMBERS : NUMBER_COLUMNS;
  const meanings = listMeanings(columns, () => ({ kind: 'not-harvested' }), known, elements);
  return new Map(
    [...meanings].map(([column, meant]) => {
      const isNumber = findNamedColumns(column.header).has('local_id');
      return [column, isNumber && !isOfFinds(column, known.isFind) ? [...meant, LAST] : meant];
    }),
  );
}

const NUMBERS: readonly ColumnName[] = ['evidencni_cislo'];
const LAST: Meaning = { element: 'evidencni_cislo', rank: LAST_RANK, isOnly: false };

function makeQuestion(element: ColumnName, columns: readonly ColumnProfile[]): ColumnQuestion {
  const keys = columns.map(({ key }) => key);
  const all = keys.join(', ');
  const problem = msg`${element} may be any of these columns: ${all}.`;
  return { asks: 'column', element, keys, problem };
}

/** Reads the numbers of a table; its other columns are ignored. */
export function parseNumbers(table: Table, proposal: TableProposal, given?: ColumnMap) {
  const { file = table.file, columns: mapped = [], localId } = given ?? {};
  const proposed = makeMapOfProposal(file, proposal);
  const map = { ...proposed, columns: new Map([...mapped, ...proposed.columns]), localId };
  const { columns, issues: headerIssues } = parseColumns(table, map);
  const { questions, undecided } = proposal;
  const open = [
    ...questions.map((question) => makeChoiceIssue(table, question)),
    ...undecided.map((element) =>
      element === 'evidencni_cislo'
        ? makeMissingColumnIssue(table, 'number-column', element)
        : makeMissingColumnIssue(table, 'number-column', element, 'ident_cely'),
    ),
  ];
  // Columns that a question is about have the same meaning until it is answered.
  const missing = open.length > 0 ? open : headerIssues;
  const issues: Issue[] = [...table.issues, ...missing];
  const rows: NumberRow[] = [];
  if (missing.length > 0) return { rows, issues };
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
