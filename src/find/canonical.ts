import {
  findRangeProblem,
  isSamePlace,
  type Place,
  type PointInSystem,
  parsePointNumbers,
  toSJtsk,
  toWgs84,
} from '../place/geometry.ts';
import { collapseText, trimText } from '../text/characters.ts';
import { NEW_PERSON } from './field.ts';
import { type Elements, FIELDS, type Field, type FindElements, getPointElement } from './fields.ts';

type Value = Elements[keyof Elements];

/** Canonical value of an element; null where it is absent, or has the value that means absence. */
export type CanonicalValue = string | number | true | readonly number[] | null;

/**
 * Returns all elements in the order of the schema, equal for a find and for a record of it: a
 * reference by its identifier, a new person by name, numbers without trailing zeros. Ids of intents
 * are hashes of it, so a change of its form makes every find another one.
 */
export function canonicalizeElements(elements: Elements): (readonly [string, CanonicalValue])[] {
  const values: (readonly [string, CanonicalValue])[] = [];
  for (const field of FIELDS) {
    const value = canonicalizeValue(field, elements);
    if (value !== null) values.push([field.name, value]);
  }
  return values;
}

/** Only the point that `geom_system` selects has a value. */
export function canonicalizeValue(field: Field, elements: Elements): CanonicalValue {
  const value = elements[field.name];
  switch (field.kind) {
    case 'reference':
    case 'term':
      return canonicalizeReference(value);
    case 'boolean':
      // The service stores an absent flag as false.
      return value === true || value === 'true' || value === '1' ? true : null;
    case 'integer':
    case 'state':
      return canonicalizeInteger(value);
    case 'point': {
      const { geom_system: system } = elements;
      const isSelected =
        (system === '4326' || system === '5514') && getPointElement(system) === field.name;
      return isSelected ? parseNumbersIn(canonicalizeText(value)) : null;
    }
    case 'text':
    case 'date':
    case 'geom-system':
      return canonicalizeText(value);
  }
}

function canonicalizeReference(value: Value): string | null {
  if (typeof value !== 'object') return canonicalizeText(value);
  return value.id === NEW_PERSON
    ? `${NEW_PERSON} ${makeNameKey(value.text.normalize('NFC'))}`
    : canonicalizeText(value.id);
}

function canonicalizeInteger(value: Value): number | string | null {
  const text = canonicalizeText(value);
  const number = Number(text);
  return text === null || Number.isNaN(number) ? text : number;
}

function canonicalizeText(value: Value): string | null {
  if (value === undefined || typeof value === 'object') return null;
  const written = String(value);
  // Shortcut: identifiers and numbers are ASCII.
  const text = trimText(
    /[^ -~]/.test(written) ? written.normalize('NFC').replace(/\r\n?/g, '\n') : written,
  );
  return text === '' ? null : text;
}

/**
 * Normalises a name as the service does: it splits at the first comma and collapses the blanks of
 * the given name.
 */
export function makeNameKey(name: string): string {
  const [surname = '', ...givenNames] = name.split(',');
  return `${trimText(surname)}, ${collapseText(givenNames.join(','))}`;
}

function parseNumbersIn(wkt: string | null): readonly number[] | null {
  return (wkt ?? '').match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? null;
}

/** Returns the point that `geom_system` selects; undefined without one. */
export function getCanonicalPoint(elements: Elements): PointInSystem | undefined {
  const { geom_system: system } = elements;
  if (system !== '4326' && system !== '5514') return undefined;
  const [x, y] = parseNumbersIn(canonicalizeText(elements[getPointElement(system)])) ?? [];
  return x === undefined || y === undefined ? undefined : { system, x: String(x), y: String(y) };
}

/**
 * Returns the point in both systems; undefined without a point, or for one that cannot be
 * converted.
 */
export function findPlace(elements: FindElements): Place | undefined {
  const measuredIn = elements.geom_system;
  if (measuredIn === undefined) return undefined;
  const wkt = measuredIn === '4326' ? elements.geom_wkt : elements.geom_sjtsk_wkt;
  const point = wkt === undefined ? undefined : parsePointNumbers(wkt);
  if (point === undefined || findRangeProblem(measuredIn, ...point) !== undefined) return undefined;
  return measuredIn === '4326'
    ? { wgs84: point, sJtsk: toSJtsk(point), measuredIn }
    : { wgs84: toWgs84(point), sJtsk: point, measuredIn };
}

/** A centimetre in degrees; in metres practically zero. */
const SAME_POINT = 1e-7;

/** Compares exactly in one system; a point in the other one was converted. */
export function isSamePoint(a: PointInSystem | undefined, b: PointInSystem | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.system !== b.system) return isSamePlace(a, b);
  return (
    Math.abs(Number(a.x) - Number(b.x)) <= SAME_POINT &&
    Math.abs(Number(a.y) - Number(b.y)) <= SAME_POINT
  );
}

/** Where one of two people is given by name, the names are compared: a record has identifiers. */
export function isSameValue(field: Field, one: Elements, other: Elements): boolean {
  const a = one[field.name];
  const b = other[field.name];
  if (a === b) return true;
  if (typeof a === 'object' && typeof b === 'object' && [a.id, b.id].includes(NEW_PERSON))
    return makeNameKey(a.text.normalize('NFC')) === makeNameKey(b.text.normalize('NFC'));
  return (
    JSON.stringify(canonicalizeValue(field, one)) ===
    JSON.stringify(canonicalizeValue(field, other))
  );
}
