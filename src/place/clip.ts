import type { BoundingBox } from './polygon.ts';
import type { Line } from './simplify.ts';

/** A side of a box: its axis and position, and the sign by which the inward distance counts. */
type Side = (box: BoundingBox) => { readonly axis: 0 | 1; readonly at: number; readonly inward: 1 | -1 };

const SIDES: readonly Side[] = [
  ({ minX }) => ({ axis: 0, at: minX, inward: 1 }),
  ({ maxX }) => ({ axis: 0, at: maxX, inward: -1 }),
  ({ minY }) => ({ axis: 1, at: minY, inward: 1 }),
  ({ maxY }) => ({ axis: 1, at: maxY, inward: -1 }),
];

/**
 * Clips a closed ring to a box (Sutherland and Hodgman 1974). Where the ring leaves the box and returns, the result follows the
 * side of the box. Empty where no part lies inside.
 */
export function clipRing(ring: Line, box: BoundingBox): Line {
  let points: (readonly [number, number])[] = [];
  for (let i = 0; i + 3 < ring.length; i += 2) points.push([ring[i] ?? 0, ring[i + 1] ?? 0]);
  for (const side of SIDES) {
    const { axis, at, inward } = side(box);
    const clipped: (readonly [number, number])[] = [];
    points.forEach((point, index) => {
      const before = points.at(index - 1) ?? point;
      const [inside, wasInside] = [(point[axis] - at) * inward >= 0, (before[axis] - at) * inward >= 0];
      if (inside !== wasInside) clipped.push(crossing(before, point, axis, at));
      if (inside) clipped.push(point);
    });
    points = clipped;
  }
  const [first] = points;
  return first === undefined ? new Float64Array() : Float64Array.from([...points, first].flat());
}

function crossing(
  from: readonly [number, number],
  to: readonly [number, number],
  axis: 0 | 1,
  at: number,
): readonly [number, number] {
  const other = axis === 0 ? 1 : 0;
  const share = (at - from[axis]) / (to[axis] - from[axis]);
  const value = from[other] + share * (to[other] - from[other]);
  return axis === 0 ? [at, value] : [value, at];
}

/** Returns twice the signed area of a closed ring, and its centroid. */
export function centreOf(ring: Line): { readonly doubleArea: number; readonly x: number; readonly y: number } {
  const [x0 = 0, y0 = 0] = ring;
  let [doubleArea, sumX, sumY] = [0, 0, 0];
  for (let i = 0; i + 3 < ring.length; i += 2) {
    // Coordinates relative to the first point keep the precision far from the origin.
    const [ax, ay, bx, by] = [(ring[i] ?? 0) - x0, (ring[i + 1] ?? 0) - y0, (ring[i + 2] ?? 0) - x0, (ring[i + 3] ?? 0) - y0];
    const cross = ax * by - bx * ay;
    doubleArea += cross;
    sumX += (ax + bx) * cross;
    sumY += (ay + by) * cross;
  }
  if (doubleArea === 0) return { doubleArea, x: x0, y: y0 };
  return { doubleArea, x: x0 + sumX / (3 * doubleArea), y: y0 + sumY / (3 * doubleArea) };
}
