import { hasErrors, type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { cmd, isMessage, type Message, msg } from '../base/message.ts';
import { FIELDS, findColumnMeant } from '../find/fields.ts';
import type { LookupTerm, TermCandidate, TermLookup } from '../find/lookup.ts';
import { makeMappingConflictMessage } from '../find/resolve-references.ts';
import { getDisplayedText, type Table, type TableRow } from '../tables/table.ts';
import { BYTE_ORDER_MARK, formatCsvCell } from '../text/csv.ts';
import { foldName, makePersonKey } from '../text/names.ts';

/** A museum's own term for a vocabulary entry. */
export type MappedTerm = {
  /** Such as `heslo:obdobi`. */
  readonly set: string;
  readonly term: string;
  /** Identifier of the entry; empty where none was chosen yet. */
  readonly id: string;
  readonly label: string;
  readonly note: string;
  /** True where a person confirmed the entry; other rows have no effect. */
  readonly confirmed: boolean;
};
export type MappingRow = MappedTerm & { readonly row: number };

export type Mapping = {
  readonly file: string;
  readonly rows: readonly MappingRow[];
  readonly issues: readonly Issue[];
};

const MAPPING_COLUMNS = ['set', 'term', 'id', 'label', 'note', 'confirmed'] as const;
type MappingColumn = (typeof MAPPING_COLUMNS)[number];

const OTHER_HEADERS: Readonly<Record<string, MappingColumn>> = {
  element: 'set',
  sada: 'set',
  own_term: 'term',
  vlastni_termin: 'term',
  termin: 'term',
  poznamka: 'note',
  potvrzeno: 'confirmed',
};

const YES = new Set(['yes', 'y', 'ano', 'a', 'x', 'true', '1', 'ok']);
const NO = new Set(['', 'no', 'n', 'ne', 'false', '0', '?']);

/** An identifier is not mapped: its meaning is the service's. */
const IDENTIFIER = /^(?:HES|ORG|OS|ruian)-\d+$/i;

/**
 * Reads the rows of a mapping; two confirmed rows that contradict each other are both ignored. A
 * row without set and entry proposes nothing and is skipped.
 * @param anySet set of a row that names an entry only
 */
export function parseMapping(table: Table, anySet?: string): Mapping {
  const columns = findMappingColumns(table);
  const issues: Issue[] = [...table.issues.filter(({ rule }) => rule !== 'table-no-rows')];
  const columnNames = MAPPING_COLUMNS.join(', ');
  for (const needed of ['set', 'term', 'id'] as const) {
    if (columns.has(needed)) continue;
    const message = msg`The mapping has no column ${needed}. Its columns are ${columnNames}.`;
    issues.push(makeErrorIssue('mapping-column', message, { file: table.file, row: 1 }));
  }
  if (hasErrors(issues)) return { file: table.file, rows: [], issues };
  const rows = Array.from(table.rows).flatMap((row) => {
    const read = parseRow(row, columns, anySet);
    if (read === undefined) return [];
    if (!isMessage(read)) return [read];
    issues.push(makeErrorIssue('mapping-row', read, { file: table.file, row: row.row }));
    return [];
  });
  return { file: table.file, rows: withoutContradictions(table.file, rows, issues), issues };
}

function findMappingColumns(table: Table): Map<MappingColumn, number> {
  const columns = new Map<MappingColumn, number>();
  table.header.forEach((header, index) => {
    const name = foldName(header);
    const column = MAPPING_COLUMNS.find((column) => column === name) ?? OTHER_HEADERS[name];
    if (column !== undefined && !columns.has(column)) columns.set(column, index);
  });
  return columns;
}

/** @returns the fault of a row that cannot be used */
function parseRow(
  tableRow: TableRow,
  columns: ReadonlyMap<MappingColumn, number>,
  anySet: string | undefined,
): MappingRow | Message | undefined {
  const { row } = tableRow;
  const getCell = (name: MappingColumn): string =>
    getDisplayedText(tableRow, columns.get(name) ?? -1).trim();
  const term = getCell('term');
  if (tableRow.shown?.get(columns.get('term') ?? -1)?.isDate === true) {
    return msg`The term "${term}" is a date: the spreadsheet changed what was typed. Format the column as text, and write it again.`;
  }
  const named = getCell('set');
  const answer = getCell('confirmed').toLowerCase();
  const isEmpty = getCell('id') === '' && getCell('label') === '';
  if (named === '' && isEmpty && NO.has(answer)) return undefined;
  const set = named === '' ? anySet : findSetSpec(named);
  if (set === undefined) {
    return msg`No element of a find has entries of "${named}". Write a set such as heslo:obdobi, or an element such as obdobi.`;
  }
  if (term === '') return msg`The row does not contain your own term.`;
  if (IDENTIFIER.test(term))
    return msg`"${term}" is an identifier of the service, so it cannot be mapped to another entry.`;
  if (!YES.has(answer) && !NO.has(answer))
    return msg`confirmed is "${answer}". Write yes, or leave it empty.`;
  const confirmed = YES.has(answer);
  if (confirmed && getCell('id') === '' && getCell('label') === '')
    return msg`"${term}" is confirmed, but no entry is given.`;
  return {
    row,
    set,
    term,
    id: getCell('id'),
    label: getCell('label'),
    note: getCell('note'),
    confirmed,
  };
}

/** Sets of the entries that a find refers to. */
const SETS: readonly string[] = FIELDS.flatMap(({ set }) => set ?? []);

/**
 * Finds a set by its own name, also without `heslo:`, or by the Czech or English name of the
 * element that uses it; or a family such as `heslo`.
 */
export function findSetSpec(text: string): string | undefined {
  const name = foldName(text);
  const field = FIELDS.find(
    ({ set, alias, name: element }) =>
      set !== undefined && [element, alias, set.replace('heslo:', '')].includes(name),
  );
  if (field?.set !== undefined) return field.set;
  return /^heslo(?::[a-z0-9_]+)?$/.test(text) || SETS.includes(text) ? text : undefined;
}

function withoutContradictions(
  file: string,
  rows: readonly MappingRow[],
  issues: Issue[],
): MappingRow[] {
  const first = new Map<string, MappingRow>();
  const contradictory = new Set<string>();
  for (const row of rows.filter(({ confirmed }) => confirmed)) {
    const key = getMappingKey(row.set, row.term);
    const other = first.get(key);
    first.set(key, other ?? row);
    if (other === undefined || (other.id === row.id && other.label === row.label)) continue;
    contradictory.add(key);
    issues.push(makeContradictionIssue(row.term, other.row, row.row).with({ file, row: row.row }));
  }
  return rows.filter((row) => !contradictory.has(getMappingKey(row.set, row.term)));
}

export function makeContradictionIssue(term: string, first: number, second: number): Issue {
  const message = msg`Rows ${first} and ${second} map "${term}" to different entries. Keep one; neither is used.`;
  return makeErrorIssue('mapping-twice', message);
}

/** Returns the key of a term: case and white space do not count, accents do. */
export function getMappingKey(set: string, term: string): string {
  return `${set}\n${term.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()}`;
}

/** Writes the mapping as a table to edit, with `;`, the separator of Czech spreadsheets. */
export function formatMapping(rows: readonly MappedTerm[]): string {
  const lines = rows.map(({ set, term, id, label, note, confirmed }) =>
    [set, term, id, label, note, confirmed ? 'yes' : '']
      .map((cell) => formatCsvCell(cell, ';'))
      .join(';'),
  );
  return `${BYTE_ORDER_MARK}${[MAPPING_COLUMNS.join(';'), ...lines].join('\n')}\n`;
}

/** Set of people, who are mapped by names in any spelling. */
const PEOPLE = 'osoba';

/** Wraps a lookup: a museum's own term is looked up by its mapping, any other text as before. */
export function withMapping(lookupTerm: LookupTerm, { rows }: Mapping): LookupTerm {
  const confirmed = new Map(
    rows.filter((row) => row.confirmed).map((row) => [getMappingKey(row.set, row.term), row]),
  );
  if (confirmed.size === 0) return lookupTerm;
  const people = new Map<string, MappingRow[]>();
  for (const row of confirmed.values()) {
    if (row.set === PEOPLE)
      people.set(makePersonKey(row.term), [...(people.get(makePersonKey(row.term)) ?? []), row]);
  }
  return (set, cell) => {
    const row = confirmed.get(getMappingKey(set, cell));
    if (row !== undefined) return lookUpMapped(row, lookupTerm);
    const alike = set === PEOPLE ? people.get(makePersonKey(cell)) : undefined;
    if (alike === undefined || makePersonKey(cell) === '') return lookupTerm(set, cell);
    const lookups = alike.map((each) => lookUpMapped(each, lookupTerm));
    const [first] = lookups;
    const terms = lookups.flatMap((each) => (each.kind === 'found' ? [each.term] : []));
    const candidates = [...new Map(terms.map((term) => [term.id, term])).values()];
    return candidates.length > 1 || first === undefined ? { kind: 'ambiguous', candidates } : first;
  };
}

function lookUpMapped(
  { set, term: ownTerm, id, label }: MappingRow,
  lookupTerm: LookupTerm,
): TermLookup {
  const lookup = lookupTerm(set, id === '' ? label : id);
  switch (lookup.kind) {
    case 'found':
      return { ...lookup, isOwn: true };
    case 'mapping-conflict':
      return lookup;
    case 'not-harvested':
      return id === '' ? lookup : { kind: 'found', term: { id, label, setSpec: set }, isOwn: true };
    case 'ambiguous':
    case 'unknown':
      return { kind: 'mapping-conflict', ownTerm, target: id === '' ? label : id };
    case 'wrong-set':
    case 'deleted':
      return {
        kind: 'mapping-conflict',
        ownTerm,
        target: id,
        term: lookup.term,
        because: lookup.kind,
      };
  }
}

/** A term of a museum's list; without a set, it may belong to any set that finds use. */
export type OwnTerm = { readonly row: number; readonly term: string; readonly set?: string };

/**
 * Reads the distinct terms of a list: a column `term` (or the only column), and an optional column
 * `set` or `element`.
 */
export function parseOwnTerms(table: Table): {
  readonly terms: readonly OwnTerm[];
  readonly issues: readonly Issue[];
} {
  const columns = findMappingColumns(table);
  const [only = '', another] = table.header;
  // In a single column, the first line is a term, too, unless it is a column's name.
  const isList =
    another === undefined &&
    only !== '' &&
    columns.size === 0 &&
    findColumnMeant(only) === undefined;
  const issues: Issue[] = table.issues.filter(({ rule }) => !isList || rule !== 'table-no-rows');
  const termAt = columns.get('term') ?? (table.header.length === 1 ? 0 : undefined);
  const setAt = columns.get('set');
  if (termAt === undefined) {
    const headerText = table.header.join(', ');
    const message = msg`The list has no column "term". Its columns are ${headerText}; call the one with your terms "term".`;
    return {
      terms: [],
      issues: [...issues, makeErrorIssue('list-column', message, { file: table.file, row: 1 })],
    };
  }
  const terms = new Map<string, OwnTerm>();
  if (isList)
    terms.set(getMappingKey('', only.trim()), { row: table.headerRow ?? 1, term: only.trim() });
  for (const tableRow of table.rows) {
    const { row } = tableRow;
    const term = getDisplayedText(tableRow, termAt).trim();
    const named = setAt === undefined ? '' : getDisplayedText(tableRow, setAt).trim();
    const set = named === '' ? undefined : findSetSpec(named);
    if (term === '') continue;
    if (named !== '' && set === undefined) {
      const message = msg`No element of a find has entries of "${named}". Write a set such as heslo:obdobi, or an element such as obdobi.`;
      issues.push(makeErrorIssue('list-set', message, { file: table.file, row }));
      continue;
    }
    const key = getMappingKey(set ?? '', term);
    if (!terms.has(key)) terms.set(key, { row, term, set });
  }
  return { terms: [...terms.values()], issues };
}

type MappingConflict =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'deleted' | 'wrong-set'; readonly entry: TermCandidate };

