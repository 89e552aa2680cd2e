import { toWgs84 } from '../geo/project.ts';
import type { GeomSystem } from './find.ts';
import type { PointText } from './geometry.ts';
import { isReadable, type Reading } from './reading.ts';
import type { RowPoint } from './table.ts';

/** A metre, in degrees of latitude: what converting and seven decimals cannot add up to. */
const TOLERANCE_DEGREES = 1e-5;
const TOLERANCE_M = 1;

/** Whether two points, perhaps in different systems, are within a metre of each other. */
export function isSamePlace(one: Reading<PointText>, system: GeomSystem, other: RowPoint): boolean {
  if (!isReadable(one)) return false;
  const first = [Number(one.value.x), Number(one.value.y)] as const;
  const second = [Number(other.x), Number(other.y)] as const;
  if (system === other.system) return isNear(first, second, system === '4326' ? TOLERANCE_DEGREES : TOLERANCE_M);
  const [a, b] = system === '4326' ? [first, toWgs84(second)] : [toWgs84(first), second];
  return isNear(a, b, TOLERANCE_DEGREES);
}

function isNear(a: readonly [number, number], b: readonly [number, number], tolerance: number): boolean {
  return Math.abs(a[0] - b[0]) <= tolerance && Math.abs(a[1] - b[1]) <= tolerance;
}
