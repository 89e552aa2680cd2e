import { createRequire } from 'node:module';
import type proj4Type from 'proj4';
import type { Body } from './record.ts';

/** EPSG code: WGS 84, or S-JTSK. */
export type GeomSystem = '4326' | '5514';

/** A point in both systems, as texts: the given one, and the computed one. */
export type FindGeometry = {
  readonly longitude: number;
  readonly latitude: number;
  readonly wgs84: readonly [string, string];
  readonly sjtsk: readonly [string, string];
  /**
   * False for a third number, which passes every check of the deployed service and then cannot be
   * stored.
   */
  readonly storable: boolean;
};

type GeometryFault = 'wkt-syntax' | 'wkt-range';

const NUMBER = '[+-]?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
// Blanks after a marker belong to it: two adjacent runs of blanks would cause quadratic time.
const WKT_POINT = new RegExp(
  `^POINT *(?:(ZM|Z|M) *)?\\( *(${NUMBER}(?: +${NUMBER}){1,3}) *\\)$`,
  'i',
);
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Krovak's projection East North, by the parameters of EPSG:5226 (S-JTSK/05 to ETRS89) in PROJ's
 * sign convention.
 */
const SJTSK =
  '+proj=krovak +lat_0=49.5 +lon_0=24.8333333333333 +alpha=30.2881397527778 +k=0.9999 +x_0=0 +y_0=0 +ellps=bessel ' +
  '+towgs84=572.213,85.334,461.94,4.9732,1.529,5.2484,3.5378 +units=m +no_defs';
// Required, not imported: Node would scan it for exported names, which takes five times as long.
const proj4 = createRequire(import.meta.url)('proj4') as typeof proj4Type;
const WGS84_TO_SJTSK = proj4('EPSG:4326', SJTSK);

/** Convertible coordinates (A-POINT-6). */
const RANGES: Readonly<Record<GeomSystem, readonly [number, number, number, number]>> = {
  '4326': [5, 25, 40, 60],
  '5514': [-905_000, -400_000, -1_230_000, -930_000],
};

/**
 * Parses a WKT point and computes the other system.
 * @param deployed copies what is no plain decimal instead of computing, and fails on a third
 * number, as the deployed service does
 */
export function parseFindPoint(
  wkt: string,
  system: GeomSystem,
  deployed: boolean,
): FindGeometry | GeometryFault {
  const match = WKT_POINT.exec(wkt);
  const texts = match?.[2]?.split(/ +/);
  if (match === null || texts === undefined) return 'wkt-syntax';
  const [first = '', second = '', ...more] = texts;
  const marker = (match[1] ?? '').toUpperCase();
  if (marker.includes('M') || (!deployed && (marker !== '' || more.length > 0)))
    return 'wkt-syntax';
  const x = Number(first);
  const y = Number(second);
  const [minX, maxX, minY, maxY] = RANGES[system];
  if (x < minX || x > maxX || y < minY || y > maxY) return 'wkt-range';
  const source: readonly [string, string] = [String(x), String(y)];
  const copies = deployed && !(PLAIN_NUMBER.test(first) && PLAIN_NUMBER.test(second));
  const other = copies ? source : convert(system, x, y);
  const [wgs84, sjtsk] = system === '4326' ? [source, other] : [other, source];
  return {
    longitude: Number(wgs84[0]),
    latitude: Number(wgs84[1]),
    wgs84,
    sjtsk,
    storable: more.length === 0,
  };
}

/** Converts a point, to the centimetre in S-JTSK, to seven decimals in WGS 84. */
function convert(from: GeomSystem, x: number, y: number): readonly [string, string] {
  if (from === '4326')
    return roundToPlaces(2, toModifiedKrovak(WGS84_TO_SJTSK.forward<[number, number]>([x, y])));
  return roundToPlaces(
    7,
    WGS84_TO_SJTSK.inverse<[number, number]>([...fromModifiedKrovak([x, y])]),
  );
}

function roundToPlaces(places: number, [a, b]: Pair): readonly [string, string] {
  return [a.toFixed(places), b.toFixed(places)];
}

/** Makes the four geometry children of a find's protected part, in schema order. */
export function makeGeometryElements({ wgs84, sjtsk }: FindGeometry): Body {
  return {
    geom_gml: makeGmlPoint('EPSG:4326', wgs84),
    geom_wkt: { '@EPSG': '4326', '#': `POINT (${wgs84.join(' ')})` },
    geom_sjtsk_gml: makeGmlPoint('EPSG:5514', sjtsk),
    geom_sjtsk_wkt: { '@EPSG': '5514', '#': `POINT (${sjtsk.join(' ')})` },
  };
}

/** Makes GML in the old comma style in the 3.2 namespace, as the service writes it (A-ANSWER-5). */
function makeGmlPoint(srsName: string, [x, y]: readonly [string, string]): Body {
  return { 'gml:Point': { '@srsName': srsName, 'gml:coordinates': `${x},${y}` } };
}

/** x and y of S-JTSK, East North: both negative. */
type Pair = readonly [x: number, y: number];

/** Centre of the correction, in metres to the south and to the west. */
const SOUTHING = 1_089_000;
const WESTING = 654_000;
/** C1 to C10 of EPSG method 1042, "Krovak Modified". */
const C1 = 2.946529277e-2;
const C2 = 2.515965696e-2;
const C3 = 1.193845912e-7;
const C4 = -4.668270147e-7;
const C5 = 9.233980362e-12;
const C6 = 1.523735715e-12;
const C7 = 1.696780024e-18;
const C8 = 4.408314235e-18;
const C9 = -8.331083518e-24;
const C10 = -3.689471323e-24;

function toModifiedKrovak([x, y]: Pair): Pair {
  const [dx, dy] = computeCorrectionAt(x, y);
  return [x + dx, y + dy];
}

/**
 * Applies the correction at the point itself: it changes by less than a millimetre over its own
 * length.
 */
function fromModifiedKrovak([x, y]: Pair): Pair {
  const [dx, dy] = computeCorrectionAt(x, y);
  return [x - dx, y - dy];
}

/**
 * Returns the offset of the survey office's triangulation from the pure projection: some
 * centimetres.
 */
function computeCorrectionAt(x: number, y: number): Pair {
  const south = -y - SOUTHING;
  const west = -x - WESTING;
  const south2 = south ** 2;
  const west2 = west ** 2;
  const fourth = south2 ** 2 + west2 ** 2 - 6 * south2 * west2;
  const toSouth =
    C1 +
    C3 * south -
    C4 * west -
    2 * C6 * south * west +
    C5 * (south2 - west2) +
    C7 * south * (south2 - 3 * west2) -
    C8 * west * (3 * south2 - west2) +
    4 * C9 * south * west * (south2 - west2) +
    C10 * fourth;
  const toWest =
    C2 +
    C3 * west +
    C4 * south +
    2 * C5 * south * west +
    C6 * (south2 - west2) +
    C8 * south * (south2 - 3 * west2) +
    C7 * west * (3 * south2 - west2) -
    4 * C10 * south * west * (south2 - west2) +
    C9 * fourth;
  return [toWest, toSouth];
}
