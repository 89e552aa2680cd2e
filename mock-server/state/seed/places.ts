import { isPointCovered, type Position } from '../../base/polygons.ts';
import { ShapeError } from '../../base/shape.ts';
import { makeGeometryElements, parseFindPoint } from '../records/geometry.ts';
import type { Body } from '../records/record.ts';
import { makeGmlPolygons, makeWktPolygons, parsePolygonsOfWkt, parsePosition } from './geometry.ts';
import type { Area } from './registers.ts';

/** Derived values of a place: geometry in both systems, and the areas that contain it. */
type Place = {
  readonly geometry: Body;
  readonly area: string | undefined;
  readonly district: string | undefined;
};

/** Derives geometry and areas from positions, as the service does (A-POINT-2). */
export class Places {
  readonly #areas: readonly Area[];

  constructor(areas: readonly Area[]) {
    this.#areas = areas;
  }

  /**
   * @param value longitude and latitude.
   * @throws ShapeError
   */
  locatePoint(value: unknown, place: string): Place {
    const position = parsePosition(Array.isArray(value) ? value : [], place);
    const area = this.#areas.find(({ polygons }) => isPointCovered(polygons, position));
    const geometry = makeGeometryElements(toBothSystems(position, place));
    return { geometry, area: area?.ident, district: area?.district };
  }

  /**
   * @param value a WKT polygon of longitude and latitude.
   * @throws ShapeError
   */
  makeGeometryOfPolygon(value: unknown, place: string): Body {
    if (typeof value !== 'string') throw new ShapeError(place, 'must be a WKT text');
    const polygons = parsePolygonsOfWkt(value, place);
    const inSJtsk = polygons.map((rings) =>
      rings.map((ring) => ring.map((position) => projectPosition(position, place))),
    );
    return {
      geom_gml: makeGmlPolygons(polygons, '4326'),
      geom_wkt: makeWktPolygons(polygons, '4326'),
      geom_sjtsk_gml: makeGmlPolygons(inSJtsk, '5514'),
      geom_sjtsk_wkt: makeWktPolygons(inSJtsk, '5514'),
    };
  }
}

function toBothSystems(
  [longitude, latitude]: Position,
  place: string,
): Exclude<ReturnType<typeof parseFindPoint>, string> {
  const geometry = parseFindPoint(`POINT(${longitude} ${latitude})`, '4326', false);
  if (typeof geometry === 'string')
    throw new ShapeError(place, 'lies outside the range of S-JTSK: longitude comes first');
  return geometry;
}

function projectPosition(position: Position, place: string): Position {
  const [x, y] = toBothSystems(position, place).sjtsk;
  return [Number(x), Number(y)];
}
