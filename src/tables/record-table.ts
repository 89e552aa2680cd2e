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

/**
 * A table with a column for every name that any of the records has, in the order in which they are first met.
 *
 * @param found what is wrong with those that are no records, once they were walked
 */
export function tableOfRecords(place: TablePlace, records: Iterable<NamedValues>, found: readonly Issue[]): Table {
  const columns = new Set<string>();
  const read: TableRow[] = [];
  for (const { values, ...record } of records) {
    for (const name of values.keys()) columns.add(name);
    // What later records have beside it is added when the row is walked.
    read.push({ ...record, cells: Array.from(columns, (name) => values.get(name) ?? '') });
    refuseTooLarge(place.file, { rows: read.length, columns: columns.size });
  }
  const header = [...columns];
  const issues = [...found];
  const sound = read.filter((row) => {
    const faults = characterFaults(row.cells, header);
    for (const fault of faults) issues.push({ ...fault, ...rowPlaceOf(place, row) });
    return !hasErrors(faults);
  });
  const rows = function* (): Generator<TableRow> {
    for (const row of sound) yield { ...row, cells: header.map((_, at) => row.cells[at] ?? '') };
  };
  return { ...place, header, rows: { [Symbol.iterator]: rows }, rowCount: sound.length, issues };
}
