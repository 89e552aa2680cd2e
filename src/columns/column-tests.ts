import { isReadable } from '../base/issue.ts';
import { formatDecimal } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { DAY_NUMBER, parseDateForm } from '../find/date-form.ts';
import { type ColumnName, type Field, getField, isElementName } from '../find/fields.ts';
import type { LookupTerm } from '../find/lookup.ts';
import {
  CENTIMETRES,
  parseBoolean,
  parseDateCell,
  parseGeomSystem,
  parseTargetState,
} from '../find/parse-cell.ts';
import { detectNameOrder, parseName } from '../find/person-name.ts';
import { parsePosition } from '../place/read-position.ts';
import { isPictureName } from '../text/names.ts';
import { isWholeDepth } from './apply-column-rule.ts';
import { findNamedUnit, type NameMatch } from './column-names.ts';
import {
  type ColumnProfile,
  getShare,
  makeUnreadableDoubt,
  measurePositionShare,
  parsePlainNumber,
} from './column-profile.ts';
import { type DepthUnit, normalizeKey, OPEN_UNIT, type ReadColumn } from './column-rule.ts';

/** Meaning of a column by its values: `open` where any text fits, `no` where they contradict it. */
export type Verdict = {
  readonly says: 'yes' | 'open' | 'no';
  readonly rule?: Partial<ReadColumn>;
  /** Reason for a person to check it. */
  readonly doubt?: Message;
};

type ValueTest = (
  profile: ColumnProfile,
  match: NameMatch | undefined,
  lookupTerm: LookupTerm,
) => Verdict;

const NO: Verdict = { says: 'no' };
const OPEN: Verdict = { says: 'open' };

const TESTS: Readonly<Partial<Record<ColumnName, ValueTest>>> = {
  local_id: testKeys,
  ident_cely: makeShareTest((text) => /^(?:X-)?[CM]-\d{9}-N\d{5}$/.test(text), 0.8),
  photos: testPhotographs,
  wkt: testPositions,
  projekt: makeShareTest((text) => /^(?:X-)?[CM]-\d{9}$/.test(text), 0.8),
  hloubka: testDepths,
  nalezce: testFinders,
  // Without the other axis, numbers are no evidence.
  lon: () => NO,
  lat: () => NO,
  geom_x: () => NO,
  geom_y: () => NO,
};

/** Columns whose names have other meanings, too: at least one value must fit. */
const NEED_VALUES: readonly ColumnName[] = [
  'stav',
  'geom_system',
  'predano',
  'predano_organizace',
  'projekt',
  'photos',
  'wkt',
];

/** Judges by its values if a column is what its name may say; undefined where it is not. */
export function judgeValues(
  profile: ColumnProfile,
  column: ColumnName,
  match: NameMatch | undefined,
  lookupTerm: LookupTerm,
): Verdict | undefined {
  const test = TESTS[column] ?? (isElementName(column) ? getKindTest(getField(column)) : undefined);
  const verdict = test?.(profile, match, lookupTerm) ?? OPEN;
  if (verdict.says !== 'no') return verdict;
  if (match !== 'exact' || NEED_VALUES.includes(column)) return undefined;
  // A column with a name of its own is read in any case; its unreadable rows are reported.
  return { ...verdict, doubt: verdict.doubt ?? makeUnreadableDoubt(profile, 0) };
}

function getKindTest({ kind, set = '' }: Field): ValueTest | undefined {
  switch (kind) {
    case 'date':
      return testDates;
    case 'boolean':
      return testYesOrNo;
    case 'state':
      return makeShareTest((text) => isReadable(parseTargetState(text)));
    case 'geom-system':
      return makeShareTest((text) => isReadable(parseGeomSystem(text)));
    case 'term':
      return (...args) => testTerms(set, ...args);
    case 'text':
    case 'integer':
    case 'reference':
    case 'point':
      return undefined;
  }
}

/** @param alone share of fitting values that shows the meaning without a name */
function makeShareTest(fits: (text: string) => boolean, alone = Infinity): ValueTest {
  return (profile, match) => {
    const share = getShare(profile, fits);
    const least = { exact: Number.MIN_VALUE, like: 0.8, none: alone }[match ?? 'none'];
    return share < least ? NO : { says: 'yes', doubt: makeUnreadableDoubt(profile, share) };
  };
}

