import type { Point } from './geometry.ts';

/** A closed ring, its first point repeated at the end. */
export type Ring = readonly Point[];

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
 * @throws RangeError as {@link parseSurfaces}
 */
export function parsePolygon(wkt: string): Polygon {
  const rings = parseSurfaces(wkt).flat();
  return { rings, box: makeBoxAround(rings.flat()) };
}

const RING = String.raw`\([^()]*\)`;
const SURFACE = String.raw`\(\s*${RING}(?:\s*,\s*${RING})*\s*\)`;
const POLYGON = new RegExp(
  String.raw`^(?:polygon\s*(?:(?:z|m|zm)\s*)?${SURFACE}|multipolygon\s*(?:(?:z|m|zm)\s*)?\(\s*${SURFACE}(?:\s*,\s*${SURFACE})*\s*\))$`,
  'i',
);

/**
 * Parses the surfaces of a `POLYGON` or `MULTIPOLYGON`, each with its rings in their order.
 * @throws RangeError where the text is something else, a ring is not closed, or a ring has fewer
 * than four points
 */
export function parseSurfaces(wkt: string): Ring[][] {
  const text = wkt.trim();
  if (!POLYGON.test(text))
    throw new RangeError(`not a POLYGON or MULTIPOLYGON: ${text.slice(0, 40)}`);
  return [...text.matchAll(new RegExp(SURFACE, 'g'))].map(([surface]) =>
    [...surface.matchAll(/\(([^()]*)\)/g)].map(([, points = '']) => parseRing(points)),
  );
}

/** Tells if a point is inside or on the boundary. Rings may have any direction and order. */
export function isInPolygon({ rings, box }: Polygon, lon: number, lat: number): boolean {
  const { minX, minY, maxX, maxY } = box;
  if (lon < minX || lon > maxX || lat < minY || lat > maxY) return false;
  let inside = false;
  let onBoundary = false;
  forEachSegment(rings, ([x1, y1], [x2, y2]) => {
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
export function computeDistanceToPolygonM({ rings }: Polygon, lon: number, lat: number): number {
  const [mPerLon, mPerLat] = computeMetresPerDegree(lat);
  const toMetres = ([x, y]: Point): Point => [(x - lon) * mPerLon, (y - lat) * mPerLat];
  // Each point once, although it belongs to two segments.
  const inMetres = rings.map((ring) => ring.map(toMetres));
  const here: Point = [0, 0];
  let nearestSquared = Number.POSITIVE_INFINITY;
  forEachSegment(inMetres, (from, to) => {
    const squared = getSquaredDistance(here, from, to);
    nearestSquared = Math.min(nearestSquared, squared);
  });
  return Math.sqrt(nearestSquared);
}

/** Returns the squared distance of a point from a segment. */
export function getSquaredDistance([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): number {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const lengthSquared = dx * dx + dy * dy;
  const along =
    lengthSquared === 0
      ? 0
      : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / lengthSquared));
  return (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2;
}

/** Returns the metres of one degree of longitude and of latitude at a latitude. */
export function computeMetresPerDegree(lat: number): Point {
  const phi = (lat * Math.PI) / 180;
  const w2 = 1 - WGS84_E2 * Math.sin(phi) ** 2;
  const meridian = (WGS84_A_M * (1 - WGS84_E2)) / (w2 * Math.sqrt(w2));
  const parallel = (WGS84_A_M / Math.sqrt(w2)) * Math.cos(phi);
  return [(parallel * Math.PI) / 180, (meridian * Math.PI) / 180];
}

export function forEachSegment(
  rings: readonly Ring[],
  take: (from: Point, to: Point) => void,
): void {
  for (const ring of rings) {
    let from: Point | undefined;
    for (const to of ring) {
      if (from !== undefined) take(from, to);
      from = to;
    }
  }
}

function parseRing(text: string): Ring {
  const ring = text.split(',').map((point): Point => {
    const [x = Number.NaN, y = Number.NaN, ...heights] = point.trim().split(/\s+/).map(Number);
    if (![x, y, ...heights].every(Number.isFinite))
      throw new RangeError(`not a point: ${point.trim()}`);
    return [x, y];
  });
  const [first] = ring;
  const last = ring.at(-1);
  if (ring.length < 4) throw new RangeError('a ring needs at least four points');
  if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1])
    throw new RangeError('a ring is not closed');
  return ring;
}

/**
 * Returns the bounding box of points.
 * @throws RangeError without any
 */
export function makeBoxAround(points: Iterable<Point>): BoundingBox {
  const box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (const [x, y] of points) {
    box.minX = Math.min(box.minX, x);
    box.maxX = Math.max(box.maxX, x);
    box.minY = Math.min(box.minY, y);
    box.maxY = Math.max(box.maxY, y);
  }
  if (box.minX > box.maxX) throw new RangeError('no point to put a box around');
  return box;
}
