import { geometryElements, readGeometry } from '../pas/geometry.ts';
import type { Body } from '../records/record.ts';
import { ShapeError } from '../shape.ts';
import { gmlPolygons, type Position, polygonsOfWkt, positionOf, wktPolygons } from './geometry.ts';
import type { Area } from './registers.ts';

/** What follows from a place: its geometry in both systems and the areas that it lies in. */
export type Place = { readonly geometry: Body; readonly area: string | undefined; readonly district: string | undefined };

/** Derives from positions what the service would (contract, Rules on fields 3). */
export class Places {
  readonly #areas: readonly Area[];

  constructor(areas: readonly Area[]) {
    this.#areas = areas;
  }

  /** @param value longitude and latitude. @throws ShapeError */
  ofPoint(value: unknown, place: string): Place {
    const position = positionOf(Array.isArray(value) ? value : [], place);
    const area = this.#areas.find(({ polygons }) => polygons.some((rings) => isInside(position, rings)));
    const geometry = geometryElements(inBothSystems(position, place));
    return { geometry, area: area?.ident, district: area?.district };
  }

  /** @param value a WKT polygon of longitude and latitude. @throws ShapeError */
  geometryOfPolygon(value: unknown, place: string): Body {
    if (typeof value !== 'string') throw new ShapeError(place, 'must be a WKT text');
    const polygons = polygonsOfWkt(value, place);
    const inSJtsk = polygons.map((rings) => rings.map((ring) => ring.map((position) => projected(position, place))));
    return {
      geom_gml: gmlPolygons(polygons, '4326'),
      geom_wkt: wktPolygons(polygons, '4326'),
      geom_sjtsk_gml: gmlPolygons(inSJtsk, '5514'),
      geom_sjtsk_wkt: wktPolygons(inSJtsk, '5514'),
    };
  }
}

function inBothSystems([longitude, latitude]: Position, place: string): Exclude<ReturnType<typeof readGeometry>, string> {
  const geometry = readGeometry(`POINT(${longitude} ${latitude})`, '4326', false);
  if (typeof geometry === 'string') throw new ShapeError(place, 'lies outside the range of S-JTSK: longitude comes first');
  return geometry;
}

function projected(position: Position, place: string): Position {
  const [x, y] = inBothSystems(position, place).sjtsk;
  return [Number(x), Number(y)];
}

/** Inside the outer ring and in no hole: a ray from the position crosses the rings an odd number of times. */
function isInside([x, y]: Position, rings: readonly Position[][]): boolean {
  let inside = false;
  for (const ring of rings) {
    ring.forEach(([ax, ay], index) => {
      const [bx, by] = ring[(index + 1) % ring.length] ?? [ax, ay];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    });
  }
  return inside;
}
