import { createRequire } from 'node:module';
import type proj4 from 'proj4';
import type { Converter } from 'proj4';
import { formatPlainNumber, trimText } from '../../base/characters.ts';
import { FileError } from '../../base/errors.ts';
import { makeRuleProblem, type Reading, type RuleProblem } from '../../base/issue.ts';
import { type Message, msg } from '../../base/message.ts';

/** EPSG code: WGS 84 (`4326`) or S-JTSK (`5514`, x and y negative). */
export type GeomSystem = '4326' | '5514';

/**
 * Coordinates as decimal text, so that no digit of the source is lost: longitude and latitude, or x
 * and y.
 */
export type PointText = { readonly x: string; readonly y: string };

/** A point, and the system of its coordinates. */
export type PointInSystem = PointText & { readonly system: GeomSystem };

/**
 * Makes the problem of a geometry that is no point.
 * @param name its type, such as `Polygon` or `MultiPoint (2)`, for the message
 */
export function makeNoPointProblem(name: string): RuleProblem {
  return makeRuleProblem('geometry-form', msg`The geometry is a ${name}, but a find has a point.`);
}

function makeDamagedPointProblem(): RuleProblem {
  return makeRuleProblem('geometry-form', msg`The geometry is damaged. Draw the point again.`);
}

/** Ranges within which the service converts, and so accepts, a point (A-POINT-6). */
const RANGES = {
  '4326': { x: [5, 25], y: [40, 60] },
  '5514': { x: [-905_000, -400_000], y: [-1_230_000, -930_000] },
} as const;

/**
 * Parses a coordinate as people type a decimal: with a decimal point or comma, blanks between
 * thousands, a typographic minus, or a plus. The value has all digits and a decimal point, without
 * blanks and plus. Unreadable: other texts, such as one with both point and comma, or an exponent.
 */
export function parseCoordinateNumber(cell: string): Reading<string> {
  const text = cell
    .trim()
    .replace(/^\u2212/, '-')
    .replace(/^\+/, '');
  const joined = /^-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?$/.test(text)
    ? text.replace(/[ \u00a0\u202f]/g, '')
    : text;
  if (/^-?\d+(?:[.,]\d+)?$/.test(joined)) return { value: joined.replace(',', '.') };
  return makeRuleProblem(
    'coordinate',
    msg`"${cell}" is not a plain number. Write all digits with one decimal point or comma, such as 14.4208.`,
  );
}

/**
 * Parses well-known text, `POINT (x y)`, with exactly two plain decimals and blanks between them.
 * Anything else is unreadable, also a third number, an exponent or a leading `+`: the service takes
 * these, but does not compute the point in the other system then (A-POINT-5).
 */
export function parsePoint(wkt: string): Reading<PointText> {
  const text = trimText(wkt);
  const [, x, y] = POINT.exec(text) ?? [];
  if (x !== undefined && y !== undefined) return { value: { x, y } };
  const shown = wkt.slice(0, MAX_SHOWN);
  return makeRuleProblem(
    'geometry-form',
    msg`"${shown}" is not a point. Write POINT (x y) with two plain numbers and spaces, such as POINT (14.4208 50.0871).`,
  );
}

const MAX_SHOWN = 60;
const NUMBER = String.raw`-?\d+(?:\.\d+)?`;
const POINT = new RegExp(`^point *\\( *(${NUMBER}) +(${NUMBER}) *\\)$`, 'i');

/**
 * Parses well-known text that a person wrote, as {@link parsePoint} does; any white space counts as
 * a blank.
 */
export function parseWrittenPoint(text: string): Reading<PointText> {
  return parsePoint(text.replace(/\s+/g, ' '));
}

const GIS_POINT = new RegExp(
  String.raw`^(?:point *(?:(?:z|m|zm) *)?\( *|multipoint *(?:(?:z|m|zm) *)?\( *(?:\( *)?)(${NUMBER}) +(${NUMBER})(?: +[-+.\de]+){0,2} *\)(?: *\))?$`,
  'i',
);