/** Target of a confirmed row. */
type MappingStanding =
  | MappingConflict
  | { readonly kind: 'not-harvested' }
  | { readonly kind: 'good' | 'other-label'; readonly entry: TermCandidate };

/** @param lookupTerm lookup without the mapping */
export function getMappingStanding(
  { set, id, label }: MappingRow,
  lookupTerm: LookupTerm,
): MappingStanding {
  const lookup = lookupTerm(set, id === '' ? label : id);
  switch (lookup.kind) {
    case 'found': {
      const { term: entry } = lookup;
      const named =
        label === '' || [entry.label, entry.labelEn ?? ''].some((name) => isSameName(name, label));
      return { kind: named ? 'good' : 'other-label', entry };
    }
    case 'deleted':
    case 'wrong-set':
      return { kind: lookup.kind, entry: lookup.term };
    case 'not-harvested':
      return { kind: 'not-harvested' };
    case 'ambiguous':
    case 'unknown':
    case 'mapping-conflict':
      return { kind: 'unknown' };
  }
}

function isSameName(one: string, other: string): boolean {
  const simplify = (text: string): string => text.normalize('NFC').trim().toLowerCase();
  return simplify(one) === simplify(other);
}

/**
 * Reports entries of the mapping that were deleted, moved to another set, renamed, or never
 * existed.
 */
