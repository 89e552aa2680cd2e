import { withMarkKept } from '../../base/csv.ts';
import type { Database } from '../../base/disk/database.ts';
import { getField, getPoint, isElementName } from '../../finds/fields.ts';
import {
  collectValues,
  type ExportedFind,
  type ExportValue,
  exportColumns,
  STATE_COLUMN,
  toWgs84Point,
} from './exported-find.ts';

/** Header fields of a GeoPackage: `GPKG` and version 1.3. */
const APPLICATION_ID = 0x47504b47;
const USER_VERSION = 10300;

/** Turns an empty database into a GeoPackage (1.3) without layers. */
export function beginGeoPackage(database: Database): void {
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${USER_VERSION}`);
  database.exec(GPKG_TABLES);
  const addSystem = database.prepare('insert into gpkg_spatial_ref_sys values (?, ?, ?, ?, ?, ?)');
  for (const system of SPATIAL_REFERENCES) addSystem.run(...system);
}

export type GpkgColumn = {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'date' | 'boolean';
};

type NewLayer = {
  readonly table: string;
  readonly columns: readonly GpkgColumn[];
  /** Geometry in WGS 84; absent for a table of attributes. */
  readonly geometry?: 'POINT' | 'MULTIPOLYGON';
  /** Time of creation, ISO 8601 in UTC. */
  readonly nowIso: string;
};

export type GpkgFeature = {
  /** Geometry as little-endian well-known binary. */
  readonly wkb?: Buffer | undefined;
  /** In the order of the columns. */
  readonly values: readonly (string | number | null)[];
};

/** Adds a layer, or a table of attributes, with its rows. */
export function addLayer(
  database: Database,
  layer: NewLayer,
  features: Iterable<GpkgFeature>,
): void {
  const { table, columns, geometry, nowIso } = layer;
  const shape = geometry === undefined ? [] : ['geom'];
  const definitions = [
    'fid integer primary key autoincrement not null',
    ...shape.map((name) => `${name} ${geometry}`),
    ...columns.map(({ name, type }) => `"${name}" ${type}`),
  ];
  database.exec(`create table "${table}" (${definitions.join(', ')})`);
  const names = [...shape, ...columns.map(({ name }) => `"${name}"`)];
  const insert = database.prepare(
    `insert into "${table}" (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
  );
  database.transaction(() => {
    for (const { wkb, values } of features) {
      const blob = wkb === undefined ? null : makeGeometryBlob(wkb);
      insert.run(...shape.map(() => blob), ...values);
    }
  })();
  const [kind, system] = geometry === undefined ? ['attributes', null] : ['features', 4326];
  database
    .prepare(`insert into gpkg_contents values (?, ?, ?, '', ?, null, null, null, null, ?)`)
    .run(table, kind, table, nowIso, system);
  if (geometry === undefined) return;
  database
    .prepare(`insert into gpkg_geometry_columns values (?, 'geom', ?, 4326, 0, 0)`)
    .run(table, geometry);
}

/** Encodes a point in degrees. */
function encodePoint(longitude: number, latitude: number): Buffer {
  const wkb = Buffer.alloc(21);
  wkb.writeUInt8(1, 0);
  wkb.writeUInt32LE(1, 1);
  wkb.writeDoubleLE(longitude, 5);
  wkb.writeDoubleLE(latitude, 13);
  return wkb;
}

/** Header without envelope, then well-known binary (GeoPackage 1.3, 2.1.3), little-endian. */
function makeGeometryBlob(wkb: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write('GP', 0, 'latin1');
  header.writeUInt8(1, 3);
  header.writeInt32LE(4326, 4);
  return Buffer.concat([header, wkb]);
}

/** A QGIS style (QML) for a layer of this GeoPackage. */
type LayerStyle = { readonly table: string; readonly geometry: string; readonly qml: string };

/** Adds QGIS's table of styles, which assigns a default style to each layer. */
export function addStyles(database: Database, nowIso: string, styles: readonly LayerStyle[]): void {
  database.exec(`
    create table layer_styles (
      id integer primary key autoincrement not null, f_table_catalog text(256), f_table_schema text(256), f_table_name text(256),
      f_geometry_column text(256), styleName text(30), styleQML text, styleSLD text, useAsDefault boolean, description text,
      owner text(30), ui text(30), update_time datetime default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    );
  `);
  database
    .prepare(
      `insert into gpkg_contents (table_name, data_type, identifier, last_change) values ('layer_styles', 'attributes', 'layer_styles', ?)`,
    )
    .run(nowIso);
  const insert = database.prepare(
    `insert into layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML, styleSLD,
       useAsDefault, description, owner, update_time)
     values ('', '', :table, :geometry, 'pas', :qml, '', 1, 'pas', '', :nowIso)`,
  );
  for (const style of styles) insert.run({ ...style, nowIso });
}

