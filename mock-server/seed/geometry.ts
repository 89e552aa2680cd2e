import type { Body } from '../records/record.ts';
import { ShapeError } from '../shape.ts';

export type Position = readonly [number, number];

/** The rings of each polygon of a WKT polygon or multipolygon. @throws ShapeError */
export function polygonsOfWkt(wkt: string, place: string): Position[][][] {
  const found = /^(MULTI)?POLYGON *\(\((.+)\)\)$/s.exec(wkt.trim());
  if (found === null) throw new ShapeError(place, 'must be a POLYGON((…)) or a MULTIPOLYGON(((…))) of longitude and latitude');
  const polygons = found[1] === undefined ? [found[2] ?? ''] : (found[2] ?? '').replace(/^\(|\)$/g, '').split(/\)\) *, *\(\(/);
  return polygons.map((polygon) => polygon.split(/\) *, *\(/).map((ring) => ringOf(ring, place)));
}

function ringOf(text: string, place: string): Position[] {
  const ring = text.split(',').map((pair) => positionOf(pair.trim().split(/ +/).map(Number), place));
  const [first, last] = [ring[0], ring.at(-1)];
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    throw new ShapeError(place, 'every ring needs at least four positions, of which the last repeats the first');
  }
  return ring;
}

export function positionOf(numbers: readonly unknown[], place: string): Position {
  const [x, y] = numbers;
  if (numbers.length !== 2 || typeof x !== 'number' || typeof y !== 'number' || Number.isNaN(x) || Number.isNaN(y)) {
    throw new ShapeError(place, 'a position is two numbers, longitude and latitude');
  }
  return [x, y];
}

/** GML of a position, in the comma style that the service writes (facts 7). */
export function gmlPoint([x, y]: Position, epsg: string): Body {
  return { 'gml:Point': { '@srsName': `EPSG:${epsg}`, 'gml:coordinates': `${x},${y}` } };
}

export function gmlPolygons(polygons: ReadonlyArray<readonly Position[][]>, epsg: string): Body {
  const srs = { '@srsName': `EPSG:${epsg}` };
  const [only] = polygons;
  if (polygons.length === 1 && only !== undefined) return { 'gml:Polygon': { ...srs, ...gmlRings(only) } };
  return { 'gml:MultiPolygon': { ...srs, 'gml:polygonMember': polygons.map((one) => ({ 'gml:Polygon': gmlRings(one) })) } };
}

function gmlRings(rings: readonly Position[][]): Body {
  const [outer, ...inner] = rings.map((ring) => ({
    'gml:LinearRing': { 'gml:coordinates': ring.map(([x, y]) => `${x},${y}`).join(' ') },
  }));
  return { 'gml:outerBoundaryIs': outer ?? '', ...(inner.length === 0 ? {} : { 'gml:innerBoundaryIs': inner }) };
}

export function wktPoint([x, y]: Position, epsg: string): Body {
  return { '@EPSG': epsg, '#': `POINT(${x} ${y})` };
}

export function wktPolygons(polygons: ReadonlyArray<readonly Position[][]>, epsg: string): Body {
  const texts = polygons.map(
    (rings) => `(${rings.map((ring) => `(${ring.map(([x, y]) => `${x} ${y}`).join(', ')})`).join(', ')})`,
  );
  return { '@EPSG': epsg, '#': texts.length === 1 ? `POLYGON${texts[0]}` : `MULTIPOLYGON(${texts.join(', ')})` };
}