export function checkMapping({ file, rows, issues }: Mapping, lookupTerm: LookupTerm): Issue[] {
  const rowIssues = rows
    .filter(({ confirmed }) => confirmed)
    .flatMap((row) =>
      getStandingIssues(row, getMappingStanding(row, lookupTerm)).map((issue) =>
        issue.with({ file, row: row.row }),
      ),
    );
  return [...issues, ...rowIssues];
}

function getStandingIssues(row: MappingRow, standing: MappingStanding): Issue[] {
  const { set, term: ownTerm, label } = row;
  switch (standing.kind) {
    case 'good':
      return [];
    case 'other-label': {
      const { entry } = standing;
      const message = msg`"${ownTerm}" is mapped to ${entry.id} as "${label}", which is now called "${entry.label}". Check that it still means the same, then: ${cmd`pas vocab map set ${set} ${ownTerm} ${entry.id}`}`;
      return [makeWarningIssue('mapping-renamed', message)];
    }
    case 'not-harvested': {
      const message = msg`"${ownTerm}" cannot be checked: ${set} was not harvested. Run ${cmd`pas harvest-vocab`}.`;
      return [makeWarningIssue('mapping-unchecked', message)];
    }
    default:
      return [makeMappingConflictIssue(row, standing)];
  }
}

const CONFLICT_RULES = {
  deleted: 'mapping-deleted',
  'wrong-set': 'mapping-moved',
  unknown: 'mapping-unknown',
} as const;

/** Makes the issue of a row whose entry cannot be used. */
export function makeMappingConflictIssue(
  { set, term: ownTerm, id, label }: MappingRow,
  standing: MappingConflict,
): Issue {
  const conflict = { kind: 'mapping-conflict', ownTerm, target: id === '' ? label : id } as const;
  const gone = standing.kind === 'unknown' ? {} : { term: standing.entry, because: standing.kind };
  return makeErrorIssue(
    CONFLICT_RULES[standing.kind],
    makeMappingConflictMessage({ ...conflict, ...gone }, set),
  );
}
