import { DatabaseError, FileError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { geomSystemOf, strangeSystem } from '../place/geometry.ts';
import { readGeoPackagePoint } from '../place/wkb-point.ts';
import { asDatabaseError, type Database, openDatabaseImage } from '../store/database.ts';
import { refuseEndless } from '../store/database-file.ts';
import { plainNumber } from '../text/plain-number.ts';
import { isReadable } from '../text/reading.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import { refuseTooLarge, type Table } from './table.ts';

type Layer = {
  readonly name: string;
  readonly geometryColumn: string;
  readonly geometryType: string;
  readonly organization: string;
  readonly code: number;
};

/** Layers of these kinds may hold points. */
const POINT_TYPES = ['POINT', 'MULTIPOINT', 'GEOMETRY'];

/**
 * Reads a layer of a GeoPackage (1.0 to 1.4): a feature is a row and is called by its number in the layer, its attributes are
 * the columns, its point is the place in the layer's system. The database in memory lives as long as the table, whose rows are read
 * from it each time.
 *
 * @param named the layer; otherwise the first of points that has a feature
 * @throws FileError where the file is no GeoPackage, has no such layer, or the layer is in another coordinate system
 */
export function readGeoPackage(file: string, bytes: Buffer, named: string | undefined): Table {
  try {
    refuseEndless(file, bytes);
    const database = openDatabaseImage(file, bytes);
    return asDatabaseError(file, () => readLayer(file, database, chooseLayer(file, database, named)));
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    if (!(thrown instanceof DatabaseError) && !code.startsWith('SQLITE_')) throw thrown;
    throw new FileError(file, msg`${file} is an SQLite database that cannot be read: it is damaged or cut short.`, {
      cause: thrown,
      hint: msg`Save the layer as a GeoPackage again.`,
    });
  }
}

function chooseLayer(file: string, database: Database, named: string | undefined): Layer {
  for (const name of DIRECTORY) refuseComputed(file, database, name);
  const tables = database
    .prepare(`select name from sqlite_master where name in ('gpkg_contents', 'gpkg_geometry_columns')`)
    .all();
  if (tables.length < 2) {
    throw new FileError(file, msg`${file} is an SQLite database, but not a GeoPackage: it lacks the list of its layers.`, {
      hint: msg`Save the layer as a GeoPackage again.`,
    });
  }
  const layers = database
    .prepare(
      `select contents.table_name as name, geometry.column_name as geometryColumn, upper(geometry.geometry_type_name) as geometryType,
         coalesce(systems.organization, '') as organization, coalesce(systems.organization_coordsys_id, geometry.srs_id) as code
       from gpkg_contents as contents join gpkg_geometry_columns as geometry on geometry.table_name = contents.table_name
       left join gpkg_spatial_ref_sys as systems on systems.srs_id = geometry.srs_id
       where contents.data_type = 'features' order by contents.rowid`,
    )
    .all() as Layer[];
  const names = layers.map(({ name }) => name).join(', ');
  const hint = names === '' ? msg`It has no layers with features.` : msg`Its layers are: ${names}.`;
  if (named !== undefined) {
    const layer = layers.find(({ name }) => name === named);
    if (layer === undefined) throw new FileError(file, msg`${file} has no layer "${named}".`, { hint });
    return layer;
  }
  const fitting = layers.filter(({ geometryType }) => POINT_TYPES.includes(geometryType));
  for (const { name } of fitting) refuseComputed(file, database, name);
  const filled = fitting.find(({ name }) => database.prepare(`select 1 from ${quoted(name)} limit 1`).get() !== undefined);
  const layer = filled ?? fitting[0];
  if (layer === undefined) throw new FileError(file, msg`${file} has no layer of points.`, { hint });
  return layer;
}

const DIRECTORY = ['gpkg_contents', 'gpkg_geometry_columns', 'gpkg_spatial_ref_sys'];

/** What is computed when it is read may take for ever, or all memory; a table only gives back what is in the file. */
function refuseComputed(file: string, database: Database, name: string): void {
  const made = database.prepare('select type, sql from sqlite_master where name = ? collate nocase').get(name) as
    | { readonly type: string; readonly sql: string | null }
    | undefined;
  if (made === undefined) return;
  const isTable = made.type === 'table' && !/^\s*create\s+virtual\b/i.test(made.sql ?? '');
  const columns = () => database.prepare(`pragma table_xinfo(${quoted(name)})`).all() as { readonly hidden: number }[];
  if (isTable && columns().every(({ hidden }) => hidden === 0)) return;
  throw new FileError(
    file,
    msg`${file}, layer ${name}, is computed when it is read (a view, or a computed column), which is not done.`,
    {
      hint: msg`Save the layer as a GeoPackage again.`,
    },
  );
}

function readLayer(file: string, database: Database, layer: Layer): Table {
  refuseComputed(file, database, layer.name);
  const system = layer.organization.toUpperCase() === 'EPSG' ? geomSystemOf(layer.code) : undefined;
  if (system === undefined)
    throw strangeSystem(file, layer.organization === '' ? String(layer.code) : `${layer.organization}:${layer.code}`);
  const columns = database.prepare(`pragma table_info(${quoted(layer.name)})`).all() as {
    name: string;
    type: string;
    pk: number;
  }[];
  const keyColumn = columns.find(({ pk, type }) => pk === 1 && type.toUpperCase() === 'INTEGER')?.name;
  const place = { file, sheet: layer.name, unit: 'feature' } as const;
  refuseTooLarge(file, { columns: columns.length });
  const records = function* (): Generator<NamedValues | Issue> {
    let counted = 0;
    const features = database.prepare(`select * from ${quoted(layer.name)}`).iterate() as Iterable<Record<string, unknown>>;
    for (const feature of features) {
      counted += 1;
      const row = keyColumn === undefined ? counted : Number(feature[keyColumn]);
      const { [layer.geometryColumn]: geometry, ...attributes } = feature;
      const point = geometry instanceof Buffer ? readGeoPackagePoint(geometry) : { value: undefined };
      if (!isReadable(point)) {
        yield errorIssue(point.rule, point.problem, { ...place, row });
        continue;
      }
      const values = new Map(
        Object.entries(attributes)
          .filter(([name]) => name !== keyColumn)
          .map(([name, value]) => [name, textOf(value)] as const),
      );
      yield { row, values, ...(point.value === undefined ? {} : { point: { system, ...point.value } }) };
    }
  };
  const isEmpty = database.prepare(`select 1 from ${quoted(layer.name)} limit 1`).get() === undefined;
  const none = errorIssue('table-no-rows', msg`There are no features in the layer. Nothing was read.`, place);
  return tableOfRecords(place, { [Symbol.iterator]: records }, isEmpty ? [none] : []);
}

/** A day with a time of midnight is a day. What is neither text nor number, such as a picture, is no part of a find. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return plainNumber(value);
  return typeof value === 'string' ? value.replace(/^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?Z?$/, '$1') : '';
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
