import { openSqlite } from '../../src/base/disk/database.ts';

export type GeoPackageLayer = {
  readonly name: string;
  readonly type?: string;
  /** EPSG code. */
  readonly system?: number;
  /** Geometry, or null, and attributes. */
  readonly features: readonly (readonly [
    Buffer | string | null,
    Readonly<Record<string, string | number | Buffer>>,
  ])[];
};

/** A GeoPackage as other programs write it: only the tables that a reader needs. */
export function makeGeoPackage(layers: readonly GeoPackageLayer[]): Buffer {
  const database = openSqlite(':memory:');
  database.pragma('application_id = 1196444487');
  database.exec(`
    create table gpkg_spatial_ref_sys (srs_name text, srs_id integer primary key, organization text, organization_coordsys_id integer, definition text);
    create table gpkg_contents (table_name text primary key, data_type text, srs_id integer);
    create table gpkg_geometry_columns (table_name text, column_name text, geometry_type_name text, srs_id integer, z integer, m integer);
  `);
  for (const code of new Set(layers.map(({ system }) => system ?? 4326))) {
    database
      .prepare(`insert into gpkg_spatial_ref_sys values ('', ?, 'EPSG', ?, '')`)
      .run(code, code);
  }
  for (const { name, type = 'POINT', system = 4326, features } of layers) {
    const columns = [...new Set(features.flatMap(([, attributes]) => Object.keys(attributes)))];
    database.exec(
      `create table "${name}" (fid integer primary key, geom blob${columns.map((column) => `, "${column}"`).join('')})`,
    );
    database.prepare(`insert into gpkg_contents values (?, 'features', ?)`).run(name, system);
    database
      .prepare(`insert into gpkg_geometry_columns values (?, 'geom', ?, ?, 0, 0)`)
      .run(name, type, system);
    const places = columns.map(() => ', ?').join('');
    const insert = database.prepare(`insert into "${name}" values (null, ?${places})`);
    for (const [geometry, attributes] of features)
      insert.run(geometry, ...columns.map((column) => attributes[column] ?? null));
  }
  const bytes = database.serialize();
  database.close();
  return bytes;
}

type Form = {
  readonly bigEndian?: boolean;
  readonly z?: boolean;
  readonly envelope?: boolean;
  readonly multi?: number;
};

/** A geometry of GeoPackage with a point, in the forms that programs write. */
export function pointBlob(
  x: number,
  y: number,
  { bigEndian = false, z = false, envelope = false, multi }: Form = {},
): Buffer {
  const header = Buffer.from([0x47, 0x50, 0, (bigEndian ? 0 : 1) | (envelope ? 2 : 0), 0, 0, 0, 0]);
  const bounds = envelope ? Buffer.alloc(32) : Buffer.alloc(0);
  const integer = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    if (bigEndian) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const double = (value: number): Buffer => {
    const bytes = Buffer.alloc(8);
    if (bigEndian) bytes.writeDoubleBE(value);
    else bytes.writeDoubleLE(value);
    return bytes;
  };
  const order = Buffer.from([bigEndian ? 0 : 1]);
  const point = Buffer.concat([
    order,
    integer(z ? 1001 : 1),
    double(x),
    double(y),
    ...(z ? [double(300)] : []),
  ]);
  const body =
    multi === undefined
      ? [point]
      : [order, integer(4), integer(multi), ...Array.from({ length: multi }, () => point)];
  return Buffer.concat([header, bounds, ...body]);
}
