import { addHiddenDifference } from '../base/characters.ts';
import { groupBy } from '../base/collections.ts';
import { UsageError } from '../base/errors.ts';
import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue, toIssue } from '../base/issue.ts';
import { quoteTomlString } from '../base/json-and-toml.ts';
import { cmd, joinMessages, msg } from '../base/message.ts';
import type { RowPlace } from '../finds/find.ts';
import { findNumberProblem, findUsedNumberProblem } from '../finds/value-rules.ts';
import {
  assertMaySetNumbers,
  enqueueNumber,
  makeNumberLookup,
  type NumberChange,
  planNumberChange,
} from '../outbox/changes/enqueue-change.ts';
import { makeSubjectLookup } from '../outbox/changes/resolve-finds.ts';
import { isDroppedFind } from '../outbox/entry-queries.ts';
import { type Outbox, splitIntoBatches } from '../outbox/open-outbox.ts';
import { getSubjectName, isRemoved } from '../outbox/stored-finds.ts';
import {
  type ColumnMap,
  type ColumnName,
  type ColumnRule,
  IDENTIFYING_COLUMNS,
  IGNORED_COLUMN,
  NUMBER_COLUMNS,
} from './columns/column-meaning.ts';
import { type ColumnProfile, profileTableColumns } from './columns/column-tests.ts';
import {
  type Columns,
  listColumnRules,
  makeMissingColumnIssue,
  parseColumns,
} from './columns/columns.ts';
import { omitRowsWithoutFinds } from './columns/map-table.ts';
import {
  findColumnMeanings,
  type KnownNames,
  makeChoiceProblem,
} from './columns/propose-columns.ts';
import { makeKnownNames } from './columns/wizard.ts';
import { getHeaderPlace, getRowPlace, type Table, type TableRow } from './table.ts';

/** A row of a table of registration numbers, with at least one of the two identifiers. */
type NumberRow = {
  readonly localId: string;
  readonly identCely: string;
  /** Trimmed, as the service requires. */
  readonly value: string;
  readonly place: RowPlace;
};

/**
 * Finds the columns of the find and of its registration number: those with their own names or in
 * the map, else the find's by the finds here and records that its values name, and the number's by
 * the names that museums use. Its issues say which column is missing, or which of several is meant.
 * @param given column map, which the result completes; other columns are ignored
 */
function findNumberColumns(table: Table, known: KnownNames, given: ColumnMap | undefined) {
  const own = listColumnRules(table, given);
  const rules = new Map<string, ColumnRule>(given?.columns);
  const open: ColumnProfile[] = [];
  for (const [index, profile] of profileTableColumns(table).entries()) {
    const rule = own[index];
    if (rule === undefined && profile.filled > 0) open.push(profile);
    const isOfNumbers = rule?.element !== undefined && NUMBER_COLUMNS.includes(rule.element);
    rules.set(profile.key, isOfNumbers ? rule : IGNORED_COLUMN);
  }
  const issues: Issue[] = [];
  const meanings = findColumnMeanings(open, () => ({ kind: 'not-harvested' }), known, NUMBER_ONLY);
  const isRead = (name: ColumnName): boolean =>
    [...rules.values()].some(({ element }) => element === name);
  for (const names of [IDENTIFYING_COLUMNS, NUMBER_ONLY]) {
    if (names.some(isRead)) continue;
    for (const name of names) {
      const columns = meanings.filter(({ element }) => element === name);
      const keys = columns.map(({ profile }) => profile.key);
      if (keys.length > 1) issues.push(makeChoiceIssue(table, name, keys));
      for (const key of keys) rules.set(key, { element: name });
    }
    if (!names.some(isRead)) issues.push(makeMissingColumnIssue(table, 'number-column', ...names));
  }
  const map: ColumnMap = { file: given?.file ?? table.file, columns: rules, fixed: [] };
  return { map, issues };
}

/** Things that a header may name beside the columns whose values name finds. */
const NUMBER_ONLY: readonly ColumnName[] = ['evidencni_cislo'];

/**
 * Reads the registration numbers of a table and the names of their finds: `rows` in the order of
 * the table, `issues` of the table and of rows that are left out. A column whose meaning neither
 * its name nor the map says is recognised by the values that name finds, or by the name that
 * museums give to such a number. A row with a fault, or without a number yet, is left out. There
 * are no rows where a column is missing, several may be meant, or the header has another fault.
 * @param known tells which values name finds
 * @param given column map of the user
 */
