import { hasErrors, type Issue } from '../base/issue.ts';
import type { PointInSystem } from '../place/geometry.ts';
import { characterFaults } from './row-faults.ts';
import { refuseTooLarge, rowPlaceOf, type Table, type TablePlace, type TableRow } from './table.ts';

/** A row of a format that names each value: a feature, a waypoint, a find. */
export type NamedValues = {
  readonly row: number;
  readonly line?: number;
  readonly values: ReadonlyMap<string, string>;
  readonly point?: PointInSystem;
};

/** A table with a column for every name that any of the records has, in the order in which they are first met. */
export function tableOfRecords(place: TablePlace, records: readonly NamedValues[], found: readonly Issue[]): Table {
  const names = new Set<string>();
  for (const { values } of records) {
    for (const name of values.keys()) names.add(name);
    refuseTooLarge(place.file, { rows: records.length, columns: names.size });
  }
  const header = [...names];
  const issues = [...found];
  const sound = records.filter((record) => {
    const { cells } = toRow(record, header);
    const faults = characterFaults(cells, header);
    for (const fault of faults) issues.push({ ...fault, ...rowPlaceOf(place, { ...record, cells }) });
    return !hasErrors(faults);
  });
  const rows = function* (): Generator<TableRow> {
    for (const record of sound) yield toRow(record, header);
  };
  return { ...place, header, rows: { [Symbol.iterator]: rows }, rowCount: sound.length, issues };
}

function toRow({ row, line, values, point }: NamedValues, header: readonly string[]): TableRow {
  const cells = header.map((name) => values.get(name) ?? '');
  return { row, cells, ...(line === undefined ? {} : { line }), ...(point === undefined ? {} : { point }) };
}
