import { makeIdKey } from '../../base/characters.ts';
import { groupBy } from '../../base/collections.ts';
import { type FindElements, NEW_PERSON } from '../../finds/fields.ts';
import { type Find, isContentKey } from '../../finds/find.ts';
import {
  type ComparableFind,
  createFindIndex,
  type FindIndex,
  type FindLikeness,
  findEditions,
  hasEnoughContent,
  makeComparable,
  matchFinds,
} from '../../finds/match-finds.ts';
import type { Candidate, RejectedMatch } from '../facts.ts';
import { isSameFind, listDifferingTraits, overlayRow, type RowPlan } from './merge-row.ts';

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
 * Plans the rows of a table against the finds here. The table is an edition of those tables from
 * which it has finds, if at least half of its rows are known. The first line that holds decides; its
 * find is then no other row's:
 *
 * | row | plan |
 * |---|---|
 * | was imported with another number, whose find no row has any more (renumbered) | ask: near |
 * | number of a find that is equal, removed or dropped | same |
 * | number of a find of an edition, or a UUID | same; ask: another, if two of object, place, day differ |
 * | number of another table's find, nearly equal | ask: near |
 * | number of another table's find, not alike, and a prefix leaves no free name | ask: another |
 * | no numbers in an edition, and an equal find | same |
 * | equal or nearly equal to a find that is no other row's | ask: near |
 * | any other | new |
 *
 * The rows are all in memory only where there are finds to compare them with.
 */
export function planRows(rows: Iterable<Find>, known: readonly FindHere[], table: PlannedTable) {
  const { prefix = '' } = table;
  const planNew = (row: Find): RowPlan => makeNew(`${prefix}${row.localId}`);
  if (known.length === 0) return { finds: rows, planRow: planNew, names: new Set<string>() };
  const finds = [...rows];
  const comparison = compareTable(finds, known, table);
  const keyed = finds.map((row) => ({ row, plan: planByKey(row, comparison) }));
  const taken = new Set(keyed.flatMap(({ plan }) => (plan === undefined ? [] : listTaken(plan))));
  const plans = new Map<Find, RowPlan>();
  for (const { row, plan = planByContent(row, comparison, taken) } of keyed) {
    for (const find of listTaken(plan)) taken.add(find);
    plans.set(row, plan);
  }
  return {
    finds,
    planRow: (row: Find): RowPlan => plans.get(row) ?? planNew(row),
    /** Local ids of the finds here that a row is. */
    names: new Set([...plans.values()].map((plan) => getLocalIdOfPlan(plan))),
  };
}

export type PlannedRows = ReturnType<typeof planRows>;

/**
 * Returns the local id of the find that a row is, becomes, or may be; where a person is asked that
 * of the find asked about, not that of the row.
 */
export function getLocalIdOfPlan(plan: RowPlan): string {
  return plan.kind === 'new' ? plan.localId : plan.find;
}

/** Returns the local id of the find here that no other row can be, once a row has this plan. */
function listTaken(plan: RowPlan): string[] {
  const isTaking = plan.kind === 'same' || (plan.kind === 'question' && plan.basis === 'row-near');
  return isTaking ? [plan.find] : [];
}

type TableComparison = ReturnType<typeof compareTable>;

/** Compares the rows of a table with the finds here; says nothing of a single row yet. */
function compareTable(
  rows: readonly Find[],
  known: readonly FindHere[],
  { path, prefix, hasKey }: PlannedTable,
) {
  const byName = groupByName(known);
  const index = indexFinds(known);
  const comparable = new Map(rows.map((row) => [row, makeComparable(row.elements)]));
  const compared = new Map(rows.map((row) => [row, compareByKey(row, byName, prefix)]));
  const listAlike = (row: Find, isEdition: (find: FindHere) => boolean): Compared[] =>
    listLikeFinds(index, comparable.get(row), isEdition);
  const isEdition = openEditionTest(rows, compared, path, (row) => listAlike(row, () => true));
  const moved = findMovedRows(compared, comparable, known.filter(isEdition));
  return {
    ...makeNamer(rows, compared, prefix, isEdition),
    prefix,
    hasKey,
    compared,
    isEdition,
    listAlike: (row: Find) => listAlike(row, isEdition),
    moved,
    movedFinds: new Set([...moved.values()].map(({ known: find }) => find)),
    displaced: listDisplaced(compared),
  };
}

