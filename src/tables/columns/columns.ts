import { normalizeId, normalizeRegistrationNumber, normalizeText } from '../../base/characters.ts';
import { type Doubt, type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { findNearestNames, foldName, joinWithOr } from '../../base/names.ts';
import { type ElementName, FIELDS } from '../../finds/fields.ts';
import { isDitto, isFiller } from '../../finds/parse-cell.ts';
import { STATE_COLUMN } from '../exports/exported-find.ts';
import { ISSUES_COLUMN } from '../exports/write-rows.ts';
import {
  getDisplayedText,
  getHeaderPlace,
  getTablePlace,
  type RowCells,
  type Table,
} from '../table.ts';
import {
  applyColumnRule,
  COLUMN_NAMES,
  type ColumnMap,
  type ColumnName,
  type ColumnRule,
  type ElementRule,
  findColumnByName,
  IDENTIFYING_COLUMNS,
  isStoredValueRead,
  JOINABLE_COLUMNS,
  makeColumnKeys,
  makeTextKey,
  NUMBER_COLUMNS,
  POINT_COLUMNS,
  type Setting,
} from './column-meaning.ts';

/** Names of what the service derives from the point. */
const DERIVED_FROM_POINT: readonly string[] = [
  'katastr',
  'k_u',
  'ku',
  'kat_uzemi',
  'katastralni_uzemi',
  'okres',
  'kraj',
  'cadastre',
  'district',
];

/**
 * Tells if a column of this header is ignored on import: it has what the service derives from the
 * point, such as the cadastral area, or issues or states that pas adds to its own exports.
 */
export function isIgnoredHeader(header: string): boolean {
  return DERIVED_FROM_POINT.includes(foldName(header)) || isOwnExportColumn(header);
}

/**
 * Tells if a header is that of a column with issues or states that pas adds to its own exports;
 * such a column is ignored on import.
 */
function isOwnExportColumn(header: string): boolean {
  return foldName(header) === ISSUES_COLUMN || header === STATE_COLUMN;
}

/** The columns of a table by their meanings, with the access to their cells. */
export type Columns = ReturnType<typeof makeColumns>;

/** A column of the table that gives an element its text, or a part of it. */
type Source = { readonly index: number; readonly rule: ElementRule };

/**
 * Finds the meaning of each column in the header of a table, by the column map, else by the names
 * of elements. Where `issues` has an error, no row may be read: without a mistyped column every
 * find would lack an element.
 * @param map meanings of the columns of a foreign table
 * @param fixed values for all finds whose own cell is empty; those of the map count before them
 */
export function parseColumns(table: Table, map?: ColumnMap, fixed: readonly Setting[] = []) {
  const { sources, issues } = findSources(table, map);
  const settings = [...(map?.fixed ?? []), ...fixed];
  // The first value of an element counts, but a map keeps the last one.
  const fixedByName = new Map(settings.reverse().map((each) => [each.name, each]));
  return { columns: makeColumns(table, sources, fixedByName), issues };
}

/** Makes the access to the cells of a table, whose rows it does not hold. */
function makeColumns(
  table: Table,
  sources: ReadonlyMap<ColumnName, readonly Source[]>,
  fixedByName: ReadonlyMap<ColumnName, Setting>,
) {
  const names = new Set([...sources.keys(), ...fixedByName.keys()]);
  const getHeader = (name: ColumnName): string | undefined =>
    table.header[sources.get(name)?.[0]?.index ?? -1] ?? fixedByName.get(name)?.givenName;
  const read = (row: RowCells, name: ColumnName): string => {
    const text = joinParts((sources.get(name) ?? []).map((source) => readSource(row, source)));
    const value = fixedByName.get(name)?.value;
    return value !== undefined && (text === '' || isFiller(text)) ? value : text;
  };
  const getCell = (row: RowCells, name: ColumnName): string => {
    const text = names.has(name) ? read(row, name) : '';
    return text === '' || isStandIn(text) ? '' : normalizeCell(name, text);
  };
  return {
    place: getTablePlace(table),
    /** Recognised columns in a fixed order, independent of the table's. */
    names: [...names].sort(),
    has: (name: ColumnName): boolean => names.has(name),
    getHeader,
    /**
     * Returns the normalised text of a row for a column, as the column map says; '' where the table
     * lacks the column, and for a text that stands for another value or for none.
     */
    getCell,
    /** Returns the reason to doubt that a readable text was typed so. */
    findDoubt(row: RowCells, name: ColumnName): Doubt | undefined {
      const text = read(row, name);
      if (isStandIn(text)) return describeStandIn(text);
      const date = sources.get(name)?.find((source) => isMisplacedDate(row, source));
      return date === undefined ? findCellDoubt(text, name) : makeDateCellDoubt(row, date.index);
    },
    /** Elements with a column, without the point. */
    covered: listCovered(names, false),
    coveredWithPoint: listCovered(names, true),
    /** A row without a point says that its find has none. */
    tellsMissingPoints: hasPoints(table, names, getCell),
    /**
     * A column map has positions as `form = "position"`: S-JTSK with other axes or signs, and WGS
     * 84 with the latitude first, are read, with a warning; WGS 84 with other signs is not.
     */
    turnsPositions: sources.get('wkt')?.some(({ rule }) => rule.form === 'position') === true,
  };
}

/** Joins the texts of several columns of one element; '' where there is none. */
function joinParts(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join();
  // A mark for the value above makes the whole text unreadable.
  const ditto = parts.find(isDitto);
  if (ditto !== undefined) return ditto;
  return parts.filter((part) => part !== '' && !isFiller(part)).join('; ');
}

/** Tells if a text stands for another value, or for none. */
function isStandIn(text: string): boolean {
  return isFiller(text) || isDitto(text);
}

/**
 * Finds the columns of each element, in the order of the table: with a map, several of a joinable
 * element are all kept, of any other the first, with an error. Where a column of the map is missing
 * there are only issues.
 */
function findSources(table: Table, map: ColumnMap | undefined) {
  const { header } = table;
  const sources = new Map<ColumnName, Source[]>();
  const issues: Issue[] = map === undefined ? [] : checkMissingColumns(table, map);
  // Without one of its columns every find would lack an element, so no row is read.
  if (issues.length > 0) return { sources, issues };
  const isMapped = map !== undefined;
  const unknown: number[] = [];
  for (const [index, rule] of listColumnRules(table, map).entries()) {
    if (rule === undefined) unknown.push(index);
    const element = rule?.element;
    if (element === undefined) continue;
    const others = sources.get(element) ?? [];
    const [first] = others;
    if (first === undefined || (isMapped && JOINABLE_COLUMNS.includes(element)))
      sources.set(element, [...others, { index, rule: { ...rule, element } }]);
    else issues.push(makeDuplicateIssue(table, element, first.index, index));
  }
  issues.push(...checkUnknownColumns(table, unknown, isMapped));
  // The note has the years that stand in the place of days.
  for (const { index, rule } of sources.get('datum_nalezu') ?? []) {
    if (rule.year_only === undefined) continue;
    const year = { ...rule, element: 'poznamka', label: header[index] } as const;
    sources.set('poznamka', [...(sources.get('poznamka') ?? []), { index, rule: year }]);
  }
  return { sources, issues };
}

/**
 * Returns the rule of each column, in the order of the header: that of the map, else one for the
 * element that the header names; undefined for an unknown column.
 */
export function listColumnRules(
  { header }: Table,
  map: ColumnMap | undefined,
): readonly (ColumnRule | undefined)[] {
  const rules = new Map([...(map?.columns ?? [])].map(([key, rule]) => [makeTextKey(key), rule]));
  return makeColumnKeys(header).map((key, index): ColumnRule | undefined => {
    const element = findColumnByName(header[index] ?? '');
    const ownRule = element === undefined ? undefined : { element };
    return rules.get(makeTextKey(key)) ?? ownRule;
  });
}

function readSource(row: RowCells, { index, rule }: Source): string {
  const { element, label, year_only: ofYears } = rule;
  const text = applyColumnRule(getTrimmedCell(row, index, element), rule);
  const isYear = ofYears !== undefined && /^\d{4}$/.test(text);
  const isMeant = ofYears === undefined || isYear === (element === 'poznamka');
  if (text === '' || !isMeant) return '';
  const isBare = label === undefined || isFiller(text) || isDitto(text);
  return isBare ? text : `${label}: ${text}`;
}

/** Tells if a date stands in a column for another element; in a labelled note a day is allowed. */
function isMisplacedDate({ cells, shown }: RowCells, { index, rule }: Source): boolean {
  if (shown?.get(index)?.isDate !== true || rule.element === 'datum_nalezu') return false;
  return rule.label === undefined || !/^\d{4}-\d\d-\d\d/.test(cells[index] ?? '');
}

/**
 * Tells if the table has columns of points, and points. The attributes of a layer of pas without
 * their geometry, as other programs save them, have only some of its points in columns.
 */
function hasPoints(
  { header, rows }: Table,
  names: ReadonlySet<ColumnName>,
  getCell: (row: RowCells, name: ColumnName) => string,
): boolean {
  const columns = POINT_COLUMNS.filter((name) => names.has(name));
  if (columns.length === 0) return false;
  const isOfLayer = header.includes(STATE_COLUMN);
  for (const row of rows)
    if (
      row.point !== undefined ||
      (!isOfLayer && columns.some((name) => getCell(row, name) !== ''))
    )
      return true;
  return false;
}

/** Lists the elements with a column; a point covers both systems. */
function listCovered(names: ReadonlySet<ColumnName>, hasPoint: boolean): ReadonlySet<ElementName> {
  const covered = FIELDS.filter(({ kind, name }) =>
    kind === 'point' ? hasPoint : names.has(name) || (hasPoint && kind === 'geom-system'),
  );
  return new Set(covered.map(({ name }) => name));
}

/**
 * Returns one error that lists the unknown columns of a table, with similar names of elements; for
 * one that the service fills in itself a warning, and nothing for one that pas adds to its exports,
 * or that has neither name nor values.
 * @param indexes of the columns, from 0
 * @param isMapped the table has a column map, which the advice then names
 */
function checkUnknownColumns(table: Table, indexes: readonly number[], isMapped: boolean): Issue[] {
  const place = getHeaderPlace(table);
  const keys = makeColumnKeys(table.header);
  const issues: Issue[] = [];
  const unknown: string[] = [];
  for (const index of indexes) {
    const header = table.header[index] ?? '';
    const key = keys[index] ?? '';
    if (isOwnExportColumn(header) || (header === '' && isEmptyColumn(table, index))) continue;
    if (DERIVED_FROM_POINT.includes(foldName(header))) {
      const message = msg`The service fills in ${header} itself, so the column is ignored.`;
      issues.push(makeWarningIssue('column-not-sent', message, { ...place, column: key }));
    } else unknown.push(key);
  }
  if (unknown.length === 0) return issues;
  const names = unknown.map(formatUnknownName).join(', ');
  const advice = isMapped
    ? msg`Assign them in the column map to an element or to "ignore".`
    : msg`Rename or remove them. To read them by a column map: --map FILE. To let pas propose one: ${cmd`pas import`} TABLE --wizard`;
  const message = msg`There are columns for which there is no element: ${names}. ${advice}`;
  const where = { ...place, column: unknown.join(', ') };
  return [...issues, makeErrorIssue('column-unknown', message, where)];
}

/** Formats the name of an unknown column, with similar ones of elements: `hlubka (hloubka?)`. */
function formatUnknownName(name: string): string {
  const nearest = joinWithOr(findNearestNames(foldName(name), COLUMN_NAMES));
  return nearest === '' ? name : `${name} (${nearest}?)`;
}

function checkMissingColumns(table: Table, map: ColumnMap): Issue[] {
  const names = makeColumnKeys(table.header);
  const keys = names.map(makeTextKey);
  return [...map.columns.keys()]
    .filter((key) => !keys.includes(makeTextKey(key)))
    .map((key) => {
      const nearest = joinWithOr(findNearestNames(key, names));
      const all = names.join(', ');
      const advice = nearest === '' ? msg`It has: ${all}.` : msg`Did you mean ${nearest}?`;
      const message = msg`${map.file} names the column "${key}", which the table does not have. ${advice}`;
      return makeErrorIssue('map-column-missing', message, getHeaderPlace(table));
    });
}

function isEmptyColumn({ rows }: Table, index: number): boolean {
  for (const { cells } of rows) if (cells[index] !== '') return false;
  return true;
}

function makeDuplicateIssue(table: Table, name: ColumnName, firstAt: number, at: number): Issue {
  const first = table.header[firstAt] ?? '';
  const header = table.header[at] ?? '';
  const where = { ...getHeaderPlace(table), column: header };
  const message = msg`"${first}" and "${header}" both mean ${name}. Keep one, or write "ignore" for the other in a column map.`;
  return makeErrorIssue('column-twice', message, where);
}

/**
 * Normalises the text of a cell for storage: registration numbers by
 * {@link normalizeRegistrationNumber}, identifiers and local ids by {@link normalizeId}, other
 * texts by {@link normalizeText}. Names of photographs are only trimmed.
 */
export function normalizeCell(name: ColumnName, text: string): string {
  if (name === 'photos') return text.trim();
  if (name === 'evidencni_cislo') return normalizeRegistrationNumber(text);
  return IDENTIFYING_COLUMNS.includes(name) ? normalizeId(text) : normalizeText(text);
}

/**
 * Returns the trimmed text of a cell, '' where the row is shorter: of a column of
 * {@link isStoredValueRead} the stored text, with the unit of a depth that only the number format
 * shows; of any other the displayed text, such as `00012` or `12.10`.
 * @param index of the column in the table, from 0
 * @param name meaning of the column
 */
export function getTrimmedCell(row: RowCells, index: number, name: ColumnName): string {
  const shown = getDisplayedText(row, index).trim();
  const stored = row.cells[index]?.trim() ?? '';
  if (!isStoredValueRead(name) || stored === shown) return shown;
  const [unit = ''] = /[cdm]?m$/i.exec(shown) ?? [];
  return name === 'hloubka' ? stored + unit : stored;
}

/** Makes the error that a table has none of the columns `names`, with the columns that it has. */
export function makeMissingColumnIssue(table: Table, rule: string, ...names: string[]): Issue {
  const missing = joinWithOr(names);
  const header = table.header.join(', ');
  const message = msg`There is no column ${missing}. The columns are: ${header}.`;
  return makeErrorIssue(rule, message, getHeaderPlace(table));
}

/**
 * Describes a text in the place of a value: a word for none is a warning, a mark for the value
 * above an error.
 */
function describeStandIn(text: string): Doubt {
  if (isFiller(text)) {
    const problem = msg`"${text}" is read as an empty cell.`;
    return { severity: 'warning', rule: 'cell-filler', problem };
  }
  const problem = msg`"${text}" stands for the value above. Write the value.`;
  return { severity: 'error', rule: 'cell-ditto', problem };
}

/**
 * Detects what a spreadsheet changed in a typed text, or in a displayed number; undefined for
 * columns whose stored value counts.
 */
function findCellDoubt(text: string, name: ColumnName): Doubt | undefined {
  if (isStoredValueRead(name)) return undefined;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/.test(text)) {
    const problem = msg`"${text}" is a number that a spreadsheet shortened. Format the column as text, and write all digits.`;
    return { severity: 'warning', rule: 'cell-shortened', problem };
  }
  const isOfFind = NUMBER_COLUMNS.includes(name);
  if (FORMULA.test(text)) {
    const problem = msg`"${text}" is a formula instead of its result. Save the table with the results, or write the value.`;
    return { severity: isOfFind ? 'error' : 'warning', rule: 'cell-formula', problem };
  }
  if (!isOfFind || !isDateOfSpreadsheet(text)) return undefined;
  const problem = msg`"${text}" looks like a date that a spreadsheet made from a number. If so, format the column as text, and write the number again.`;
  return { severity: 'warning', rule: 'cell-date', problem };
}

