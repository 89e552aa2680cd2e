import type { GeomSystem, PointInSystem } from './geometry.ts';
import { type Point, toSJtsk } from './project.ts';

/**
 * How far what the service made of a point in the other system may lie from what we make of it: it has the movement of the plate
 * and a table of corrections, which no package has (A-POINT-8; assumption A11).
 */
export const CONVERTED_WITHIN_M = 2;

/** A centimetre, which is all that a table's last decimals can mean. */
const SAME_WITHIN: Readonly<Record<GeomSystem, number>> = { '4326': 1e-7, '5514': 0.01 };

/** How far a point that was drawn on a phone's map may lie from where an instrument measured it. */
export const DRAWN_WITHIN_M = 100;

/**
 * Whether two points mean one place: the same where both are in one system, else as near as a conversion may come.
 * @param withinM how far they may lie from one another where one is only drawn
 */
export function isSamePlace(one: PointInSystem, other: PointInSystem, withinM?: number): boolean {
  if (one.system !== other.system || withinM !== undefined) {
    return distanceOf(inMetres(one), inMetres(other)) <= (withinM ?? CONVERTED_WITHIN_M);
  }
  const [a, b] = [numbersOf(one), numbersOf(other)];
  // Half a digit more: the difference of two decimals is seldom exact.
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
