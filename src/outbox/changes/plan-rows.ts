import { makeIdKey } from '../../base/characters.ts';
import { addToGroup, groupBy, memoize, once } from '../../base/collections.ts';
import { type ElementName, FIELDS, type FindElements, getField } from '../../finds/fields.ts';
import { type Find, isRowDigest } from '../../finds/find.ts';
import {
  type ComparableFind,
  countDifferences,
  type FindLikeness,
  findEditions,
  hasEnoughToCompare,
  isSameValue,
  makeFindIndex,
  matchFinds,
  toComparableFind,
} from '../../finds/match-finds.ts';
import type { Candidate, RejectedMatch } from '../facts.ts';
import { makeFindCandidate } from '../gate.ts';
import { listDifferingTraits, overlayRow, type RowPlan } from './merge-row.ts';

/** A find that is here before the import. */
export type FindHere = {
  readonly uuid: string;
  readonly localId: string;
  /** Its number in the table, or the digest of its row; those in other tables if it is new there. */
  readonly keys: readonly string[];
  /** Full paths of its tables, with the sheet. */
  readonly paths: readonly string[];
  readonly elements: FindElements;
  /** Its row in the table as last imported; if it is new there, that in another one. */
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
type Compared = {
  readonly find: FindHere;
  readonly matched: FindLikeness;
  readonly differences: number;
};

/** The finds that have the number of a row, by row. */
type FindsByRow = ReadonlyMap<Find, readonly Compared[]>;

/** Tells if a find came from a table of which this one is an edition. */
type IsEdition = (find: Pick<FindHere, 'paths'>) => boolean;

/** Comparison of the table as a whole with the finds here, on which each row's plan depends. */
type TableComparison = Pick<PlannedTable, 'prefix'> & {
  readonly byNumber: FindsByRow;
  readonly isEdition: IsEdition;
  /** Returns the finds that are the same as a row, or nearly, without those that are gone. */
  readonly listAlike: (row: Find) => Compared[];
  /** Returns the finds that had the content of a row when they were last imported. */
  readonly listFormerlyEqual: (row: Find) => FindHere[];
  /** Returns the local id that a row has as a new find; `makeFreeName` one that no find has. */
  readonly makeName: (row: Find) => string;
  readonly makeFreeName: (row: Find) => string;
};

/** Plans a row with the finds that no other row is; undefined leaves it to the next step. */
type PlanStep = (
  row: Find,
  comparison: TableComparison,
  isFree: (find: FindHere) => boolean,
) => RowPlan | undefined;

/**
 * Plans what each row of a table is, in comparison with the finds here; nothing is stored. The
 * table is an edition of those tables from which it has finds, if at least half of its rows are
 * known. Each line is tried for all rows before the next one, and a find that is a row, or about
 * which one is asked as near, is no other row's:
 *
 * | row | plan |
 * |---|---|
 * | number of a find that is equal, removed or dropped, or a find of an edition that was imported so | same |
 * | content that a find of an edition had when it was last imported (renumbered) | ask: near |
 * | equal to a find of an edition; without numbers | ask: near; same |
 * | number of a find of an edition, or a UUID, no two of object, place, day differ, and no find of an edition differs less | same |
 * | as little different as possible from a find of an edition | ask: near |
 * | equal to any find; number of one, and nearly equal; as little different as possible | ask: near |
 * | number of a find of an edition, or a UUID; or of another find, and a prefix leaves no free name | ask: another |
 * | any other | new |
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
  if (known.length === 0)
    return { finds: rows, planRow: planNew, names: new Set<string>(), isEdition: () => false };
  const finds = [...rows];
  const comparison = compareTable(finds, known, table);
  const taken = new Set<string>();
  const isFree = ({ localId }: FindHere): boolean => !taken.has(localId);
  const plans = new Map<Find, RowPlan>();
  for (const step of STEPS)
    for (const row of finds) {
      const plan = plans.has(row) ? undefined : step(row, comparison, isFree);
      if (plan === undefined) continue;
      plans.set(row, plan);
      if (plan.kind !== 'new' && !isAskedAsAnother(plan)) taken.add(plan.find);
    }
  return {
    finds,
    planRow: (row) => plans.get(row) ?? planNew(row),
    names: new Set([...plans.values()].map((plan) => getLocalIdOfPlan(plan))),
    isEdition: comparison.isEdition,
  };
}

/** Tells if a row has only the number of the find about which it is asked. */
export function isAskedAsAnother(plan: RowPlan): boolean {
  return plan.kind === 'question' && plan.basis === 'row-another';
}

/** The rows of a table with the plan of each. */
export type PlannedRows = {
  readonly finds: Iterable<Find>;
  readonly planRow: (row: Find) => RowPlan;
  /** Local ids of the finds here that a row is or may be, and those of new finds. */
  readonly names: ReadonlySet<string>;
  readonly isEdition: IsEdition;
};

/**
 * Returns the local id of the find that a row is or becomes; where a person is asked, that of the
 * find here which it may be.
 */
export function getLocalIdOfPlan(plan: RowPlan): string {
  return plan.kind === 'new' ? plan.localId : plan.find;
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
  const listFormer = once(() => groupByFormerContent(known));
  const listFormerlyEqual = (row: Find): FindHere[] => {
    const content = comparable.get(row);
    return content !== undefined && hasEnoughToCompare(content) ? listFormer()(content) : [];
  };
  const isEdition = makeEditionTest(rows, byNumber, path, listFormerlyEqual);
  const listAlike = (row: Find): Compared[] => {
    const content = comparable.get(row);
    if (content === undefined || !hasEnoughToCompare(content)) return [];
    return index.list(content).flatMap(({ find: other, item: find }) => {
      const matched = matchFinds(content, other, isEdition(find));
      const differences = countDifferences(content, other);
      return matched === 'other' || find.isGone() ? [] : [{ find, matched, differences }];
    });
  };
  const makeName = makeNamer(rows, byNumber, prefix, isEdition);
  return {
    prefix,
    byNumber,
    isEdition,
    listAlike: memoize(listAlike),
    listFormerlyEqual,
    makeName,
    makeFreeName: makeFreeNamer(known, makeName, hasKey),
  };
}

/** Lists the finds with the number of a row, those of an edition first, then the more alike. */
function listFindsOfNumber(row: Find, { byNumber, isEdition }: TableComparison): Compared[] {
  return (byNumber.get(row) ?? []).toSorted(
    (a, b) => rank(a, isEdition(a.find)) - rank(b, isEdition(b.find)),
  );
}

/** A find of an edition that a person changed since is in place too, where the row did not change. */
const planInPlace: PlanStep = (row, comparison, isFree) => {
  const [best] = listFindsOfNumber(row, comparison);
  if (best === undefined || !isFree(best.find)) return undefined;
  const { find, matched } = best;
  const isUnchanged =
    isOfNumber(row, find, comparison) &&
    compareWithRow(find.base ?? find.elements, row).differences === 0;
  return find.isGone() || matched === 'same' || isUnchanged ? makeSame(find) : undefined;
};

const planRenumbered: PlanStep = (row, { isEdition, listFormerlyEqual, makeName }, isFree) => {
  if (isRowDigest(row.localId) || isUniversal(row.localId)) return undefined;
  const find = listFormerlyEqual(row).find(
    (each) => isEdition(each) && isFree(each) && !each.isGone(),
  );
  return (
    find && makePlanToAsk('row-near', { find, matched: 'same', differences: 0 }, makeName(row))
  );
};

/** Makes the step for a row that differs so little from the find of its number in an edition. */
function makeNumberStep(maxDifferences: number): PlanStep {
  return (row, comparison, isFree) => {
    const best = listFindsOfNumber(row, comparison).find(({ find }) => isFree(find));
    if (best === undefined || !isOfNumber(row, best.find, comparison)) return undefined;
    const isLeft = best.differences > maxDifferences || hasOtherTraits(row, best.find);
    return isLeft ? undefined : makeSame(best.find);
  };
}

const planNearByNumber: PlanStep = (row, comparison, isFree) => {
  const best = listFindsOfNumber(row, comparison).find(({ find }) => isFree(find));
  return best?.matched === 'near'
    ? makePlanToAsk('row-near', best, comparison.makeName(row))
    : undefined;
};

/** Makes the step for content that differs so little from a find's, or from one's of an edition. */
function makeContentStep(maxDifferences: number, isOfEditionOnly: boolean): PlanStep {
  return (row, comparison, isFree) => {
    const { isEdition, listAlike, makeName } = comparison;
    const best = listAlike(row).find(
      (each) =>
        each.differences <= maxDifferences &&
        (!isOfEditionOnly || isEdition(each.find)) &&
        isFree(each.find) &&
        !isOtherByPrefix(row, each, comparison),
    );
    if (best === undefined) return undefined;
    return isRowDigest(row.localId) && best.matched === 'same' && isEdition(best.find)
      ? makeSame(best.find)
      : makePlanToAsk('row-near', best, makeName(row));
  };
}

const planAsAnother: PlanStep = (row, comparison) => {
  const [best] = listFindsOfNumber(row, comparison);
  if (best === undefined) return undefined;
  const { prefix, makeName } = comparison;
  const name = makeName(row);
  const isNameFree = makeIdKey(name) !== makeIdKey(best.find.localId);
  return !isOfNumber(row, best.find, comparison) && prefix === undefined && isNameFree
    ? undefined
    : makePlanToAsk('row-another', best, name);
};

const planAsNew: PlanStep = (row, comparison, isFree) =>
  makeNew(
    comparison.makeFreeName(row),
    comparison
      .listAlike(row)
      .filter((each) => isFree(each.find) && isOtherByPrefix(row, each, comparison))
      .map(({ find, matched }) => makeFindCandidate(find, getRejectedMatch(matched))),
  );

/** Tells if a number that a row and a find have in common names one find. */
function isOfNumber(row: Find, find: FindHere, { isEdition }: TableComparison): boolean {
  return isUniversal(row.localId) || isEdition(find);
}

/** A prefix says that the find of a row's number is another one, unless they look alike. */
function isOtherByPrefix(row: Find, { find }: Compared, { makeName }: TableComparison): boolean {
  return makeName(row) !== row.localId && hasKeyOf(find, row) && hasOtherTraits(row, find);
}

/** Two finds with one registration number may differ in many elements. */
const MANY = Number.POSITIVE_INFINITY;

const STEPS: readonly PlanStep[] = [
  planInPlace,
  planRenumbered,
  makeContentStep(0, true),
  makeNumberStep(1),
  makeContentStep(1, true),
  makeNumberStep(2),
  makeContentStep(MANY, true),
  makeNumberStep(MANY),
  makeContentStep(0, false),
  planNearByNumber,
  makeContentStep(1, false),
  makeContentStep(MANY, false),
  planAsAnother,
  planAsNew,
];

/** Makes the test for finds of the tables that these rows are an edition of. */
function makeEditionTest(
  rows: readonly Find[],
  byNumber: FindsByRow,
  path: string | undefined,
  listFormerlyEqual: (row: Find) => readonly FindHere[],
): IsEdition {
  const editions = findEditions(rows, (row) => {
    const ofNumber = byNumber.get(row) ?? [];
    // The finds may have other numbers here: the table may have been imported with a prefix.
    const found = ofNumber.filter((each) => isKnown(row, each)).map(({ find }) => find);
    return (ofNumber.length > 0 ? found : listFormerlyEqual(row)).flatMap(({ paths }) => paths);
  });
  // A file without any number of its earlier content has only other finds by now.
  const isSavedAgain = [...byNumber.values()].some((each) =>
    each.some(({ find }) => find.paths.some((its) => its === path)),
  );
  if (path !== undefined && isSavedAgain) editions.add(path);
  return ({ paths }) => paths.some((its) => editions.has(its));
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

/** Groups finds by the content that they had when they were last imported. */
function groupByFormerContent(finds: readonly FindHere[]) {
  const former = finds.map((find) => ({
    find,
    content: toComparableFind(find.base ?? find.elements),
  }));
  const groups = groupBy(former, ({ content }) => makeContentKey(content));
  return (content: ComparableFind): FindHere[] =>
    (groups.get(makeContentKey(content)) ?? [])
      .filter((each) => matchFinds(content, each.content, true) === 'same')
      .map(({ find }) => find);
}

/**
 * Compares a find, or what it was, with itself after the values of a row of its table. The project
 * is an element like others here, since it may be corrected.
 */
function compareWithRow(elements: FindElements, row: Find): Omit<Compared, 'find'> {
  const before = toComparableFind(elements);
  const now = toComparableFind(overlayRow(elements, row));
  const isMoved = now.project !== before.project;
  const matched = matchFinds({ ...now, project: before.project }, before);
  return {
    matched: isMoved && matched === 'same' ? 'near' : matched,
    differences: countDifferences(now, before) + (isMoved ? 1 : 0),
  };
}

/** Tells if a row and a find have an element both, with different values. */
function isOther(name: ElementName, { elements }: Find, find: FindHere): boolean {
  const values = [elements[name], find.elements[name]];
  return !values.includes(undefined) && !isSameValue(getField(name), elements, find.elements);
}

/** Returns a key that rows of one content have in common; their finders may be others. */
function makeContentKey({ project, day, place, point, details }: ComparableFind): string {
  return JSON.stringify([project, day, place, point, details]);
}

function hasKeyOf({ keys }: FindHere, { localId }: Find): boolean {
  return keys.some((key) => makeIdKey(key) === makeIdKey(localId));
}

function makeSame({ localId }: FindHere): RowPlan {
  return { kind: 'same', find: localId };
}

function makeNew(localId: string, others: readonly Candidate[] = []): RowPlan {
  return { kind: 'new', localId, others };
}

/** Finds with one number that are not alike are rejected like those that differ a little. */
function getRejectedMatch(matched: FindLikeness): RejectedMatch {
  return matched === 'same' ? 'same' : 'near';
}

/** A find of an edition comes first, then the one that differs less. */
function rank({ differences }: Compared, isOfEdition: boolean): number {
  return isOfEdition ? differences : FIELDS.length + differences;
}

/** Groups finds by local id and by number, each with its find once. */
function groupByName(known: readonly FindHere[]): ReadonlyMap<string, readonly FindHere[]> {
  const named = new Map<string, FindHere[]>();
  for (const find of known)
    for (const name of new Set([find.localId, ...find.keys].map(makeIdKey)))
      addToGroup(named, name, find);
  return named;
}

/**
 * Compares a row with the finds of its number; elements without a column do not count. A find whose
 * number another row has is not known by its local id, unless it is equal, as in an export. Those
 * with the number in their own table come first.
 */
function compareByNumber(
  row: Find,
  named: ReadonlyMap<string, readonly FindHere[]>,
  hasKey: PlannedTable['hasKey'],
  prefix = '',
): Compared[] {
  const found = named.get(makeIdKey(prefix + row.localId)) ?? [];
  const compared = found.map((find) => ({ find, ...compareWithRow(find.elements, row) }));
  const isOfTable = ({ find }: Compared): boolean => hasKeyOf(find, row);
  const others = compared.filter(
    (each) => !isOfTable(each) && (each.matched === 'same' || !each.find.keys.some(hasKey)),
  );
  return [...compared.filter(isOfTable), ...others];
}

/** Another finder, or another site, with the same numbers has a table of its own. */
function isKnown(row: Find, { find, matched }: Compared): boolean {
  const isOfOthers = isOther('nalezce', row, find) || isOther('projekt', row, find);
  return matched === 'same' || (matched === 'near' && !isOfOthers);
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
        matched === 'other' && !isEdition(find) && isOther('projekt', row, find),
    );
  const given = prefix ?? ofEdition;
  const hasOfOther = given === undefined && rows.some(isOfOther);
  return ({ localId, elements: { projekt } }) => {
    if (isRowDigest(localId)) return localId;
    const ofProject = hasOfOther && projekt !== undefined ? `${projekt.id}-` : '';
    return `${given ?? ofProject}${localId}`;
  };
}

/** A find that is no row of its number may have the local id of a new one. */
function makeFreeNamer(
  known: readonly FindHere[],
  makeName: TableComparison['makeName'],
  hasKey: PlannedTable['hasKey'],
): TableComparison['makeFreeName'] {
  const names = new Set(known.map(({ localId }) => makeIdKey(localId)));
  return (row) => {
    const first = makeName(row);
    let name = first;
    for (let count = 2; names.has(makeIdKey(name)) || (name !== first && hasKey(name)); count += 1)
      name = `${first}-${count}`;
    return name;
  };
}
