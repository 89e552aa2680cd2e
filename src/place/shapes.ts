import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { plainNumber } from '../text/plain-number.ts';
import { type Reading, unreadable } from '../text/reading.ts';

/** Shapes of a shapefile (ESRI, July 1998), parsed on demand. */
type Shapes = {
  readonly count: number;
  /** Tells if any shape is a point, so that the coordinate system matters. */
  readonly hasPoints: boolean;
  /** Returns a shape as a point; undefined for an empty one. A MultiPoint of one counts; heights and measures are dropped. */
  point(index: number): Reading<{ readonly x: string; readonly y: string } | undefined>;
};

const HEADER_BYTES = 100;
const FILE_CODE = 9994;
const [NOTHING, POINT, MULTI_POINT] = [0, 1, 8];
/** Names by the last digit of a shape's type; the tens encode heights and measures. */
const NAMES: Readonly<Record<number, string>> = { 1: 'Point', 3: 'LineString', 5: 'Polygon', 8: 'MultiPoint', 31: 'MultiPatch' };
/** Smaller numbers mean no data. */
const NO_DATA = -1e38;

/** @throws FileError where the file is no shapefile, or ends within a shape */
export function parseShapes(file: string, bytes: Buffer): Shapes {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== FILE_CODE) throw damaged(file, 0);
  const starts: number[] = [];
  let hasPoints = false;
  // The stated length, in 16-bit words, is not trusted beyond the end of the file.
  const end = bytes.readUInt32BE(24) * 2;
  if (end > bytes.length || end < HEADER_BYTES) throw damaged(file, 0);
  for (let at = HEADER_BYTES; at < end; ) {
    const number = starts.length + 1;
    if (at + 12 > end) throw damaged(file, number);
    const content = bytes.readUInt32BE(at + 4) * 2;
    if (content < 4 || at + 8 + content > end) throw damaged(file, number);
    starts.push(at + 8);
    hasPoints ||= bytes.readUInt32LE(at + 8) !== NOTHING;
    at += 8 + content;
  }
  const endOf = (index: number): number => (starts[index + 1] ?? end + 8) - 8;
  return {
    count: starts.length,
    hasPoints,
    point: (index) => {
      const start = starts[index] ?? end;
      return pointOf(bytes.subarray(start, endOf(index)));
    },
  };
}

function pointOf(shape: Buffer): Reading<{ readonly x: string; readonly y: string } | undefined> {
  const type = shape.length < 4 ? -1 : shape.readUInt32LE(0);
  if (type === NOTHING) return { value: undefined };
  const kind = type === 31 ? type : type % 10;
  if (kind === POINT) return coordinatesAt(shape, 4);
  if (kind === MULTI_POINT && shape.length >= 40) {
    const count = shape.readUInt32LE(36);
    if (count === 1) return coordinatesAt(shape, 40);
    return count === 0
      ? { value: undefined }
      : unreadable('geometry-form', msg`The geometry has ${count} points. A find has one.`);
  }
  const name = NAMES[kind] ?? `#${type}`;
  return unreadable('geometry-form', msg`The geometry is a ${name}. A find has a point.`);
}

function coordinatesAt(shape: Buffer, at: number): Reading<{ readonly x: string; readonly y: string } | undefined> {
  if (shape.length < at + 16) return unreadable('geometry-form', msg`The geometry is damaged. Draw the point again.`);
  const [x, y] = [shape.readDoubleLE(at), shape.readDoubleLE(at + 8)];
  if (Number.isNaN(x) || Number.isNaN(y) || x < NO_DATA || y < NO_DATA) return { value: undefined };
  if (!Number.isFinite(x) || !Number.isFinite(y))
    return unreadable('geometry-form', msg`The geometry is damaged. Draw the point again.`);
  return { value: { x: plainNumber(x), y: plainNumber(y) } };
}

function damaged(file: string, shape: number): FileError {
  const message =
    shape === 0
      ? msg`${file} is a shapefile (.shp) that is damaged or cut short.`
      : msg`${file} is a shapefile (.shp) that is damaged or cut short at shape ${shape}.`;
  return new FileError(file, message, { hint: msg`Copy it again, or save it again in the program that it comes from.` });
}
