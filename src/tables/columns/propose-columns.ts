import { groupBy, memoize } from '../../base/collections.ts';
import { isReadable } from '../../base/issue.ts';
import { type Message, msg } from '../../base/message.ts';
import { foldName } from '../../base/names.ts';
import { FIELDS } from '../../finds/fields.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { parseCoordinate } from '../../finds/place/read-position.ts';
import type { Table } from '../table.ts';
import {
  type ColumnMap,
  type ColumnName,
  type ColumnRule,
  type ElementRule,
  findColumnsOfHeader,
  IGNORED_COLUMN,
  isStoredValueRead,
  JOINABLE_COLUMNS,
  LABELLED_COLUMNS,
  NAMED_COLUMNS,
  OPEN_UNIT,
  type Setting,
} from './column-meaning.ts';
import {
  type ColumnProfile,
  type ColumnVerdict,
  computeFittingShare,
  isPositionText,
  judgeColumn,
  LAST_RANK,
  parsePlainNumber,
  profileTableColumns,
} from './column-tests.ts';
import { isIgnoredHeader } from './columns.ts';

/** A column, and how it should be read. */
export type ColumnProposal = {
  readonly profile: ColumnProfile;
  readonly rule: ColumnRule;
  /** Reason for a person to check it. */
  readonly doubt?: Message;
};

/** Question that a person must answer: which unit it is, or which column. */
type ColumnQuestion = {
  readonly asks: 'unit' | 'column';
  readonly element: ColumnName;
  readonly keys: readonly string[];
  readonly problem: Message;
};

/** Proposed meanings of all columns of a table, and what a person must still decide. */
export type TableProposal = {
  readonly columns: readonly ColumnProposal[];
  /** Values for every find. */
  readonly fixed: readonly Setting[];
  /** Elements that every find requires, and that have no value yet. */
  readonly undecided: readonly ColumnName[];
  readonly questions: readonly ColumnQuestion[];
};

/**
 * Decisions of a person: rules by the key of the column, whose details may be left to the values,
 * and values for every find.
 */
export type TableAnswers = {
  readonly rules: ReadonlyMap<string, ColumnRule>;
  readonly settings: readonly Setting[];
};

/** An element that a column may fill, and how sure that is: rank 0 is the surest. */
type ColumnMeaning = ColumnVerdict & {
  readonly profile: ColumnProfile;
  readonly element: ColumnName;
};

/** Elements that every state requires. */
const NEEDED = FIELDS.filter(({ requiredFrom }) => requiredFrom === 1).map(({ name }) => name);

const OF_POINT: readonly ColumnName[] = ['wkt', 'lon', 'lat', 'geom_x', 'geom_y'];

/** Share of a column's filled rows whose texts must name finds, or records. */
const HALF = 0.5;

/** Tells what the text of a cell names. */
export type KnownNames = {
  /** It names a find of the outbox, or several; an identifier of the service does not. */
  isFind(text: string): boolean;
  /** It is an identifier of the service. */
  isIdent(text: string): boolean;
};

/**
 * Makes the function that proposes the meanings of a foreign table's columns from the answers of a
 * person so far. The table is read only now, so the function may be called after each answer. A
 * column with values but without a meaning goes into the note, except one of
 * {@link isIgnoredHeader}, and coordinates, which are secret.
 * @param known tells which values name finds
 */
export function makeColumnProposer(table: Table, lookupTerm: LookupTerm, known: KnownNames) {
  const profiles = profileTableColumns(table);
  const meanings = findColumnMeanings(profiles, lookupTerm, known);
  const pairs = findPointColumns(profiles);
  // All values of a column are parsed for this, so not again after each answer.
  const findRest = memoize(keepInNote);
  const hasPoints = Array.from(table.rows).some((row) => row.point !== undefined);
  return (answers: TableAnswers): TableProposal => {
    const rules = new Map(answers.rules);
    for (const profile of profiles) {
      const rule = completeRule(profile, rules.get(profile.key), lookupTerm);
      if (rule !== undefined) rules.set(profile.key, rule);
    }
    const answered = new Set([...rules.values()].flatMap(({ element }) => element ?? []));
    for (const [{ key }, rule] of pairs)
      if (!rules.has(key) && !answered.has(rule.element)) rules.set(key, rule);
    const isPlaced = pairs.size > 0 || OF_POINT.some((name) => answered.has(name));
    const taken = isPlaced ? OF_POINT : [];
    const { columns, questions } = proposeAssignment(profiles, meanings, rules, taken, findRest);
    const values = proposeFixedValues(answers.settings, columns, hasPoints);
    return { columns, questions, ...values };
  };
}

