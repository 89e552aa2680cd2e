import { createRequire } from 'node:module';
import type proj4 from 'proj4';
import type { Converter } from 'proj4';
import type { GeomSystem, PointInSystem } from './geometry.ts';

/** Longitude and latitude in degrees, or x and y in metres, in this order. */
export type Point = readonly [number, number];

/**
 * S-JTSK / Krovak East North (EPSG:5514): both coordinates negative, east and north positive. The seven parameters are those of
 * EPSG:5239 (S-JTSK to WGS 84, 1 m), in the position-vector signs of proj4; PROJ picks the same operation where no grid is
 * installed.
 */
const S_JTSK =
  '+proj=krovak +lat_0=49.5 +lon_0=24.83333333333333 +alpha=30.28813972222222 +k=0.9999 +x_0=0 +y_0=0 +ellps=bessel ' +
  '+towgs84=572.213,85.334,461.94,4.9732,1.529,5.2484,3.5378 +units=m +no_defs';

let projection: Converter | undefined;

/** Loads proj4 on first use: it takes longer to load than most commands to run, and few commands need it. */
function converter(): Converter {
  if (projection === undefined) {
    const load = createRequire(import.meta.url)('proj4') as typeof proj4;
    projection = load('WGS84', S_JTSK);
  }
  return projection;
}

/** Converts EPSG:4326 (longitude, latitude) to EPSG:5514 (x, y); meaningful in and around Czechia only. */
export function toSJtsk(lonLat: Point): Point {
  const [x, y] = converter().forward([lonLat[0], lonLat[1]]);
  return [x, y];
}

/** Converts EPSG:5514 (x, y) to EPSG:4326 (longitude, latitude). */
export function toWgs84(xy: Point): Point {
  const [longitude, latitude] = converter().inverse([xy[0], xy[1]]);
  return [longitude, latitude];
}

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
