import { formatPlainNumber } from '../../base/characters.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isReadable, makeRuleProblem, type Reading, type RuleProblem } from '../../base/issue.ts';
import { isPlainObject } from '../../base/json-and-toml.ts';
import { msg } from '../../base/message.ts';
import {
  type GeomSystem,
  makeNoPointProblem,
  makeUnsupportedCrsError,
  type PointInSystem,
  parseSystemCode,
} from '../../finds/place/geometry.ts';
import { decodeUtf8 } from '../input-file.ts';
import {
  assertInputSize,
  isBeyondSafeIntegers,
  makeDamagedFileError,
  makeOverlongNumberFault,
  makeSyntaxError,
  makeTableOfRecords,
  type ReadRecord,
  type Table,
} from '../table.ts';

/**
 * Reads GeoJSON (RFC 7946) as a table: each feature is a row, its properties are the columns, its
 * point is in WGS 84, or in S-JTSK where the member `crs` of the specification of 2008 names that.
 * Heights are ignored. A feature that cannot be read is an issue.
 * @param file its name for messages
 * @throws FileError where the bytes are no GeoJSON, too many, or in another coordinate system
 */
export function parseGeoJsonTable(file: string, bytes: Buffer): Table {
  assertInputSize(file, bytes.length, MAX_JSON_BYTES);
  const text = decodeUtf8(file, bytes);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (thrown) {
    throw makeSyntaxError(file, 'JSON', getErrorMessage(thrown), thrown);
  }
  const features = listFeatures(document);
  if (features === undefined)
    throw makeDamagedFileError(file, msg`${file} is JSON, but has no GeoJSON features.`);
  const system = getSystem(file, document);
  const readRecords = function* (): Generator<ReadRecord> {
    for (const [index, feature] of features.entries())
      yield { row: index + 1, ...parseFeature(feature, system) };
  };
  return makeTableOfRecords({ file, unit: 'feature' }, readRecords);
}

/** Parsed JSON takes up to twenty times its size; ten thousand finds have a tenth of this. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

function listFeatures(document: unknown): readonly unknown[] | undefined {
  if (!isPlainObject(document)) return undefined;
  if (document['type'] === 'Feature') return [document];
  const { type, features } = document;
  return type === 'FeatureCollection' && Array.isArray(features) ? features : undefined;
}

/**
 * Returns the system of the member `crs`, WGS 84 where it is absent. In practice longitude comes
 * first, even where the named system has latitude first.
 * @throws FileError for another system, or one that cannot be read
 */
function getSystem(file: string, document: unknown): GeomSystem {
  const crs = isPlainObject(document) ? document['crs'] : undefined;
  if (crs === undefined) return '4326';
  const properties = isPlainObject(crs) ? crs['properties'] : undefined;
  const name = isPlainObject(properties) ? properties['name'] : undefined;
  const system = typeof name === 'string' ? parseSystemCode(name) : undefined;
  if (system === undefined)
    throw makeUnsupportedCrsError(file, typeof name === 'string' ? name : 'crs');
  return system;
}

type FeatureValues = {
  readonly values: ReadonlyMap<string, string>;
  readonly point?: PointInSystem;
};

/** Returns the values and point of a feature, or the first fault, by which it is left out. */
function parseFeature(feature: unknown, system: GeomSystem): FeatureValues | RuleProblem {
  if (!isPlainObject(feature) || feature['type'] !== 'Feature')
    return makeRuleProblem('feature', msg`This is not a GeoJSON feature.`);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(
    isPlainObject(feature['properties']) ? feature['properties'] : {},
  )) {
    if (typeof value === 'number' && isBeyondSafeIntegers(value)) {
      const { rule, problem } = makeOverlongNumberFault(formatPlainNumber(value));
      return makeRuleProblem(rule, msg`The property ${name}: ${problem}`);
    }
    const text = formatValue(value);
    if (text === undefined) {
      return makeRuleProblem(
        'feature-property',
        msg`The property ${name} contains a list or a structure. Write a text or a number.`,
      );
    }
    values.set(name, text);
  }
  const point = parseGeometry(feature['geometry'], system);
  return isReadable(point) ? { values, point: point.value } : point;
}

/** Formats a property as a table does, '' for null; undefined for a list or a structure. */
function formatValue(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return formatPlainNumber(value);
  return typeof value === 'object' ? undefined : String(value);
}

function parseGeometry(geometry: unknown, system: GeomSystem): Reading<PointInSystem | undefined> {
  if (geometry === null || geometry === undefined) return { value: undefined };
  const { type, coordinates } = isPlainObject(geometry) ? geometry : {};
  if (type === 'Point') return parseGeoJsonPosition(coordinates, system);
  if (type !== 'MultiPoint') return makeNoPointProblem(String(type));
  const positions: readonly unknown[] = Array.isArray(coordinates) ? coordinates : [];
  const [only] = positions;
  return positions.length === 1
    ? parseGeoJsonPosition(only, system)
    : makeNoPointProblem(`MultiPoint (${positions.length})`);
}

function parseGeoJsonPosition(
  position: unknown,
  system: GeomSystem,
): Reading<PointInSystem | undefined> {
  if (Array.isArray(position) && position.length === 0) return { value: undefined };
  const [x, y]: unknown[] = Array.isArray(position) ? position : [];
  if (typeof x !== 'number' || typeof y !== 'number') {
    return makeRuleProblem('geometry-form', msg`The coordinates of the point are not two numbers.`);
  }
  return { value: { system, x: formatPlainNumber(x), y: formatPlainNumber(y) } };
}
