import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { toPrintable } from '../base/characters.ts';
import { formatCsvTable } from '../base/csv.ts';
import { writeOutputFile } from '../base/disk/output-file.ts';
import { quoteTomlString } from '../base/disk/toml.ts';
import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue, toIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { ColumnName } from '../finds/fields.ts';
import type { Find, LookupTerm, RowPlace } from '../finds/find.ts';
import { makeReferenceResolver } from '../finds/resolve-references.ts';
import { checkRules } from '../finds/rules.ts';
import { findNumberProblem, type RuleContext } from '../finds/value-rules.ts';
import { createFindLookup, parseTypedIdent } from '../outbox/changes/resolve-finds.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { makePhotoResolver } from '../photos/photograph.ts';
import {
  type ColumnMap,
  findColumnsOfHeader,
  IGNORED,
  NUMBER_COLUMNS,
  OF_ONE_FIND,
} from './columns/column-rule.ts';
import {
  type ColumnProfile,
  hasFindNumbers,
  LAST_RANK,
  profileTableColumns,
} from './columns/column-tests.ts';
import { listColumnRules, makeMissingColumnIssue, parseColumns } from './columns/columns.ts';
import { convertFormTable } from './columns/form-return.ts';
import {
  listUnmappedTerms,
  omitOtherRows,
  previewImport,
  type UnmappedTerm,
} from './columns/map-table.ts';
import {
  assignMeanings,
  type ColumnMeaning,
  type ColumnMeanings,
  type ColumnQuestion,
  findColumnMeanings,
  type KnownNames,
  makeColumnMap,
  makeColumnProposer,
  NO_ANSWERS,
  type TableAnswers,
  type TableProposal,
} from './columns/propose-columns.ts';
import {
  type ColumnMapReading,
  formatColumnMap,
  parseColumnMap,
  parseConstants,
  parseSettings,
} from './columns/settings.ts';
import { requireUtf8 } from './input-file.ts';
import { getHeaderPlace, getRowPlace, type Table } from './table.ts';

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
  const profiles = profileTableColumns(table);
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
      areFindsNamed ? OF_ONE_FIND : [],
      () => IGNORED,
    );
    const read = columns.flatMap(({ rule }) => rule.element ?? []);
    const isNumbered = read.includes('evidencni_cislo');
    const others = open.filter((column) => meanings.get(column)?.length === 0);
    if (questions.length === 0 && !isNumbered && others.length > 0)
      questions.push(makeColumnQuestion('evidencni_cislo', others));
    const missing: ColumnName[] = isNumbered ? [] : ['evidencni_cislo'];
    if (!areFindsNamed && !read.some((element) => OF_ONE_FIND.includes(element)))
      missing.unshift('local_id');
    return { columns, fixed: [], undecided: questions.length > 0 ? [] : missing, questions };
  };
}

/** A column called as the find's number may be the registration number beside another of these. */
function listNumberMeanings(columns: readonly ColumnProfile[], known: KnownNames): ColumnMeanings {
  const hasIdents = columns.some((column) => hasFindNumbers(column, known.isIdent));
  const elements = hasIdents ? NUMBERS : NUMBER_COLUMNS;
  const meanings = findColumnMeanings(columns, () => ({ kind: 'not-harvested' }), known, elements);
  return new Map(
    [...meanings].map(([column, meant]) => {
      const isNumber = findColumnsOfHeader(column.header).has('local_id');
      return [column, isNumber && !hasFindNumbers(column, known.isFind) ? [...meant, LAST] : meant];
    }),
  );
}

const NUMBERS: readonly ColumnName[] = ['evidencni_cislo'];
const LAST: ColumnMeaning = { element: 'evidencni_cislo', rank: LAST_RANK, isOnly: false };

function makeColumnQuestion(
  element: ColumnName,
  columns: readonly ColumnProfile[],
): ColumnQuestion {
  const keys = columns.map(({ key }) => key);
  const all = keys.join(', ');
  const problem = msg`${element} may be any of these columns: ${all}.`;
  return { asks: 'column', element, keys, problem };
}

/**
 * Reads the registration numbers of a table by the proposed columns; its other columns are
 * ignored. No rows where a column is missing or undecided; then `issues` says which.
 */
