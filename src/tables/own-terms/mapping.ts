import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { groupBy } from '../../base/collections.ts';
import { formatCsvTable } from '../../base/csv.ts';
import { acquireChangeLock } from '../../base/disk/lock-file.ts';
import { writePrivateFile } from '../../base/disk/output-file.ts';
import { FileError, UsageError } from '../../base/errors.ts';
import {
  formatIssuePlace,
  hasErrors,
  type Issue,
  isReadable,
  makeErrorIssue,
  makeWarningIssue,
} from '../../base/issue.ts';
import { cmd, isMessage, joinMessages, type Message, msg, t } from '../../base/message.ts';
import { foldName, makePersonKey } from '../../base/names.ts';
import { FIELDS } from '../../finds/fields.ts';
import type { LookupTerm, TermCandidate, TermLookupResult } from '../../finds/find.ts';
import { parseBoolean } from '../../finds/parse-cell.ts';
import { explainFailedLookup } from '../../finds/resolve-references.ts';
import { makeTextKey } from '../columns/column-meaning.ts';
import { makeChangedToDateMessage, makeMissingColumnIssue } from '../columns/columns.ts';
import { decodeCsvTable } from '../formats/csv-table.ts';
import { readInputFile } from '../input-file.ts';
import { getDisplayedText, type Table, type TableRow } from '../table.ts';

/** A museum's own term, and the vocabulary entry to which a person mapped it. */
export type MappedTerm = {
  /** Such as `heslo:obdobi`. */
  readonly set: string;
  readonly term: string;
  /** Identifier of the entry. */
  readonly id: string;
  readonly label: string;
  readonly note: string;
};
/** A row of the mapping, by its number in the table. */
export type MappingRow = MappedTerm & { readonly row: number };

/** The confirmed rows of a mapping that can be used, and the issues of the others. */
export type Mapping = {
  readonly file: string;
  readonly rows: readonly MappingRow[];
  /** Number of rows that no person confirmed; they have no effect. */
  readonly unconfirmed: number;
  readonly issues: readonly Issue[];
};

const MAPPING_COLUMNS = ['set', 'term', 'id', 'label', 'note', 'confirmed'] as const;
type MappingColumn = (typeof MAPPING_COLUMNS)[number];
type MappingColumns = ReadonlyMap<MappingColumn, number>;

/** An identifier is not mapped: its meaning is the service's. */
const IDENTIFIER = /^(?:HES|ORG|OS|ruian)-\d+$/i;

/**
 * Reads the rows of a mapping from its table. Confirmed rows that cannot be used are left out with
 * errors, and so are all rows of a term that is mapped to two entries. Unconfirmed rows are only
 * counted; one whose term became a date is an error instead. There are no rows, only errors, where
 * a column is missing or a row of the table could not be read. A table without rows is no fault.
 */
export function parseMapping(table: Table): Mapping {
  const columns = findMappingColumns(table);
  const issues: Issue[] = [...table.issues.filter(({ rule }) => rule !== 'table-no-rows')];
  for (const needed of ['set', 'term', 'id'] as const)
    if (!columns.has(needed)) issues.push(makeMissingColumnIssue(table, 'mapping-column', needed));
  const { file } = table;
  const rows: MappingRow[] = [];
  let unconfirmed = 0;
  if (hasErrors(issues)) return { file, rows, unconfirmed, issues };
  for (const row of table.rows) {
    const read = parseRow(row, columns);
    if (read === undefined) unconfirmed += 1;
    else if (isMessage(read))
      issues.push(makeErrorIssue('mapping-row', read, { file, row: row.row }));
    else rows.push(read);
  }
  return { file, rows: withoutContradictions(file, rows, issues), unconfirmed, issues };
}

function findMappingColumns(table: Table): Map<MappingColumn, number> {
  const columns = new Map<MappingColumn, number>();
  table.header.forEach((header, index) => {
    const name = foldName(header);
    // The list of the wizard names elements in place of their sets.
    const column = name === 'element' ? 'set' : MAPPING_COLUMNS.find((each) => each === name);
    if (column !== undefined && !columns.has(column)) columns.set(column, index);
  });
  return columns;
}

function getMappingCell(row: TableRow, columns: MappingColumns, name: MappingColumn): string {
  return getDisplayedText(row, columns.get(name) ?? -1).trim();
}

