import { Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../../base/message.ts';
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
import type { Find } from '../../finds/find.ts';
import { getCanonicalPoint, isSamePoint, isSameValue } from '../../finds/match-finds.ts';
import { isNearPoint } from '../../finds/place/geometry.ts';
import { NUMBER_USED } from '../../finds/value-rules.ts';
import type { ImportEntry } from '../entry.ts';
import { findImportOfFind, getWantedElements } from '../entry-queries.ts';
import {
  type AskedRow,
  type Candidate,
  makeStoredMessage,
  parseStoredMessage,
  type RejectedMatch,
  type TableRow,
} from '../facts.ts';
import type { Outbox } from '../open-outbox.ts';
import { findRowOfTable, type StoredFind } from '../stored-finds.ts';
import { STATE_WORDS } from '../views/entry-words.ts';

/**
 * Says what a row is. `others`: finds like it, which it is not, as a person said. `answered`: the
 * question to which a person gave this answer.
 */
export type RowPlan =
  | { readonly kind: 'new'; readonly localId: string; readonly others: readonly Candidate[] }
  | { readonly kind: 'same'; readonly find: string; readonly answered?: AskedRow }
  | {
      readonly kind: 'question';
      readonly basis: 'row-near' | 'row-another';
      readonly find: string;
      readonly localId: string;
      readonly matched: RejectedMatch;
    };

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

/** A find with a row merged into it, and how they differ. */
type MergedRow = {
  readonly elements: FindElements;
  /** The row as imported now; elements without a column keep their base. */
  readonly base: FindElements;
  /** Elements that the row changed, to another value than the find's. */
  readonly differences: readonly RowDifference[];
  /** Differences in elements that both the row and the find changed. */
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
 * Merges the elements of a row into those of its find, one by one (three-way merge). Pure. An
 * element that the row did not change since its last import keeps the find's value; one that the
 * find did not change takes the row's. One that both changed differently is a conflict and keeps
 * the find's value, unless `side` is `table`. The elements of the point are merged as one.
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

/**
 * Returns the elements of a row, and those of `base` for which its table has no column. An empty
 * cell is an absent element. With all columns (`covered` is undefined) nothing of `base` stays.
 */
export function overlayRow(
  base: FindElements,
  { elements, covered }: { readonly elements: FindElements; readonly covered?: CoveredElements },
): FindElements {
  if (covered === undefined) return elements;
  const row = Object.fromEntries([...covered].map((name) => [name, elements[name]]));
  // A table without points says nothing about the system of a point.
  const keepsPoint = !covered.has('geom_wkt') && getPoint(base) !== undefined;
  return keepsPoint ? { ...base, ...row, geom_system: base.geom_system } : { ...base, ...row };
}

/** A point that was converted, as an export has it in a second system, is the measured one. */
function isSamePart(one: FindElements, other: FindElements, part: readonly ElementName[]): boolean {
  if (part.every((name) => isSameValue(getField(name), one, other))) return true;
  const point = getCanonicalPoint(one);
  const isOfPoint = part === POINT_ELEMENTS && point !== undefined;
  return isOfPoint && isSamePoint(point, getCanonicalPoint(other));
}

/** Tells if two finds agree in all elements, in canonical form. */
export function hasSameElements(one: FindElements, other: FindElements): boolean {
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
  const formatPart = (elements: FindElements, isExact = false): string | undefined =>
    formatElement(elements[getName(elements)], isExact);
  // Two entries may have one label, such as two people, or one entry that got the label of another.
  const isExact = formatPart(find) === formatPart(row);
  return {
    element: getName(row, find),
    base: formatPart(base, isExact),
    ours: formatPart(find, isExact),
    theirs: formatPart(row, isExact),
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

/** Formats a value for people; a term without a text by its identifier, an exact one by both. */
function formatElement(value: Value, isExact: boolean): string | undefined {
  if (typeof value !== 'object') return value?.toString();
  const { id, text } = value;
  if (text === '') return id;
  return isExact ? `${text} (${id})` : text;
}

/**
 * Returns those of object, day and place in which a row differs both from its last import and from
 * its find; one that is absent in any of the three does not count.
 * @param base the row as last imported
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

/** A find with a row that was merged into it; nothing is stored. */
export type FindMerge = {
  readonly stored: StoredFind;
  readonly entry: ImportEntry | undefined;
  /** With the number that was set since, which an exported table contains. */
  readonly elements: FindElements;
  /** The row as last imported from its table; undefined at the first import. */
  readonly before: TableRow | undefined;
  /** What the find took of the row then, or of its last one in any table. */
  readonly base: FindElements;
  /**
   * `taken`: the find becomes `merged`, also where the row brings no difference. The others leave
   * it unchanged: `sent`: the service has it or may have it, or it was dropped; `conflict`: the
   * find and the row changed an element to different values.
   */
  readonly kind: 'taken' | 'sent' | 'conflict';
  /** Its elements lack a number that was set since, which stays an entry of its own. */
  readonly merged: MergedRow;
  /** The find takes another number, so one that was set since is not sent. */
  readonly replacesNumber: boolean;
};

/**
 * Merges a row into its find, as {@link mergeRow} does over the row as last imported from its
 * table, and tells if the find may take the result; nothing is stored. When a table first has the
 * find, its empty cells change nothing.
 * @param find the row
 * @param table where it is from: its full path, undefined for standard input; null for input that
 * replaces the find, since the person saw its current values
 * @param side wins where find and row changed an element; undefined leaves a conflict
 */
export function mergeRowIntoFind(
  outbox: Outbox,
  stored: StoredFind,
  find: Find,
  side: MergeSide | undefined,
  table: { readonly path: string | undefined } | null,
): FindMerge {
  const entry = findImportOfFind(outbox, stored.uuid);
  const elements = getWantedElements(outbox, stored);
  const before = findRowOfTable(stored, table?.path ?? null);
  const last = before ?? stored.wish.rows[0];
  const taken = last === undefined ? elements : (last.base ?? last.elements ?? stored.elements);
  const ofTable = before === undefined ? omitEmptyParts(taken, find) : taken;
  const base = table === null ? elements : ofTable;
  const merged = mergeRow(base, elements, find.elements, find.covered, side);
  const isOpen = merged.conflicts.length > 0 && side === undefined;
  const changed = isOpen ? 'conflict' : 'taken';
  const kind = mustStayUnchanged(entry) ? 'sent' : changed;
  const replacesNumber = merged.elements.evidencni_cislo !== elements.evidencni_cislo;
  const { evidencni_cislo } = stored.elements;
  const withOwnNumber = { ...merged.elements, evidencni_cislo };
  return {
    stored,
    entry,
    elements,
    before,
    base,
    kind: merged.differences.length === 0 ? 'taken' : kind,
    merged: replacesNumber ? merged : { ...merged, elements: omitAbsentElements(withOwnNumber) },
    replacesNumber,
  };
}

/** Omits the parts of a find for which a row has columns, but no values. */
function omitEmptyParts(elements: FindElements, { elements: row, covered }: Find): FindElements {
  const isEmpty = (part: readonly ElementName[]): boolean =>
    part.every((name) => row[name] === undefined) &&
    (covered === undefined || part.some((name) => covered.has(name)));
  const empty = PARTS.filter(isEmpty).flat();
  return omitAbsentElements({ ...elements, ...Object.fromEntries(empty.map((name) => [name])) });
}

/**
 * Tells if an import must stay as it is, since the service has it or may have it, or it was
 * dropped. False for a draft, a queued or a refused one, and for none.
 */
export function mustStayUnchanged(entry: ImportEntry | undefined): boolean {
  return entry !== undefined && !['draft', 'queued', 'refused'].includes(entry.state);
}

/**
 * Returns the issues of a validated find that a person can still correct: of one that must stay
 * unchanged only a number that another find has, since its project may be closed by now.
 */
export function selectCorrectableIssues(
  issues: readonly Issue[],
  entry: ImportEntry | undefined,
): readonly Issue[] {
  return mustStayUnchanged(entry) ? issues.filter(({ rule }) => rule === NUMBER_USED) : issues;
}

/**
 * Makes the warning about a row that differs from its find, which was sent or dropped.
 * @param differences that the warning names
 * @param areListed the differences are listed in a file of corrections as well
 */
export function makeSentIssue(
  { entry, stored }: FindMerge,
  differences: readonly RowDifference[],
  { source }: Find,
  areListed: boolean,
): Issue {
  const word = entry === undefined ? msg`sent` : STATE_WORDS[entry.state];
  const identCely = entry?.identCely ?? null;
  const changes = formatDifferences(differences);
  const list = areListed
    ? msg`Correct it in the service.`
    : msg`Correct it in the service; --corrections FILE lists such corrections.`;
  const standing = identCely === null ? word : msg`sent as ${identCely}`;
  const message = msg`The row differs from the find, which is ${standing}: ${changes}. The find was not changed. ${list}`;
  return makeWarningIssue('already-sent', message, { find: stored.localId, ...source });
}

/** Formats `hloubka 30 → 35, poznamka – → okraj`. */
function formatDifferences(differences: readonly RowDifference[]): Message {
  return joinMessages(
    differences.map(({ element, ours = '–', theirs = '–' }) => `${element} ${ours} → ${theirs}`),
    ', ',
  );
}

/**
 * Makes what is stored of a row that an import leaves out: the question, and all that is needed to
 * import the row after the answer. The question is the plan's; where row and find were both
 * changed, it asks whose values are right.
 * @param path of the table, with the sheet; undefined for standard input
 */
export function makeAskedRow(
  { stored, elements, merged }: FindMerge,
  find: Find,
  plan: RowPlan,
  path: string | undefined,
): AskedRow {
  const isQuestion = plan.kind === 'question';
  const basis = isQuestion ? plan.basis : 'row-changed';
  // Without a base before it, the row is compared with the find alone.
  const { differences } = isQuestion
    ? mergeRow(elements, elements, find.elements, find.covered)
    : merged;
  return {
    basis,
    question: makeStoredMessage(describeAskedRow(basis, stored.localId, find, differences)),
    matched: isQuestion ? plan.matched : 'same',
    key: find.localId,
    localId: isQuestion ? plan.localId : stored.localId,
    elements: find.elements,
    covered: find.covered === undefined ? undefined : [...find.covered],
    photos: find.coversPhotos === false ? [] : find.photos,
    ...getFileAndRow(find),
    path: path ?? null,
  };
}

/**
 * Returns file and row from which a find was read; null where there is none. A waypoint or a
 * feature of a map is known by its name, and has no row.
 */
export function getFileAndRow({ source }: Find): { file: string | null; row: number | null } {
  const isRow = source !== undefined && source.unit === undefined;
  return { file: source?.file ?? null, row: isRow ? (source.row ?? null) : null };
}

/**
 * Tells if a question is about this row, or an earlier one of its number: one of its table, or one
 * that differs in at most one of object, day and place.
 */
export function isAskedAbout(
  asked: AskedRow,
  { localId, elements }: Find,
  path: string | null,
): boolean {
  const isLike = () => listDifferingTraits(asked.elements, asked.elements, elements).length < 2;
  return asked.key === localId && (asked.path === path || isLike());
}

/**
 * Returns the rows about which a person is still asked for a find: those of its wish without the
 * forgotten ones; undefined where none is left.
 * @param isForgotten tells if a row is left out, since it was answered or is imported again
 */
export function listAskedRowsExcept(
  { wish }: StoredFind,
  isForgotten: (row: AskedRow) => boolean,
): AskedRow[] | undefined {
  const left = wish.asked?.filter((row) => !isForgotten(row));
  return left?.length === 0 ? undefined : left;
}

function describeAskedRow(
  basis: AskedRow['basis'],
  name: string,
  { source, localId }: Find,
  differences: readonly RowDifference[],
): Message {
  const table = source?.file ?? msg`no table`;
  const row = source?.row ?? localId;
  const changes = formatDifferences(differences);
  switch (basis) {
    case 'row-near':
      return differences.length === 0
        ? msg`row ${row} of ${table} is equal to ${name}: is it the same find?`
        : msg`row ${row} of ${table} differs little from ${name} (${changes}): is it the same find?`;
    case 'row-another':
      return msg`row ${row} of ${table} has the number of ${name}, but looks like another find (${changes}): is it the same find?`;
    case 'row-changed':
      return msg`${name} was changed here and in row ${row} of ${table} (${changes}): which values are right?`;
  }
}

/**
 * Makes the errors about a row that is left out until a person answers: for a conflict one for each
 * element, else a single one.
 */
export function makeQuestionIssues(
  asked: AskedRow,
  { stored, merged }: FindMerge,
  find: Find,
): Issue[] {
  const where = { find: stored.localId, ...find.source };
  const answer = cmd`pas resolve ${stored.localId}`;
  if (asked.basis !== 'row-changed') {
    const question = parseStoredMessage(asked.question);
    return [makeErrorIssue('question', msg`Not imported: ${question} Answer: ${answer}`, where)];
  }
  return merged.conflicts.map(({ element, base, ours, theirs }) => {
    const was = base ?? '–';
    const here = ours ?? '–';
    const row = theirs ?? '–';
    return new Issue({
      rule: 'conflict',
      says: msg`When the table was last imported, it was ${was}; it is ${here} here and ${row} in the table. Nothing was changed. Answer: ${answer}`,
      severity: 'error',
      ...where,
      element,
      column: find.getColumn?.(element),
      base: base ?? null,
      ours: ours ?? null,
      theirs: theirs ?? null,
    });
  });
}

/** Makes the warning about a row whose find a person dropped, so that the row is left out. */
export function makeDroppedFindWarning({ localId }: StoredFind, { source }: Find): Issue {
  const message = msg`The find was dropped and is not queued again. To queue this row: ${cmd`pas resolve ${localId} --resend`}, then import the table again.`;
  return makeWarningIssue('given-up', message, { find: localId, ...source });
}
