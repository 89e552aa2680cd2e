import { DatabaseError, FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { asDatabaseError, type Database, openDatabaseImage } from '../store/database.ts';
import { assertReadableInTime } from '../store/database-file.ts';
import { FINDS_LAYER, PHOTO_FOLDER } from './field-form.ts';
import { readFieldForm } from './field-return.ts';
import { assertNoComputedColumns, isLayer, type Layer, quoted, readLayer } from './gpkg-rows.ts';
import type { Table } from './table.ts';

/** Geometry types of layers that may hold points. */
const POINT_TYPES = ['POINT', 'MULTIPOINT', 'GEOMETRY'];

/**
 * Reads a layer of a GeoPackage (1.0 to 1.4): a feature is a row with its number, its attributes are the columns, its point is in
 * the layer's system. The in-memory database lives as long as the table, whose rows are read at each iteration.
 * @param named layer; otherwise that of a form of pas, else the first point layer with a feature
 * @throws FileError where the file is no GeoPackage, has no such layer, or the layer is in another coordinate system
 */
export function readGeoPackage(file: string, bytes: Buffer, named: string | undefined): Table {
  try {
    assertReadableInTime(file, bytes);
    const database = openDatabaseImage(file, bytes);
    return asDatabaseError(file, () => {
      const form = named === undefined || named === FINDS_LAYER ? readFieldForm(file, database) : undefined;
      const layer = chooseLayer(file, database, form === undefined ? named : FINDS_LAYER);
      return { ...readLayer(file, database, layer, form), ...(form === undefined ? {} : { photographsIn: PHOTO_FOLDER }) };
    });
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
  for (const name of DIRECTORY) assertNoComputedColumns(file, database, name);
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
         coalesce(systems.organization, '') as organization, cast(coalesce(systems.organization_coordsys_id, geometry.srs_id, 0) as integer) as code,
         coalesce(systems.definition, '') as definition
       from gpkg_contents as contents join gpkg_geometry_columns as geometry on geometry.table_name = contents.table_name
       left join gpkg_spatial_ref_sys as systems on systems.srs_id = geometry.srs_id
       where contents.data_type = 'features' order by contents.rowid`,
    )
    .all()
    .filter(isLayer);
  const names = layers.map(({ name }) => name).join(', ');
  const hint = names === '' ? msg`It has no layers with features.` : msg`Its layers are: ${names}.`;
  if (named !== undefined) {
    const layer = layers.find(({ name }) => name === named);
    if (layer === undefined) throw new FileError(file, msg`${file} has no layer "${named}".`, { hint });
    return layer;
  }
  const fitting = layers.filter(({ geometryType }) => POINT_TYPES.includes(geometryType));
  for (const { name } of fitting) assertNoComputedColumns(file, database, name);
  const filled = fitting.find(({ name }) => database.prepare(`select 1 from ${quoted(name)} limit 1`).get() !== undefined);
  const layer = filled ?? fitting[0];
  if (layer === undefined) throw new FileError(file, msg`${file} has no layer of points.`, { hint });
  return layer;
}

const DIRECTORY = ['gpkg_contents', 'gpkg_geometry_columns', 'gpkg_spatial_ref_sys'];
