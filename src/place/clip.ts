import type { BoundingBox } from './polygon.ts';

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
export function clipRing(ring: Line, box: BoundingBox): Line {
  let points: (readonly [number, number])[] = [];
  for (let i = 0; i + 3 < ring.length; i += 2) points.push([ring[i] ?? 0, ring[i + 1] ?? 0]);
  for (const side of SIDES) {
    const { axis, at, inward } = side(box);
    const clipped: (readonly [number, number])[] = [];
    points.forEach((point, index) => {
      const before = points.at(index - 1) ?? point;
      const inside = (point[axis] - at) * inward >= 0;
      const wasInside = (before[axis] - at) * inward >= 0;
      if (inside !== wasInside) clipped.push(intersectEdge(before, point, axis, at));
      if (inside) clipped.push(point);
    });
    points = clipped;
  }
  const [first] = points;
  return first === undefined ? new Float64Array() : Float64Array.from([...points, first].flat());
}

function intersectEdge(
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
export function getCentroid(ring: Line): {
  readonly doubleArea: number;
  readonly x: number;
  readonly y: number;
} {
  const [x0 = 0, y0 = 0] = ring;
  let doubleArea = 0;
  let sumX = 0;
  let sumY = 0;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    // Coordinates relative to the first point keep the precision far from the origin.
    const ax = (ring[i] ?? 0) - x0;
    const ay = (ring[i + 1] ?? 0) - y0;
    const bx = (ring[i + 2] ?? 0) - x0;
    const by = (ring[i + 3] ?? 0) - y0;
    const cross = ax * by - bx * ay;
    doubleArea += cross;
    sumX += (ax + bx) * cross;
    sumY += (ay + by) * cross;
  }
  if (doubleArea === 0) return { doubleArea, x: x0, y: y0 };
  return { doubleArea, x: x0 + sumX / (3 * doubleArea), y: y0 + sumY / (3 * doubleArea) };
}

/** `[x0, y0, x1, y1, …]`; a closed ring repeats its first point at the end. */
export type Line = Float64Array;

/**
 * Removes points of a closed ring so that its line moves by at most `tolerance`, in the ring's
 * units (Douglas and Peucker 1973). The order stays, and the ring stays closed.
 * @returns undefined where fewer points than a triangle's remain: at this scale the ring is
 * invisible
 */
export function simplifyRing(ring: Line, tolerance: number): Line | undefined {
  const last = ring.length / 2 - 1;
  if (last < 3) return undefined;
  const opposite = findFarthestFrom(ring, 0);
  const kept = new Uint8Array(last + 1);
  kept[0] = kept[last] = kept[opposite] = 1;
  const waiting: [number, number][] = [
    [0, opposite],
    [opposite, last],
  ];
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    const [from, to] = span;
    const { index, squared } = findFarthestBetween(ring, from, to);
    if (squared <= tolerance * tolerance) continue;
    kept[index] = 1;
    waiting.push([from, index], [index, to]);
  }
  const points = [...kept.keys()]
    .filter((index) => kept[index] === 1)
    .flatMap((index) => getRingPoint(ring, index));
  return points.length < 8 ? undefined : Float64Array.from(points);
}

function getRingPoint(ring: Line, index: number): readonly [number, number] {
  return [ring[2 * index] ?? 0, ring[2 * index + 1] ?? 0];
}

function findFarthestFrom(ring: Line, from: number): number {
  const [x0, y0] = getRingPoint(ring, from);
  let farthest = from + 1;
  let most = -1;
  for (let index = from + 1; index < ring.length / 2 - 1; index++) {
    const [x, y] = getRingPoint(ring, index);
    const squared = (x - x0) ** 2 + (y - y0) ** 2;
    if (squared <= most) continue;
    farthest = index;
    most = squared;
  }
  return farthest;
}

function findFarthestBetween(
  ring: Line,
  from: number,
  to: number,
): { readonly index: number; readonly squared: number } {
  const [x1, y1] = getRingPoint(ring, from);
  const [x2, y2] = getRingPoint(ring, to);
  const dx = x2 - x1;
  const dy = y2 - y1;
  const lengthSquared = dx * dx + dy * dy;
  let index = from;
  let most = -1;
  for (let between = from + 1; between < to; between++) {
    const [x, y] = getRingPoint(ring, between);
    const along =
      lengthSquared === 0
        ? 0
        : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / lengthSquared));
    const squared = (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2;
    if (squared <= most) continue;
    index = between;
    most = squared;
  }
  return { index, squared: most };
}