/** Tables that every GeoPackage has (OGC 12-128r17, annex C). */
const GPKG_TABLES = `
  create table gpkg_spatial_ref_sys (
    srs_name text not null, srs_id integer primary key, organization text not null,
    organization_coordsys_id integer not null, definition text not null, description text
  );
  create table gpkg_contents (
    table_name text not null primary key, data_type text not null, identifier text unique, description text default '',
    last_change datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    min_x double, min_y double, max_x double, max_y double, srs_id integer,
    constraint fk_gc_r_srs_id foreign key (srs_id) references gpkg_spatial_ref_sys (srs_id)
  );
  create table gpkg_geometry_columns (
    table_name text not null, column_name text not null, geometry_type_name text not null, srs_id integer not null,
    z tinyint not null, m tinyint not null,
    constraint pk_geom_cols primary key (table_name, column_name), constraint uk_gc_table_name unique (table_name),
    constraint fk_gc_tn foreign key (table_name) references gpkg_contents (table_name),
    constraint fk_gc_srs foreign key (srs_id) references gpkg_spatial_ref_sys (srs_id)
  );
`;

const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
  'PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],' +
  'AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]';

/** Name, id, organization, its id, definition, description of the three required systems. */
const SPATIAL_REFERENCES: readonly (readonly [string, number, string, number, string, string])[] = [
  [
    'Undefined Cartesian SRS',
    -1,
    'NONE',
    -1,
    'undefined',
    'undefined Cartesian coordinate reference system',
  ],
  [
    'Undefined geographic SRS',
    0,
    'NONE',
    0,
    'undefined',
    'undefined geographic coordinate reference system',
  ],
  [
    'WGS 84 geodetic',
    4326,
    'EPSG',
    4326,
    WGS84,
    'longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid',
  ],
];

export const LAYER = 'finds';

/**
 * Fills an empty database with a GeoPackage (1.3) of one point layer in WGS 84. A point that was
 * measured in S-JTSK has its own coordinates among the attributes as well.
 * @param nowIso time of creation, ISO 8601 in UTC
 * @param options a column for the state of the import
 */
export function exportGeoPackage(
  database: Database,
  finds: Iterable<ExportedFind>,
  nowIso: string,
  { states = false }: { readonly states?: boolean } = {},
): void {
  beginGeoPackage(database);
  const names = [
    ...exportColumns().filter((name) => name !== 'geom_x' && name !== 'geom_y'),
    ...['geom_wkt', 'geom_sjtsk_wkt', ...(states ? [STATE_COLUMN] : [])],
  ];
  const columns = names.map((name) => ({ name, type: getColumnType(name) }));
  const features = function* (): Generator<GpkgFeature> {
    for (const find of finds) {
      const values = new Map<string, ExportValue>(collectValues(find));
      const point = getPoint(find.elements);
      const degrees = point === undefined ? undefined : toWgs84Point(point);
      if (degrees?.exact !== undefined) values.set(degrees.exact.column, degrees.exact.wkt);
      if (states && find.state !== undefined) values.set(STATE_COLUMN, find.state);
      const wkb = degrees && encodePoint(degrees.longitude, degrees.latitude);
      yield { wkb, values: names.map((name) => toStoredValue(values.get(name))) };
    }
  };
  addLayer(database, { table: LAYER, columns, geometry: 'POINT', nowIso }, features());
}

export function getColumnType(column: string): GpkgColumn['type'] {
  if (!isElementName(column)) return 'text';
  switch (getField(column).kind) {
    case 'integer':
    case 'state':
      return 'integer';
    case 'date':
      return 'date';
    case 'boolean':
      return 'boolean';
    default:
      return 'text';
  }
}

function toStoredValue(value: ExportValue | undefined): string | number | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return withMarkKept(value);
  return typeof value === 'boolean' ? Number(value) : value;
}
