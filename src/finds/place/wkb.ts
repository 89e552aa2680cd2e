import { formatPlainNumber } from '../../base/characters.ts';
import type { Reading } from '../../base/issue.ts';
import { parseSurfaces, type Ring } from './areas.ts';
import {
  type GeomSystem,
  makeDamagedPointFault,
  makePointCountFault,
  makeShapeFault,
  type PointText,
} from './geometry.ts';

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

const POINT = 1;
const MULTI_POINT = 4;

/**
 * Reads a GeoPackage geometry as a point; undefined for an empty one. A MultiPoint of one counts;
 * heights are dropped.
 */
export function parseGeoPackagePoint(blob: Buffer): Reading<PointText | undefined> {
  const flags = blob[3] ?? 0;
  const envelopeBytes = ENVELOPE_BYTES[(flags >> 1) & 7];
  if (blob.length < 8 || blob.toString('latin1', 0, 2) !== 'GP' || envelopeBytes === undefined)
    return makeDamagedPointFault();
  // An extended type, which no standard describes.
  if (((flags >> 5) & 1) === 1) return makeShapeFault('Geometry');
  if (((flags >> 4) & 1) === 1) return { value: undefined };
  try {
    return parseWkb(blob.subarray(8 + envelopeBytes));
  } catch (thrown) {
    if (thrown instanceof RangeError) return makeDamagedPointFault();
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
  if (type === POINT) {
    const x = readDouble(5);
    const y = readDouble(13);
    return Number.isNaN(x) || Number.isNaN(y)
      ? { value: undefined }
      : { value: { x: formatPlainNumber(x), y: formatPlainNumber(y) } };
  }
  const name = SHAPE_NAMES[type] ?? `#${type}`;
  if (type !== MULTI_POINT) return makeShapeFault(name);
  const count = readInteger(5);
  if (count === 1) return parseWkb(wkb.subarray(9));
  return count === 0 ? { value: undefined } : makePointCountFault(count);
}

/** Byte order (little-endian) and types of a polygon and of several (OGC 06-103r4, 8.2.4). */
const LITTLE = 1;
const POLYGON = 3;
const MULTI_POLYGON = 6;

/**
 * Converts a `POLYGON` or `MULTIPOLYGON` of two dimensions to the well-known binary of a
 * MULTIPOLYGON, with its rings in their order.
 * @throws RangeError as {@link parseSurfaces}
 */
export function encodeMultiPolygon(wkt: string): Buffer {
  const surfaces = parseSurfaces(wkt);
  const parts = surfaces.flatMap((rings) => [
    encodeHead(POLYGON, rings.length),
    ...rings.map(encodeRing),
  ]);
  return Buffer.concat([encodeHead(MULTI_POLYGON, surfaces.length), ...parts]);
}

function encodeRing(ring: Ring): Buffer {
  const bytes = Buffer.alloc(4 + 16 * ring.length);
  bytes.writeUInt32LE(ring.length, 0);
  for (const [index, value] of ring.flat().entries()) bytes.writeDoubleLE(value, 4 + 8 * index);
  return bytes;
}

function encodeHead(type: number, count: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(LITTLE, 0);
  bytes.writeUInt32LE(type, 1);
  bytes.writeUInt32LE(count, 5);
  return bytes;
}

/** Folded names of the two systems in well-known text, as ESRI, GDAL and EPSG write them. */
const SYSTEM_NAMES: Readonly<Record<GeomSystem, readonly string[]>> = {
  '4326': ['gcswgs1984', 'wgs84', 'wgs1984', 'wgs84longlat'],
  '5514': ['sjtskkrovakeastnorth', 'sjtskgreenwichkrovakeastnorth'],
};

/** Kind and name of the outermost system. */
const HEAD = /^\s*([A-Z]+)\s*[[(]\s*"([^"]*)"/i;

/**
 * Returns the system that a `.prj` describes, by its outermost name; undefined for every other. It
 * distinguishes a projected system from the geographic one inside it, and one with shifted or
 * rotated axes from the one whose name it has.
 */
export function parseSystemOfPrj(prj: string): GeomSystem | undefined {
  const [, kind = '', name = ''] = HEAD.exec(prj) ?? [];
  const isProjected = /^PROJ/i.test(kind);
  if (!isProjected && !/^GEOG/i.test(kind)) return undefined;
  const system = isProjected ? '5514' : '4326';
  const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return SYSTEM_NAMES[system].includes(folded) && !isMoved(prj) ? system : undefined;
}

/** Returns the name of the outermost system, for messages; without one, the first 60 characters. */
export function parseNameOfPrj(prj: string): string {
  const name = HEAD.exec(prj)?.[2] ?? '';
  return name === '' ? prj.trim().slice(0, 60) : name;
}

/**
 * Tells if the axes are shifted: from Greenwich, in degrees; EPSG:5514 has no false origin, both
 * axes negative, and metres.
 */
function isMoved(prj: string): boolean {
  const parameters = [...prj.matchAll(/PARAMETER\s*\[\s*"([^"]+)"\s*,\s*([-+.\deE]+)/gi)].map(
    ([, name = '', value]) => [name.toLowerCase().replaceAll(' ', '_'), Number(value)] as const,
  );
  const units = [...prj.matchAll(/UNIT\s*\[\s*"[^"]*"\s*,\s*([-+.\deE]+)/gi)].map(([, value]) =>
    Number(value),
  );
  const isScaled = /^\s*PROJ/i.test(prj)
    ? (units.at(-1) ?? 1) !== 1
    : units.length > 0 && !units.some((unit) => Math.abs(unit - Math.PI / 180) < 1e-9);
  const isFromElsewhere =
    Number(/PRIMEM\s*\[\s*"[^"]*"\s*,\s*([-+.\deE]+)/i.exec(prj)?.[1] ?? 0) !== 0;
  const expected: Readonly<Record<string, number>> = {
    false_easting: 0,
    false_northing: 0,
    x_scale: -1,
    y_scale: 1,
    xy_plane_rotation: 90,
  };
  return (
    isScaled ||
    isFromElsewhere ||
    parameters.some(([name, value]) => expected[name] !== undefined && expected[name] !== value)
  );
}