function testKeys(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  // "name" is the number of a waypoint, and in other tables the name of a thing.
  const isNumbered = match === 'exact' || getShare(profile, (text) => /\d/.test(text)) >= 0.6;
  if (match === undefined || !isNumbered) return NO;
  return profile.isKey
    ? { says: 'yes' }
    : { says: 'open', doubt: msg`numbers are missing or repeated; such rows are skipped` };
}

const SEPARATORS = [';', ',', '|', '+', '\n'] as const;

function testPhotographs(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const share = getShare(profile, isPictureName);
  if (share < (match === 'exact' ? Number.MIN_VALUE : 0.5)) return NO;
  const separator = SEPARATORS.find((mark) =>
    [...profile.values.keys()].some((text) => text.includes(mark)),
  );
  return { says: 'yes', rule: separator === ';' ? undefined : { separator } };
}

function testPositions(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const isNamed =
    match === 'exact' && getShare(profile, (text) => isReadable(parsePosition(text))) > 0;
  if (!isNamed && measurePositionShare(profile) < 0.6) return NO;
  const isWellKnown = getShare(profile, (text) => /^point/i.test(text)) > 0.9;
  return { says: 'yes', rule: isWellKnown ? undefined : { form: 'position' } };
}

/** Looking up the most frequent terms suffices; lookups of missing terms are slow. */
const MAX_LOOKUPS = 24;
/** The lookup of a column stops after so many misses without a hit. */
const MAX_MISSES = 8;

