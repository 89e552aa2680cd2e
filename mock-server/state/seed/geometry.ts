import { type Polygon, type Position, parsePolygons, type Ring } from '../../base/polygons.ts';
import { ShapeError } from '../../base/shape.ts';
import type { Body } from '../records/record.ts';

/** @throws ShapeError */
export function parsePolygonsOfWkt(wkt: string, place: string): readonly Polygon[] {
  const polygons = parsePolygons(wkt);
  if (typeof polygons === 'string') throw new ShapeError(place, polygons);
  return polygons;
}

/** @throws ShapeError for anything but longitude and latitude */
export function parsePosition(numbers: readonly unknown[], place: string): Position {
  const [x, y] = numbers;
  if (
    numbers.length !== 2 ||
    typeof x !== 'number' ||
    typeof y !== 'number' ||
    Number.isNaN(x) ||
    Number.isNaN(y)
  ) {
    throw new ShapeError(place, 'a position is two numbers, longitude and latitude');
  }
  return [x, y];
}

/** Makes GML of a position, in the service's comma style (A-ANSWER-5). */
export function makeGmlPoint([x, y]: Position, epsg: string): Body {
  return { 'gml:Point': { '@srsName': `EPSG:${epsg}`, 'gml:coordinates': `${x},${y}` } };
}

/** Makes a `gml:Polygon` of one polygon, a `gml:MultiPolygon` of several. */
export function makeGmlPolygons(polygons: readonly Polygon[], epsg: string): Body {
  const srs = { '@srsName': `EPSG:${epsg}` };
  const [only] = polygons;
  if (polygons.length === 1 && only !== undefined)
    return { 'gml:Polygon': { ...srs, ...makeGmlRings(only) } };
  return {
    'gml:MultiPolygon': {
      ...srs,
      'gml:polygonMember': polygons.map((one) => ({ 'gml:Polygon': makeGmlRings(one) })),
    },
  };
}

function makeGmlRings(rings: readonly Ring[]): Body {
  const [outer, ...inner] = rings.map((ring) => ({
    'gml:LinearRing': { 'gml:coordinates': ring.map(([x, y]) => `${x},${y}`).join(' ') },
  }));
  return {
    'gml:outerBoundaryIs': outer ?? '',
    ...(inner.length === 0 ? {} : { 'gml:innerBoundaryIs': inner }),
  };
}

/** Makes the WKT of a position, with its system as attribute. */
export function makeWktPoint([x, y]: Position, epsg: string): Body {
  return { '@EPSG': epsg, '#': `POINT(${x} ${y})` };
}

/** Makes a WKT `POLYGON` of one polygon, a `MULTIPOLYGON` of several. */
export function makeWktPolygons(polygons: readonly Polygon[], epsg: string): Body {
  const texts = polygons.map(
    (rings) =>
      `(${rings.map((ring) => `(${ring.map(([x, y]) => `${x} ${y}`).join(', ')})`).join(', ')})`,
  );
  return {
    '@EPSG': epsg,
    '#': texts.length === 1 ? `POLYGON${texts[0]}` : `MULTIPOLYGON(${texts.join(', ')})`,
  };
}