/**
 * Plans a row by its number; undefined where no find here has it, and the row had no other one
 * before.
 */
function planByKey(
  row: Find,
  { compared, isEdition, makeName, moved, movedFinds, prefix }: TableComparison,
): RowPlan | undefined {
  const renumbered = moved.get(row);
  if (renumbered !== undefined) return makePlanToAsk('row-near', renumbered, makeName(row));
  const [best] = (compared.get(row) ?? []).toSorted(
    (a, b) => rank(a, isEdition(a.known)) - rank(b, isEdition(b.known)),
  );
  if (best === undefined) return undefined;
  const { known: find, matched } = best;
  const same: RowPlan = { kind: 'same', find: find.localId };
  if (find.isGone() || matched === 'same') return same;
  if (isUniversal(row.localId) || isEdition(find)) {
    const isAnother = movedFinds.has(find) || hasOtherTraits(row, find);
    return isAnother ? makePlanToAsk('row-another', best, makeName(row)) : same;
  }
  if (matched === 'near') return makePlanToAsk('row-near', best, makeName(row));
  const isNameFree = makeIdKey(makeName(row)) !== makeIdKey(find.localId);
  return prefix === undefined && isNameFree
    ? undefined
    : makePlanToAsk('row-another', best, makeName(row));
}

/** @param taken local ids of the finds that other rows are */
function planByContent(
  row: Find,
  { displaced, hasKey, isEdition, isPrefixed, listAlike, makeName }: TableComparison,
  taken: ReadonlySet<string>,
): RowPlan {
  const hasRow = (find: FindHere): boolean =>
    isEdition(find) && hasKey(find.key) && !hasKeyOf(find, row) && !displaced.has(find);
  const alike = listAlike(row).filter(
    ({ known: find }) => !taken.has(find.localId) && !hasRow(find),
  );
  const isOther = ({ known: find }: Compared): boolean =>
    isPrefixed(row) && hasKeyOf(find, row) && hasOtherTraits(row, find);
  const [best] = alike.filter((each) => !isOther(each)).toSorted(compareMatches);
  if (best === undefined) return makeNew(makeName(row), alike.filter(isOther).map(toCandidate));
  return isContentKey(row.localId) && best.matched === 'same' && isEdition(best.known)
    ? { kind: 'same', find: best.known.localId }
    : makePlanToAsk('row-near', best, makeName(row));
}

/** Returns a test for finds of the tables that these rows are an edition of. */
function openEditionTest(
  rows: readonly Find[],
  compared: ReadonlyMap<Find, readonly Compared[]>,
  path: string | undefined,
  listAlike: (row: Find) => readonly Compared[],
): (find: FindHere) => boolean {
  const editions = findEditions(rows, (row) => {
    const keyed = (compared.get(row) ?? []).filter((each) => isKnown(row, each));
    if (keyed.length > 0 || !isContentKey(row.localId)) return listTables(keyed);
    return listTables(listAlike(row).filter(({ matched }) => matched === 'same'));
  });
  if (path !== undefined && isSavedAgain(path, compared)) editions.add(path);
  return ({ path: its }) => its !== null && editions.has(its);
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
  if (row === undefined || !hasEnoughContent(row)) return [];
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
    if (!hasEnoughContent(content)) continue;
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

function hasKeyOf({ key }: FindHere, { localId }: Find): boolean {
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

function groupByName(known: readonly FindHere[]): ReadonlyMap<string, readonly FindHere[]> {
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
function compareByKey(
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
