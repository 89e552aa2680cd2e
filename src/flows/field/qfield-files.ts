import { FINDS_LAYER, FORM_TABLE, type FormColumn, PHOTOS_LAYER } from '../../find/form-names.ts';
import { parsePolygon } from '../../place/polygon.ts';
import { multiPolygonWkb } from '../../place/wkb.ts';
import type { LayerColumn } from '../../qgis/layer.ts';
import { databaseImage } from '../../store/database.ts';
import { addLayer, beginGeoPackage, type GpkgColumn } from '../../tables/gpkg-layers.ts';
import type { BoundedArea } from '../../vocabulary/areas.ts';
import type { FormChoice } from './form-lists.ts';

export const LISTS_FILE = 'lists.gpkg';
export const PROJECT_FILE = 'finds.qgs';
export const AREAS_LAYER = 'cadastral_areas';

const FORM_COLUMNS = columnsOf('layer', 'column', 'meaning');
export const PHOTO_COLUMNS = columnsOf('find', 'photo');
const LIST_COLUMNS = columnsOf('id', 'label', 'above');
const AREA_COLUMNS = columnsOf('id', 'label');

function columnsOf(...names: readonly string[]): readonly GpkgColumn[] {
  return names.map((name) => ({ name, type: 'text' }));
}

/** Makes the GeoPackage that collects finds: without finds and photographs, with the meaning of each column. */
export function findsFile(columns: readonly LayerColumn[], meanings: readonly FormColumn[], nowIso: string): Buffer {
  return databaseImage((database) => {
    beginGeoPackage(database);
    addLayer(database, { table: FINDS_LAYER, columns, geometry: 'POINT', nowIso }, []);
    addLayer(database, { table: PHOTOS_LAYER, columns: PHOTO_COLUMNS, nowIso }, []);
    const rows = meanings.map(({ layer, column, meaning }) => ({ values: [layer, column, meaning] }));
    addLayer(database, { table: FORM_TABLE, columns: FORM_COLUMNS, nowIso }, rows);
  });
}

/** Makes the GeoPackage of read-only data: lists by layer, and cadastral areas where there are any. */
export function listsFile(
  lists: ReadonlyMap<string, readonly FormChoice[]>,
  areas: readonly BoundedArea[],
  nowIso: string,
): Buffer {
  return databaseImage((database) => {
    beginGeoPackage(database);
    for (const [table, choices] of lists) {
      const rows = choices.map(({ name, label, above }) => ({ values: [name, label, above.join(' ')] }));
      addLayer(database, { table, columns: LIST_COLUMNS, nowIso }, rows);
    }
    if (areas.length === 0) return;
    const shapes = areas.map(({ ident, label, boundary }) => {
      const { minX, minY, maxX, maxY } = parsePolygon(boundary).box;
      return { shape: { wkb: multiPolygonWkb(boundary), bounds: [minX, minY, maxX, maxY] as const }, values: [ident, label] };
    });
    addLayer(database, { table: AREAS_LAYER, columns: AREA_COLUMNS, geometry: 'MULTIPOLYGON', nowIso }, shapes);
  });
}