/**
 * Splits the geometry of a GIS program, such as `SRID=4326;POINT Z (14.4 50.1 230)`, into `epsg`,
 * the number in the leading `SRID=…;` (undefined without one), and `wkt`, text for
 * {@link parsePoint}: a point without height and measure, also for a MultiPoint of one; empty for
 * an empty point; any other geometry as it is, so that it is refused then.
 */
export function parseGisGeometry(text: string): { readonly wkt: string; readonly epsg?: number } {
  const [, srid, body = ''] =
    /^(?:srid *= *(\d{1,6}) *; *)?(.*)$/is.exec(text.trim().replace(/\s+/g, ' ')) ?? [];
  const [, x = '', y = ''] = GIS_POINT.exec(body) ?? [];
  const isEmpty = /^(?:multi)?point *(?:(?:z|m|zm) *)?empty$/i.test(body);
  const wkt = y === '' ? body : formatPoint({ x, y });
  return { wkt: isEmpty ? '' : wkt, epsg: srid === undefined ? undefined : Number(srid) };
}

/** Formats degrees with at most 7 decimals (a centimetre) and a point, without zeros at the end. */
export function formatDegrees(degrees: number): string {
  return degrees.toFixed(7).replace(/(?:\.|(?<!0))0+$/, '');
}

/** Formats the well-known text `POINT (x y)`, with the digits as they are. */
export function formatPoint({ x, y }: PointText): string {
  return `POINT (${x} ${y})`;
}

/**
 * Explains that a point is outside the range in which the service converts it (A-POINT-6), with the
 * likely mistake: swapped axes, a wrong sign, the other system, 0 0. Undefined where it is inside.
 */
export function findRangeProblem(system: GeomSystem, x: number, y: number): Message | undefined {
  if (isInRange(system, x, y)) return undefined;
  const { x: xRange, y: yRange } = RANGES[system];
  const [xLeast, xMost] = xRange;
  const [yLeast, yMost] = yRange;
  const mistake = describeMistake(x, y);
  return msg`${mistake} The service accepts ${xLeast} to ${xMost} and ${yLeast} to ${yMost}.`;
}

function describeMistake(x: number, y: number): Message {
  const point = `${x} ${y}`;
  if (x === 0 && y === 0)
    return msg`${point} is what a device records while it has no position. Leave it empty, or find the place.`;
  const meant = findFittingSystem({ x: `${x}`, y: `${y}` });
  if (meant === undefined) return msg`${point} lies far outside the country.`;
  const why =
    meant.change === undefined
      ? msg`is in the other coordinate system`
      : CHANGE_WORDS[meant.change];
  return msg`${point} ${why}. It may be ${meant.x} ${meant.y} in the system ${meant.system}.`;
}

function isInRange(system: GeomSystem, x: number, y: number): boolean {
  const range = RANGES[system];
  return x >= range.x[0] && x <= range.x[1] && y >= range.y[0] && y <= range.y[1];
}

/** Difference of a position from its spelling. */
export type PositionChange = 'axes' | 'signs' | 'axes-and-signs';

/** Mistakes of a written position, by the change after which it makes sense. */
export const CHANGE_WORDS: Readonly<Record<PositionChange, Message>> = {
  axes: msg`has its axes swapped`,
  signs: msg`has a wrong sign`,
  'axes-and-signs': msg`has its axes swapped and a wrong sign`,
};

const CHANGES = [undefined, 'axes', 'signs', 'axes-and-signs'] as const;

/** A pair as it lies in the range of a system, and its difference from what was written. */
type FittedPoint = PointInSystem & { readonly change: PositionChange | undefined };

/**
 * Finds the system in whose range a pair of numbers lies, as written or with the smallest change
 * that brings the pair there; `x` and `y` are the changed numbers. Undefined where none does. A
 * pair fits one system only: their ranges do not overlap, whatever the change.
 */
export function findFittingSystem(written: PointText): FittedPoint | undefined {
  for (const change of CHANGES) {
    for (const system of ['4326', '5514'] as const) {
      const { x, y } = changePoint(written, system, change);
      if (isInRange(system, Number(x), Number(y))) return { system, x, y, change };
    }
  }
  return undefined;
}

