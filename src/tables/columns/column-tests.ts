import { isReadable } from '../../base/issue.ts';
import { formatDecimal, type Message, msg } from '../../base/message.ts';
import { isPictureName } from '../../base/names.ts';
import { type Field, getField, isElementName } from '../../finds/fields.ts';
import type { LookupTerm, TermLookupResult } from '../../finds/find.ts';
import {
  CENTIMETRES,
  parseBoolean,
  parseDateCell,
  parseDateInForm,
  parseGeomSystem,
  parseTargetState,
} from '../../finds/parse-cell.ts';
import { parseCoordinateNumber } from '../../finds/place/geometry.ts';
import { parsePosition } from '../../finds/place/read-position.ts';
import type { Table } from '../table.ts';
import {
  type ColumnName,
  type ElementRule,
  findUnitOfHeader,
  isWholeDepth,
  makeColumnKeys,
  type NameMatch,
  OPEN_UNIT,
} from './column-meaning.ts';

/** Description of the values of a column; made by {@link profileTableColumns}. */
export type ColumnProfile = Readonly<ReturnType<typeof profileTableColumns>[number]>;

/** Further distinct texts do not change the judgement of a column. */
const MAX_VALUES = 3000;
const MAX_EXAMPLES = 3;

/**
 * Reads all rows once and describes the values of each column, in the order of the header. Cells
 * are trimmed. Of a column with more than {@link MAX_VALUES} distinct texts, `values` lacks the
 * later ones.
 */
export function profileTableColumns(table: Table) {
  const columns = makeColumnKeys(table.header).map((key, index) => ({
    /** See {@link makeColumnKeys}. */
    key,
    header: table.header[index] ?? '',
    /** Rows with a text. */
    filled: 0,
    /** Distinct texts with their number of rows, the first {@link MAX_VALUES} of the table. */
    values: new Map<string, number>(),
    /** Undefined after the first text that repeats or is missing. */
    unique: new Set<string>() as Set<string> | undefined,
  }));
  for (const { cells } of table.rows) {
    for (const [index, column] of columns.entries()) {
      const text = (cells[index] ?? '').trim();
      if (text === '' || column.unique?.has(text)) column.unique = undefined;
      column.unique?.add(text);
      if (text === '') continue;
      column.filled += 1;
      const count = column.values.get(text);
      if (count !== undefined || column.values.size < MAX_VALUES)
        column.values.set(text, (count ?? 0) + 1);
    }
  }
  return columns.map(({ unique, ...profile }) => ({
    ...profile,
    /** The first distinct texts, by which a person recognises the column. */
    examples: [...profile.values.keys()].slice(0, MAX_EXAMPLES),
    /** Each row has a text of its own. */
    isKey: unique !== undefined,
  }));
}

/**
 * Returns the share of the rows whose text fits, from 0 to 1, among those of which the profile has
 * a text; 0 for an empty column.
 * @param fits called once for each distinct text
 */
export function computeFittingShare(
  { values }: ColumnProfile,
  fits: (text: string) => boolean,
): number {
  let fitting = 0;
  let all = 0;
  for (const [text, count] of values) {
    all += count;
    if (fits(text)) fitting += count;
  }
  return all === 0 ? 0 : fitting / all;
}

/**
 * Returns the doubt that says in how many rows the value cannot be read; undefined where in none.
 * @param share of the values that can be read, 0 to 1
 */
function makeUnreadableDoubt({ filled }: ColumnProfile, share: number): Message | undefined {
  const all = filled;
  const bad = Math.round(all * (1 - share));
  return bad === 0
    ? undefined
    : msg`values that cannot be read this way: ${bad} of ${all}; their rows will show the errors`;
}

/**
 * Parses a decimal number, also with a unit of length or `ks` behind it, which is dropped: the
 * number is not converted. Undefined where the text is no number.
 */
export function parsePlainNumber(text: string): number | undefined {
  const reading = parseCoordinateNumber(text.replace(/(?<!\s)\s*(?:mm|cm|dm|m|ks)\.?$/i, ''));
  return isReadable(reading) ? Number(reading.value) : undefined;
}

/**
 * Tells if a text is a position with both coordinates. Two short whole numbers, such as `12/45`,
 * are no position here.
 */
export function isPositionText(text: string): boolean {
  return !/^\D*\d{1,3}\D+\d{1,3}\D*$/.test(text) && isReadable(parsePosition(text));
}

