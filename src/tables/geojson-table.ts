import { isUtf8 } from 'node:buffer';
import { FileError, getErrorMessage } from '../base/errors.ts';
import {
  type Issue,
  isReadable,
  makeErrorIssue,
  makeUnreadable,
  type Reading,
} from '../base/issue.ts';
import { msg } from '../base/message.ts';
import {
  type GeomSystem,
  makeUnsupportedCrsError,
  type PointInSystem,
  parseSystemCode,
} from '../place/geometry.ts';
import { formatPlainNumber } from '../text/characters.ts';
import { getLineAt } from '../xml/element.ts';
import {
  assertTableSize,
  isOverlong,
  makeOverlongFault,
  makeTableOfRecords,
  type NamedValues,
  type Table,
} from './table.ts';
import { describeNotUtf8 } from './text-encoding.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads GeoJSON (RFC 7946): a feature is a row, its properties are the columns, its point is in WGS
 * 84. The member `crs` of the older specification is accepted for one of the service's two systems.
 * Heights are ignored. A sequence of features (RFC 8142, or one per line) is read as well.
 * @throws FileError where the file is no GeoJSON, has no features, or is in another coordinate
 * system
 */
export function parseGeoJson(file: string, bytes: Buffer): Table {
  if (!isUtf8(bytes))
    throw new FileError(file, describeNotUtf8(file, bytes).problem, {
      hint: msg`Save the layer as GeoJSON again.`,
    });
  const text = bytes.subarray(bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0);
  const sequence = locateSequence(file, text);
  if (sequence !== undefined) return makeFeatureTable(file, text, sequence, '4326', true);
  const { features, rest } = locateFeatures(file, text);
  const inList = text.length - rest.length;
  const listStart = features?.[0]?.start ?? text.length;
  if (rest.length > MAX_PART_BYTES) {
    throw new FileError(
      file,
      msg`${file} has more than ${MAX_PART_BYTES} bytes outside any list of features.`,
      {
        hint: msg`Save the finds as a layer of points, which is a FeatureCollection, without outlines and long texts.`,
      },
    );
  }
  const document = parseJson(file, text, rest, (at) => (at < listStart ? at : at + inList));
  const parts = document['type'] === 'Feature' ? [{ start: 0, end: text.length }] : features;
  if (parts === undefined || !['Feature', 'FeatureCollection'].includes(String(document['type']))) {
    throw new FileError(file, msg`${file} is JSON, but has no GeoJSON features.`, {
      hint: msg`The file must be a FeatureCollection. Save the layer as GeoJSON again.`,
    });
  }
  return makeFeatureTable(file, text, parts, getSystem(file, document), false);
}

/**
 * @param isSequence each feature is a document of its own, and a damaged one does not affect the
 * others
 */
function makeFeatureTable(
  file: string,
  text: Buffer,
  parts: readonly TextPart[],
  system: GeomSystem,
  isSequence: boolean,
): Table {
  const place = { file, unit: 'feature' } as const;
  const readPart = ({ start, end }: TextPart): Reading<FeatureValues> => {
    if (end - start > MAX_PART_BYTES) {
      return makeUnreadable(
        'feature',
        msg`The feature has more than ${MAX_PART_BYTES} bytes. Keep only a point and a few words.`,
      );
    }
    const part = text.subarray(start, end);
    if (!isSequence)
      return parseFeature(
        parseJson(file, text, part, (at) => start + at),
        system,
      );
    const feature = parseJsonObject(part);
    if (feature === undefined)
      return makeUnreadable('feature', msg`This is not valid JSON. The line may be cut short.`);
    return parseFeature(feature, system);
  };
  const records = function* (): Generator<NamedValues | Issue> {
    for (const [index, part] of parts.entries()) {
      const row = index + 1;
      const read = readPart(part);
      yield isReadable(read)
        ? { row, ...read.value }
        : makeErrorIssue(read.rule, read.problem, { ...place, row });
    }
  };
  const none = makeErrorIssue(
    'table-no-rows',
    msg`There are no features in the file. Nothing was read.`,
    { file },
  );
  return makeTableOfRecords(
    place,
    { [Symbol.iterator]: records },
    parts.length === 0 ? [none] : [],
  );
}

