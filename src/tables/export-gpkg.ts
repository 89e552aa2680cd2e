import { fieldOf, isElementName } from '../find/fields.ts';
import type { Database } from '../store/database.ts';
import { withMarkKept } from '../text/csv.ts';
import { type ExportedFind, type ExportValue, exportColumns, pointOf, STATE_COLUMN, valuesOf, wgs84Of } from './exported-find.ts';
import { addLayer, beginGeoPackage, type GpkgColumn, type GpkgFeature, pointShape } from './gpkg-layers.ts';

export const LAYER = 'finds';

/**
 * Fills an empty database with a GeoPackage (1.3) of one point layer in WGS 84. A point that was measured in S-JTSK has its own
 * coordinates among the attributes as well.
 * @param nowIso time of creation, ISO 8601 in UTC
 * @param options columns for labels and for the state of the import
 */
export function exportGeoPackage(
  database: Database,
  finds: Iterable<ExportedFind>,
  nowIso: string,
  { labels = false, states = false }: { readonly labels?: boolean; readonly states?: boolean } = {},
): void {
  beginGeoPackage(database);
  const names = [
    ...exportColumns(labels).filter((name) => name !== 'geom_x' && name !== 'geom_y'),
    ...['geom_wkt', 'geom_sjtsk_wkt', ...(states ? [STATE_COLUMN] : [])],
  ];
  const columns = names.map((name) => ({ name, type: columnTypeOf(name) }));
  const features = function* (): Generator<GpkgFeature> {
    for (const find of finds) {
      const values = new Map<string, ExportValue>(valuesOf(find));
      const point = pointOf(find.elements);
      const degrees = point === undefined ? undefined : wgs84Of(point);
      if (degrees?.exact !== undefined) values.set(degrees.exact.column, degrees.exact.wkt);
      if (states && find.state !== undefined) values.set(STATE_COLUMN, find.state);
      const shape = degrees === undefined ? undefined : pointShape(degrees.longitude, degrees.latitude);
      yield { shape, values: names.map((name) => storedValue(values.get(name))) };
    }
  };
  addLayer(database, { table: LAYER, columns, geometry: 'POINT', nowIso }, features());
}

export function columnTypeOf(column: string): GpkgColumn['type'] {
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
  if (typeof value === 'string') return withMarkKept(value);
  return typeof value === 'boolean' ? Number(value) : value;
}