function testTerms(
  set: string,
  profile: ColumnProfile,
  match: NameMatch | undefined,
  lookupTerm: LookupTerm,
): Verdict {
  const { values, filled } = profile;
  if (getShare(profile, (text) => parsePlainNumber(text) !== undefined) >= 0.8) return NO;
  // Many different texts under another name are no terms.
  if (match === undefined && values.size > Math.max(20, filled / 2)) return NO;
  const frequent = [...values].sort(([, a], [, b]) => b - a).slice(0, MAX_LOOKUPS);
  let found = 0;
  for (const [index, [text]] of frequent.entries()) {
    const { kind } = lookupTerm(set, text);
    if (kind === 'not-harvested') return match === undefined ? NO : OPEN;
    if (kind === 'found') found += 1;
    else if (found === 0 && index + 1 === MAX_MISSES) break;
  }
  const isAlone = found > 1 && found >= 0.7 * frequent.length;
  return (match === undefined ? isAlone : found > 0) ? { says: 'yes' } : NO;
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

function testDates(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const years = getShare(profile, (text) => /^(?:1[789]|20)\d\d$/.test(text));
  // Some forms are read without a rule, so the rule is for the others.
  const plainDays = new Set(
    [...profile.values.keys()].filter((text) => isReadable(parseDateCell(text))),
  );
  const isDay = (text: string, form: string): boolean =>
    plainDays.has(text) || parseDateForm(text, form) !== undefined;
  const forms = DATE_FORMS.map((form) => ({
    form,
    days: getShare(profile, (text) => isDay(text, form)),
    share: getShare(profile, (text) => parseDateForm(text, form) !== undefined),
  })).sort((a, b) => b.days - a.days || b.share - a.share);
  const { form = 'd.m.yyyy', days = 0 } = forms.find(({ share }) => share > 0) ?? {};
  const isDayNumber = (text: string): boolean =>
    // 20 000 to 60 000 are days from 1954 to 2064.
    /^[2-5]\d{4}$/.test(text) && parseDateForm(text, DAY_NUMBER) !== undefined;
  if (days + years < 0.6 && getShare(profile, isDayNumber) >= 0.9)
    return { says: 'yes', rule: { date: DAY_NUMBER } };
  const least = { exact: 0.1, like: 0.6, none: 0.9 }[match ?? 'none'];
  if (days + (match === undefined ? 0 : years) < least) return NO;
  const isAmbiguous =
    form === 'd/m/yyyy' && forms.some((other) => other.form === 'm/d/yyyy' && other.days === days);
  return {
    // A column of days is the date before a column of years.
    says: days > 0 ? 'yes' : 'open',
    rule: { date: form, yearOnly: years > 0 ? 'note' : undefined },
    doubt: isAmbiguous
      ? msg`the day and the month cannot be told apart; pas reads the day first`
      : makeUnreadableDoubt(profile, days + years),
  };
}

const PERSON = /^(?:\p{L}+\.\s+)*\p{Lu}[\p{L}'.-]*,?\s+\p{Lu}[\p{L}'.-]*/u;

function testFinders(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const persons = getShare(profile, (text) => PERSON.test(text) || /^OS-\d+$/.test(text));
  if (match === undefined || persons < 0.3) return NO;
  const orders = [...profile.values.keys()].flatMap((text) => {
    const { parts } = parseName(text);
    return parts.length === 1 ? (detectNameOrder(parts[0] ?? '') ?? []) : [];
  });
  const surnameFirst = orders.filter((order) => order === 'surname-first').length;
  if (orders.length === 0) return { says: 'yes' };
  const name = surnameFirst * 2 >= orders.length ? 'surname-first' : 'given-first';
  return { says: 'yes', rule: { name } };
}

/** Short words for yes and no that are read only with a map. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  a: 'ano',
  n: 'ne',
  x: 'ano',
  '+': 'ano',
  '-': 'ne',
  y: 'ano',
};

function testYesOrNo(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const words = [...new Set([...profile.values.keys()].map(normalizeKey))].filter((text) =>
    Object.hasOwn(OWN_WORDS, text),
  );
  const share = getShare(
    profile,
    (text) => isReadable(parseBoolean(text)) || words.includes(normalizeKey(text)),
  );
  if (match === undefined || share < 0.9) return NO;
  const values = Object.fromEntries(words.map((text) => [text, OWN_WORDS[text] ?? '']));
  return { says: 'yes', rule: words.length === 0 ? undefined : { values } };
}

/** Metres; no find lies deeper. */
const MAX_DEPTH_M = 20;

/** Finds the unit of depths in the cells, in the header, or by the size of the numbers. */
function testDepths(profile: ColumnProfile, match: NameMatch | undefined): Verdict {
  const share = getShare(profile, (text) => isInside(parsePlainNumber(text), 0, 5000));
  if (match === undefined || share < 0.5) return NO;
  const numbers = [...profile.values.keys()]
    .filter((text) => !/\d\s*(?:mm|cm|dm|m)\.?$/i.test(text))
    .flatMap((text) => parsePlainNumber(text) ?? []);
  if (numbers.length === 0) return { says: 'yes', rule: { unit: 'cm' } };
  const named = findNamedUnit(profile.header);
  const unit = named ?? guessUnit(numbers);
  const isWrong = (value: number): boolean =>
    (unit === 'm' && value > MAX_DEPTH_M) || (value > 0 && value * CENTIMETRES[unit ?? 'cm'] < 0.5);
  const range = [Math.min(...numbers), Math.max(...numbers)]
    .map((value) => (numbers.every(Number.isInteger) ? value : formatDecimal(value, 2)))
    .join('–');
  if (unit === undefined || numbers.some(isWrong)) {
    const doubt = msg`${range}: not all seem to be in one unit. Which unit are they in?`;
    return { says: 'yes', rule: { unit: OPEN_UNIT }, doubt };
  }
  const doubt =
    named === undefined
      ? msg`${range}: ${unit} by the size of the numbers, since no unit is stated`
      : makeUnreadableDoubt(
          profile,
          getShare(profile, (text) => isWholeDepth(text, unit)),
        );
  return { says: 'yes', rule: { unit }, doubt };
}

function isInside(value: number | undefined, least: number, most: number): boolean {
  return value !== undefined && value >= least && value <= most;
}

/** Returns the unit that fits all numbers; undefined for `0,3` beside `35`. */
function guessUnit(numbers: readonly number[]): DepthUnit | undefined {
  const most = Math.max(...numbers);
  if (numbers.every(Number.isInteger)) return most > 1000 ? 'mm' : 'cm';
  if (most <= 10) return 'm';
  return Math.min(...numbers) < 5 ? undefined : 'cm';
}