export function parseNumberRows(table: Table, proposal: TableProposal, given?: ColumnMap) {
  const { file = table.file, columns: mapped = [], localId } = given ?? {};
  const proposed = makeColumnMap(file, proposal);
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

/**
 * Parses a column map and checks its values for all finds. `map` is absent where there is any
 * issue.
 * @throws FileError where the bytes are empty or not UTF-8
 */
export function parseCheckedColumnMap(
  file: string,
  bytes: Buffer,
  lookupTerm: LookupTerm,
): ColumnMapReading {
  const { map, issues } = parseColumnMap(file, requireUtf8(file, bytes).toString('utf8'));
  if (map === undefined) return { issues };
  const all = [
    ...issues,
    ...checkFixedValues(map.fixed, lookupTerm).map((issue) => issue.with({ file })),
  ];
  return all.length === 0 ? { map, issues } : { issues: all };
}

/**
 * Returns the errors of values for all finds, once instead of in every row. Photographs are not
 * looked for.
 */
export function checkFixedValues(
  fixed: ColumnMap['fixed'],
  lookupTerm: LookupTerm,
): readonly Issue[] {
  const resolvePhoto = () => ({ rule: 'photo-path', problem: '' });
  const { issues } = parseSettings(fixed, '', {
    resolveReference: makeReferenceResolver(lookupTerm),
    resolvePhoto,
  });
  return issues.filter(({ severity }) => severity === 'error');
}

/** A table of registration numbers, with the given column map. */
export type NumberTable = Pick<PreviewedTable, 'table' | 'propose' | 'proposed'> & {
  readonly map: ColumnMap | undefined;
};

/**
 * Finds the columns of a table of registration numbers, by the finds in the outbox where the
 * names do not tell. Rows that are no finds are left out. Nothing is written.
 */
export function openNumberTable(outbox: Outbox, read: Table, map?: ColumnMap): NumberTable {
  const table = omitOtherRows(read, map);
  const propose = makeNumberProposer(table, getKnownNames(outbox), map);
  return { table, map, propose, proposed: propose(NO_ANSWERS) };
}

/** Returns the tests of names; the lookup of finds also finds identifiers, which are no numbers. */
function getKnownNames(outbox: Outbox): KnownNames {
  const lookUp = createFindLookup(outbox);
  const isIdent = (text: string): boolean => parseTypedIdent(text) !== undefined;
  return { isIdent, isFind: (text) => !isIdent(text) && lookUp(text) !== undefined };
}

type LookOptions = {
  readonly outbox: Outbox;
  readonly mapFile: string;
  /** `element=value`, for every find. */
  readonly set: readonly string[];
  readonly photoFolder: string;
  readonly knowledge: RuleContext & { readonly lookupTerm: LookupTerm };
};

export type PreviewedTable = Awaited<ReturnType<typeof previewTable>>;

/**
 * Reads a foreign table and proposes its columns. Returns the proposal, the functions that
 * propose again after an answer and preview the import, and `write`, which writes the column map
 * and the list of terms to map; an existing map is not replaced. Nothing is stored in the outbox.
 * @throws UsageError for an invalid `set`; from `write`, where the map exists
 */
export async function previewTable(
  read: Table,
  { outbox, mapFile, set, photoFolder, knowledge }: LookOptions,
) {
  const rows = convertFormTable(read, true);
  const { lookupTerm } = knowledge;
  const check = (find: Find) => checkRules(find, knowledge);
  const context = {
    lookupTerm,
    resolvePhoto: makePhotoResolver(rows.attachments?.folder ?? photoFolder),
    check,
  };
  const propose = makeColumnProposer(omitOtherRows(rows), lookupTerm, getKnownNames(outbox));
  const answers: TableAnswers = { rules: new Map(), settings: parseConstants(set) };
  const proposed = propose(answers);
  const table = omitOtherRows(rows, makeColumnMap(mapFile, proposed));
  return {
    table,
    lookupTerm,
    propose,
    answers,
    proposed,
    preview(proposal: TableProposal) {
      const map = makeColumnMap(mapFile, proposal);
      return previewImport(omitOtherRows(rows, map), map, context);
    },
    /**
     * Terms that must be mapped before their rows can be read are written to a file of their own.
     */
    async write(proposal: TableProposal, termsFile: string) {
      const map = makeColumnMap(mapFile, proposal);
      const strange = listUnmappedTerms(proposal.columns, lookupTerm);
      // An existing list is not replaced, since a person may be editing it.
      const termsKept = strange.length > 0 && existsSync(termsFile);
      await writeOutputFile(mapFile, [formatMap(table.file, map, proposal)], {
        overwrite: false,
      });
      if (strange.length > 0 && !termsKept)
        await writeOutputFile(termsFile, [formatUnmappedTable(strange)], { overwrite: false });
      return {
        strange,
        termsKept,
        problems: checkFixedValues(map.fixed, lookupTerm),
      };
    },
  };
}

function formatMap(file: string, map: ColumnMap, { columns, undecided }: TableProposal): string {
  const remarks = columns.map(({ profile, doubt }) => {
    const lines = [profile.examples.join(' · '), doubt === undefined ? '' : `? ${doubt}`];
    return [profile.key, lines.filter((line) => line !== '')] as const;
  });
  return formatColumnMap(map, { table: basename(file), columns: new Map(remarks), undecided });
}

/** Writes the list in the form of `pas vocab map suggest`. */
function formatUnmappedTable(terms: readonly UnmappedTerm[]): string {
  const rows = terms.map(({ element, term }) => [element, toPrintable(term)]);
  return formatCsvTable([['element', 'term'], ...rows]);
}
