import type { Point } from './geometry.ts';

/** `[x0, y0, x1, y1, …]` of a closed ring, first point repeated at the end. */
type Ring = Float64Array;

export type BoundingBox = {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
};

/**
 * One or more surfaces with holes, in degrees. A point is inside where an odd number of rings
 * surrounds it.
 */
export type Polygon = { readonly rings: readonly Ring[]; readonly box: BoundingBox };

/** Both radii of WGS 84: a mean length of a degree is not exact enough over 100 m of boundary. */
const WGS84_A_M = 6_378_137;
const WGS84_E2 = 0.00669437999014;

/**
 * Parses `POLYGON` and `MULTIPOLYGON` (OGC 06-103r4, 7.2.2) in upper or lower case.
 * @throws RangeError where the text is something else, a ring is not closed, or a ring has fewer
 * than four points
 */
export function parsePolygon(wkt: string): Polygon {
  const match = /^(multi)?polygon\s*(?:(?:z|m|zm)\s*)?(\([\s\S]*\))$/i.exec(wkt.trim());
  if (match === null) throw new RangeError(`not a POLYGON or MULTIPOLYGON: ${wkt.slice(0, 40)}`);
  const [, multi, body = ''] = match;
  if (getBracketDepth(body) !== (multi === undefined ? 2 : 3))
    throw new RangeError('the brackets of the polygon do not match');
  if (!/^[\s(),]*$/.test(body.replace(/\([^()]*\)/g, '')))
    throw new RangeError('there is text between the rings of the polygon');
  const rings = [...body.matchAll(/\(([^()]*)\)/g)].map(([, points = '']) => parseRing(points));
  return { rings, box: getBoundingBox(rings) };
}

/** Tells if a point is inside or on the boundary. Rings may have any direction and order. */
export function isInPolygon(polygon: Polygon, lon: number, lat: number): boolean {
  const { minX, minY, maxX, maxY } = polygon.box;
  if (lon < minX || lon > maxX || lat < minY || lat > maxY) return false;
  let inside = false;
  let onBoundary = false;
  forEachSegment(polygon, (x1, y1, x2, y2) => {
    const side = (x2 - x1) * (lat - y1) - (lon - x1) * (y2 - y1);
    const within =
      lon >= Math.min(x1, x2) &&
      lon <= Math.max(x1, x2) &&
      lat >= Math.min(y1, y2) &&
      lat <= Math.max(y1, y2);
    onBoundary ||= side === 0 && within;
    // The interval is half-open in y, so that a ray through a vertex counts once.
    if (y1 > lat !== y2 > lat && side > 0 === y2 > y1) inside = !inside;
  });
  return inside || onBoundary;
}

/**
 * Returns the metres from a point, inside or outside, to the nearest boundary, holes included. It
 * computes in the tangent plane at the point: within 0.1 % up to 50 km.
 */
export function computeDistanceToPolygonM(polygon: Polygon, lon: number, lat: number): number {
  const [mPerLon, mPerLat] = computeMetresPerDegree(lat);
  let nearestSquared = Number.POSITIVE_INFINITY;
  forEachSegment(polygon, (lon1, lat1, lon2, lat2) => {
    const x = (lon1 - lon) * mPerLon;
    const y = (lat1 - lat) * mPerLat;
    const dx = (lon2 - lon1) * mPerLon;
    const dy = (lat2 - lat1) * mPerLat;
    const lengthSquared = dx * dx + dy * dy;
    const along =
      lengthSquared === 0 ? 0 : Math.min(1, Math.max(0, -(x * dx + y * dy) / lengthSquared));
    nearestSquared = Math.min(nearestSquared, (x + along * dx) ** 2 + (y + along * dy) ** 2);
  });
  return Math.sqrt(nearestSquared);
}

/** Returns the metres of one degree of longitude and of latitude at a latitude. */
export function computeMetresPerDegree(lat: number): Point {
  const phi = (lat * Math.PI) / 180;
  const w2 = 1 - WGS84_E2 * Math.sin(phi) ** 2;
  const meridian = (WGS84_A_M * (1 - WGS84_E2)) / (w2 * Math.sqrt(w2));
  const parallel = (WGS84_A_M / Math.sqrt(w2)) * Math.cos(phi);
  return [(parallel * Math.PI) / 180, (meridian * Math.PI) / 180];
}

function forEachSegment(
  polygon: Polygon,
  take: (x1: number, y1: number, x2: number, y2: number) => void,
): void {
  for (const ring of polygon.rings) {
    for (let i = 0; i + 3 < ring.length; i += 2)
      take(ring[i] ?? 0, ring[i + 1] ?? 0, ring[i + 2] ?? 0, ring[i + 3] ?? 0);
  }
}

function parseRing(text: string): Ring {
  const numbers = text.split(',').flatMap((point) => {
    const coordinates = point.trim().split(/\s+/).map(Number);
    if (coordinates.length < 2 || !coordinates.every(Number.isFinite))
      throw new RangeError(`not a point: ${point.trim()}`);
    return coordinates.slice(0, 2);
  });
  const ring = Float64Array.from(numbers);
  if (ring.length < 8) throw new RangeError('a ring needs at least four points');
  if (ring[0] !== ring.at(-2) || ring[1] !== ring.at(-1))
    throw new RangeError('a ring is not closed');
  return ring;
}

function getBoundingBox(rings: readonly Ring[]): BoundingBox {
  let minX = Infinity;
  let minY = Infinity;
  let maxX = -Infinity;
  let maxY = -Infinity;
  for (const ring of rings) {
    ring.forEach((value, index) => {
      if (index % 2 === 0) {
        minX = Math.min(minX, value);
        maxX = Math.max(maxX, value);
      } else {
        minY = Math.min(minY, value);
        maxY = Math.max(maxY, value);
      }
    });
  }
  return { minX, minY, maxX, maxY };
}

/** Returns the deepest level of brackets; -1 where they do not match. */
function getBracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '(') deepest = Math.max(deepest, ++depth);
    else if (character === ')' && --depth < 0) return -1;
  }
  return depth === 0 ? deepest : -1;
}
