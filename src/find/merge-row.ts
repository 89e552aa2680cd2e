import { parsePoint } from '../place/geometry.ts';
import { isSamePlace } from '../place/same-place.ts';
import { isReadable } from '../text/reading.ts';
import { trimText } from '../text/white-space.ts';
import { isAsFound } from './as-found.ts';
import { type ElementName, FIELDS, type FindElements, pointElement } from './fields.ts';
import { NEW_PERSON } from './resolve-reference.ts';

/** Elements that a table says something about: those that it has a column for. */
type Covered = ReadonlySet<ElementName>;

/** The side that an element is taken from where the find and the row changed it to different values. */
export type MergeSide = 'ours' | 'theirs';

/** An element with its texts: as last imported, in the find, and in the row; undefined where it is absent. */
export type Difference = {
  readonly element: ElementName;
  readonly base: string | undefined;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
};

export type MergedRow = {
  readonly elements: FindElements;
  /** The row as imported now; what the table has no column for stays as it was. */
  readonly base: FindElements;
  /** Elements that the row changed since it was last imported, and that the find has otherwise. */
  readonly differences: readonly Difference[];
  /** Those of them that the find changed, too. */
  readonly conflicts: readonly Difference[];
};

const POINT: readonly ElementName[] = ['geom_system', 'geom_wkt', 'geom_sjtsk_wkt'];

/** Elements that change together, in the order of a find: the point is in one of two elements, as the system says. */
const PARTS: readonly (readonly ElementName[])[] = [
  ...FIELDS.filter(({ name }) => !POINT.includes(name)).map(({ name }) => [name]),
  POINT,
];

/**
 * Merges a row into its find, element by element. What the row did not change since it was last imported stays as the find has it; what the
 * find did not change is taken from the row. What both changed to different values is a conflict, and stays as the find has it unless
 * `side` is given.
 *
 * @param base the row as last imported
 * @param read what the row says
 * @param covered undefined for all elements
 */
export function mergeRow(
  base: FindElements,
  find: FindElements,
  read: FindElements,
  covered?: Covered,
  side?: MergeSide,
): MergedRow {
  const row = covered === undefined ? read : { ...base, ...onlyCovered(read, covered) };
  const merged: [string, unknown][] = [];
  const imported: [string, unknown][] = [];
  const differences: Difference[] = [];
  const conflicts: Difference[] = [];
  for (const part of PARTS) {
    addPart(imported, row, part);
    if (isSamePart(base, row, part) || isSamePart(find, row, part)) {
      addPart(merged, isHarvestedSince(find, row, part) ? row : find, part);
      continue;
    }
    const difference = differenceOf(base, find, row, part);
    differences.push(difference);
    const isConflict = !isSamePart(base, find, part);
    if (isConflict) conflicts.push(difference);
    addPart(merged, isConflict && side !== 'theirs' ? find : row, part);
  }
  return { elements: Object.fromEntries(merged), base: Object.fromEntries(imported), differences, conflicts };
}

/** What a row says where its table has a column, also that an element is absent. */
function onlyCovered(read: FindElements, covered: Covered): FindElements {
  return Object.fromEntries([...covered].map((name) => [name, read[name]]));
}

function addPart(to: [string, unknown][], from: FindElements, part: readonly ElementName[]): void {
  for (const name of part) if (from[name] !== undefined) to.push([name, from[name]]);
}

function isSamePart(one: FindElements, other: FindElements, part: readonly ElementName[]): boolean {
  return part.every((name) => isSameValue(one[name], other[name]));
}

/** Whether two finds say the same in every element. */
export function isSameFind(one: FindElements, other: FindElements): boolean {
  return PARTS.every((part) => isSamePart(one, other, part));
}

type Value = FindElements[ElementName];

function isSameValue(one: Value, other: Value): boolean {
  return one === other || meaningOf(one) === meaningOf(other) || isSamePerson(one, other);
}

/** A person by name and the same one by identifier, who was harvested in between, are one finder. */
function isSamePerson(one: Value, other: Value): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return (one.id === NEW_PERSON) !== (other.id === NEW_PERSON) && one.text.normalize('NFC') === other.text.normalize('NFC');
}

/** The row has the identifier of the finder, and the find was entered before the vocabulary had it. */
function isHarvestedSince(find: FindElements, row: FindElements, [name]: readonly ElementName[]): boolean {
  return name === 'nalezce' && find.nalezce?.id === NEW_PERSON && row.nalezce !== undefined && isSamePart(find, row, [name]);
}

/** Of what refers to something only the identifier counts, but for a person whom the service may not know. */
function meaningOf(value: Value): string | number | boolean | undefined {
  if (typeof value === 'string') return trimText(value.normalize('NFC'));
  if (typeof value !== 'object') return value;
  return value.id === NEW_PERSON ? `${NEW_PERSON} ${trimText(value.text.normalize('NFC'))}` : value.id;
}

function differenceOf(base: FindElements, find: FindElements, row: FindElements, part: readonly ElementName[]): Difference {
  const [first = 'projekt'] = part;
  const element = part.length === 1 ? first : pointNameOf(row, find);
  const textIn = (elements: FindElements): string | undefined =>
    part.length === 1 ? valueText(elements[first]) : elements[pointNameOf(elements)]?.toString();
  return { element, base: textIn(base), ours: textIn(find), theirs: textIn(row) };
}

/** The element that has the point, in the first of these that has one. */
function pointNameOf(...candidates: readonly FindElements[]): 'geom_system' | 'geom_wkt' | 'geom_sjtsk_wkt' {
  for (const { geom_system: system, ...elements } of candidates) {
    const name = system === undefined ? undefined : pointElement(system);
    if (name !== undefined && elements[name] !== undefined) return name;
  }
  return 'geom_system';
}

/** A value as people read it; a term with its identifier where that is all that is known. */
export function valueText(value: Value): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'object' ? value.text || value.id : value.toString();
}

/** Which of object, place and date the row has otherwise than it was last imported and than the find has it. */
export function differingTraits(base: FindElements, find: FindElements, row: FindElements): ElementName[] {
  const differs = (name: ElementName): boolean =>
    [base, find].every((other) => other[name] !== undefined && !isSameValue(other[name], row[name])) && row[name] !== undefined;
  const placeName = pointNameOf(row, base);
  const movedPoint = [base, find].every((other) => isElsewhere(other, row)) ? [placeName] : [];
  const hasPoints = pointOf(base) !== undefined && pointOf(row) !== undefined;
  const place = hasPoints ? movedPoint : differs('lokalizace') ? ['lokalizace' as const] : [];
  return [...(['druh_nalezu', 'datum_nalezu'] as const).filter(differs), ...place];
}

function isElsewhere(one: FindElements, other: FindElements): boolean {
  const [a, b] = [pointOf(one), pointOf(other)];
  return a !== undefined && b !== undefined && !isSamePlace(a, b);
}

function pointOf(elements: FindElements) {
  const { geom_system: system } = elements;
  const wkt = system === undefined ? undefined : elements[pointElement(system)];
  if (system === undefined || wkt === undefined) return undefined;
  const point = parsePoint(wkt);
  return isReadable(point) ? { system, ...point.value } : undefined;
}

/** Differences that say what the find is, not what became of it since. */
export function asFoundDifferences(differences: readonly Difference[]): Difference[] {
  return differences.filter(({ element }) => isAsFound(element));
}