function changePoint(
  { x, y }: PointText,
  system: GeomSystem,
  change: PositionChange | undefined,
): PointText {
  const isSwapped = change === 'axes' || change === 'axes-and-signs';
  const turned = isSwapped ? { x: y, y: x } : { x, y };
  if (change === undefined || change === 'axes') return turned;
  const sign = system === '5514' ? '-' : '';
  return { x: turned.x.replace(/^-?/, sign), y: turned.y.replace(/^-?/, sign) };
}

/**
 * Parses the name of a coordinate system by the code of EPSG or ESRI in it, as in
 * `urn:ogc:def:crs:EPSG::5514`; `CRS84` is WGS 84. Undefined without a code, with that of another
 * system, and with codes of different systems.
 */
export function parseSystemCode(name: string): GeomSystem | undefined {
  if (/(?:^|[:/])CRS84$/i.test(name)) return '4326';
  const codes = [...name.matchAll(/\b(?:EPSG|ESRI)(?:[:/]+[\d.]+(?=[:/]))?[:/\s]*(\d+)/gi)].map(
    ([, code]) => Number(code),
  );
  const systems = new Set(codes.map(toGeomSystem));
  return systems.size === 1 ? [...systems][0] : undefined;
}

/**
 * Returns the system of an EPSG code, or of ESRI's 102067 for S-JTSK; undefined for other codes,
 * since the service accepts these systems only (A-FIELD-21).
 */
export function toGeomSystem(code: number): GeomSystem | undefined {
  if (code === 4326) return '4326';
  return code === 5514 || code === 102_067 ? '5514' : undefined;
}

/**
 * Makes the error for a file in a coordinate system that the service does not accept.
 * @param file as the user named it
 * @param named name of the system in the file
 */
export function makeUnsupportedCrsError(file: string, named: string): FileError {
  return new FileError(
    file,
    msg`The points of ${file} are in the coordinate system ${named}, which pas does not read.`,
    {
      hint: msg`Save the file in WGS 84 (EPSG:4326) or S-JTSK (EPSG:5514).`,
    },
  );
}

/** Longitude and latitude in degrees, or x and y in metres, in this order. */
export type Point = readonly [number, number];

/**
 * S-JTSK / Krovak East North (EPSG:5514): both coordinates negative, east and north positive. The
 * seven parameters are those of EPSG:5239 (S-JTSK to WGS 84, 1 m), in the position-vector signs of
 * proj4; PROJ picks the same operation where no grid is installed.
 */
const S_JTSK =
  '+proj=krovak +lat_0=49.5 +lon_0=24.83333333333333 +alpha=30.28813972222222 +k=0.9999 +x_0=0 +y_0=0 +ellps=bessel ' +
  '+towgs84=572.213,85.334,461.94,4.9732,1.529,5.2484,3.5378 +units=m +no_defs';

let projection: Converter | undefined;

/**
 * Loads proj4 on first use: it takes longer to load than most commands to run, and few commands
 * need it.
 */
function getConverter(): Converter {
  if (projection === undefined) {
    const load = createRequire(import.meta.url)('proj4') as typeof proj4;
    projection = load('WGS84', S_JTSK);
  }
  return projection;
}

/**
 * Converts EPSG:4326 (longitude, latitude in degrees) to EPSG:5514 (x, y in metres); meaningful in
 * and around Czechia only. Both NaN where a number is not finite. The first call loads proj4.
 */
export function toSJtsk(lonLat: Point): Point {
  return convert('forward', lonLat);
}

/**
 * Converts EPSG:5514 (x, y in metres) to EPSG:4326 (longitude, latitude in degrees). Both NaN where
 * a number is not finite. The first call loads proj4.
 */
export function toWgs84(xy: Point): Point {
  return convert('inverse', xy);
}

/** Converts a point; one that is not finite, which proj4 refuses with a TypeError, is no place. */
function convert(direction: 'forward' | 'inverse', [from, to]: Point): Point {
  if (!Number.isFinite(from + to)) return [Number.NaN, Number.NaN];
  const [first, second] = getConverter()[direction]([from, to]);
  return [first, second];
}

/**
 * Tolerance in metres between the service's conversion of a point and pas's own: the service
 * applies plate movement and a table of corrections, which no package has (A-POINT-8; assumption
 * A11).
 */
const CONVERTED_WITHIN_M = 2;

