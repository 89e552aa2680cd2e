import { FileError } from '../base/errors.ts';
import { type Issue, isReadable, makeErrorIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { makeUnsupportedCrsError, toGeomSystem } from '../place/geometry.ts';
import { parseSystemOfPrj } from '../place/read-prj.ts';
import { parseGeoPackagePoint } from '../place/wkb.ts';
import { createRowGuard, type Database, type Guarded, isAnyRow, isNumber, isText } from '../store/database.ts';
import { formatPlainNumber } from '../text/characters.ts';
import { assertTableSize, makeTableOfRecords, type NamedValues, type Table } from './table.ts';

export type Layer = Guarded<typeof isLayer>;
export const isLayer = createRowGuard({
  ...{ name: isText, geometryColumn: isText, geometryType: isText, organization: isText, code: isNumber },
  definition: isText,
});

const isColumn = createRowGuard({ name: isText, type: isText, pk: isNumber });

/** Returns the columns of a table; `pk` is the place of a column in the primary key, or 0. */
export function listColumns(database: Database, table: string): Guarded<typeof isColumn>[] {
  return database
    .prepare(`pragma table_info(${quoteIdentifier(table)})`)
    .all()
    .filter(isColumn);
}

/** Interpretation of a layer that describes its own columns. */
export type LayerReading = {
  readonly issues: readonly Issue[];
  readonly understood: (record: NamedValues) => NamedValues;
};

/** Refuses views and computed columns: evaluating them may take unbounded time or memory. */
export function assertNoComputedColumns(file: string, database: Database, name: string): void {
  const row = database.prepare('select type, sql from sqlite_master where name = ? collate nocase').get(name);
  if (row === undefined) return;
  const isTable = isAnyRow(row) && row['type'] === 'table' && !/^\s*create\s+virtual\b/i.test(`${row['sql']}`);
  const listTableColumns = () => database.prepare(`pragma table_xinfo(${quoteIdentifier(name)})`).all();
  if (isTable && listTableColumns().every((column) => isAnyRow(column) && column['hidden'] === 0)) return;
  throw new FileError(
    file,
    msg`${file}, layer ${name}, is computed when it is read (a view, or a computed column); pas does not read such layers.`,
    {
      hint: msg`Save the layer as a GeoPackage again.`,
    },
  );
}

/** Returns the features of a layer; each iteration reads them from the database. */
export function readLayer(file: string, database: Database, layer: Layer, reading?: LayerReading): Table {
  assertNoComputedColumns(file, database, layer.name);
  const isCoded = ['EPSG', 'ESRI'].includes(layer.organization.toUpperCase());
  const system = (isCoded ? toGeomSystem(layer.code) : undefined) ?? parseSystemOfPrj(layer.definition);
  if (system === undefined)
    throw makeUnsupportedCrsError(file, layer.organization === '' ? String(layer.code) : `${layer.organization}:${layer.code}`);
  const columns = listColumns(database, layer.name);
  const keyColumn = columns.find(({ pk, type }) => pk === 1 && type.toUpperCase() === 'INTEGER')?.name;
  const place = { file, sheet: layer.name, unit: 'feature' } as const;
  assertTableSize(file, { columns: columns.length });
  const records = function* (): Generator<NamedValues | Issue> {
    let counted = 0;
    // Integers of a database may exceed the safe integers.
    const all = database.prepare(`select * from ${quoteIdentifier(layer.name)}`).safeIntegers(true);
    for (const feature of all.iterate()) {
      if (!isAnyRow(feature)) continue;
      counted += 1;
      const row = keyColumn === undefined ? counted : Number(feature[keyColumn]);
      const { [layer.geometryColumn]: geometry, ...attributes } = feature;
      const point = geometry instanceof Buffer ? parseGeoPackagePoint(geometry) : { value: undefined };
      if (!isReadable(point)) {
        yield makeErrorIssue(point.rule, point.problem, { ...place, row });
        continue;
      }
      const values = new Map(
        Object.entries(attributes)
          .filter(([name]) => name !== keyColumn)
          .map(([name, value]) => [name, formatSqlValue(value)] as const),
      );
      const record = { row, values, ...(point.value === undefined ? {} : { point: { system, ...point.value } }) };
      yield reading?.understood(record) ?? record;
    }
  };
  const isEmpty = database.prepare(`select 1 from ${quoteIdentifier(layer.name)} limit 1`).get() === undefined;
  const none = makeErrorIssue('table-no-rows', msg`There are no features in the layer. Nothing was read.`, place);
  return makeTableOfRecords(place, { [Symbol.iterator]: records }, [...(isEmpty ? [none] : []), ...(reading?.issues ?? [])]);
}

/** Returns the text of a value; a day with midnight is a day. Other types, such as pictures, give ''. */
export function formatSqlValue(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return formatPlainNumber(value);
  return typeof value === 'string' ? value.replace(/^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?Z?$/, '$1') : '';
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