/**
 * Proposes target state and coordinate system for all finds, unless a person or a column decides
 * them, and lists the needed elements without a value.
 * @param hasPoints the format gives rows a point beside the columns
 */
function proposeFixedValues(
  settings: readonly Setting[],
  columns: readonly ColumnProposal[],
  hasPoints: boolean,
): Pick<TableProposal, 'fixed' | 'undecided'> {
  const fixed = [...settings];
  const read = new Set(columns.flatMap(({ rule }) => rule.element ?? []));
  const decided = new Set<ColumnName>([...read, ...fixed.map(({ name }) => name)]);
  const propose = (name: ColumnName, value: string | undefined): void => {
    if (value === undefined || decided.has(name)) return;
    fixed.push({ name, givenName: name, value });
    decided.add(name);
  };
  propose('stav', '1');
  // Degrees, positions and points of a format say their system themselves.
  if (read.has('lon') || hasPoints || columns.some(({ rule }) => rule.form === 'position'))
    decided.add('geom_system');
  propose('geom_system', read.has('geom_x') ? '5514' : undefined);
  return { fixed, undecided: NEEDED.filter((name) => !decided.has(name)) };
}

/**
 * Returns the rule with what the values of a column tell about its element: unit, date form,
 * notation of positions, sign. Details that the rule has stay; undefined and ignored columns stay
 * so.
 */
function completeRule(
  profile: ColumnProfile,
  rule: ColumnRule | undefined,
  lookupTerm: LookupTerm,
): ColumnRule | undefined {
  if (rule?.element === undefined) return rule;
  const { element } = rule;
  const details = isAxis(element)
    ? makeAxisRule(profile, element)
    : judgeColumn(profile, element, 'exact', lookupTerm)?.rule;
  return { ...details, ...rule };
}

/**
 * Returns the meanings that each column may have, column by column; none for a column that is
 * empty, of {@link isIgnoredHeader}, or whose header means nothing. A column whose values name finds
 * of the outbox has their local ids, unless its header names a depth, a state or the like; then no
 * other column may have them by its header. A column whose values are identifiers of the service has
 * those.
 * @param elements the meanings of headers that are considered, in the order of the result
 */
export function findColumnMeanings(
  profiles: readonly ColumnProfile[],
  lookupTerm: LookupTerm,
  { isFind, isIdent }: KnownNames,
  elements = NAMED_COLUMNS,
): readonly ColumnMeaning[] {
  const ofFinds = profiles.filter(
    (profile) => !isOfValue(profile) && computeFittingShare(profile, isFind) >= HALF,
  );
  return profiles.flatMap((profile): ColumnMeaning[] => {
    if (ofFinds.includes(profile)) return [{ profile, element: 'local_id', rank: 0 }];
    if (computeFittingShare(profile, isIdent) >= HALF)
      return [{ profile, element: 'ident_cely', rank: 0 }];
    const matches = findColumnsOfHeader(profile.header);
    const isRead = profile.filled > 0 && !isIgnoredHeader(profile.header);
    return (isRead ? elements : []).flatMap((element) => {
      const match = matches.get(element);
      if (match === undefined || (element === 'local_id' && ofFinds.length > 0)) return [];
      const verdict = judgeColumn(profile, element, match, lookupTerm);
      return verdict === undefined ? [] : [{ ...verdict, profile, element }];
    });
  });
}

/** Tells if a header is exactly a name of an element that may look like the number of a find. */
function isOfValue({ header }: ColumnProfile): boolean {
  return [...findColumnsOfHeader(header)].some(
    ([element, match]) => match === 'exact' && isStoredValueRead(element),
  );
}

/**
 * Proposes for each column its surest meaning that no other column has. The number of the find is
 * assigned first, since other numbers depend on it; then the rest, rank by rank from 0, the surest.
 * Several columns that claim one element at the same rank all get it, and a question asks which one
 * is right. Elements that may be joined from several columns (notes, photographs) are never taken:
 * all their columns get them, without a question, notes from the second on with a label.
 * @param rules of columns that are decided, by their keys
 * @param taken elements that no further column may have, except those that may be joined
 * @param findRest called for each column without a meaning; returns its rule
 */
