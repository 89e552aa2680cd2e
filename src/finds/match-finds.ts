import { makeIdKey, trimText } from '../base/characters.ts';
import { addToGroup } from '../base/collections.ts';
import {
  type ElementName,
  type Elements,
  FIELDS,
  type Field,
  type FindElements,
  getField,
  getPoint,
  getPointElement,
  NEW_PERSON,
} from './fields.ts';
import { splitNameAtComma } from './person-name.ts';
import {
  findRangeProblem,
  isNearPoint,
  type PointInBothSystems,
  type PointInSystem,
  toSJtsk,
  toWgs84,
} from './place/geometry.ts';

type Value = Elements[keyof Elements];

/** Canonical value of an element; null where it is absent, or has the value that means absence. */
type CanonicalValue = string | number | true | readonly number[] | null;

/**
 * Returns the names and canonical values of the elements that have one, in the order of the schema.
 * They are equal for a find and its unchanged record, except a new person, who is named in the find
 * and has an identifier in the record: references are their identifiers, numbers have no trailing
 * zeros, and what means absence (blank, false, the point that `geom_system` does not select) is
 * left out. Ids of intents are hashes of this, so a change of its form makes every find another
 * one.
 */
export function canonicalizeElements(elements: Elements): (readonly [string, CanonicalValue])[] {
  const values: (readonly [string, CanonicalValue])[] = [];
  for (const field of FIELDS) {
    if (elements[field.name] === undefined) continue;
    const value = canonicalizeValue(field, elements);
    if (value !== null) values.push([field.name, value]);
  }
  return values;
}

/**
 * Returns the value in the form in which a find and a record of it are equal. Null where the
 * element is absent, false, blank, or the point that `geom_system` does not select.
 */
