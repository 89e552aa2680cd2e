import type { Point } from './geometry.ts';

/** A closed ring, its first point repeated at the end. */
export type Ring = readonly Point[];

/** Extent in the units of its points: degrees, metres or units of a drawing. */
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

const RING = String.raw`\([^()]*\)`;
const SURFACE = String.raw`\(\s*${RING}(?:\s*,\s*${RING})*\s*\)`;
const POLYGON = new RegExp(
  String.raw`^(?:polygon\s*${SURFACE}|multipolygon\s*\(\s*${SURFACE}(?:\s*,\s*${SURFACE})*\s*\))$`,
  'i',
);

/**
 * Parses well-known text of a `POLYGON` or `MULTIPOLYGON` with two coordinates per point (OGC
 * 06-103r4, 7.2.2), in upper or lower case.
 * @throws RangeError where the text is something else, a coordinate is no number, or a ring is not
 * closed or has fewer than four points
 */
export function parsePolygon(wkt: string): Polygon {
  const text = wkt.trim();
  if (!POLYGON.test(text))
    throw new RangeError(`not a POLYGON or MULTIPOLYGON: ${text.slice(0, 40)}`);
  const rings = Array.from(text.matchAll(/\(([^()]*)\)/g), ([, points = '']) => parseRing(points));
  return { rings, box: makeBoxAround(rings.flat()) };
}

/**
 * Tells if a point, in degrees, is inside a polygon or on its boundary. The rings may have any
 * direction and order.
 */
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

/** Returns the squared distance of a point from a segment. */
function getSquaredDistance([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): number {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const lengthSquared = dx * dx + dy * dy;
  const along =
    lengthSquared === 0
      ? 0
      : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / lengthSquared));
  return (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2;
}

/**
 * Computes the length in metres of one degree of longitude and of one of latitude, in this order,
 * on the ellipsoid of WGS 84.
 * @param lat latitude where they are measured, degrees
 */
export function computeMetresPerDegree(lat: number): Point {
  const phi = (lat * Math.PI) / 180;
  const w2 = 1 - WGS84_E2 * Math.sin(phi) ** 2;
  const meridian = (WGS84_A_M * (1 - WGS84_E2)) / (w2 * Math.sqrt(w2));
  const parallel = (WGS84_A_M / Math.sqrt(w2)) * Math.cos(phi);
  return [(parallel * Math.PI) / 180, (meridian * Math.PI) / 180];
}

/** Calls `take` for each pair of consecutive points of each ring, in their order. */
function forEachSegment(rings: readonly Ring[], take: (from: Point, to: Point) => void): void {
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
    const [x = Number.NaN, y = Number.NaN, ...others] = point.trim().split(/\s+/).map(Number);
    if (!Number.isFinite(x + y) || others.length > 0)
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
 * Returns the smallest box around points, in their units.
 * @throws RangeError where there are none
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

/**
 * Returns the part of a closed ring inside a box, as a closed ring (Sutherland and Hodgman 1974):
 * between leaving the box and returning, it follows the sides of the box. Empty where no part lies
 * inside.
 */
export function clipRing(ring: Ring, box: BoundingBox): Ring {
  let points: Ring = ring.slice(0, -1);
  // Axis and position of each side, and the sign by which the inward distance counts.
  const sides = [
    [0, box.minX, 1],
    [0, box.maxX, -1],
    [1, box.minY, 1],
    [1, box.maxY, -1],
  ] as const;
  for (const [axis, at, inward] of sides) {
    const clipped: Point[] = [];
    points.forEach((point, index) => {
      const before = points.at(index - 1) ?? point;
      const inside = (point[axis] - at) * inward >= 0;
      const wasInside = (before[axis] - at) * inward >= 0;
      if (inside !== wasInside) clipped.push(intersectEdge(before, point, axis, at));
      if (inside) clipped.push(point);
    });
    points = clipped;
  }
  return [...points, ...points.slice(0, 1)];
}

function intersectEdge(from: Point, to: Point, axis: 0 | 1, at: number): Point {
  const other = axis === 0 ? 1 : 0;
  const share = (at - from[axis]) / (to[axis] - from[axis]);
  const value = from[other] + share * (to[other] - from[other]);
  return axis === 0 ? [at, value] : [value, at];
}

/**
 * Returns a closed ring without the points whose absence moves its line by at most `tolerance`, in
 * the units of the ring (Douglas and Peucker 1973); order stays, and the ring stays closed.
 * Undefined where less than a triangle is left, so that the ring is invisible at this scale.
 */
export function simplifyRing(ring: Ring, tolerance: number): Ring | undefined {
  const last = ring.length - 1;
  const kept = new Set([0, last]);
  const waiting: [number, number][] = [[0, last]];
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    const [from, to] = span;
    const { index, squared } = findFarthestBetween(ring, from, to);
    if (squared <= tolerance * tolerance) continue;
    kept.add(index);
    waiting.push([from, index], [index, to]);
  }
  return kept.size < 4 ? undefined : ring.filter((_, index) => kept.has(index));
}

/** Finds the point that is farthest from the line between two points of the ring. */
function findFarthestBetween(
  ring: Ring,
  from: number,
  to: number,
): { readonly index: number; readonly squared: number } {
  const start = ring[from] ?? [0, 0];
  const end = ring[to] ?? start;
  let farthest = { index: from, squared: -1 };
  for (let index = from + 1; index < to; index++) {
    const squared = getSquaredDistance(ring[index] ?? start, start, end);
    if (squared > farthest.squared) farthest = { index, squared };
  }
  return farthest;
}
