import type { Point } from './geometry.ts';
import { type BoundingBox, forEachSegment, getSquaredDistance, type Ring } from './polygon.ts';

/** A side of a box: its axis and position, and the sign by which the inward distance counts. */
type Side = (box: BoundingBox) => {
  readonly axis: 0 | 1;
  readonly at: number;
  readonly inward: 1 | -1;
};

const SIDES: readonly Side[] = [
  ({ minX }) => ({ axis: 0, at: minX, inward: 1 }),
  ({ maxX }) => ({ axis: 0, at: maxX, inward: -1 }),
  ({ minY }) => ({ axis: 1, at: minY, inward: 1 }),
  ({ maxY }) => ({ axis: 1, at: maxY, inward: -1 }),
];

/**
 * Clips a closed ring to a box (Sutherland and Hodgman 1974). Where the ring leaves the box and
 * returns, the result follows the side of the box. Empty where no part lies inside.
 */
export function clipRing(ring: Ring, box: BoundingBox): Ring {
  let points: Ring = ring.slice(0, -1);
  for (const side of SIDES) {
    const { axis, at, inward } = side(box);
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

/** Returns twice the signed area of a closed ring, and its centroid. */
export function getCentroid(ring: Ring): {
  readonly doubleArea: number;
  readonly x: number;
  readonly y: number;
} {
  // Coordinates relative to the first point keep the precision far from the origin.
  const [x0, y0] = ring[0] ?? [0, 0];
  let doubleArea = 0;
  let sumX = 0;
  let sumY = 0;
  forEachSegment([ring], (from, to) => {
    const ax = from[0] - x0;
    const ay = from[1] - y0;
    const bx = to[0] - x0;
    const by = to[1] - y0;
    const cross = ax * by - bx * ay;
    doubleArea += cross;
    sumX += (ax + bx) * cross;
    sumY += (ay + by) * cross;
  });
  if (doubleArea === 0) return { doubleArea, x: x0, y: y0 };
  return { doubleArea, x: x0 + sumX / (3 * doubleArea), y: y0 + sumY / (3 * doubleArea) };
}

/**
 * Removes points of a closed ring so that its line moves by at most `tolerance`, in the ring's
 * units (Douglas and Peucker 1973). The order stays, and the ring stays closed.
 * @returns undefined where fewer points than a triangle's remain: at this scale the ring is
 * invisible
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
