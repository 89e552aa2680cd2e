import type { GeomSystem, PointInSystem } from './geometry.ts';
import { type Point, toSJtsk } from './project.ts';

/**
 * Tolerance in metres between the service's conversion of a point and pas's own: the service applies plate movement and a table
 * of corrections, which no package has (A-POINT-8; assumption A11).
 */
export const CONVERTED_WITHIN_M = 2;

/** A centimetre, the precision of a table's last decimals. */
const SAME_WITHIN: Readonly<Record<GeomSystem, number>> = { '4326': 1e-7, '5514': 0.01 };

/** Tolerance in metres between a point drawn on a phone's map and the measured one. */
export const DRAWN_WITHIN_M = 100;

/**
 * Tells if two points mean one place: equal where both are in one system, else within the tolerance of a conversion.
 * @param withinM tolerance in metres where one of them is only drawn
 */
export function isSamePlace(one: PointInSystem, other: PointInSystem, withinM?: number): boolean {
  if (one.system !== other.system || withinM !== undefined) {
    return distanceOf(inMetres(one), inMetres(other)) <= (withinM ?? CONVERTED_WITHIN_M);
  }
  const [a, b] = [numbersOf(one), numbersOf(other)];
  // The half digit covers the rounding error of the difference.
  return Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])) < 1.5 * SAME_WITHIN[one.system];
}

function inMetres(point: PointInSystem): Point {
  return point.system === '5514' ? numbersOf(point) : toSJtsk(numbersOf(point));
}

function numbersOf({ x, y }: PointInSystem): Point {
  return [Number(x), Number(y)];
}

function distanceOf(one: Point, other: Point): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1]);
}