export function parseRegistrationNumbers(table: Table, known: KnownNames, given?: ColumnMap) {
  const { map, issues: undecided } = findNumberColumns(table, known, given);
  const { columns, issues: ofHeader } = parseColumns(table, map);
  // Columns among which a person must choose have one meaning, which is an error of a header.
  const columnIssues = undecided.length > 0 ? undecided : ofHeader;
  const issues: Issue[] = [...table.issues, ...columnIssues];
  const rows: NumberRow[] = [];
  if (columnIssues.length > 0) return { rows, issues };
  for (const row of table.rows) {
    const place = getRowPlace(table, row);
    const doubts = findDoubts(row, place, columns);
    issues.push(...doubts);
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

/** Returns the issues of texts that were hardly typed so; an error excludes the row. */
function findDoubts(row: TableRow, place: RowPlace, columns: Columns): Issue[] {
  return columns.names.flatMap((name) => {
    const doubt = columns.findDoubt(row, name);
    const where = { ...place, column: columns.getHeader(name) };
    return doubt === undefined ? [] : [toIssue(doubt, where)];
  });
}

/**
 * Returns the issue of a row without a number, which is not assigned yet (a warning), without a
 * find, or with a number that the service refuses; undefined for a row that can be used.
 * @param find its local id or identifier, '' where the row has neither
 */
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

function makeChoiceIssue(table: Table, element: ColumnName, keys: readonly string[]): Issue {
  const line = `${quoteTomlString(keys[0] ?? '')} = ${quoteTomlString(element)}`;
  const problem = makeChoiceProblem(element, keys);
  const message = msg`${problem} Write it in a column map, and name that with --map: ${line}`;
  return makeErrorIssue('number-column', message, getHeaderPlace(table));
}

/** A number of a table, and what queueing it does; `kept`: the find has it already. */
export type TableNumber = {
  readonly find: string;
  readonly value: string;
  readonly change: NumberChange;
  /** Current number of the record, which this one replaces. */
  readonly replaces: string | null;
};

type NumbersReport = {
  /** In the order of the table, one for each find. */
  readonly numbers: readonly TableNumber[];
  readonly issues: readonly Issue[];
};

/** Find or record that gets a number; `find` is its name for a person. */
type Addressee = { readonly find: string; readonly subject: string };
type AddressedNumber = Addressee & { readonly row: NumberRow };

type NumberToQueue = AddressedNumber & { readonly planned: TableNumber };

type NumbersPlan = NumbersReport & { readonly rows: readonly NumberToQueue[] };

/**
 * Plans the registration numbers of a table; nothing is stored. A number that a find has already is
 * `kept`, so that the table can be imported again, also after an interruption. Left out with an
 * error: a find with two numbers, a number of two finds, a number that another find here or record
 * has, an unknown or dropped find, an unreadable row. A row that only repeats another one is left
 * out silently.
 * @param map meanings of the columns; those that it lacks are recognised as in
 * {@link parseRegistrationNumbers}
 * @throws UsageError where the account may not set numbers
 */
export function planTableNumbers(
  outbox: Outbox,
  read: Table,
  map: ColumnMap | undefined,
): NumbersPlan {
  assertMaySetNumbers(outbox);
  const table = omitRowsWithoutFinds(read, map);
  const { rows, issues: unreadable } = parseRegistrationNumbers(table, makeKnownNames(outbox), map);
  const issues: Issue[] = [...unreadable];
  const findSubject = makeSubjectLookup(outbox);
  const addressed = rows.flatMap((row): AddressedNumber[] => {
    try {
      return [{ row, ...findAddressee(outbox, findSubject, row) }];
    } catch (thrown) {
      issues.push(convertToIssue(thrown, row));
      return [];
    }
  });
  const single = leaveOutContradictions(addressed, issues);
  const unused = leaveOutUsedNumbers(outbox, single, issues);
  const planned = unused.map((each) => {
    const { find, subject, row } = each;
    const { change, replaces = null } = planNumberChange(outbox, subject, row.value);
    return { ...each, planned: { find, value: row.value, change, replaces } };
  });
  return { rows: planned, numbers: planned.map((each) => each.planned), issues };
}

/** Makes the issue of a row whose find is unknown, dropped or removed; throws any other error. */
function convertToIssue(thrown: unknown, { place }: NumberRow): Issue {
  if (!(thrown instanceof UsageError)) throw thrown;
  const message = joinMessages([thrown.says, thrown.hintSays ?? []].flat(), ' ');
  return makeErrorIssue('number-find', message, place);
}

/**
 * Queues planned numbers, in the transactions of {@link splitIntoBatches}, between which it blocks
 * the thread for at most {@link MAX_YIELD_MS}, so that another process can write. A number is left
 * out, with an error, where its find was removed since, or where it would replace a number of the
 * record: without `mayReplace` any, with it another than the planned one. After an error of the
 * disk, the earlier transactions stay.
 * @param mayReplace a person allows that the planned numbers replace those of the records
 * @returns the numbers that are queued or `kept`, with the issues of the plan and of those left out
 * @throws DatabaseError where the disk fails
 */
export function queuePlannedNumbers(
  outbox: Outbox,
  { rows, issues: rowIssues }: NumbersPlan,
  mayReplace: boolean,
): NumbersReport {
  const issues: Issue[] = [...rowIssues];
  const queue = (number: NumberToQueue) => queuePlannedNumber(outbox, number, mayReplace, issues);
  const numbers: TableNumber[] = [];
  let doneCount = 0;
  for (const batch of splitIntoBatches(rows)) {
    const beganMs = outbox.clock.monotonicMs();
    numbers.push(...outbox.change(() => batch.flatMap(queue)));
    doneCount += batch.length;
    if (doneCount < rows.length) yieldToWriters(outbox, beganMs);
  }
  return { numbers, issues };
}

/**
 * Queues a number, and returns it; empty where it is left out.
 * @param issues gets the error of one that is left out
 */
function queuePlannedNumber(
  outbox: Outbox,
  { row, find, subject, planned }: NumberToQueue,
  mayReplace: boolean,
  issues: Issue[],
): TableNumber[] {
  const mayReplaceNow = (replaces: string): boolean => {
    // Another process may have changed the number while a person was asked about the planned one.
    if (mayReplace && replaces === planned.replaces) return true;
    const message = msg`${find} has the number ${replaces}, but the row has ${row.value}. The number was not changed.`;
    const says = addHiddenDifference(message, replaces, row.value);
    const where = { ...row.place, find, element: 'evidencni_cislo' };
    issues.push(makeErrorIssue('number-replaces', says, where));
    return false;
  };
  try {
    const change = enqueueNumber(outbox, subject, planned.value, mayReplaceNow);
    return change === undefined ? [] : [{ ...planned, change }];
  } catch (thrown) {
    issues.push(convertToIssue(thrown, row));
    return [];
  }
}

/** SQLite has no queue of writers, so a waiting one needs a pause in which the file is free. */
function yieldToWriters({ clock }: Outbox, beganMs: number): void {
  clock.hold(Math.min(MAX_YIELD_MS, clock.monotonicMs() - beganMs));
}

const MAX_YIELD_MS = 50;

/**
 * Returns the find or record of a row. Either column may hold a local id or an identifier, in any
 * letter case.
 * @throws UsageError where there is none, several may be meant, the columns name two, or it was
 * dropped
 */
function findAddressee(
  outbox: Outbox,
  findSubject: (name: string) => string,
  { localId, identCely }: NumberRow,
): Addressee {
  const names = [localId, identCely].filter((name) => name !== '');
  const [subject = '', other = subject] = names.map(findSubject);
  if (subject !== other)
    throw new UsageError(
      msg`${localId} and ${identCely} are not the same find. Correct one, or leave it empty.`,
    );
  const find = getSubjectName(outbox, subject);
  if (isRemoved(outbox, subject) || isDroppedFind(outbox, subject))
    throw new UsageError(
      msg`${find} was dropped, so its number would never be sent. To queue it again: ${cmd`pas resolve ${find} --resend`}`,
    );
  return { find, subject };
}

/**
 * Returns the first row of each find, without the finds that have two numbers.
 * @param issues gets an error for each of these
 */
function leaveOutContradictions(
  numbers: readonly AddressedNumber[],
  issues: Issue[],
): AddressedNumber[] {
  const byFind = groupBy(numbers, ({ subject }) => subject);
  return [...byFind.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const other = same.find(({ row }) => row.value !== first.row.value);
    if (other === undefined) return [first];
    const row = first.row.place.row;
    const otherRow = other.row.place.row;
    const message = addHiddenDifference(
      msg`Rows ${row} and ${otherRow} give ${first.find} two numbers, ${first.row.value} and ${other.row.value}. Keep one; neither was queued.`,
      first.row.value,
      other.row.value,
    );
    issues.push(makeErrorIssue('number-twice', message, { ...other.row.place, find: first.find }));
    return [];
  });
}

/**
 * Asserts that no other find or record here has a registration number.
 * @param subject UUID of the find, or identifier of the record, that is to get the number
 * @throws UsageError where one has it
 */
export function assertNumberIsFree(outbox: Outbox, subject: string, value: string): void {
  const find = getSubjectName(outbox, subject);
  const used = findUsedNumberProblem(value, find, { lookupNumber: makeNumberLookup(outbox) });
  if (used !== undefined) throw new UsageError(used.problem);
}

/**
 * Returns the rows without each number that another find of the table, or one that is here, has.
 * @param issues gets an error for each of these
 */
function leaveOutUsedNumbers(
  outbox: Outbox,
  numbers: readonly AddressedNumber[],
  issues: Issue[],
): AddressedNumber[] {
  const coming = new Map(numbers.map(({ find, row }) => [find, row.value]));
  const lookupNumber = makeNumberLookup(outbox, { listComing: () => coming });
  return numbers.filter(({ find, row }) => {
    const used = findUsedNumberProblem(row.value, find, { lookupNumber });
    const where = { ...row.place, find, element: 'evidencni_cislo' };
    if (used !== undefined) issues.push(makeErrorIssue(used.rule, used.problem, where));
    return used === undefined;
  });
}