/** A centimetre, the precision of a table's last decimals. */
const SAME_WITHIN: Readonly<Record<GeomSystem, number>> = { '4326': 1e-7, '5514': 0.01 };

/**
 * Tells if two points mean one place: in one system where they agree to a centimetre, in two
 * systems where they are within {@link CONVERTED_WITHIN_M}.
 * @param withinM distance in metres that is allowed instead
 */
export function isNearPoint(one: PointInSystem, other: PointInSystem, withinM?: number): boolean {
  if (one.system !== other.system || withinM !== undefined) {
    const from = toMetres(one);
    const to = toMetres(other);
    return Math.hypot(from[0] - to[0], from[1] - to[1]) <= (withinM ?? CONVERTED_WITHIN_M);
  }
  const a = toNumbers(one);
  const b = toNumbers(other);
  // The half digit covers the rounding error of the difference.
  return Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])) < 1.5 * SAME_WITHIN[one.system];
}

function toMetres(point: PointInSystem): Point {
  return point.system === '5514' ? toNumbers(point) : toSJtsk(toNumbers(point));
}

function toNumbers({ x, y }: PointInSystem): Point {
  return [Number(x), Number(y)];
}

/** A point in both systems. */
export type PointInBothSystems = {
  /** Longitude and latitude, degrees. */
  readonly wgs84: Point;
  /** x and y, metres. */
  readonly sJtsk: Point;
  /** System of the measurement; the other one is computed. */
  readonly measuredIn: '4326' | '5514';
};

/** Bytes of the envelope of a GeoPackage geometry, by its code (GeoPackage 1.3, 2.1.3). */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64];

const SHAPE_NAMES: readonly string[] = [
  'Geometry',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
];

const WKB_POINT = 1;
const WKB_MULTI_POINT = 4;

/**
 * Parses the value of a geometry column of a GeoPackage (GeoPackage 1.3, 2.1.3) into a point; its
 * value is undefined for null and for an empty geometry. A MultiPoint of one counts as a point;
 * heights are dropped. Unreadable: another geometry, damaged bytes, or no bytes.
 */
export function parseGeoPackagePoint(blob: unknown): Reading<PointText | undefined> {
  if (blob === null) return { value: undefined };
  if (!(blob instanceof Buffer)) return makeDamagedPointProblem();
  const flags = blob[3] ?? 0;
  const envelopeBytes = ENVELOPE_BYTES[(flags >> 1) & 7];
  if (blob.length < 8 || blob.toString('latin1', 0, 2) !== 'GP' || envelopeBytes === undefined)
    return makeDamagedPointProblem();
  // An extended type, which no standard describes.
  if (((flags >> 5) & 1) === 1) return makeNoPointProblem('Geometry');
  if (((flags >> 4) & 1) === 1) return { value: undefined };
  try {
    return parseWkb(blob.subarray(8 + envelopeBytes));
  } catch (thrown) {
    if (thrown instanceof RangeError) return makeDamagedPointProblem();
    throw thrown;
  }
}

/** @throws RangeError where the bytes end too early */
function parseWkb(wkb: Buffer): Reading<PointText | undefined> {
  const little = wkb.readUInt8(0) === 1;
  const readInteger = (offset: number): number =>
    little ? wkb.readUInt32LE(offset) : wkb.readUInt32BE(offset);
  const readDouble = (offset: number): number =>
    little ? wkb.readDoubleLE(offset) : wkb.readDoubleBE(offset);
  // Z and M are encoded in the thousands (ISO) or in the highest bits (the older form).
  const type = (readInteger(1) & 0x0fffffff) % 1000;
  if (type === WKB_POINT) {
    const x = readDouble(5);
    const y = readDouble(13);
    return Number.isNaN(x) || Number.isNaN(y)
      ? { value: undefined }
      : { value: { x: formatPlainNumber(x), y: formatPlainNumber(y) } };
  }
  const name = SHAPE_NAMES[type] ?? `#${type}`;
  if (type !== WKB_MULTI_POINT) return makeNoPointProblem(name);
  const count = readInteger(5);
  if (count === 1) return parseWkb(wkb.subarray(9));
  return count === 0 ? { value: undefined } : makeNoPointProblem(`MultiPoint (${count})`);
}
