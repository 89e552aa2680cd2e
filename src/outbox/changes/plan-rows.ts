import { makeIdKey } from '../../base/characters.ts';
import { addToGroup, groupBy } from '../../base/collections.ts';
import { type FindElements, NEW_PERSON } from '../../finds/fields.ts';
import { type Find, isRowDigest } from '../../finds/find.ts';
import {
  type ComparableFind,
  type FindLikeness,
  findEditions,
  hasEnoughToCompare,
  makeFindIndex,
  matchFinds,
  toComparableFind,
} from '../../finds/match-finds.ts';
import type { Candidate, RejectedMatch } from '../facts.ts';
import { makeFindCandidate } from '../gate.ts';
import { hasSameElements, listDifferingTraits, overlayRow, type RowPlan } from './merge-row.ts';

/** A find that is here before the import. */
export type FindHere = {
  readonly uuid: string;
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

/** A find here, and how alike it is to a row. */
type Compared = { readonly find: FindHere; readonly matched: FindLikeness };

/** The finds that have the number of a row, by row. */
type FindsByRow = ReadonlyMap<Find, readonly Compared[]>;

/** Tells if a find came from a table of which this one is an edition. */
type IsEdition = (find: FindHere) => boolean;

/** Comparison of the table as a whole with the finds here, on which each row's plan depends. */
type TableComparison = Pick<PlannedTable, 'prefix' | 'hasKey'> & {
  readonly byNumber: FindsByRow;
  readonly isEdition: IsEdition;
  /** Returns the finds that are the same as a row, or nearly, without those that are gone. */
  readonly listAlike: (row: Find) => Compared[];
  readonly renumbered: RenumberedRows;
  /** Finds whose numbers only rows of other finds have. */
  readonly displaced: ReadonlySet<FindHere>;
  /** Returns the local id that a row has as a new find. */
  readonly makeName: (row: Find) => string;
};

/** Rows that have another number than at their last import, and the finds that they were. */
type RenumberedRows = {
  readonly finds: ReadonlySet<FindHere>;
  readonly byRow: ReadonlyMap<Find, Compared>;
};

/**
 * Plans what each row of a table is, in comparison with the finds here; nothing is stored. The
 * table is an edition of those tables from which it has finds, if at least half of its rows are
 * known. The first line that holds decides; its find is then no other row's:
 *
 * | row | plan |
 * |---|---|
 * | was imported with another number, whose find no row has any more (renumbered) | ask: near |
 * | number of a find that is equal, removed or dropped | same |
 * | number of a find of an edition, or a UUID | same; ask: another, if two of object, place, day differ, or another row was that find |
 * | number of another table's find, nearly equal | ask: near |
 * | number of another table's find, not alike, and a prefix leaves no free name | ask: another |
 * | no numbers in an edition, and an equal find | same |
 * | equal or nearly equal to a find that is no other row's | ask: near |
 * | any other | new |
 *
 * Where the find to ask about as another turns out to be another row, the lines below decide first.
 *
 * The rows are all in memory only where there are finds to compare them with.
 */
export function planRows(
  rows: Iterable<Find>,
  known: readonly FindHere[],
  table: PlannedTable,
): PlannedRows {
  const { prefix = '' } = table;
  const planNew = (row: Find): RowPlan => makeNew(`${prefix}${row.localId}`);
  if (known.length === 0) return { finds: rows, planRow: planNew, names: new Set<string>() };
  const finds = [...rows];
  const comparison = compareTable(finds, known, table);
  const keyed = finds.map((row) => ({ row, plan: planByNumber(row, comparison) }));
  const taken = new Set(keyed.flatMap(({ plan }) => (plan === undefined ? [] : listTaken(plan))));
  const plans = new Map<Find, RowPlan>();
  for (const { row, plan = planByContent(row, comparison, taken) } of keyed) {
    for (const find of listTaken(plan)) taken.add(find);
    plans.set(row, plan);
  }
  // The find of a row's number may have turned out to be another row.
  for (const [row, plan] of plans) {
    if (plan.kind !== 'question' || plan.basis !== 'row-another' || !taken.has(plan.find)) continue;
    const byContent = planByContent(row, comparison, taken);
    for (const find of listTaken(byContent)) taken.add(find);
    if (byContent.kind !== 'new') plans.set(row, byContent);
  }
  return {
    finds,
    planRow: (row) => plans.get(row) ?? planNew(row),
    names: new Set([...plans.values()].map((plan) => getLocalIdOfPlan(plan))),
  };
}

/** The rows of a table with the plan of each. */
export type PlannedRows = {
  readonly finds: Iterable<Find>;
  readonly planRow: (row: Find) => RowPlan;
  /** Local ids of the finds here that a row is or may be, and those of new finds. */
  readonly names: ReadonlySet<string>;
};

/**
 * Returns the local id of the find that a row is or becomes; where a person is asked, that of the
 * find here which it may be.
 */
export function getLocalIdOfPlan(plan: RowPlan): string {
  return plan.kind === 'new' ? plan.localId : plan.find;
}

/** Returns the local id of the find here that no other row can be, once a row has this plan. */
function listTaken(plan: RowPlan): string[] {
  const isTaking = plan.kind === 'same' || (plan.kind === 'question' && plan.basis === 'row-near');
  return isTaking ? [plan.find] : [];
}

function compareTable(
  rows: readonly Find[],
  known: readonly FindHere[],
  { path, prefix, hasKey }: PlannedTable,
): TableComparison {
  const named = groupByName(known);
  const byNumber = new Map(rows.map((row) => [row, compareByNumber(row, named, hasKey, prefix)]));
  const comparable = new Map(rows.map((row) => [row, toComparableFind(row.elements)]));
  const index = makeFindIndex<FindHere>();
  for (const find of known) index.add(toComparableFind(find.elements), find);
  const listAlike = (row: Find, isEdition: IsEdition): Compared[] => {
    const content = comparable.get(row);
    if (content === undefined || !hasEnoughToCompare(content)) return [];
    return index.list(content).flatMap(({ find: other, item: find }) => {
      const matched = matchFinds(content, other, isEdition(find));
      return matched === 'other' || find.isGone() ? [] : [{ find, matched }];
    });
  };
  const isEdition = makeEditionTest(rows, byNumber, path, (row) => listAlike(row, () => true));
  return {
    prefix,
    hasKey,
    byNumber,
    isEdition,
    listAlike: (row) => listAlike(row, isEdition),
    renumbered: findRenumberedRows(byNumber, comparable, known.filter(isEdition)),
    displaced: listDisplaced(byNumber),
    makeName: makeNamer(rows, byNumber, prefix, isEdition),
  };
}

/**
 * Plans a row by its number; undefined where no find here has it, and the row had no other one
 * before.
 */
function planByNumber(
  row: Find,
  { byNumber, isEdition, makeName, renumbered, prefix }: TableComparison,
): RowPlan | undefined {
  const before = renumbered.byRow.get(row);
  if (before !== undefined) return makePlanToAsk('row-near', before, makeName(row));
  const [best] = (byNumber.get(row) ?? []).toSorted(
    (a, b) => rank(a, isEdition(a.find)) - rank(b, isEdition(b.find)),
  );
  if (best === undefined) return undefined;
  const { find, matched } = best;
  const same: RowPlan = { kind: 'same', find: find.localId };
  if (find.isGone() || matched === 'same') return same;
  if (isUniversal(row.localId) || isEdition(find)) {
    const isAnother = renumbered.finds.has(find) || hasOtherTraits(row, find);
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
  { displaced, hasKey, isEdition, listAlike, makeName }: TableComparison,
  taken: ReadonlySet<string>,
): RowPlan {
  const hasRow = (find: FindHere): boolean =>
    isEdition(find) && hasKey(find.key) && !hasKeyOf(find, row) && !displaced.has(find);
  const alike = listAlike(row).filter(({ find }) => !taken.has(find.localId) && !hasRow(find));
  const name = makeName(row);
  // A prefix says that the find of this number is another one.
  const isOther = ({ find }: Compared): boolean =>
    name !== row.localId && hasKeyOf(find, row) && hasOtherTraits(row, find);
  const [best] = alike.filter((each) => !isOther(each)).toSorted(compareMatches);
  if (best === undefined) return makeNew(name, alike.filter(isOther).map(toCandidate));
  return isRowDigest(row.localId) && best.matched === 'same' && isEdition(best.find)
    ? { kind: 'same', find: best.find.localId }
    : makePlanToAsk('row-near', best, name);
}

/** Makes the test for finds of the tables that these rows are an edition of. */
function makeEditionTest(
  rows: readonly Find[],
  byNumber: FindsByRow,
  path: string | undefined,
  listAlike: (row: Find) => readonly Compared[],
): IsEdition {
  const editions = findEditions(rows, (row) => {
    const ofNumber = byNumber.get(row) ?? [];
    // The finds may have other numbers here: the table may have been imported with a prefix.
    return ofNumber.length > 0
      ? listTables(ofNumber.filter((each) => isKnown(row, each)))
      : listTables(listAlike(row).filter(({ matched }) => matched === 'same'));
  });
  // A file without any number of its earlier content has only other finds by now.
  const isSavedAgain = [...byNumber.values()].some((each) =>
    each.some(({ find }) => find.path === path),
  );
  if (path !== undefined && isSavedAgain) editions.add(path);
  return ({ path: its }) => its !== null && editions.has(its);
}

function makePlanToAsk(
  basis: 'row-near' | 'row-another',
  { find, matched }: Compared,
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

/**
 * Finds the renumbered rows: a row with the content that another find had when it was last
 * imported, where no row of that find's number has it any more.
 * @param known finds of the tables that these rows are an edition of
 */
function findRenumberedRows(
  byNumber: FindsByRow,
  comparable: ReadonlyMap<Find, ComparableFind>,
  known: readonly FindHere[],
): RenumberedRows {
  const inPlace = new Set<FindHere | Find>();
  for (const [row, candidates] of byNumber)
    for (const { find, matched } of candidates)
      if (matched === 'same' || isAsImported(row, find)) inPlace.add(find).add(row);
  const absent = known
    .filter((find) => !inPlace.has(find) && !find.isGone())
    .map((find) => ({ find, content: toComparableFind(find.base ?? find.elements) }));
  const groups = groupBy(absent, ({ content }) => makeContentKey(content));
  const byRow = new Map<Find, Compared>();
  const finds = new Set<FindHere>();
  for (const [row, content] of comparable) {
    if (inPlace.has(row) || isRowDigest(row.localId) || isUniversal(row.localId)) continue;
    if (!hasEnoughToCompare(content)) continue;
    const match = groups
      .get(makeContentKey(content))
      ?.find(
        ({ find, content: its }) => !finds.has(find) && matchFinds(content, its, true) === 'same',
      );
    if (match === undefined) continue;
    finds.add(match.find);
    byRow.set(row, { find: match.find, matched: 'same' });
  }
  return { finds, byRow };
}

function isAsImported(row: Find, { base, elements }: FindHere): boolean {
  const before = base ?? elements;
  const now = toComparableFind(overlayRow(before, row));
  return matchFinds(now, toComparableFind(before), true) === 'same';
}

/** Returns a key that rows of one content have in common; their finders may be others. */
function makeContentKey({ project, day, place, point, details }: ComparableFind): string {
  return JSON.stringify([project, day, place, point, details]);
}

function listDisplaced(byNumber: FindsByRow): ReadonlySet<FindHere> {
  const displaced = new Set<FindHere>();
  const kept = new Set<FindHere>();
  for (const [row, candidates] of byNumber)
    for (const { find, matched } of candidates)
      (matched === 'same' || !hasOtherTraits(row, find) ? kept : displaced).add(find);
  for (const find of kept) displaced.delete(find);
  return displaced;
}

function listTables(compared: readonly Compared[]): string[] {
  return compared.flatMap(({ find }) => find.path ?? []);
}

function hasKeyOf({ key }: FindHere, { localId }: Find): boolean {
  return makeIdKey(key) === makeIdKey(localId);
}

function makeNew(localId: string, others: readonly Candidate[] = []): RowPlan {
  return { kind: 'new', localId, others };
}

function toCandidate({ find, matched }: Compared): Candidate {
  return makeFindCandidate(find, getRejectedMatch(matched));
}

/** Finds with one number that are not alike are rejected like those that differ a little. */
function getRejectedMatch(matched: FindLikeness): RejectedMatch {
  return matched === 'same' ? 'same' : 'near';
}

function compareMatches(a: Compared, b: Compared): number {
  return Number(b.matched === 'same') - Number(a.matched === 'same');
}

/** A find of an edition comes first, then the one that is more alike. */
function rank({ matched }: Compared, isOfEdition: boolean): number {
  return (isOfEdition ? 0 : 3) + ['same', 'near', 'other'].indexOf(matched);
}

/** Groups finds by local id and by number, each with its find once. */
function groupByName(known: readonly FindHere[]): ReadonlyMap<string, readonly FindHere[]> {
  const named = new Map<string, FindHere[]>();
  for (const find of known)
    for (const name of new Set([makeIdKey(find.localId), makeIdKey(find.key)]))
      addToGroup(named, name, find);
  return named;
}

/**
 * Compares a row with the finds of its number; elements without a column do not count. A find whose
 * number another row has is not known by its local id.
 */
function compareByNumber(
  row: Find,
  named: ReadonlyMap<string, readonly FindHere[]>,
  hasKey: PlannedTable['hasKey'],
  prefix = '',
): Compared[] {
  const found = named.get(makeIdKey(prefix + row.localId)) ?? [];
  const ofRow = found.filter((find) => hasKeyOf(find, row) || !hasKey(find.key));
  return ofRow.map((find) => {
    const its = overlayRow(find.elements, row);
    const matched = hasSameElements(find.elements, its)
      ? 'same'
      : matchFinds(toComparableFind(its), toComparableFind(find.elements));
    return { find, matched };
  });
}

/** Another finder with the same numbers has a table of his own. */
function isKnown({ elements: { nalezce: finder } }: Find, { find, matched }: Compared): boolean {
  if (matched !== 'near') return matched === 'same';
  const { nalezce: before } = find.elements;
  return (
    finder === undefined || before === undefined || getFinderName(finder) === getFinderName(before)
  );
}

function getFinderName({ id, text }: NonNullable<FindElements['nalezce']>): string {
  return id === NEW_PERSON ? text : id;
}

/** Tells if two of object, place and day differ, both from the find and from its last row. */
function hasOtherTraits(row: Find, { base, elements }: FindHere): boolean {
  return listDifferingTraits(base ?? elements, elements, row.elements).length > 1;
}

/** Tells if a local id is a UUID of a phone, which is unique across tables. */
function isUniversal(localId: string): boolean {
  return /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i.test(localId);
}

/**
 * Makes the function that names new finds: by their numbers, behind the prefix of a person, that of
 * earlier editions, or the project where another project has such a number.
 */
function makeNamer(
  rows: readonly Find[],
  byNumber: FindsByRow,
  prefix: string | undefined,
  isEdition: IsEdition,
): TableComparison['makeName'] {
  const ofEdition = [...byNumber].flatMap(([{ localId }, candidates]) =>
    candidates.flatMap(({ find }) =>
      isEdition(find) && find.localId !== localId && find.localId.endsWith(localId)
        ? find.localId.slice(0, -localId.length)
        : [],
    ),
  )[0];
  const isOfOther = (row: Find): boolean =>
    (byNumber.get(row) ?? []).some(
      ({ find, matched }) =>
        matched === 'other' &&
        !isEdition(find) &&
        find.elements.projekt?.id !== row.elements.projekt?.id,
    );
  const given = prefix ?? ofEdition;
  const hasOfOther = given === undefined && rows.some(isOfOther);
  return ({ localId, elements: { projekt } }) => {
    if (isRowDigest(localId)) return localId;
    const ofProject = hasOfOther && projekt !== undefined ? `${projekt.id}-` : '';
    return `${given ?? ofProject}${localId}`;
  };
}
