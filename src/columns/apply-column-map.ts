import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findColumnMeant } from '../find/fields.ts';
import { getHeaderPlace, type ShownCells, type Table, type TableRow } from '../tables/table.ts';
import { findNearestNames, joinAlternatives } from '../text/names.ts';
import { applyColumnRule } from './apply-column-rule.ts';
import {
  type ColumnMap,
  type ColumnRule,
  getTemplateParts,
  JOINED,
  type ReadColumn,
} from './column-rule.ts';
import { getTrimmedCell, makeColumnKeys, normalizeKey, padCells } from './columns.ts';
import { withConstants } from './settings.ts';

/**
 * Applies a column map to a table. The header stays, so that issues use the museum's words; `names`
 * has the meanings of the columns. Each cell is converted when its row is iterated.
 */
export function withColumnMap(table: Table, map: ColumnMap): Table {
  const keys = makeColumnKeys(table.header);
  const places: ColumnPlaces = new Map(keys.map((key, index) => [normalizeKey(key), index]));
  const issues = checkMissingColumns(table, map, keys, places);
  // Without one of its columns every find would lack an element, so no row is read.
  if (issues.length > 0)
    return { ...table, names: table.header.map(() => ''), rows: [], rowCount: 0, issues };
  const layout = makeLayout(table, map, places);
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) yield convertRow(row, layout, places);
  };
  const { header, names } = layout;
  const turnsPositions = layout.columns.some(({ rule }) => rule.form === 'position');
  const mapped = { ...table, header, names, turnsPositions, rows: { [Symbol.iterator]: rows } };
  return withConstants(mapped, map.fixed);
}

/** Places of the columns by their normalized keys. */
type ColumnPlaces = ReadonlyMap<string, number>;

type MappedColumn = {
  readonly index: number;
  readonly rule: ReadColumn;
  /** The column itself, or the one that receives the text of several. */
  readonly home: number;
};

/** Columns of a table after mapping; those for missing elements are added at the end. */
type Layout = {
  readonly header: readonly string[];
  readonly names: readonly string[];
  readonly rules: ReadonlyMap<number, ColumnRule>;
  readonly columns: readonly MappedColumn[];
  /** Column that receives years which are no dates. */
  readonly note: number | undefined;
  readonly localId: { readonly place: number; readonly template: string } | undefined;
};

function makeLayout(table: Table, map: ColumnMap, places: ColumnPlaces): Layout {
  const rules = new Map(
    [...map.columns].map(([key, rule]) => [places.get(normalizeKey(key)) ?? -1, rule]),
  );
  const header = [...table.header];
  const names: string[] = header.map((name, index) => {
    const rule = rules.get(index);
    if (rule === undefined) return table.names?.[index] ?? name;
    return rule.kind === 'ignored' ? '' : rule.element;
  });
  const homes = new Map<string, number>();
  const ensureColumn = (element: string): number => {
    const existing =
      homes.get(element) ?? names.findIndex((name) => findColumnMeant(name) === element);
    const place = existing === -1 ? header.push(element) - 1 : existing;
    names[place] = element;
    homes.set(element, place);
    return place;
  };
  // The first of several joined columns receives the whole text.
  const columns = [...rules].flatMap(([index, rule]): MappedColumn[] => {
    if (rule.kind === 'ignored') return [];
    const first = ensureColumn(rule.element);
    const home = isJoined(rule) ? first : index;
    if (home !== index) names[index] = '';
    return [{ index, rule, home }];
  });
  const keepsYears = columns.some(({ rule }) => rule.yearOnly === 'note');
  const note = keepsYears ? ensureColumn('poznamka') : undefined;
  const template = map.localId;
  const localId = template === undefined ? template : { place: ensureColumn('local_id'), template };
  return { header, names, rules, columns, note, localId };
}