/** Returns the row, the fault of one that cannot be used, or undefined for an unconfirmed one. */
function parseRow(tableRow: TableRow, columns: MappingColumns): MappingRow | Message | undefined {
  const { row } = tableRow;
  const getCell = (name: MappingColumn): string => getMappingCell(tableRow, columns, name);
  const term = getCell('term');
  if (tableRow.shown?.get(columns.get('term') ?? -1)?.isDate === true) {
    return makeChangedToDateMessage(term);
  }
  const answer = getCell('confirmed');
  const confirmed = answer === '' ? { value: false } : parseBoolean(answer);
  if (!isReadable(confirmed)) return msg`confirmed is "${answer}". Write yes, or leave it empty.`;
  if (!confirmed.value) return undefined;
  const named = getCell('set');
  const id = getCell('id');
  const set = findSetOfElement(named);
  if (set === undefined) return makeUnknownSetMessage(named);
  if (term === '') return msg`The row does not contain your own term.`;
  if (IDENTIFIER.test(term))
    return msg`"${term}" is an identifier of the service, so it cannot be mapped to another entry.`;
  if (id === '') return msg`"${term}" is confirmed, but no entry is given.`;
  return {
    row,
    set,
    term,
    id,
    label: getCell('label'),
    note: getCell('note'),
  };
}

/**
 * Finds the set whose terms an element takes, such as `heslo:obdobi`: by the name of the set, also
 * without `heslo:`, or by the Czech or English name of the element. Undefined for any other text.
 * The set need not have been harvested.
 */
export function findSetOfElement(text: string): string | undefined {
  const name = foldName(text.replace(/^heslo:/, ''));
  return FIELDS.find(
    ({ set, alias, name: element }) =>
      set !== undefined && [element, alias, set.replace('heslo:', '')].includes(name),
  )?.set;
}

/** Explains that a name is no set whose terms an element takes, with an example of one. */
export function makeUnknownSetMessage(named: string): Message {
  return msg`No element of a find has entries of "${named}". Write a set such as heslo:obdobi, or an element such as obdobi.`;
}

/**
 * Returns the rows except those of a term that is mapped to different entries.
 * @param issues gets an error for each row that differs from the first one of its term
 */
function withoutContradictions(
  file: string,
  rows: readonly MappingRow[],
  issues: Issue[],
): MappingRow[] {
  const first = new Map<string, MappingRow>();
  const contradictory = new Set<string>();
  for (const row of rows) {
    const key = getMappingKey(row.set, row.term);
    const other = first.get(key);
    first.set(key, other ?? row);
    if (other === undefined || other.id === row.id) continue;
    contradictory.add(key);
    const message = msg`Rows ${other.row} and ${row.row} map "${row.term}" to different entries. Keep one.`;
    issues.push(makeErrorIssue('mapping-twice', message, { file, row: row.row }));
  }
  return rows.filter((row) => !contradictory.has(getMappingKey(row.set, row.term)));
}

/**
 * Returns the key by which own terms of a set are compared, as {@link makeTextKey} compares texts.
 */
export function getMappingKey(set: string, term: string): string {
  return `${set}\n${makeTextKey(term)}`;
}

/** Returns the rows of a mapping by the {@link getMappingKey} of their terms. */
export function indexRowsByTerm(rows: readonly MappedTerm[]): Map<string, MappedTerm> {
  return new Map(rows.map((row) => [getMappingKey(row.set, row.term), row]));
}

/** Formats the rows of a mapping as a CSV table, which {@link parseMapping} reads again. */
export function formatMapping(rows: readonly MappedTerm[]): string {
  const cells = rows.map(({ set, term, id, label, note }) => [set, term, id, label, note, 'yes']);
  return formatCsvTable([MAPPING_COLUMNS, ...cells]);
}

/** Set of people, who are mapped by names in any spelling. */
const PEOPLE = 'osoba';

/**
 * Makes the lookup that knows a museum's own terms: one that the mapping has gives its entry,
 * and a person also in another spelling of the mapped name, which is ambiguous if it fits names
 * that are mapped to several people. Any other text is looked up by `lookupTerm`.
 */
