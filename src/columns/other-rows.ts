import { type Issue, warningIssue } from '../base/issue.ts';
import { joinMessages, type Message, msg } from '../base/message.ts';
import { type ColumnName, meaningOfColumn } from '../find/column-names.ts';
import { rowPlaceOf, type Table, type TableRow } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import { type ColumnMap, columnKeys, keyForm } from './column-rule.ts';

/** Columns that distinguish a find from a remark: object, place and date. */
const TELLING: readonly ColumnName[] = [
  ...(['druh_nalezu', 'specifikace', 'obdobi', 'presna_datace', 'datum_nalezu', 'lokalizace', 'photos'] as const),
  ...(['lon', 'lat', 'geom_x', 'geom_y', 'wkt', 'geom_wkt', 'geom_sjtsk_wkt'] as const),
];

const TOTAL =
  /^(?:celkem|celkov[ýáé] (?:součet|počet)|součet|mezisoučet|úhrnem|suma|dohromady|(?:grand |sub)?total|sum|summe|gesamt|insgesamt|[σ∑])[\s:.=,\d]*(?:(?:ks|kusů|nálezů|finds|pcs)[\s:.=]*)?$/i;
const NUMBER = /^[-+]?[\d\s.,]+%?$/;
const SEPARATOR = /^[-–—=_*.·~+|/\\\s]+$/;

/**
 * Leaves out rows that are no finds, each with a warning: totals, repeated headers, separators, and remarks below the finds,
 * which have no object, place and day although all others do.
 * @param map meanings of the columns of a foreign table
 * @param advice remedy where such a row is a find
 */
export function withoutOtherRows(table: Table, map?: ColumnMap, advice?: Message): Table {
  if (table.unit !== undefined) return table;
  const remarks = remarkRows(table, meaningsOf(table, map));
  const issues: Issue[] = [];
  const left = new Set<number>();
  for (const row of table.rows) {
    const why = whyNoFind(row, table) ?? (remarks.has(row.row) ? remarkMessage(row) : undefined);
    if (why === undefined) continue;
    left.add(row.row);
    issues.push(
      warningIssue('row-no-find', joinMessages(advice === undefined ? [why] : [why, advice], ' '), rowPlaceOf(table, row)),
    );
  }
  if (left.size === 0) return table;
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) if (!left.has(row.row)) yield row;
  };
  const rowCount = table.rowCount - left.size;
  return { ...table, rows: { [Symbol.iterator]: rows }, rowCount, issues: [...table.issues, ...issues] };
}

function whyNoFind({ cells }: TableRow, { header }: Table): Message | undefined {
  const [first = '', ...others] = cells.filter((cell) => cell !== '');
  if (TOTAL.test(first) && others.every((cell) => NUMBER.test(cell)))
    return msg`The row contains totals ("${first}") and was skipped.`;
  if ([first, ...others].every((cell) => SEPARATOR.test(cell))) return msg`The row only separates others and was skipped.`;
  const repeated = cells.every((cell, index) => cell === '' || foldName(cell) === foldName(header[index] ?? ''));
  return repeated && others.length > 0 ? msg`The row repeats the names of the columns and was skipped.` : undefined;
}

function remarkMessage({ cells }: TableRow): Message {
  const first = (cells.find((cell) => cell !== '') ?? '').slice(0, MAX_SHOWN);
  return msg`The row ("${first}") has no object, place or day, unlike all others, and was skipped.`;
}

const MAX_SHOWN = 60;

function meaningsOf({ header, names = header }: Table, map: ColumnMap | undefined): readonly (ColumnName | undefined)[] {
  const rules = new Map([...(map?.columns ?? [])].map(([key, rule]) => [keyForm(key), rule]));
  const keys = columnKeys(header);
  return names.map((name, index) => {
    const rule = rules.get(keyForm(keys[index] ?? ''));
    if (rule === undefined) return meaningOfColumn(name);
    return rule.kind === 'read' ? rule.element : undefined;
  });
}

/** Returns the numbers of rows without object, place, date and a usual key; empty where they are the majority. */
function remarkRows(table: Table, meanings: readonly (ColumnName | undefined)[]): ReadonlySet<number> {
  const telling = meanings.flatMap((name, index) => (name !== undefined && TELLING.includes(name) ? [index] : []));
  const key = meanings.indexOf('local_id');
  const silent: TableRow[] = [];
  const ids: string[] = [];
  for (const row of table.rows) {
    if (whyNoFind(row, table) !== undefined) continue;
    const isFind = row.point !== undefined || telling.some((index) => (row.cells[index] ?? '') !== '');
    if (isFind) ids.push(row.cells[key] ?? '');
    else silent.push(row);
  }
  const longest = ids.reduce((most, { length }) => Math.max(most, length), 0);
  const haveDigits = ids.every((id) => /\d/.test(id));
  const isCalledSo = (id: string): boolean => id !== '' && id.length <= longest * 2 && (!haveDigits || /\d/.test(id));
  const remarks = silent.filter(({ cells }) => key === -1 || !isCalledSo(cells[key] ?? ''));
  return new Set(telling.length > 0 && remarks.length < ids.length ? remarks.map(({ row }) => row) : []);
}
