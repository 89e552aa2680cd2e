import { makeIdKey } from '../../base/characters.ts';
import { groupBy } from '../../base/collections.ts';
import { NEW_PERSON } from '../../finds/field.ts';
import type { FindElements } from '../../finds/fields.ts';
import { type Find, isContentKey } from '../../finds/find.ts';
import {
  type ComparableFind,
  createFindIndex,
  type FindIndex,
  type FindLikeness,
  findEditions,
  hasDistinctContent,
  makeComparable,
  matchFinds,
} from '../../finds/match-finds.ts';
import { isSameFind, listDifferingTraits, overlayRow } from '../../finds/merge-row.ts';
import type { Candidate, RejectedMatch } from '../facts.ts';

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

export type PlannedTable = {
  /** Full path with the sheet; undefined for standard input. */
  readonly path: string | undefined;
  /** A person's prefix for the numbers of the table, whose finds are then others. */
  readonly prefix: string | undefined;
  /** Tells if a row, even an unreadable one, has the number. */
  readonly hasKey: (key: string) => boolean;
};

/** The finds of a table, and what each is. */
export type PlannedRows = {
  readonly finds: Iterable<Find>;
  readonly planRow: (find: Find) => RowPlan;
  /** Local ids of the finds here that a row is. */
  readonly names: ReadonlySet<string>;
};

type Compared = { readonly known: FindHere; readonly matched: FindLikeness };

/**
 * Plans the rows of a table against the finds here, by number, else by content. The table is an
 * edition of those tables from which it has finds, if at least half of its rows are known. A number
 * of an edition is the same find, unless the row has two of object, place and day different. The
 * rows are all in memory only where there are finds to compare them with.
 */
export function planRows(
  rows: Iterable<Find>,
  known: readonly FindHere[],
  table: PlannedTable,
): PlannedRows {
  const { prefix = '' } = table;
  const planNew = (row: Find): RowPlan => makeNew(`${prefix}${row.localId}`);
  if (known.length === 0) return { finds: rows, planRow: planNew, names: new Set() };
  const finds = [...rows];
  const planner = openPlanner(finds, known, table);
  const numbered = finds.map((row) => ({ row, plan: planner.planByNumber(row) }));
  const plans = new Map(numbered.map(({ row, plan }) => [row, plan ?? planner.planByContent(row)]));
  return {
    finds,
    planRow: (row) => plans.get(row) ?? planNew(row),
    names: new Set([...plans.values()].map((plan) => getLocalIdOfPlan(plan))),
  };
}

/** Returns the local id of the find that a row is, or becomes. */
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
  const displaced = listDisplaced(compared);
  const taken = new Set<FindHere>();
  const take = (find: FindHere, plan: RowPlan): RowPlan => {
    taken.add(find);
    return plan;
  };
  const askNear = (row: Find, near: Compared): RowPlan =>
    take(near.known, makeQuestion('row-near', near, makeName(row)));
  const askAnother = (row: Find, other: Compared): RowPlan =>
    makeQuestion('row-another', other, makeName(row));
  // Where rows got other numbers, the find is in another row.
  const askAboutNumber = (row: Find, best: Compared): RowPlan => {
    const moved = listAlike(row, isEdition).find(
      ({ known: find, matched }) => matched === 'same' && displaced.has(find) && !taken.has(find),
    );
    return moved === undefined ? askAnother(row, best) : askNear(row, moved);
  };
  return {
    /** Returns undefined where no find here has the number. */
    planByNumber(row: Find): RowPlan | undefined {
      const candidates = compared.get(row) ?? [];
      const best = candidates.toSorted(
        (a, b) => rank(a, isEdition(a.known)) - rank(b, isEdition(b.known)),
      )[0];
      if (best === undefined) return undefined;
      const { known: find, matched } = best;
      const isOne =
        find.isGone() || matched === 'same' || isUniversal(row.localId) || isEdition(find);
      if (isOne)
        return hasOtherTraits(row, find) && matched !== 'same' && !find.isGone()
          ? askAboutNumber(row, best)
          : take(find, { kind: 'same', find: find.localId });
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

function makeQuestion(
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