/** Meaning of a column by its name and its values. */
export type ColumnVerdict = {
  /** The lower, the surer; two columns of the same rank are a question. */
  readonly rank: number;
  readonly rule?: Partial<ElementRule>;
  /** Reason for a person to check it. */
  readonly doubt?: Message;
};

/** Ranks by the name, of a column whose values fit. */
const RANKS = { exact: 0, like: 1 } as const;
/** Rank of a column with a name of its own whose values do not fit. */
export const LAST_RANK = 2;

/** Judgement of a meaning by the values of a column alone. */
type Evidence = Pick<ColumnVerdict, 'rule' | 'doubt'> & {
  /** Share of the values that fit. */
  readonly share: number;
};

type ValueTest = (
  profile: ColumnProfile,
  match: NameMatch,
  lookup: (text: string) => TermLookupResult,
) => Evidence;

const FREE_TEXT: Evidence = { share: 1 };

/** Share of fitting values that a meaning needs: the less the name says, the more. */
const LEAST = { exact: Number.MIN_VALUE, like: 0.5 } as const;

const TESTS: Readonly<Partial<Record<ColumnName, ValueTest>>> = {
  local_id: testKeys,
  photos: (profile) => testTexts(profile, isPictureName),
  wkt: testPositions,
  projekt: (profile) => testTexts(profile, (text) => /^(?:X-)?[CM]-\d{9}$/.test(text)),
  hloubka: testDepths,
  nalezce: testFinders,
};

const TESTS_OF_KINDS: Readonly<Partial<Record<Field['kind'], ValueTest>>> = {
  date: testDates,
  boolean: (profile) => testTexts(profile, (text) => isReadable(parseBoolean(text))),
  state: (profile) => testTexts(profile, (text) => isReadable(parseTargetState(text))),
  'geom-system': (profile) => testTexts(profile, (text) => isReadable(parseGeomSystem(text))),
  term: testTerms,
};

/** Meanings of headers that also have other meanings, so that at least one value must fit. */
const NEED_VALUES: readonly ColumnName[] = [
  'stav',
  'geom_system',
  'predano',
  'predano_organizace',
  'projekt',
  'photos',
  'wkt',
];

/**
 * Judges by its values if a column has a meaning that its header may have; undefined where it has
 * not. With an exact header it always has, except for the meanings of {@link NEED_VALUES}: rows
 * that cannot be read are then a doubt.
 * @param column meaning that is judged
 * @param match how the header fits the names of that meaning
 */
export function judgeColumn(
  profile: ColumnProfile,
  column: ColumnName,
  match: NameMatch,
  lookupTerm: LookupTerm,
): ColumnVerdict | undefined {
  const field = isElementName(column) ? getField(column) : undefined;
  const test = TESTS[column] ?? (field && TESTS_OF_KINDS[field.kind]);
  const lookup = (text: string): TermLookupResult => lookupTerm(field?.set ?? '', text);
  const { share, rule, doubt } = test?.(profile, match, lookup) ?? FREE_TEXT;
  const isFitting = share >= LEAST[match];
  // A column with a name of its own is read in any case; its unreadable rows are reported.
  if (!isFitting && (match !== 'exact' || NEED_VALUES.includes(column))) return undefined;
  return {
    rank: isFitting ? RANKS[match] : LAST_RANK,
    rule,
    doubt: doubt ?? makeUnreadableDoubt(profile, share),
  };
}

function testTexts(profile: ColumnProfile, fits: (text: string) => boolean): Evidence {
  return { share: computeFittingShare(profile, fits) };
}

function testKeys(profile: ColumnProfile, match: NameMatch): Evidence {
  // "name" is the number of a waypoint, and in other tables the name of a thing.
  const isNumbered =
    match === 'exact' || computeFittingShare(profile, (text) => /\d/.test(text)) >= LEAST.like;
  return {
    share: Number(isNumbered),
    doubt: profile.isKey ? undefined : msg`numbers are missing or repeated; such rows are skipped`,
  };
}

function testPositions(profile: ColumnProfile): Evidence {
  const isWellKnown = computeFittingShare(profile, (text) => /^point/i.test(text)) > 0.9;
  return {
    share: computeFittingShare(profile, isPositionText),
    rule: isWellKnown ? undefined : { form: 'position' },
  };
}

/** Looking up the most frequent terms suffices; lookups of missing terms are slow. */
const MAX_LOOKUPS = 8;

