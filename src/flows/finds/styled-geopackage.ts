import { t } from '../../base/language.ts';
import type { EntryState } from '../../outbox/entry.ts';
import { renderLabels, renderPoints } from '../../qgis/layer.ts';
import { fillTemplate } from '../../qgis/template.ts';
import type { Database } from '../../store/database.ts';
import { type ExportedFind, STATE_COLUMN } from '../../tables/exported-find.ts';
import {
  addLayer,
  addStyles,
  exportGeoPackage,
  type GpkgFeature,
  LAYER,
} from '../../tables/gpkg-layers.ts';
import { STATE_WORDS } from './entry-words.ts';

const PHOTOGRAPHS = 'photographs';
const PHOTO_COLUMNS = ['local_id', 'name', 'path'].map((name) => ({ name, type: 'text' as const }));

const COLOURS = {
  draft: '190,190,190,255',
  queued: '253,191,111,255',
  sending: '166,206,227,255',
  accepted: '51,160,44,255',
  refused: '227,26,28,255',
  uncertain: '106,61,154,255',
  dropped: '90,90,90,255',
} as const satisfies Readonly<Record<EntryState, string>>;

/**
 * Fills an empty database with a GeoPackage that QGIS displays with a default style: finds in a
 * colour per sending state with their object type as label, and a table of the paths of their
 * photographs on this machine.
 */
export function exportStyledGeoPackage(
  database: Database,
  finds: Iterable<ExportedFind>,
  nowIso: string,
): void {
  const photographs: GpkgFeature[] = [];
  const noted = function* (): Generator<ExportedFind> {
    for (const find of finds) {
      for (const { name, path } of find.photoFiles ?? [])
        photographs.push({ values: [find.localId, name, path] });
      yield find;
    }
  };
  exportGeoPackage(database, noted(), nowIso, { states: true });
  addLayer(database, { table: PHOTOGRAPHS, columns: PHOTO_COLUMNS, nowIso }, photographs);
  const called = 'coalesce("druh_nalezu", "local_id")';
  const categories = Object.entries(COLOURS).map(([state, colour]) => ({
    value: state,
    label: String(STATE_WORDS[state as EntryState]),
    colour,
  }));
  const others = { value: '', label: t`not queued`, colour: '255,255,255,255' } as const;
  const style = renderPoints(STATE_COLUMN, [...categories, others]) + renderLabels(called);
  addStyles(database, nowIso, [
    {
      table: LAYER,
      geometry: 'geom',
      qml: fillTemplate('layer.qml', { style, called, isLabelled: true }),
    },
    {
      table: PHOTOGRAPHS,
      geometry: '',
      qml: fillTemplate('layer.qml', { called: '"name"', picture: 'path', isLabelled: false }),
    },
  ]);
}
