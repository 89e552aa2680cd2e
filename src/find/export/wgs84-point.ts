import { toWgs84 } from '../../geo/project.ts';
import { formatPoint } from '../geometry.ts';
import { plainNumber } from '../plain-number.ts';
import type { ExportedPoint } from './exported-find.ts';

/** A centimetre. */
const DEGREE_DIGITS = 7;

type Wgs84Point = {
  /** Degrees. */
  readonly longitude: number;
  readonly latitude: number;
  /**
   * The point as it is, where the degrees do not say it: in the other system, or with digits that a number loses. Reading
   * takes it, and the degrees only to see whether the point was moved.
   */
  readonly exact?: { readonly column: 'geom_wkt' | 'geom_sjtsk_wkt'; readonly wkt: string };
};

export function wgs84Of(point: ExportedPoint): Wgs84Point {
  const [x, y] = [Number(point.x), Number(point.y)];
  if (point.system === '4326') {
    const isPlain = plainNumber(x) === point.x && plainNumber(y) === point.y;
    return { longitude: x, latitude: y, ...(isPlain ? {} : { exact: { column: 'geom_wkt', wkt: formatPoint(point) } }) };
  }
  const [longitude = 0, latitude = 0] = toWgs84([x, y]).map((degrees) => Number(degrees.toFixed(DEGREE_DIGITS)));
  return { longitude, latitude, exact: { column: 'geom_sjtsk_wkt', wkt: formatPoint(point) } };
}
