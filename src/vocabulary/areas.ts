import type { LookupArea, TermCandidate } from '../find/lookup.ts';
import { type BoundingBox, contains, distanceM, metresPerDegree, type Polygon, parsePolygon } from '../place/polygon.ts';
import { createRowParser, isNumber, isText, parseValue } from '../store/row.ts';
import { compareCzech } from '../text/names.ts';
import { isHarvested } from './harvests.ts';
import type { Vocabulary } from './term.ts';
import { candidateOf, termsById } from './terms.ts';

const AREA_SET = 'ruian_katastr';

/** Margins in degrees around a point in which the nearest area is searched, one after another. */
const SEARCH_MARGINS = [0.02, 0.2, 2, 20];

/** Caches parsed boundaries and names, and tries the last area first: the finds of one table are close together. */
export function makeAreaLookup(vocabulary: Vocabulary): LookupArea {
  const polygons = new Map<number, Polygon>();
  const names = new Map<number, TermCandidate>();
  const nameOf = (term: number): TermCandidate => {
    const name = names.get(term) ?? areaOf(vocabulary, term);
    names.set(term, name);
    return name;
  };
  const polygonOf = (term: number): Polygon => {
    const polygon = polygons.get(term) ?? boundaryOf(vocabulary, term);
    polygons.set(term, polygon);
    return polygon;
  };
  let last: number | undefined;
  let harvested: boolean | undefined;
  return (longitude, latitude) => {
    const holds = (term: number): boolean => contains(polygonOf(term), longitude, latitude);
    const holder =
      last !== undefined && holds(last)
        ? last
        : areasTouching(vocabulary, AREA_SET, squareAround(longitude, latitude, 0)).find(holds);
    last = holder;
    if (holder !== undefined) return { kind: 'inside', area: nameOf(holder) };
    harvested ??= isHarvested(vocabulary, AREA_SET);
    if (!harvested) return { kind: 'not-harvested' };
    const [lonM, latM] = metresPerDegree(latitude);
    let nearest: { readonly term: number; readonly distanceM: number } | undefined;
    for (const margin of SEARCH_MARGINS) {
      for (const term of areasTouching(vocabulary, AREA_SET, squareAround(longitude, latitude, margin))) {
        const metres = distanceM(polygonOf(term), longitude, latitude);
        if (nearest === undefined || metres < nearest.distanceM) nearest = { term, distanceM: metres };
      }
      // An area outside the searched square may be nearer than one whose box reaches into it.
      if (nearest !== undefined && nearest.distanceM <= margin * Math.min(lonM, latM)) break;
    }
    if (nearest !== undefined) return { kind: 'outside', nearest: nameOf(nearest.term), distanceM: nearest.distanceM };
    return { kind: 'outside' };
  };
}

function squareAround(longitude: number, latitude: number, margin: number): BoundingBox {
  return { minX: longitude - margin, minY: latitude - margin, maxX: longitude + margin, maxY: latitude + margin };
}

function areaOf(vocabulary: Vocabulary, id: number): TermCandidate {
  const term = termsById(vocabulary, [id]).get(id);
  if (term === undefined) throw new Error(`area ${id} has no term`);
  return candidateOf(term);
}

/**
 * Returns rows of the terms of a set whose box touches `box`, in degrees. `cross join` makes SQLite use the spatial index first;
 * iterating the set's terms takes a hundred times longer.
 */
function areasTouching(vocabulary: Vocabulary, setSpec: string, box: BoundingBox): number[] {
  return vocabulary
    .sql(
      `select area_boxes.term from area_boxes cross join terms on terms.id = area_boxes.term
       where min_lon <= :maxX and max_lon >= :minX and min_lat <= :maxY and max_lat >= :minY
         and terms.source = :source and terms.set_spec = :set and terms.gone is null`,
    )
    .pluck()
    .all({ ...box, source: vocabulary.source, set: setSpec })
    .map((term) => parseValue(isNumber, term));
}

function boundaryOf(vocabulary: Vocabulary, term: number): Polygon {
  return parsePolygon(String(vocabulary.sql('select boundary from areas where term = ?').pluck().get(term)));
}

type NamedArea = { readonly ident: string; readonly label: string; readonly polygon: Polygon };

/** Returns the harvested areas of a set that may lie in a box, by name. */
export function namedAreas(vocabulary: Vocabulary, setSpec: string, box: BoundingBox): NamedArea[] {
  const ids = areasTouching(vocabulary, setSpec, box);
  const areas = [...termsById(vocabulary, ids)].map(([id, { ident, label }]) => ({
    ident,
    label,
    polygon: boundaryOf(vocabulary, id),
  }));
  return areas.sort((a, b) => compareCzech(a.label, b.label));
}

/** An area with its boundary, as WKT in WGS 84. */
const parseArea = createRowParser({ ident: isText, label: isText, boundary: isText });
export type BoundedArea = ReturnType<typeof parseArea>;

/** Returns the harvested areas of a set directly below one of the given ones, by name; only those with a boundary. */
export function areasBelow(vocabulary: Vocabulary, setSpec: string, superiors: readonly string[]): readonly BoundedArea[] {
  const areas = vocabulary
    .sql(
      `select terms.ident, terms.label, areas.boundary from terms join areas on areas.term = terms.id
       where terms.source = :source and terms.set_spec = :set and terms.gone is null
         and exists (select 1 from superiors where term = terms.id and superior in (select value from json_each(:superiors)))
       order by terms.ident`,
    )
    .all({ source: vocabulary.source, set: setSpec, superiors: JSON.stringify(superiors) })
    .map(parseArea);
  return areas.sort((a, b) => compareCzech(a.label, b.label));
}
