import { hasErrors, type Issue } from '../base/issue.ts';
import type { PointInSystem } from '../place/geometry.ts';
import { withoutFormulaMark } from '../text/csv.ts';
import { cellFaults } from './cell-faults.ts';
import { assertTableSize, rowPlaceOf, type Table, type TablePlace, type TableRow } from './table.ts';

/** A row of a format with named values: a feature, a waypoint, a find. */
export type NamedValues = {
  readonly row: number;
  readonly line?: number;
  readonly values: ReadonlyMap<string, string>;
  /** Displayed text of a value, where it differs. */
  readonly shown?: ReadonlyMap<string, string>;
  readonly point?: PointInSystem;
} & Pick<TableRow, 'isDrawn' | 'photos'>;

/**
 * Makes a table with a column for every name in the records, in order of first occurrence. The records themselves are not held in
 * memory, only the numbers of the rows that are left out.
 * @param records records, or issues in the place of faulty ones; iterated more than once
 * @param found issues of the file
 */
export function tableOfRecords(place: TablePlace, records: Iterable<NamedValues | Issue>, found: readonly Issue[]): Table {
  const columns = new Set<string>();
  const issues = [...found];
  const left = new Set<number>();
  let rowCount = 0;
  let count = 0;
  for (const record of records) {
    count += 1;
    if (!('values' in record)) issues.push(record);
    else {
      for (const name of record.values.keys()) columns.add(name);
      const faults = cellFaults([...record.values.values()], [...record.values.keys()]);
      for (const fault of faults) issues.push(fault.with(rowPlaceOf(place, record)));
      if (hasErrors(faults)) left.add(record.row);
      else rowCount += 1;
    }
    assertTableSize(place.file, { rows: count, columns: columns.size, faults: issues.length });
  }
  const header = [...columns];
  // Documents of the service have no formula marks.
  const textOf = place.unit === 'find' ? (text: string) => text : withoutFormulaMark;
  const rows = function* (): Generator<TableRow> {
    for (const record of records) {
      if (!('values' in record) || left.has(record.row)) continue;
      const { values, shown: looks, ...where } = record;
      const shown = looks && { shown: new Map([...looks].map(([name, text]) => [header.indexOf(name), { text }] as const)) };
      yield { ...where, cells: header.map((name) => textOf(values.get(name) ?? '')), ...shown };
    }
  };
  return { ...place, header, rows: { [Symbol.iterator]: rows }, rowCount, issues };
}
