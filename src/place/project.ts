import { createRequire } from 'node:module';
import type proj4 from 'proj4';
import type { Converter } from 'proj4';

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
