import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { type ColumnName, findColumnMeant } from '../find/fields.ts';
import { type AnglePart, joinAngleCells } from '../place/read-position.ts';
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
import { getTrimmedCell, makeColumnKeys, normalizeKey } from './columns.ts';
import { withConstants } from './settings.ts';

/**
 * Applies a column map to a table. The header stays, so that issues use the museum's words; `names`
 * has the meanings of the columns. Each cell is converted when its row is iterated.
 */
export function withColumnMap(table: Table, map: ColumnMap): Table {
  const keys = makeColumnKeys(table.header);
  const places = new Map(keys.map((key, index) => [normalizeKey(key), index]));
  const issues = checkMissingColumns(table, map, keys, places);
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
  const read = [...rules].flatMap(([index, rule]) =>
    index === -1 || rule.kind === 'ignored' ? [] : [{ index, rule }],
  );
  // The first of several joined columns receives the whole text.
  for (const { index, rule } of read) {
    const home = ensureColumn(rule.element);
    if (home !== index && isJoined(rule)) names[index] = '';
  }
  const note = read.some(({ rule }) => rule.yearOnly === 'note')
    ? ensureColumn('poznamka')
    : undefined;
  const composed =
    map.localId === undefined
      ? undefined
      : { place: ensureColumn('local_id'), template: map.localId };

  const convertRow = (row: TableRow): TableRow => {
    const cells = [
      ...row.cells,
      ...Array.from({ length: header.length - row.cells.length }, () => ''),
    ];
    const texts = new Map<number, string[]>();
    const add = (place: number, text: string): void => {
      if (text !== '') texts.set(place, [...(texts.get(place) ?? []), text]);
    };
    const angles = new Map<ColumnName, Map<AnglePart, string>>();
    const dates = new Set<number>();
    for (const { index, rule } of read) {
      const text = applyColumnRule(getTrimmedCell(row, index, rule.element), rule);
      if (isMisplacedDate(row, index, rule))
        dates.add(isJoined(rule) ? (homes.get(rule.element) ?? index) : index);
      if (rule.part !== undefined)
        angles.set(rule.element, (angles.get(rule.element) ?? new Map()).set(rule.part, text));
      else if (!JOINED.includes(rule.element)) cells[index] = text;
      else
        add(
          homes.get(rule.element) ?? index,
          text === '' || rule.label === undefined ? text : `${rule.label}: ${text}`,
        );
    }
    if (note !== undefined)
      removeMisplacedYears(read, cells, (index, year) => add(note, `${header[index]}: ${year}`));
    for (const { index, rule } of read) if (isJoined(rule)) cells[index] = '';
    for (const [element, parts] of angles) cells[homes.get(element) ?? -1] = joinAngleCells(parts);
    for (const [place, parts] of texts)
      cells[place] = [cells[place] ?? '', ...parts].filter((part) => part !== '').join('; ');
    if (composed !== undefined) {
      cells[composed.place] = compose(composed.template, row, places);
      const parts = getTemplateParts(composed.template).map((key) =>
        row.shown?.get(places.get(normalizeKey(key)) ?? -1),
      );
      if (parts.some((part) => part?.isDate === true)) dates.add(composed.place);
    }
    return {
      ...row,
      cells,
      ...(row.shown && { shown: mapShownCells(row.shown, cells, rules, dates) }),
    };
  };
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) yield convertRow(row);
  };
  // Without one of its columns every find would lack an element, so no row is read.
  if (issues.length > 0)
    return { ...table, names: header.map(() => ''), rows: [], rowCount: 0, issues };
  const mapped: Table = { ...table, header, names, rows: { [Symbol.iterator]: rows } };
  return withConstants(mapped, map.fixed);
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
function isJoined({ element, part }: ReadColumn): boolean {
  return part !== undefined || JOINED.includes(element);
}

function removeMisplacedYears(
  read: readonly { readonly index: number; readonly rule: ReadColumn }[],
  cells: string[],
  keep: (index: number, year: string) => void,
): void {
  for (const { index, rule } of read) {
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
function compose(template: string, row: TableRow, places: ReadonlyMap<string, number>): string {
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
  places: ReadonlyMap<string, number>,
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
