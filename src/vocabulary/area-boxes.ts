import type { BoundingBox, Polygon } from '../geo/polygon.ts';
import { parsePolygon } from '../geo/polygon.ts';
import { termsById } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Rows of the terms of a set whose box touches `box`, in degrees. `cross join` keeps SQLite from looking at each of the set's terms
 * first, which takes a hundred times longer.
 */
export function areasTouching(vocabulary: Vocabulary, setSpec: string, box: BoundingBox): number[] {
  return vocabulary
    .sql(
      `select area_boxes.term from area_boxes cross join terms on terms.id = area_boxes.term
       where min_lon <= :maxX and max_lon >= :minX and min_lat <= :maxY and max_lat >= :minY
         and terms.source = :source and terms.set_spec = :set and terms.gone is null`,
    )
    .pluck()
    .all({ ...box, source: vocabulary.source, set: setSpec }) as number[];
}

/** The boundary of a term that has one. */
export function boundaryOf(vocabulary: Vocabulary, term: number): Polygon {
  return parsePolygon(String(vocabulary.sql('select boundary from areas where term = ?').pluck().get(term)));
}

type NamedArea = { readonly ident: string; readonly label: string; readonly polygon: Polygon };

/** The harvested areas of a set that may lie in a box, by name. */
export function namedAreas(vocabulary: Vocabulary, setSpec: string, box: BoundingBox): NamedArea[] {
  const ids = areasTouching(vocabulary, setSpec, box);
  const areas = [...termsById(vocabulary, ids)].map(([id, { ident, label }]) => ({
    ident,
    label,
    polygon: boundaryOf(vocabulary, id),
  }));
  return areas.sort((a, b) => (a.label < b.label ? -1 : Number(a.label > b.label)));
}