function canonicalizeValue(field: Field, elements: Elements): CanonicalValue {
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

/** Caches canonical references: the finds of a table share those of equal cells. */
const canonicalReferences = new WeakMap<object, string | null>();

function canonicalizeReference(value: Value): string | null {
  if (typeof value !== 'object') return canonicalizeText(value);
  const known = canonicalReferences.get(value);
  if (known !== undefined) return known;
  const canonical =
    value.id === NEW_PERSON
      ? `${NEW_PERSON} ${makeNameKey(value.text)}`
      : canonicalizeText(value.id);
  canonicalReferences.set(value, canonical);
  return canonical;
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

function makeNameKey(name: string): string {
  const { surname, givenName } = splitNameAtComma(name.normalize('NFC'));
  return `${surname}, ${givenName}`;
}

function parseNumbersIn(wkt: string | null): readonly number[] | null {
  return (wkt ?? '').match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? null;
}

/**
 * Returns the point that `geom_system` selects, its numbers without trailing zeros; undefined where
 * either is absent, or the point has no two numbers. Ranges are not checked, and text around the
 * numbers does not count.
 */
export function getCanonicalPoint(elements: Elements): PointInSystem | undefined {
  const { geom_system: system } = elements;
  if (system !== '4326' && system !== '5514') return undefined;
  const [x, y] = parseNumbersIn(canonicalizeText(elements[getPointElement(system)])) ?? [];
  return x === undefined || y === undefined ? undefined : { system, x: String(x), y: String(y) };
}

/**
 * Returns the point of a find in both systems, one of them computed; undefined where
 * {@link getPoint} has none, or it is outside the range of its system (A-POINT-6).
 */
export function findPointInBothSystems(elements: FindElements): PointInBothSystems | undefined {
  const point = getPoint(elements);
  if (point === undefined) return undefined;
  const measuredIn = point.system;
  const numbers = [Number(point.x), Number(point.y)] as const;
  if (findRangeProblem(measuredIn, ...numbers) !== undefined) return undefined;
  return measuredIn === '4326'
    ? { wgs84: numbers, sJtsk: toSJtsk(numbers), measuredIn }
    : { wgs84: toWgs84(numbers), sJtsk: numbers, measuredIn };
}

/** A centimetre in degrees; in metres practically zero. */
const SAME_POINT = 1e-7;

/**
 * Tells if two points are the same: in one system where no number differs by more than 1e-7 degrees
 * or metres, in two systems where they are within the 2 m of a conversion (A-POINT-8). Two absent
 * points are the same.
 */
export function isSamePoint(a: PointInSystem | undefined, b: PointInSystem | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.system !== b.system) return isNearPoint(a, b);
  return (
    Math.abs(Number(a.x) - Number(b.x)) <= SAME_POINT &&
    Math.abs(Number(a.y) - Number(b.y)) <= SAME_POINT
  );
}

/**
 * Tells if two finds or records have the same value of a field, as {@link canonicalizeElements}
 * has it. Two people of whom one is a new person are compared by name, although the other one has
 * an identifier.
 */
export function isSameValue(field: Field, one: Elements, other: Elements): boolean {
  const a = one[field.name];
  const b = other[field.name];
  if (a === b) return true;
  if (typeof a === 'object' && typeof b === 'object' && [a.id, b.id].includes(NEW_PERSON))
    return makeNameKey(a.text) === makeNameKey(b.text);
  return (
    JSON.stringify(canonicalizeValue(field, one)) ===
    JSON.stringify(canonicalizeValue(field, other))
  );
}

/**
 * Likeness of two finds of one project. `same`: day, finder, place, point and details agree;
 * `near`: at most two of them differ, or more, but the registration number and place, day or object
 * agree; `other`: they are different finds.
 */
export type FindLikeness = 'same' | 'near' | 'other';

/** A find or a record, prepared for comparisons. */
export type ComparableFind = {
  /** Undefined for a record of the service. */
  readonly localId: string | undefined;
  readonly project: string;
  /** Own registration number; empty where there is none. */
  readonly number: string;
  readonly day: string;
  readonly place: string;
  readonly point: PointInSystem | undefined;
  readonly object: string;
  readonly finder: Person;
  /** Texts of {@link DETAILS}. */
  readonly details: readonly string[];
  /** The reader may not see place and point, so that they do not count. */
  readonly isPlaceWithheld: boolean;
};

/** `name`: for a person who has an identifier on one side only. */
type Person = { readonly id: string; readonly name: string };

const MAX_DIFFERENT = 2;
const NEAR_M = 10;

const DETAIL_KINDS: readonly Field['kind'][] = ['text', 'integer', 'boolean', 'term'];

/** Elements that are compared as they are, without those of handing over, which come later. */
const DETAILS = FIELDS.filter(
  ({ kind, parent, requiredFrom }) =>
    DETAIL_KINDS.includes(kind) && parent === undefined && requiredFrom !== 3,
).map(({ name }) => name);
const OBJECT: readonly ElementName[] = ['obdobi', 'druh_nalezu', 'specifikace'];

/**
 * Prepares a find or a record for {@link matchFinds}: the canonical values that are compared.
 * @param localId of a find; undefined for a record of the service
 * @param isPlaceWithheld the reader may not see the place of the record, so it is not compared
 */
export function toComparableFind(
  elements: Elements,
  localId?: string,
  isPlaceWithheld = false,
): ComparableFind {
  const getText = (name: ElementName): string =>
    canonicalizeValue(getField(name), elements)?.toString() ?? '';
  const { nalezce } = elements;
  return {
    localId: localId === undefined ? undefined : makeIdKey(localId),
    project: getText('projekt'),
    number: getText('evidencni_cislo'),
    day: getText('datum_nalezu'),
    place: getText('lokalizace'),
    point: getCanonicalPoint(elements),
    object: JSON.stringify(OBJECT.map(getText)),
    finder: {
      id: typeof nalezce === 'object' ? nalezce.id : getText('nalezce'),
      name: typeof nalezce === 'object' ? makeNameKey(nalezce.text) : '',
    },
    details: DETAILS.map(getText),
    isPlaceWithheld,
  };
}

/**
 * Judges how like two finds are, or a find and a record; their order does not matter. State and
 * handing over do not count, since they change after a find was made. Finds of two projects are
 * `other`; so are finds without a common local id whose days or registration numbers differ (an
 * absent one differs from none), or whose points are more than 10 m apart.
 * @param isEdition the two are from tables of which one is an edition of the other, so that a
 * changed day, number or point alone does not make them `other`
 */
export function matchFinds(a: ComparableFind, b: ComparableFind, isEdition = false): FindLikeness {
  if (a.project !== b.project) return 'other';
  const isOneId = a.localId !== undefined && a.localId === b.localId;
  if (!isOneId && !isEdition && areApart(a, b)) return 'other';
  const different = countDifferences(a, b);
  if (different === 0) return 'same';
  if (different <= MAX_DIFFERENT) return 'near';
  return a.number !== '' && a.number === b.number && agreeInPart(a, b) ? 'near' : 'other';
}

function areApart(a: ComparableFind, b: ComparableFind): boolean {
  return (
    areBothAndDiffer(a.day, b.day) ||
    areBothAndDiffer(a.number, b.number) ||
    (isPlaceReadable(a, b) &&
      a.point !== undefined &&
      b.point !== undefined &&
      !isNearPoint(a.point, b.point, NEAR_M))
  );
}

function areBothAndDiffer(a: string, b: string): boolean {
  return a !== '' && b !== '' && a !== b;
}

function isPlaceReadable(a: ComparableFind, b: ComparableFind): boolean {
  return !a.isPlaceWithheld && !b.isPlaceWithheld;
}

/** Counts the elements in which two finds differ; one more than those of `near` stands for all. */
export function countDifferences(a: ComparableFind, b: ComparableFind): number {
  let count = 0;
  if (a.day !== b.day) count += 1;
  if (!isSamePerson(a.finder, b.finder)) count += 1;
  if (isPlaceReadable(a, b)) {
    if (a.place !== b.place) count += 1;
    if (!isSamePoint(a.point, b.point)) count += 1;
  }
  for (let at = 0; at < a.details.length && count <= MAX_DIFFERENT; at += 1)
    if (a.details[at] !== b.details[at]) count += 1;
  return count;
}

function isSamePerson(a: Person, b: Person): boolean {
  if (a.id === NEW_PERSON || b.id === NEW_PERSON) return a.name === b.name;
  return a.id === b.id;
}

function agreeInPart(a: ComparableFind, b: ComparableFind): boolean {
  const isOnePlace =
    isPlaceReadable(a, b) &&
    ((a.place !== '' && a.place === b.place) ||
      (a.point !== undefined && b.point !== undefined && isNearPoint(a.point, b.point, NEAR_M)));
  return isOnePlace || (a.day !== '' && a.day === b.day) || a.object === b.object;
}

/**
 * Tells if a find has enough content to be compared with other finds: at least two of object
 * (period, type or material), place (in words or a point), day and note.
 */
export function hasEnoughToCompare(find: ComparableFind): boolean {
  const note = find.details[DETAILS.indexOf('poznamka')] ?? '';
  const given = [
    find.object !== NO_OBJECT,
    find.place !== '' || find.point !== undefined,
    find.day !== '',
    note !== '',
  ];
  return given.filter(Boolean).length >= 2;
}

const NO_OBJECT = JSON.stringify(OBJECT.map(() => ''));

/** Finds by their parts, so that each is compared only with those that agree in some of them. */
export type FindIndex<T> = {
  add(find: ComparableFind, item: T): void;
  /**
   * Returns, each once, the added finds that {@link matchFinds} may judge `same` or `near`, and
   * some others. Points agree here only by equal numbers, so one that is near may be missing where
   * two further parts differ.
   * @param find not a record whose place is withheld
   */
  list(find: ComparableFind): readonly IndexedFind<T>[];
};

type IndexedFind<T> = { readonly find: ComparableFind; readonly item: T };

/**
 * Makes an empty index. A find is filed under each pair of its day, details, place and point,
 * under its number and its local id; a record whose place is withheld, under its day alone.
 */
export function makeFindIndex<T>(): FindIndex<T> {
  const groups = new Map<number, IndexedFind<T>[]>();
  return {
    add(find, item) {
      const { project, day, isPlaceWithheld } = find;
      const keys = isPlaceWithheld
        ? [makeDayKey(project, day), makeDayKey(project, ANY_DAY)]
        : listKeys(find);
      const indexed = { find, item };
      for (const key of keys) addToGroup(groups, hashKey(key), indexed);
    },
    list(find) {
      const { project, day } = find;
      const withoutDay = makeDayKey(project, day === '' ? ANY_DAY : '');
      const keys = [...listKeys(find), makeDayKey(project, day), withoutDay];
      return [...new Set(keys.flatMap((key) => groups.get(hashKey(key)) ?? []))];
    },
  };
}

const ANY_DAY = 'any';

function makeDayKey(project: string, day: string): string[] {
  return ['withheld', project, day];
}

/**
 * Two finds that are near differ in at most two of place, point, day and details, so they agree in
 * the other two. Numbers and local ids have keys of their own.
 */
function listKeys({ project, day, number, localId, place, point, details }: ComparableFind) {
  const where = point === undefined ? '' : `${Number(point.x)} ${Number(point.y)}`;
  const parts = [day, details.join('\0'), place, where];
  const keys = parts.flatMap((one, at) =>
    parts.slice(at + 1).map((other, behind) => [`${at}+${at + 1 + behind}`, project, one, other]),
  );
  if (number !== '') keys.push(['number', project, number]);
  if (localId !== undefined) keys.push(['id', localId]);
  return keys;
}

/** Two keys of one hash only add a comparison. */
function hashKey(parts: readonly string[]): number {
  let key = 0x811c9dc5;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 1)
      key = Math.imul(key ^ part.charCodeAt(at), 0x01000193);
    key = Math.imul(key ^ 0xff, 0x01000193);
  }
  return key;
}

/**
 * Returns the tables of which these rows are an edition: all in which any of the rows is known, if
 * at least half of the rows are known in some table; else none.
 * @param listTables called once for each row; returns the tables in which it is known
 */
export function findEditions<Row>(
  rows: readonly Row[],
  listTables: (row: Row) => readonly string[],
): Set<string> {
  const known = rows.map(listTables).filter((tables) => tables.length > 0);
  return new Set(known.length * 2 < rows.length ? [] : known.flat());
}

/**
 * Tells if a find of another table makes a row known there, for {@link findEditions}: with the
 * row's registration number and not `other`, or, where the row's table has no numbers, as `same`.
 * @param hasNumbers the row's table has registration numbers
 */
export function isKnownRow(
  row: ComparableFind,
  find: ComparableFind,
  hasNumbers: boolean,
): boolean {
  const matched = matchFinds(row, find, true);
  return hasNumbers
    ? row.number !== '' && row.number === find.number && matched !== 'other'
    : matched === 'same';
}