/** A museum has terms of its own beside those of the vocabulary, so that one found is enough. */
function testTerms(
  { values }: ColumnProfile,
  _match: NameMatch,
  lookup: (text: string) => TermLookupResult,
): Evidence {
  const frequent = [...values].sort(([, a], [, b]) => b - a).slice(0, MAX_LOOKUPS);
  const kinds = frequent.map(([text]) => lookup(text).kind);
  return kinds.includes('not-harvested') ? FREE_TEXT : { share: Number(kinds.includes('found')) };
}

/** Date forms of tables, the most frequent first. */
const DATE_FORMS = [
  'yyyy-mm-dd',
  'd.m.yyyy',
  'd.m.yy',
  'd/m/yyyy',
  'm/d/yyyy',
  'd-m-yyyy',
  'yyyy/m/d',
  'yyyy.m.d',
  'yyyymmdd',
] as const;

/**
 * Finds the date form by which most values are days, counting those that are read without a form.
 * Years alone fit as well, and go into the note.
 */
function testDates(profile: ColumnProfile): Evidence {
  const years = computeFittingShare(profile, (text) => /^(?:1[789]|20)\d\d$/.test(text));
  // Some forms are read without a rule, so the rule is for the others.
  const plainDays = new Set(
    [...profile.values.keys()].filter((text) => isReadable(parseDateCell(text))),
  );
  const isDay = (text: string, form: string): boolean =>
    plainDays.has(text) || parseDateInForm(text, form) !== undefined;
  const forms = DATE_FORMS.map((form) => ({
    form,
    days: computeFittingShare(profile, (text) => isDay(text, form)),
    share: computeFittingShare(profile, (text) => parseDateInForm(text, form) !== undefined),
  })).sort((a, b) => b.days - a.days || b.share - a.share);
  const { form = 'd.m.yyyy', days = 0 } = forms.find(({ share }) => share > 0) ?? {};
  const isAmbiguous =
    form === 'd/m/yyyy' && forms.some((other) => other.form === 'm/d/yyyy' && other.days === days);
  return {
    share: days + years,
    rule: { date: form, year_only: years > 0 ? 'note' : undefined },
    doubt: isAmbiguous
      ? msg`the day and the month cannot be told apart; pas reads the day first`
      : undefined,
  };
}

const PERSON = /^(?:\p{L}+\.\s+)*\p{Lu}[\p{L}'.-]*,?\s+\p{Lu}[\p{L}'.-]*/u;

function testFinders({ values }: ColumnProfile): Evidence {
  const texts = [...values.keys()];
  return { share: Number(texts.some((text) => PERSON.test(text) || /^OS-\d+$/.test(text))) };
}

/** No find lies deeper. */
const MAX_DEPTH_CM = 2000;

/**
 * Finds the unit of depths without one: that of the header, else centimetres for whole numbers,
 * which is a doubt. Where the unit does not fit all of them, it is open, and a question for a
 * person.
 */
function testDepths(profile: ColumnProfile): Evidence {
  const share = computeFittingShare(profile, (text) => parsePlainNumber(text) !== undefined);
  const numbers = [...profile.values.keys()]
    .filter((text) => !/\d\s*(?:mm|cm|dm|m)\.?$/i.test(text))
    .flatMap((text) => parsePlainNumber(text) ?? []);
  if (numbers.length === 0) return { share, rule: { unit: 'cm' } };
  const named = findUnitOfHeader(profile.header);
  const unit = named ?? (numbers.every(Number.isInteger) ? 'cm' : undefined);
  const isWrong = (value: number): boolean => {
    const centimetres = value * CENTIMETRES[unit ?? 'cm'];
    return centimetres > MAX_DEPTH_CM || (value > 0 && centimetres < 0.5);
  };
  const range = [Math.min(...numbers), Math.max(...numbers)]
    .map((value) => (numbers.every(Number.isInteger) ? value : formatDecimal(value, 2)))
    .join('–');
  if (unit === undefined || numbers.some(isWrong)) {
    const doubt = msg`${range}. Which unit are they in?`;
    return { share, rule: { unit: OPEN_UNIT }, doubt };
  }
  const doubt =
    named === undefined
      ? msg`${range}: ${unit}, since no unit is stated`
      : makeUnreadableDoubt(
          profile,
          computeFittingShare(profile, (text) => isWholeDepth(text, unit)),
        );
  return { share, rule: { unit }, doubt };
}
