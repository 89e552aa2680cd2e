import { fieldOf, isElementName } from '../find/fields.ts';
import type { Database } from '../store/database.ts';
import { type ExportedFind, type ExportValue, exportColumns, pointOf, valuesOf, wgs84Of } from './exported-find.ts';
import { GPKG_TABLES, SPATIAL_REFERENCES } from './gpkg-schema.ts';

const LAYER = 'finds';
/** `GPKG` and version 1.3, as the file's header carries them. */
const [APPLICATION_ID, USER_VERSION] = [0x47504b47, 10300];

/**
 * Fills an empty database with a GeoPackage (1.3) of one layer of points in WGS 84. A point that was measured in S-JTSK has its
 * own coordinates among the attributes as well.
 *
 * @param nowIso when it was made, as ISO 8601 in UTC
 */
export function exportGeoPackage(database: Database, finds: Iterable<ExportedFind>, nowIso: string, labels = false): void {
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${USER_VERSION}`);
  database.exec(GPKG_TABLES);
  const addSystem = database.prepare('insert into gpkg_spatial_ref_sys values (?, ?, ?, ?, ?, ?)');
  for (const system of SPATIAL_REFERENCES) addSystem.run(...system);
  const columns = [
    ...exportColumns(labels).filter((name) => name !== 'geom_x' && name !== 'geom_y'),
    'geom_wkt',
    'geom_sjtsk_wkt',
  ];
  const definitions = columns.map((name) => `${name} ${typeOf(name)}`).join(', ');
  database.exec(`create table ${LAYER} (fid integer primary key autoincrement not null, geom point, ${definitions})`);
  const insert = database.prepare(
    `insert into ${LAYER} (geom, ${columns.join(', ')}) values (?, ${columns.map(() => '?').join(', ')})`,
  );
  const box = new Box();
  database.transaction(() => {
    for (const find of finds) {
      const values = new Map<string, ExportValue>(valuesOf(find));
      const point = pointOf(find.elements);
      const degrees = point === undefined ? undefined : wgs84Of(point);
      if (degrees?.exact !== undefined) values.set(degrees.exact.column, degrees.exact.wkt);
      if (degrees !== undefined) box.add(degrees.longitude, degrees.latitude);
      const geometry = degrees === undefined ? null : pointBlob(degrees.longitude, degrees.latitude);
      insert.run(geometry, ...columns.map((name) => storedValue(values.get(name))));
    }
  })();
  database
    .prepare(`insert into gpkg_contents values (?, 'features', 'finds', '', ?, ?, ?, ?, ?, 4326)`)
    .run(LAYER, nowIso, ...box.bounds());
  database.prepare(`insert into gpkg_geometry_columns values (?, 'geom', 'POINT', 4326, 0, 0)`).run(LAYER);
}

function typeOf(column: string): string {
  if (!isElementName(column)) return 'text';
  switch (fieldOf(column).kind) {
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

function storedValue(value: ExportValue | undefined): string | number | null {
  if (value === undefined) return null;
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Header without envelope, then well-known binary (GeoPackage 1.3, 2.1.3), all little-endian. */
function pointBlob(longitude: number, latitude: number): Buffer {
  const blob = Buffer.alloc(29);
  blob.write('GP', 0, 'latin1');
  blob.writeUInt8(1, 3);
  blob.writeInt32LE(4326, 4);
  blob.writeUInt8(1, 8);
  blob.writeUInt32LE(1, 9);
  blob.writeDoubleLE(longitude, 13);
  blob.writeDoubleLE(latitude, 21);
  return blob;
}

class Box {
  #bounds: readonly [number, number, number, number] | undefined;

  add(x: number, y: number): void {
    const [minX, minY, maxX, maxY] = this.#bounds ?? [x, y, x, y];
    this.#bounds = [Math.min(minX, x), Math.min(minY, y), Math.max(maxX, x), Math.max(maxY, y)];
  }

  /** min x, min y, max x, max y; nulls for no points. */
  bounds(): readonly (number | null)[] {
    return this.#bounds ?? [null, null, null, null];
  }
}
