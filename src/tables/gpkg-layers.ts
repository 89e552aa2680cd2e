import type { Database } from '../store/database.ts';
import { GPKG_TABLES, SPATIAL_REFERENCES } from './gpkg-schema.ts';

/** Header fields of a GeoPackage: `GPKG` and version 1.3. */
const [APPLICATION_ID, USER_VERSION] = [0x47504b47, 10300];

/** Turns an empty database into a GeoPackage (1.3) without layers. */
export function beginGeoPackage(database: Database): void {
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${USER_VERSION}`);
  database.exec(GPKG_TABLES);
  const addSystem = database.prepare('insert into gpkg_spatial_ref_sys values (?, ?, ?, ?, ?, ?)');
  for (const system of SPATIAL_REFERENCES) addSystem.run(...system);
}

export type GpkgColumn = { readonly name: string; readonly type: 'text' | 'integer' | 'date' | 'boolean' };

type NewLayer = {
  readonly table: string;
  readonly columns: readonly GpkgColumn[];
  /** Geometry in WGS 84; absent for a table of attributes. */
  readonly geometry?: 'POINT' | 'MULTIPOLYGON';
  /** Time of creation, ISO 8601 in UTC. */
  readonly nowIso: string;
};

type Bounds = readonly [minX: number, minY: number, maxX: number, maxY: number];

export type GpkgFeature = {
  /** Little-endian well-known binary, and its bounds in degrees. */
  readonly shape?: { readonly wkb: Buffer; readonly bounds: Bounds } | undefined;
  /** In the order of the columns. */
  readonly values: readonly (string | number | null)[];
};

/** Adds a layer, or a table of attributes, with its rows. */
export function addLayer(database: Database, layer: NewLayer, features: Iterable<GpkgFeature>): void {
  const { table, columns, geometry, nowIso } = layer;
  const shape = geometry === undefined ? [] : ['geom'];
  const definitions = [
    'fid integer primary key autoincrement not null',
    ...shape.map((name) => `${name} ${geometry}`),
    ...columns.map(({ name, type }) => `"${name}" ${type}`),
  ];
  database.exec(`create table "${table}" (${definitions.join(', ')})`);
  const names = [...shape, ...columns.map(({ name }) => `"${name}"`)];
  const insert = database.prepare(`insert into "${table}" (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`);
  let box: Bounds | undefined;
  database.transaction(() => {
    for (const { shape: own, values } of features) {
      if (own !== undefined) box = box === undefined ? own.bounds : around(box, own.bounds);
      insert.run(...shape.map(() => (own === undefined ? null : geometryBlob(own.wkb))), ...values);
    }
  })();
  const [kind, system] = geometry === undefined ? ['attributes', null] : ['features', 4326];
  database
    .prepare(`insert into gpkg_contents values (?, ?, ?, '', ?, ?, ?, ?, ?, ?)`)
    .run(table, kind, table, nowIso, ...(box ?? [null, null, null, null]), system);
  if (geometry === undefined) return;
  database.prepare(`insert into gpkg_geometry_columns values (?, 'geom', ?, 4326, 0, 0)`).run(table, geometry);
}

/** Makes the shape of a point; degrees. */
export function pointShape(longitude: number, latitude: number): NonNullable<GpkgFeature['shape']> {
  const wkb = Buffer.alloc(21);
  wkb.writeUInt8(1, 0);
  wkb.writeUInt32LE(1, 1);
  wkb.writeDoubleLE(longitude, 5);
  wkb.writeDoubleLE(latitude, 13);
  return { wkb, bounds: [longitude, latitude, longitude, latitude] };
}

/** Header without envelope, then well-known binary (GeoPackage 1.3, 2.1.3), little-endian. */
function geometryBlob(wkb: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write('GP', 0, 'latin1');
  header.writeUInt8(1, 3);
  header.writeInt32LE(4326, 4);
  return Buffer.concat([header, wkb]);
}

function around(one: Bounds, other: Bounds): Bounds {
  return [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])];
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
