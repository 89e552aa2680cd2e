import { makeIdKey } from '../../base/characters.ts';
import { groupBy } from '../../base/collections.ts';
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
import { type Find, isContentKey } from '../../finds/find.ts';
import {
  type ComparableFind,
  createFindIndex,
  type FindIndex,
  type FindLikeness,
  findEditions,
  hasDistinctContent,
  isSameValue,
  makeComparable,
  matchFinds,
} from '../../finds/match-finds.ts';
import { isNearPoint } from '../../finds/place/geometry.ts';
import type { Candidate, RejectedMatch } from '../facts.ts';

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
function overlayRow(
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

/** A find that is here before the import. */
export type FindHere = {
  readonly localId: string;
  /** Its number in its table, or the digest of its row; the local id where it has none. */
  readonly key: string;
  /** Full path of its table, with the sheet. */
  readonly path: string | null;
  readonly elements: FindElements;
  /** Its row as last imported. */
  readonly base: FindElements | undefined;
  /** A person removed or dropped it. */
  isGone(): boolean;
};

/** Says what a row is. `others`: finds like it, which it is not, as a person said. */
export type RowPlan =
  | { readonly kind: 'new'; readonly localId: string; readonly others: readonly Candidate[] }
  | { readonly kind: 'same'; readonly find: string; readonly isRenamed?: boolean }
  | {
      readonly kind: 'question';
      readonly basis: 'row-near' | 'row-another';
      readonly find: string;
      readonly localId: string;
      readonly matched: RejectedMatch;
    };

type PlannedTable = {
  /** Full path with the sheet; undefined for standard input. */
  readonly path: string | undefined;
  /** A person's prefix for the numbers of the table, whose finds are then others. */
  readonly prefix: string | undefined;
  /** Tells if a row, even an unreadable one, has the number. */
  readonly hasKey: (key: string) => boolean;
};

type Compared = { readonly known: FindHere; readonly matched: FindLikeness };

/**
 * Plans the rows of a table against the finds here, by number, else by content. The table is an
 * edition of those tables from which it has finds, if at least half of its rows are known. A number
 * of an edition is the same find, unless the row has two of object, place and day different. The
 * rows are all in memory only where there are finds to compare them with.
 */
export function planRows(rows: Iterable<Find>, known: readonly FindHere[], table: PlannedTable) {
  const { prefix = '' } = table;
  const planNew = (row: Find): RowPlan => makeNew(`${prefix}${row.localId}`);
  if (known.length === 0) return { finds: rows, planRow: planNew, names: new Set<string>() };
  const finds = [...rows];
  const planner = openPlanner(finds, known, table);
  const numbered = finds.map((row) => ({ row, plan: planner.planByNumber(row) }));
  const plans = new Map(numbered.map(({ row, plan }) => [row, plan ?? planner.planByContent(row)]));
  return {
    finds,
    planRow: (row: Find): RowPlan => plans.get(row) ?? planNew(row),
    /** Local ids of the finds here that a row is. */
    names: new Set([...plans.values()].map((plan) => getLocalIdOfPlan(plan))),
  };
}

export type PlannedRows = ReturnType<typeof planRows>;

/** Returns the local id of the find that a row is, becomes, or may be. */
export function getLocalIdOfPlan(plan: RowPlan): string {
  return plan.kind === 'new' ? plan.localId : plan.find;
}

function openPlanner(
  rows: readonly Find[],
  known: readonly FindHere[],
  { path, prefix, hasKey }: PlannedTable,
) {
  const byName = groupNames(known);
  const index = indexFinds(known);
  const comparable = new Map(rows.map((row) => [row, makeComparable(row.elements)]));
  const compared = new Map(rows.map((row) => [row, compareByNumber(row, byName, prefix)]));
  const listAlike = (row: Find, isEdition: (find: FindHere) => boolean): Compared[] =>
    listLikeFinds(index, comparable.get(row), isEdition);
  const editions = findEditions(rows, (row) => {
    const numbered = (compared.get(row) ?? []).filter((each) => isKnown(row, each));
    if (numbered.length > 0 || !isContentKey(row.localId)) return listTables(numbered);
    return listTables(listAlike(row, () => true).filter(({ matched }) => matched === 'same'));
  });
  if (path !== undefined && isSavedAgain(path, compared)) editions.add(path);
  const isEdition = ({ path: its }: FindHere): boolean => its !== null && editions.has(its);
  const { makeName, isPrefixed } = makeNamer(rows, compared, prefix, isEdition);
  const moved = findMovedRows(compared, comparable, known.filter(isEdition));
  const movedFinds = new Set([...moved.values()].map(({ known: find }) => find));
  const displaced = listDisplaced(compared);
  const taken = new Set<FindHere>();
  const take = (find: FindHere, plan: RowPlan): RowPlan => {
    taken.add(find);
    return plan;
  };
  const askNear = (row: Find, near: Compared): RowPlan =>
    take(near.known, makePlanToAsk('row-near', near, makeName(row)));
  const askAnother = (row: Find, other: Compared): RowPlan =>
    makePlanToAsk('row-another', other, makeName(row));
  return {
    /** Returns undefined where no find here has the number, and the row had no other one before. */
    planByNumber(row: Find): RowPlan | undefined {
      const renumbered = moved.get(row);
      if (renumbered !== undefined) return askNear(row, renumbered);
      const candidates = compared.get(row) ?? [];
      const best = candidates.toSorted(
        (a, b) => rank(a, isEdition(a.known)) - rank(b, isEdition(b.known)),
      )[0];
      if (best === undefined) return undefined;
      const { known: find, matched } = best;
      const isOne =
        find.isGone() || matched === 'same' || isUniversal(row.localId) || isEdition(find);
      if (isOne) {
        const isAnother = movedFinds.has(find) || hasOtherTraits(row, find);
        return isAnother && matched !== 'same' && !find.isGone()
          ? askAnother(row, best)
          : take(find, { kind: 'same', find: find.localId });
      }
      if (matched === 'near') return askNear(row, best);
      const isNameFree = makeIdKey(makeName(row)) !== makeIdKey(find.localId);
      return prefix === undefined && isNameFree ? undefined : askAnother(row, best);
    },
    planByContent(row: Find): RowPlan {
      const hasRow = (find: FindHere): boolean =>
        isEdition(find) && hasKey(find.key) && !hasNumber(find, row) && !displaced.has(find);
      const alike = listAlike(row, isEdition).filter(
        ({ known: find }) => !taken.has(find) && !hasRow(find),
      );
      const isOther = ({ known: find }: Compared): boolean =>
        isPrefixed(row) && hasNumber(find, row) && hasOtherTraits(row, find);
      const [best] = alike.filter((each) => !isOther(each)).toSorted(compareMatches);
      if (best === undefined) return makeNew(makeName(row), alike.filter(isOther).map(toCandidate));
      return isContentKey(row.localId) && best.matched === 'same' && isEdition(best.known)
        ? take(best.known, { kind: 'same', find: best.known.localId })
        : askNear(row, best);
    },
  };
}

function makePlanToAsk(
  basis: 'row-near' | 'row-another',
  { known: find, matched }: Compared,
  localId: string,
): RowPlan {
  return {
    kind: 'question',
    basis,
    find: find.localId,
    localId,
    matched: getRejectedMatch(matched),
  };
}

/** Returns the finds here that are the same as a row, or nearly, without those that are gone. */
function listLikeFinds(
  index: FindIndex<FindHere>,
  row: ComparableFind | undefined,
  isEdition: (find: FindHere) => boolean,
): Compared[] {
  if (row === undefined || !hasDistinctContent(row)) return [];
  return index.list(row).flatMap(({ find, item }) => {
    const matched = matchFinds(row, find, isEdition(item));
    return matched === 'other' || item.isGone() ? [] : [{ known: item, matched }];
  });
}

/**
 * Returns the rows of a renumbered table with the finds that they were: a row with the content that
 * another find had when it was last imported, where no row of that find's number has it any more.
 */
function findMovedRows(
  compared: ReadonlyMap<Find, readonly Compared[]>,
  comparable: ReadonlyMap<Find, ComparableFind>,
  known: readonly FindHere[],
): ReadonlyMap<Find, Compared> {
  const inPlace = new Set<FindHere | Find>();
  for (const [row, candidates] of compared)
    for (const { known: find, matched } of candidates)
      if (matched === 'same' || isAsImported(row, find)) inPlace.add(find).add(row);
  const absent = known
    .filter((find) => !inPlace.has(find) && !find.isGone())
    .map((find) => ({ find, content: makeComparable(find.base ?? find.elements) }));
  const groups = groupBy(absent, ({ content }) => makeContentKey(content));
  const moved = new Map<Find, Compared>();
  const found = new Set<FindHere>();
  for (const [row, content] of comparable) {
    if (inPlace.has(row) || isContentKey(row.localId) || isUniversal(row.localId)) continue;
    if (!hasDistinctContent(content)) continue;
    const match = groups
      .get(makeContentKey(content))
      ?.find(
        ({ find, content: its }) => !found.has(find) && matchFinds(content, its, true) === 'same',
      );
    if (match === undefined) continue;
    found.add(match.find);
    moved.set(row, { known: match.find, matched: 'same' });
  }
  return moved;
}

function isAsImported(row: Find, { base, elements }: FindHere): boolean {
  const before = base ?? elements;
  const now = makeComparable(overlayRow(before, row));
  return matchFinds(now, makeComparable(before), true) === 'same';
}

/** Returns a key that rows of one content have in common; their finders may be others. */
function makeContentKey({ project, day, place, point, details }: ComparableFind): string {
  return JSON.stringify([project, day, place, point, details]);
}

/** Returns the finds whose numbers only rows of other finds have. */
function listDisplaced(compared: ReadonlyMap<Find, readonly Compared[]>): ReadonlySet<FindHere> {
  const displaced = new Set<FindHere>();
  const kept = new Set<FindHere>();
  for (const [row, candidates] of compared)
    for (const { known, matched } of candidates)
      (matched === 'same' || !hasOtherTraits(row, known) ? kept : displaced).add(known);
  for (const find of kept) displaced.delete(find);
  return displaced;
}

function listTables(compared: readonly Compared[]): string[] {
  return compared.flatMap(({ known }) => known.path ?? []);
}

/** Tells if the file has a number of its earlier content; else it has only other finds by now. */
function isSavedAgain(path: string, compared: ReadonlyMap<Find, readonly Compared[]>): boolean {
  return [...compared.values()].some((each) => each.some(({ known }) => known.path === path));
}

function hasNumber({ key }: FindHere, { localId }: Find): boolean {
  return makeIdKey(key) === makeIdKey(localId);
}

function makeNew(localId: string, others: readonly Candidate[] = []): RowPlan {
  return { kind: 'new', localId, others };
}

function toCandidate({ known: { localId }, matched }: Compared): Candidate {
  return { name: localId, matched: getRejectedMatch(matched) };
}

/** Finds with one number that are not alike are rejected like those that differ a little. */
function getRejectedMatch(matched: FindLikeness): RejectedMatch {
  return matched === 'same' ? 'same' : 'near';
}

function compareMatches(a: Compared, b: Compared): number {
  return Number(b.matched === 'same') - Number(a.matched === 'same');
}

function rank({ matched }: Compared, isOfEdition: boolean): number {
  return (isOfEdition ? 0 : 3) + ['same', 'near', 'other'].indexOf(matched);
}

function groupNames(known: readonly FindHere[]): ReadonlyMap<string, readonly FindHere[]> {
  const named = known.flatMap((find) =>
    [...new Set([makeIdKey(find.localId), makeIdKey(find.key)])].map((name) => ({ name, find })),
  );
  return new Map(
    [...groupBy(named, ({ name }) => name)].map(([name, group]) => [
      name,
      group.map(({ find }) => find),
    ]),
  );
}

function indexFinds(known: readonly FindHere[]): FindIndex<FindHere> {
  const index = createFindIndex<FindHere>();
  for (const find of known) index.add(makeComparable(find.elements), find);
  return index;
}

/** Compares a row with the finds of its number; elements without a column do not count. */
function compareByNumber(
  row: Find,
  byName: ReadonlyMap<string, readonly FindHere[]>,
  prefix = '',
): Compared[] {
  return (byName.get(makeIdKey(prefix + row.localId)) ?? []).map((known) => {
    const its = overlayRow(known.elements, row);
    const matched = isSameFind(known.elements, its)
      ? 'same'
      : matchFinds(makeComparable(its), makeComparable(known.elements));
    return { known, matched };
  });
}

/** Another finder with the same numbers has a table of his own. */
function isKnown({ elements: { nalezce: finder } }: Find, { known, matched }: Compared): boolean {
  if (matched !== 'near') return matched === 'same';
  const { nalezce: before } = known.elements;
  return finder === undefined || before === undefined || getName(finder) === getName(before);
}

function getName({ id, text }: NonNullable<FindElements['nalezce']>): string {
  return id === NEW_PERSON ? text : id;
}

function hasOtherTraits(row: Find, { base, elements }: FindHere): boolean {
  return listDifferingTraits(base ?? elements, elements, row.elements).length > 1;
}

/** Tells if a local id is a UUID of a phone, which is unique across tables. */
function isUniversal(localId: string): boolean {
  return /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i.test(localId);
}

/**
 * Makes the local ids of new finds: their numbers, behind the prefix of a person, that of earlier
 * editions, or the project where another project has such a number.
 */
function makeNamer(
  rows: readonly Find[],
  compared: ReadonlyMap<Find, readonly Compared[]>,
  prefix: string | undefined,
  isEdition: (find: FindHere) => boolean,
) {
  const ofEdition = [...compared].flatMap(([{ localId }, candidates]) =>
    candidates.flatMap(({ known }) =>
      isEdition(known) && known.localId !== localId && known.localId.endsWith(localId)
        ? known.localId.slice(0, -localId.length)
        : [],
    ),
  )[0];
  const isOfOther = (row: Find): boolean =>
    (compared.get(row) ?? []).some(
      ({ known, matched }) =>
        matched === 'other' &&
        !isEdition(known) &&
        known.elements.projekt?.id !== row.elements.projekt?.id,
    );
  const hasOfOther = prefix === undefined && ofEdition === undefined && rows.some(isOfOther);
  const getPrefix = ({ elements: { projekt } }: Find): string =>
    prefix ?? ofEdition ?? (hasOfOther && projekt !== undefined ? `${projekt.id}-` : '');
  return {
    makeName: (row: Find): string =>
      isContentKey(row.localId) ? row.localId : `${getPrefix(row)}${row.localId}`,
    isPrefixed: (row: Find): boolean => getPrefix(row) !== '' && !isContentKey(row.localId),
  };
}