/** Formula with a cell or a function: `=B2&"x"`, `=CONCAT(A1;"-")`. */
const FORMULA = /^=[-+(]*(?:\$?[A-Z]{1,3}\$?\d|\p{Lu}[\p{Lu}\d.]*\()/u;

function makeDateCellDoubt(row: RowCells, index: number): Doubt {
  const problem = makeChangedToDateMessage(getDisplayedText(row, index));
  return { severity: 'error', rule: 'cell-date', problem };
}

/** Explains that the spreadsheet made a typed text a date, which it shows as `shown`. */
export function makeChangedToDateMessage(shown: string): Message {
  return msg`The cell contains a date, "${shown}": the spreadsheet changed what was typed. Format the column as text, and write it again.`;
}

/** Short month names of spreadsheets in Czech, English and German, folded. */
const SHORT_MONTHS =
  'led|uno|bre|dub|kve|cvn|cvc|srp|zar|rij|lis|pro|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez';
const DAY_OR_YEAR_AND_MONTH = new RegExp(
  `^(?:\\d{1,2}_(?:${SHORT_MONTHS})(?:_\\d{2,4})?|(?:${SHORT_MONTHS})_\\d{2,4})$`,
);

/**
 * Tells if a text looks like a converted date: `2.led`, `čvn-24`, `1-Feb`, `01.05.2024`; a number
 * such as 12/2024 does not.
 */
function isDateOfSpreadsheet(text: string): boolean {
  return DAY_OR_YEAR_AND_MONTH.test(foldName(text)) || /^\d{1,2}\. ?\d{1,2}\. ?\d{4}$/.test(text);
}