function proposeAssignment(
  profiles: readonly ColumnProfile[],
  meanings: readonly ColumnMeaning[],
  rules: ReadonlyMap<string, ColumnRule>,
  taken: readonly ColumnName[],
  findRest: (profile: ColumnProfile) => ColumnRule,
): Pick<TableProposal, 'columns' | 'questions'> {
  const assigned = new Map<ColumnProfile, ColumnProposal>();
  const questions: ColumnQuestion[] = [];
  const used = new Set<ColumnName>(taken);
  for (const profile of profiles) {
    const rule = rules.get(profile.key);
    if (rule !== undefined) assigned.set(profile, { profile, rule });
    if (rule?.element !== undefined) used.add(rule.element);
  }
  for (const [element, rank] of ORDER) {
    if (used.has(element) && !JOINABLE_COLUMNS.includes(element)) continue;
    const isClaim = (meaning: ColumnMeaning): boolean =>
      meaning.element === element && meaning.rank === rank && !assigned.has(meaning.profile);
    const claims = meanings.filter(isClaim);
    const question = makeClaimQuestion(element, claims);
    if (question !== undefined) questions.push(question);
    for (const { profile, rule, doubt } of claims) {
      const label =
        LABELLED_COLUMNS.includes(element) && used.has(element) ? profile.header : undefined;
      assigned.set(profile, {
        profile,
        rule: { element, ...rule, label },
        doubt: question?.problem ?? doubt,
      });
      used.add(element);
    }
  }
  questions.push(...[...assigned.values()].flatMap(listUnitQuestions));
  const columns = profiles.map(
    (profile) => assigned.get(profile) ?? { profile, rule: findRest(profile) },
  );
  return { columns, questions };
}

const RANKS = Array.from({ length: LAST_RANK + 1 }, (_, rank) => rank);
/** Elements and ranks of their columns, in the order in which they are assigned. */
const ORDER: readonly (readonly [ColumnName, rank: number])[] = [
  ...RANKS.map((rank) => ['local_id', rank] as const),
  ...RANKS.flatMap((rank) => NAMED_COLUMNS.map((element) => [element, rank] as const)),
];

/** Makes the question of claims that exclude each other; undefined for one, or a joined element. */
function makeClaimQuestion(
  element: ColumnName,
  claims: readonly ColumnMeaning[],
): ColumnQuestion | undefined {
  if (claims.length < 2 || JOINABLE_COLUMNS.includes(element)) return undefined;
  const keys = claims.map(({ profile }) => profile.key);
  return { asks: 'column', element, keys, problem: makeChoiceProblem(element, keys) };
}

/** Makes the question which one of several columns, given by their keys, fills an element. */
export function makeChoiceProblem(element: ColumnName, keys: readonly string[]): Message {
  const all = keys.join(', ');
  return msg`${all}: only one column can be ${element}. Which one is it?`;
}

/** Returns the question for the unit of a column; empty where it is known or there is none. */
function listUnitQuestions({ profile, rule, doubt }: ColumnProposal): ColumnQuestion[] {
  if (rule.element === undefined || rule.unit !== OPEN_UNIT) return [];
  const { key } = profile;
  const problem = doubt === undefined ? key : msg`${key}: ${doubt}`;
  return [{ asks: 'unit', element: rule.element, keys: [key], problem }];
}

/**
 * Returns the rule that keeps the values of a column without an element in the note; they are
 * ignored where they are useless (empty, derived by the service) or secret there (coordinates).
 */
function keepInNote(profile: ColumnProfile): ColumnRule {
  const { filled, key, header } = profile;
  const isLost = filled === 0 || isIgnoredHeader(header) || hasCoordinates(profile);
  return isLost ? IGNORED_COLUMN : { element: 'poznamka', label: key };
}

/**
 * Makes the column map of a proposal; nothing is written.
 * @param file of the map, for its messages
 */
export function makeColumnMap(file: string, { columns, fixed }: TableProposal): ColumnMap {
  return { file, columns: new Map(columns.map(({ profile, rule }) => [profile.key, rule])), fixed };
}

/** Ranges of the axes in the Czech Republic; none overlaps, so a number determines its axis. */
const AXES = {
  geom_x: { least: 400_000, most: 905_000 },
  geom_y: { least: 930_000, most: 1_230_000 },
  lon: { least: 12, most: 19 },
  lat: { least: 48.4, most: 51.2 },
} as const;
type Axis = keyof typeof AXES;