function parseJsonObject(part: Buffer): Values | undefined {
  try {
    const value: unknown = JSON.parse(part.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return undefined;
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
/**
 * Limit for a feature, and for the document around the features: parsed JSON takes many times its
 * size.
 */
const MAX_PART_BYTES = 1024 * 1024;

/** @param findPlace converts an offset in the part to one in the whole file */
function parseJson(
  file: string,
  whole: Buffer,
  part: Buffer,
  findPlace: (offset: number) => number,
): Values {
  const text = part.toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch (thrown) {
    const message = getErrorMessage(thrown);
    const offset = /at position (\d+)/.exec(message)?.[1];
    const reason = message.replace(/ at position \d.*$/s, '');
    const place = findPlace(
      offset === undefined ? part.length : Buffer.byteLength(text.slice(0, Number(offset))),
    );
    const line = getLineAt(whole.toString('latin1', 0, place), place);
    throw new FileError(file, msg`${file} is not valid JSON: line ${line}, ${reason}.`, {
      cause: thrown,
      hint: msg`The file may be cut short. Save the layer as GeoJSON again.`,
    });
  }
}

/** In practice longitude comes first, even where the named system has latitude first. */
function getSystem(file: string, document: Values): GeomSystem {
  const crs = document['crs'];
  if (crs === undefined) return '4326';
  const properties = isObject(crs) ? crs['properties'] : undefined;
  const name = isObject(properties) ? String(properties['name'] ?? '') : '';
  const system = parseSystemCode(name);
  if (system === undefined)
    throw makeUnsupportedCrsError(file, name === '' ? JSON.stringify(crs) : name);
  return system;
}

type FeatureValues = {
  readonly values: ReadonlyMap<string, string>;
  readonly point?: PointInSystem;
};

function parseFeature(feature: Values, system: GeomSystem): Reading<FeatureValues> {
  if (feature['type'] !== 'Feature') {
    return makeUnreadable(
      'feature',
      msg`This is not a GeoJSON feature: its type is not "Feature".`,
    );
  }
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(
    isObject(feature['properties']) ? feature['properties'] : {},
  )) {
    if (typeof value === 'number' && isOverlong(value)) {
      const { rule, problem } = makeOverlongFault(formatPlainNumber(value));
      return makeUnreadable(rule, msg`The property ${name}: ${problem}`);
    }
    const text = formatValue(value);
    if (text === undefined) {
      return makeUnreadable(
        'feature-property',
        msg`The property ${name} contains a structure. Write a text, a number or a list of texts.`,
      );
    }
    values.set(name, text);
  }
  const point = parseGeometry(feature['geometry'], system);
  if (!isReadable(point)) return point;
  return { value: { values, point: point.value } };
}

/** Formats a list as a table does, with `;` between its parts. */
function formatValue(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatPlainNumber(value);
    case 'boolean':
      return String(value);
    case 'undefined':
      return '';
    default: {
      if (value === null) return '';
      if (!Array.isArray(value)) return undefined;
      const parts = value.map((part: unknown) =>
        Array.isArray(part) ? undefined : formatValue(part),
      );
      return parts.includes(undefined) ? undefined : parts.join(';');
    }
  }
}

function parseGeometry(geometry: unknown, system: GeomSystem): Reading<PointInSystem | undefined> {
  if (geometry === null || geometry === undefined) return { value: undefined };
  const { type, coordinates } = isObject(geometry) ? geometry : {};
  if (type === 'Point') return parseGeoJsonPosition(coordinates, system);
  const only: unknown =
    Array.isArray(coordinates) && coordinates.length === 1 ? coordinates[0] : undefined;
  if (type === 'MultiPoint' && only !== undefined) return parseGeoJsonPosition(only, system);
  if (type === 'MultiPoint') {
    const count = Array.isArray(coordinates) ? coordinates.length : 0;
    return makeUnreadable(
      'geometry-form',
      msg`The geometry has ${count} points, but a find has one.`,
    );
  }
  const named = String(type);
  return makeUnreadable('geometry-form', msg`The geometry is a ${named}, but a find has a point.`);
}

function parseGeoJsonPosition(
  position: unknown,
  system: GeomSystem,
): Reading<PointInSystem | undefined> {
  if (Array.isArray(position) && position.length === 0) return { value: undefined };
  const [x, y]: unknown[] = Array.isArray(position) ? position : [];
  if (typeof x !== 'number' || typeof y !== 'number') {
    return makeUnreadable('geometry-form', msg`The coordinates of the point are not two numbers.`);
  }
  return { value: { system, x: formatPlainNumber(x), y: formatPlainNumber(y) } };
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type TextPart = { readonly start: number; readonly end: number };

type Parts = {
  /** Absent where there is no list of features. */
  readonly features?: readonly TextPart[];
  /** The document with an empty list of features. */
  readonly rest: Buffer;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FEATURES = Buffer.from('"features"');

/**
 * Locates each feature of a FeatureCollection in the bytes, so that it is parsed only when its row
 * is read. Invalid JSON is not detected here, but when a part is parsed.
 * @throws FileError where there are too many features
 */
function locateFeatures(file: string, bytes: Buffer): Parts {
  const features: TextPart[] = [];
  let depth = 0;
  let listStart = -1;
  let listEnd = -1;
  let partStart = 0;
  let name: TextPart = { start: 0, end: 0 };
  const take = (end: number): void => {
    features.push({ start: partStart, end });
    partStart = end + 1;
    assertTableSize(file, { rows: features.length });
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const isInList = depth === 2 && listStart !== -1 && listEnd === -1;
    if (byte === QUOTE) {
      const end = findEndOfText(bytes, at);
      if (depth === 1) name = { start: at, end };
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth !== 2 || byte !== OPEN_LIST || listStart !== -1) continue;
      if (bytes.subarray(name.start, name.end).equals(FEATURES))
        [listStart, partStart] = [at + 1, at + 1];
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (!isInList) continue;
      listEnd = at;
      const isEmpty =
        features.length === 0 && bytes.subarray(partStart, at).every((each) => each <= 0x20);
      if (!isEmpty) take(at);
    } else if (byte === COMMA && isInList) take(at);
  }
  if (listStart === -1) return { rest: bytes };
  const behind = bytes.subarray(listEnd === -1 ? bytes.length : listEnd);
  return { features, rest: Buffer.concat([bytes.subarray(0, listStart), behind]) };
}

const LINE_FEED = 0x0a;
const RECORD_SEPARATOR = 0x1e;
/** The first feature of a sequence ends within this size; longer ones are no points. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Locates the features of a sequence: each behind a record separator (RFC 8142), or one per line.
 * Undefined for other documents: the first line is no feature, or there is only one.
 * @throws FileError where there are too many features
 */
function locateSequence(file: string, bytes: Buffer): readonly TextPart[] | undefined {
  const isSeparated =
    bytes.subarray(0, MAX_LINE_BYTES).find((byte) => byte > 0x20 || byte === RECORD_SEPARATOR) ===
    RECORD_SEPARATOR;
  if (!isSeparated && !isBeginningWithLines(bytes)) return undefined;
  const mark = isSeparated ? RECORD_SEPARATOR : LINE_FEED;
  const parts: TextPart[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(mark, start);
    const end = next === -1 ? bytes.length : next;
    let first = start;
    while (first < end && (bytes[first] ?? 0) <= 0x20) first += 1;
    if (first < end) parts.push({ start: first, end });
    assertTableSize(file, { rows: parts.length });
    start = end + 1;
  }
  return parts;
}

/** Tells if the first line is a whole feature, and another object follows. */
function isBeginningWithLines(bytes: Buffer): boolean {
  const start = bytes.findIndex((byte) => byte > 0x20);
  const end = bytes.indexOf(LINE_FEED, start);
  if (start === -1 || end === -1 || end - start > MAX_LINE_BYTES) return false;
  const next = bytes.subarray(end, end + MAX_LINE_BYTES).find((byte) => byte > 0x20);
  if (next !== OPEN_OBJECT) return false;
  try {
    const first: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return (
      typeof first === 'object' && first !== null && 'type' in first && first.type === 'Feature'
    );
  } catch {
    return false;
  }
}

/**
 * Returns the position behind the closing quote of a string; the end of the bytes where none
 * closes.
 */
function findEndOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return bytes.length;
}
