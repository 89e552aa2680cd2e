import {
  type ElementName,
  FIELDS,
  type FindElements,
  getField,
  getPoint,
  getPointElement,
  isPointElement,
  NEW_PERSON,
  omitAbsentElements,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import { isSameValue } from '../../finds/match-finds.ts';
import { isNearPoint } from '../../finds/place/geometry.ts';

/** Elements for which a table has a column. */
type CoveredElements = ReadonlySet<ElementName>;

/** Side that wins where the find and the row changed an element to different values. */
export type MergeSide = 'mine' | 'table';

/** An element as last imported, in the find and in the row; undefined where it is absent. */
export type RowDifference = {
  readonly element: ElementName;
  readonly base: string | undefined;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
};

export type MergedRow = {
  readonly elements: FindElements;
  /** The row as imported now; elements without a column keep their base. */
  readonly base: FindElements;
  /** Elements that the row changed, to another value than the find's. */
  readonly differences: readonly RowDifference[];
  /** Differences in elements that the find changed, too. */
  readonly conflicts: readonly RowDifference[];
};

/**
 * Elements that change together, in the order of a find; the elements of the point are one part.
 */
const PARTS: readonly (readonly ElementName[])[] = [
  ...FIELDS.filter(({ name }) => !isPointElement(name)).map(({ name }) => [name]),
  POINT_ELEMENTS,
];

/**
 * Merges a row into its find, element by element (three-way merge); nothing is stored. An element
 * that the row did not change since its last import keeps the find's value; one that the find did
 * not change takes the row's. One that both changed differently is a conflict and keeps the
 * find's value, unless `side` is `table`. The elements of the point are merged as one.
 * @param base the row as last imported
 * @param read elements of the row
 * @param covered elements that have a column; undefined for all
 */
export function mergeRow(
  base: FindElements,
  find: FindElements,
  read: FindElements,
  covered?: CoveredElements,
  side?: MergeSide,
): MergedRow {
  const row = overlayRow(base, { elements: read, covered });
  const merged: { -readonly [Name in ElementName]?: unknown } = { ...find };
  const take = (part: readonly ElementName[]): void => {
    for (const name of part) merged[name] = row[name];
  };
  const differences: RowDifference[] = [];
  const conflicts: RowDifference[] = [];
  for (const part of PARTS) {
    if (isSamePart(base, row, part) || isSamePart(find, row, part)) {
      if (isHarvestedSince(find, row, part)) take(part);
      continue;
    }
    const difference = findDifference(base, find, row, part);
    differences.push(difference);
    const isConflict = !isSamePart(base, find, part);
    if (isConflict) conflicts.push(difference);
    if (!isConflict || side === 'table') take(part);
  }
  return {
    elements: omitAbsentElements(merged),
    base: omitAbsentElements(row),
    differences,
    conflicts,
  };
}

/** Returns the row's elements over those without a column; an empty cell is an absent element. */
export function overlayRow(
  base: FindElements,
  { elements, covered }: { readonly elements: FindElements; readonly covered?: CoveredElements },
): FindElements {
  if (covered === undefined) return elements;
  return { ...base, ...Object.fromEntries([...covered].map((name) => [name, elements[name]])) };
}

function isSamePart(one: FindElements, other: FindElements, part: readonly ElementName[]): boolean {
  return part.every((name) => isSameValue(getField(name), one, other));
}

/** Tells if all elements agree in canonical form; local id and photographs are not compared. */
export function isSameFind(one: FindElements, other: FindElements): boolean {
  return FIELDS.every((field) => isSameValue(field, one, other));
}

type Value = FindElements[ElementName];

/**
 * The row has the identifier of a finder whom the find, entered before the harvest, has by name.
 */
function isHarvestedSince(
  find: FindElements,
  row: FindElements,
  part: readonly ElementName[],
): boolean {
  return part.includes('nalezce') && find.nalezce?.id === NEW_PERSON && isSamePart(find, row, part);
}

function findDifference(
  base: FindElements,
  find: FindElements,
  row: FindElements,
  part: readonly ElementName[],
): RowDifference {
  const [first = 'projekt'] = part;
  const getName = (...candidates: readonly FindElements[]): ElementName =>
    part.length === 1 ? first : findPointName(...candidates);
  const formatPart = (elements: FindElements): string | undefined =>
    formatElement(elements[getName(elements)]);
  return {
    element: getName(row, find),
    base: formatPart(base),
    ours: formatPart(find),
    theirs: formatPart(row),
  };
}

/** Returns the element of the point in the first candidate that has a point. */
function findPointName(...candidates: readonly FindElements[]): (typeof POINT_ELEMENTS)[number] {
  for (const { geom_system: system, ...elements } of candidates) {
    const name = system === undefined ? undefined : getPointElement(system);
    if (name !== undefined && elements[name] !== undefined) return name;
  }
  return 'geom_system';
}

/** Formats a value for people; a term without a text by its identifier. */
export function formatElement(value: Value): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'object' ? value.text || value.id : value.toString();
}

/**
 * Returns which of object, place and date the row has different both from its last import and from
 * the find.
 */
export function listDifferingTraits(
  base: FindElements,
  find: FindElements,
  row: FindElements,
): ElementName[] {
  const isDiffering = (name: ElementName): boolean =>
    [base, find].every(
      (other) => other[name] !== undefined && !isSameValue(getField(name), other, row),
    ) && row[name] !== undefined;
  const placeName = findPointName(row, base);
  const movedPoint = [base, find].every((other) => isElsewhere(other, row)) ? [placeName] : [];
  const hasPoints = getPoint(base) !== undefined && getPoint(row) !== undefined;
  const place = hasPoints ? movedPoint : (['lokalizace'] as const).filter(isDiffering);
  return [...(['druh_nalezu', 'datum_nalezu'] as const).filter(isDiffering), ...place];
}

function isElsewhere(one: FindElements, other: FindElements): boolean {
  const a = getPoint(one);
  const b = getPoint(other);
  return a !== undefined && b !== undefined && !isNearPoint(a, b);
}