export function makeMappedLookup(lookupTerm: LookupTerm, { rows }: Mapping): LookupTerm {
  const byTerm = indexRowsByTerm(rows);
  const people = groupBy(
    rows.filter(({ set }) => set === PEOPLE),
    ({ term }) => makePersonKey(term),
  );
  return (set, cell) => {
    const row = byTerm.get(getMappingKey(set, cell));
    if (row !== undefined) return lookUpOwnTerm(row, lookupTerm);
    const name = set === PEOPLE ? makePersonKey(cell) : '';
    const alike = name === '' ? [] : (people.get(name) ?? []);
    const lookups = alike.map((each) => lookUpOwnTerm(each, lookupTerm));
    const [first] = lookups;
    if (first === undefined) return lookupTerm(set, cell);
    const terms = lookups.flatMap((each) => (each.kind === 'found' ? [each.term] : []));
    const candidates = [...new Map(terms.map((term) => [term.id, term])).values()];
    return candidates.length > 1 ? { kind: 'ambiguous', candidates } : first;
  };
}

function lookUpOwnTerm(row: MappedTerm, lookupTerm: LookupTerm): TermLookupResult {
  const lookup = lookUpMappedTerm(row, lookupTerm);
  if (lookup.kind === 'found') return { ...lookup, isOwn: true };
  const { set: setSpec, id, label } = row;
  return lookup.kind === 'not-harvested'
    ? { kind: 'found', term: { id, label, setSpec }, isOwn: true }
    : lookup;
}

type EntryLookup = Extract<
  TermLookupResult,
  { kind: 'found' | 'not-harvested' | 'mapping-conflict' }
>;

/**
 * Looks up the entry to which an own term is mapped, by its id. One that is ambiguous, unknown,
 * deleted or of another set is a conflict of the mapping.
 * @param lookupTerm lookup without the mapping
 */
export function lookUpMappedTerm(
  { set, term: ownTerm, id: target }: MappedTerm,
  lookupTerm: LookupTerm,
): EntryLookup {
  const lookup = lookupTerm(set, target);
  switch (lookup.kind) {
    case 'found':
    case 'not-harvested':
    case 'mapping-conflict':
      return lookup;
    case 'ambiguous':
    case 'unknown':
    case 'wrong-set':
    case 'deleted':
      return { kind: 'mapping-conflict', ownTerm, target, failure: lookup };
  }
}

/** A term of a museum's list; without a set, it may belong to any set that finds use. */
export type OwnTerm = { readonly row: number; readonly term: string; readonly set?: string };

/**
 * Reads the distinct own terms of a museum's list, from its column `term` and, if it has one, its
 * column `set` or `element`. Left out are rows without a term, rows that repeat one, and, with an
 * error, rows with an unknown set. Without a column `term` there are no terms, only an error. The
 * issues of the table itself come first.
 */
export function parseOwnTerms(table: Table) {
  const columns = findMappingColumns(table);
  const issues = [...table.issues];
  if (!columns.has('term')) issues.push(makeMissingColumnIssue(table, 'list-column', 'term'));
  const terms = new Map<string, OwnTerm>();
  for (const tableRow of table.rows) {
    const { row } = tableRow;
    const term = getMappingCell(tableRow, columns, 'term');
    const named = getMappingCell(tableRow, columns, 'set');
    const set = findSetOfElement(named);
    if (term === '') continue;
    if (named !== '' && set === undefined) {
      const where = { file: table.file, row };
      issues.push(makeErrorIssue('list-set', makeUnknownSetMessage(named), where));
      continue;
    }
    const key = getMappingKey(set ?? '', term);
    if (!terms.has(key)) terms.set(key, { row, term, set });
  }
  return { terms: [...terms.values()], issues };
}

/**
 * Tells if a name is the Czech or English label of an entry, in any letter case; true for an
 * empty name.
 */
function isNameOfTerm({ label, labelEn = '' }: TermCandidate, name: string): boolean {
  return name === '' || [label, labelEn].some((each) => makeTextKey(each) === makeTextKey(name));
}

/**
 * Returns the issues of the mapping itself, then those that {@link checkMappedTerm} has of its
 * rows.
 */
export function checkMapping({ file, rows, issues }: Mapping, lookupTerm: LookupTerm): Issue[] {
  const rowIssues = rows.flatMap((row) =>
    checkMappedTerm(row, lookUpMappedTerm(row, lookupTerm)).map((issue) =>
      issue.with({ file, row: row.row }),
    ),
  );
  return [...issues, ...rowIssues];
}