function convertRow(row: TableRow, layout: Layout, places: ColumnPlaces): TableRow {
  const { header, rules, columns, note, localId } = layout;
  const cells = padCells(row, header);
  const texts = new Map<number, string[]>();
  const add = (place: number, text: string): void => {
    if (text !== '') texts.set(place, [...(texts.get(place) ?? []), text]);
  };
  const dates = new Set<number>();
  let hasAddedSigns = false;
  for (const { index, rule, home } of columns) {
    const written = getTrimmedCell(row, index, rule.element);
    const text = applyColumnRule(written, rule);
    if (rule.sign !== undefined && text !== written) hasAddedSigns = true;
    if (isMisplacedDate(row, index, rule)) dates.add(home);
    if (!isJoined(rule)) cells[index] = text;
    else add(home, text === '' || rule.label === undefined ? text : `${rule.label}: ${text}`);
  }
  if (note !== undefined)
    removeMisplacedYears(columns, cells, (index, year) => add(note, `${header[index]}: ${year}`));
  for (const { index, rule } of columns) if (isJoined(rule)) cells[index] = '';
  for (const [place, parts] of texts)
    cells[place] = [cells[place] ?? '', ...parts].filter((part) => part !== '').join('; ');
  if (localId !== undefined) {
    cells[localId.place] = compose(localId.template, row, places);
    const isDate = getTemplateParts(localId.template).some(
      (key) => row.shown?.get(places.get(normalizeKey(key)) ?? -1)?.isDate === true,
    );
    if (isDate) dates.add(localId.place);
  }
  const shown = row.shown && mapShownCells(row.shown, cells, rules, dates);
  return { ...row, cells, shown, hasAddedSigns };
}

/**
 * Tells if a whole date stands in a column for another element; in a labelled note it is allowed.
 */
function isMisplacedDate(
  { cells, shown }: TableRow,
  index: number,
  { element, label }: ReadColumn,
): boolean {
  const isWholeDay = /^\d{4}-\d\d-\d\d/.test(cells[index] ?? '');
  return (
    shown?.get(index)?.isDate === true &&
    element !== 'datum_nalezu' &&
    !(label !== undefined && isWholeDay)
  );
}

/**
 * Adjusts the displayed texts: a converted cell shows its new value; a date in a text column stays
 * marked as a date.
 */
function mapShownCells(
  before: ShownCells,
  cells: readonly string[],
  rules: ReadonlyMap<number, ColumnRule>,
  dates: ReadonlySet<number>,
): ShownCells {
  const unmapped = [...before].filter(([index]) => !rules.has(index));
  return new Map([
    ...unmapped,
    ...[...dates].map((index) => [index, { text: cells[index] ?? '', isDate: true }] as const),
  ]);
}

/** Tells if several columns are joined in the first of them. */
function isJoined({ element }: ReadColumn): boolean {
  return JOINED.includes(element);
}

function removeMisplacedYears(
  columns: readonly MappedColumn[],
  cells: string[],
  keep: (index: number, year: string) => void,
): void {
  for (const { index, rule } of columns) {
    const cell = cells[index] ?? '';
    if (rule.yearOnly === undefined || !/^\d{4}$/.test(cell)) continue;
    keep(index, cell);
    cells[index] = '';
  }
}

/**
 * Composes the local id; empty where one of its columns is, since half a number may be another
 * find's.
 */
function compose(template: string, row: TableRow, places: ColumnPlaces): string {
  const getCellText = (key: string): string =>
    getTrimmedCell(row, places.get(normalizeKey(key)) ?? -1, 'local_id');
  return getTemplateParts(template).some((key) => getCellText(key) === '')
    ? ''
    : template.replace(/\{([^{}]+)\}/g, (_, key: string) => getCellText(key));
}

function checkMissingColumns(
  table: Table,
  map: ColumnMap,
  keys: readonly string[],
  places: ColumnPlaces,
): readonly Issue[] {
  const requested = [
    ...map.columns.keys(),
    ...(map.localId === undefined ? [] : getTemplateParts(map.localId)),
  ];
  return requested
    .filter((key) => !places.has(normalizeKey(key)))
    .map((key) => {
      const nearest = joinAlternatives(findNearestNames(key, keys));
      const all = keys.join(', ');
      const advice = nearest === '' ? msg`Its columns are: ${all}.` : msg`Did you mean ${nearest}?`;
      const message = msg`${map.file} names the column "${key}", which the table does not have. ${advice}`;
      return makeErrorIssue('map-column-missing', message, getHeaderPlace(table));
    });
}