function isAxis(column: ColumnName): column is Axis {
  return Object.hasOwn(AXES, column);
}

/** Pairs of axes: S-JTSK, and degrees. */
const PAIRS: readonly (readonly [Axis, Axis])[] = [
  ['geom_x', 'geom_y'],
  ['lon', 'lat'],
];

const AXIS_WORDS = [
  'x',
  'y',
  'lon',
  'long',
  'lng',
  'longitude',
  'lat',
  'latitude',
  'easting',
  'northing',
];

/** Share of a column's rows that a meaning needs. */
const MOST = 0.6;

/**
 * Returns the rules of the columns with coordinates, in both systems where there are both; none for
 * an axis without the other one. A measurement may have the numbers of an axis, so of several
 * columns the one with the name of an axis counts first, then the fullest.
 */
function findPointColumns(
  profiles: readonly ColumnProfile[],
): ReadonlyMap<ColumnProfile, ElementRule> {
  const isNamed = (profile: ColumnProfile): number => Number(isNamedAsAxis(profile));
  const byAxis = groupBy(profiles, findAxis);
  const findColumn = (axis: Axis): ColumnProfile[] =>
    (byAxis.get(axis) ?? [])
      .sort((a, b) => isNamed(b) - isNamed(a) || b.filled - a.filled)
      .slice(0, 1);
  const pairs = PAIRS.map((axes) =>
    axes.flatMap((axis) =>
      findColumn(axis).map((profile) => [profile, makeAxisRule(profile, axis)] as const),
    ),
  );
  return new Map(pairs.filter(({ length }) => length === 2).flat());
}

/** Makes the rule of an axis; a coordinate of S-JTSK without its minus sign in any row gets one. */
function makeAxisRule(profile: ColumnProfile, element: Axis): ElementRule {
  const isPositive = (text: string): boolean =>
    isInRange(text, element) && (parsePlainNumber(text) ?? 0) > 0;
  const lacksMinus = isMetric(element) && computeFittingShare(profile, isPositive) > 0;
  return { element, sign: lacksMinus ? 'minus' : undefined };
}

function findAxis(profile: ColumnProfile): Axis | undefined {
  return (Object.keys(AXES) as Axis[]).find((axis) => isOfAxis(profile, axis));
}

function isOfAxis(profile: ColumnProfile, axis: Axis): boolean {
  const share = computeFittingShare(profile, (text) => isInRange(text, axis));
  const isNamed = isNamedAsAxis(profile);
  // A column with the name of an axis may have degrees in other rows.
  if (isMetric(axis)) return isNamed ? share > 0 : share >= MOST;
  // Numbers from 12 to 19 are frequent; degrees have a name that says so, or three decimals.
  const isFine = isNamed ? /[.,]\d|^[^°º\s]*[°º\s].*\d/ : /[.,]\d{3}|^[^°º\s]*[°º\s].*\d/;
  return share >= MOST && computeFittingShare(profile, (text) => isFine.test(text)) >= 0.5;
}

function isMetric(axis: Axis): boolean {
  return axis === 'geom_x' || axis === 'geom_y';
}

function isInRange(text: string, axis: Axis): boolean {
  const { least, most } = AXES[axis];
  const value = Math.abs(parseAxisNumber(text) ?? 0);
  return value >= least && value <= most;
}

/** Parses a coordinate of either axis. */
function parseAxisNumber(text: string): number | undefined {
  const reading = (['x', 'y'] as const).map((axis) => parseCoordinate(text, axis)).find(isReadable);
  return reading === undefined ? parsePlainNumber(text) : Number(reading.value);
}

function isNamedAsAxis({ header }: ColumnProfile): boolean {
  return foldName(header)
    .split('_')
    .some((word) => AXIS_WORDS.includes(word));
}

/**
 * Tells if a column gives places, also with lost decimal marks or in systems that pas does not
 * read, such as UTM.
 */
function hasCoordinates(profile: ColumnProfile): boolean {
  // A place in the trench, such as 2.35, has fewer digits.
  const isLong = (text: string): boolean => /^(?:[^\p{L}\d]*\d){5,}[^\p{L}\d]*$/u.test(text);
  return (
    findAxis(profile) !== undefined ||
    (isNamedAsAxis(profile) && computeFittingShare(profile, isLong) >= MOST) ||
    computeFittingShare(profile, isPositionText) >= MOST
  );
}