/**
 * Returns the issue of a row of the mapping, at most one: a warning where its entry has another
 * label now, or the set was not harvested; an error where the entry was deleted, is ambiguous,
 * unknown or of another set.
 * @param lookup result of {@link lookUpMappedTerm} for the row
 */
export function checkMappedTerm(
  { set, term: ownTerm, label }: MappingRow,
  lookup: EntryLookup,
): Issue[] {
  switch (lookup.kind) {
    case 'found': {
      const { term: entry } = lookup;
      if (isNameOfTerm(entry, label)) return [];
      const message = msg`"${ownTerm}" is mapped to ${entry.id} as "${label}", which is now called "${entry.label}". Check that it still means the same, then: ${cmd`pas vocab map set ${set} ${ownTerm} ${entry.id}`}`;
      return [makeWarningIssue('mapping-renamed', message)];
    }
    case 'not-harvested': {
      const message = msg`"${ownTerm}" cannot be checked: ${set} was not harvested. Run ${cmd`pas harvest-vocab`}.`;
      return [makeWarningIssue('mapping-unchecked', message)];
    }
    case 'mapping-conflict':
      return [
        makeErrorIssue(CONFLICT_RULES[lookup.failure.kind], explainFailedLookup(lookup, set, '')),
      ];
  }
}

const CONFLICT_RULES = {
  deleted: 'mapping-deleted',
  'wrong-set': 'mapping-moved',
  unknown: 'mapping-unknown',
  ambiguous: 'mapping-unknown',
} as const;

/**
 * Reads a museum's mapping from its file; without a file it has neither rows nor issues. Faults are
 * issues: a faulty row is left out, and all rows of a file that is no table, lacks a column or
 * cannot be read. Unconfirmed rows, which only a person can have put there, are an error as well.
 */
export async function readMappingFile(file: string): Promise<Mapping> {
  const empty = { file, rows: [], unconfirmed: 0, issues: [] };
  if (!existsSync(file)) return empty;
  try {
    const mapping = parseMapping(await decodeCsvTable(file, await readInputFile(file)));
    const { unconfirmed } = mapping;
    const message = msg`Rows that are not confirmed, and so have no effect: ${unconfirmed}. Write yes under "confirmed", or delete them.`;
    const open = unconfirmed > 0 ? [makeErrorIssue('mapping-row', message, { file })] : [];
    return { ...mapping, issues: [...mapping.issues, ...open] };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    const advice = msg`Save it as CSV in UTF-8, or move it away.`;
    const says = joinMessages([thrown.message, advice], ' ');
    return { ...empty, issues: [makeErrorIssue('mapping-file', says, { file })] };
  }
}

/**
 * Changes the mapping on disk under a lock, so that commands do not overwrite each other's changes.
 * Nothing is written where the rows stay the same, or `change` throws. The wait for the lock blocks
 * the thread, for at most two seconds.
 * @param change gets the current mapping, and returns its new rows with any further results
 * @returns what `change` returned
 * @throws UsageError where the current file has an error, since its row would be lost; ConfigError
 * where another process keeps the lock; DatabaseError where the disk fails; errors of `change`
 */
export async function changeMappingFile<Change extends { readonly rows: readonly MappedTerm[] }>(
  file: string,
  clock: Clock,
  change: (mapping: Mapping) => Change,
): Promise<Change> {
  const lock = acquireChangeLock(join(dirname(file), '.mapping.lock'), clock);
  try {
    const before = await readSoundMapping(file);
    const changed = change(before);
    const text = formatMapping(changed.rows);
    if (text !== formatMapping(before.rows)) writePrivateFile(file, text);
    return changed;
  } finally {
    lock.release();
  }
}

/**
 * Reads the mapping, to change it or to convert texts by it.
 * @throws UsageError where it has an error: a row that is not read would be lost, and its own term
 * would become another entry in the finds
 */
export async function readSoundMapping(file: string): Promise<Mapping> {
  const mapping = await readMappingFile(file);
  const first = mapping.issues.find(({ severity }) => severity === 'error');
  if (first === undefined) return mapping;
  throw new UsageError(
    `${formatIssuePlace(first.with({ file: mapping.file }))}: ${first.message}`,
    {
      hint: t`Correct the file; \`${cmd`pas vocab map list`}\` lists all its errors.`,
    },
  );
}
