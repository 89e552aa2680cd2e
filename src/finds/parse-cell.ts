import { formatLocalDate } from '../base/clock.ts';
import { memoize } from '../base/collections.ts';
import { makeRuleProblem, type Reading, type RuleProblem } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { foldName, joinWithOr } from '../base/names.ts';
import type { TargetState } from './fields.ts';
import { type GeomSystem, parseSystemCode } from './place/geometry.ts';

/** Two digits of a year mean 1940 to 2039. */
const FIRST_SHORT_YEAR = 40;

const PART = /yyyy|yy|mm|m|dd|d/g;

/**
 * Tells if a text is a form of dates, such as `d.m.yyyy`: one part each for day (`d`, `dd`), month
 * (`m`, `mm`) and year (`yy`, `yyyy`), with any separators that have no `a` to `z` and no digit.
 */
export function isDateForm(form: string): boolean {
  const parts = form.match(PART) ?? [];
  const kinds = parts
    .map((part) => part.charAt(0))
    .sort()
    .join('');
  return kinds === 'dmy' && !/[a-z0-9]/.test(form.replace(PART, ''));
}

/**
 * Parses a day that is written in a form, such as `3.4.24` in `d.m.yy`, into YYYY-MM-DD. A time
 * behind the day is dropped; a year of two digits is one of 1940 to 2039. In the form `yyyy-mm-dd`
 * also a moment, as by {@link parseDayOfMoment}. Undefined where the text does not have the form,
 * or is no day of the calendar.
 * @param form as {@link isDateForm} accepts it
 */
export function parseDateInForm(text: string, form: string): string | undefined {
  const moment = parseDayOfMoment(text.trim());
  if (moment !== undefined) return form === 'yyyy-mm-dd' ? moment : undefined;
  const day = text.trim().replace(/(?:T|(?<!\s) )\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '');
  const iso = readDateOfForm(day, form);
  return iso !== undefined && isRealDate(iso) ? iso : undefined;
}

/**
 * Reads a text of a form, such as `d.m.yyyy`, as YYYY-MM-DD, which need not be a day of the
 * calendar. A year of two digits is one of 1940 to 2039. Undefined where the text has another
 * form.
 */
function readDateOfForm(text: string, form: string): string | undefined {
  const match = getDatePattern(form).exec(text);
  if (match?.groups === undefined) return undefined;
  const { y = '', m = '', d = '' } = match.groups;
  return `${toFullYear(y)}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
}

const getDatePattern = memoize((form: string): RegExp => {
  const pieces = form.split(PART);
  const parts = form.match(PART) ?? [];
  const source = pieces.map((between, index) => {
    const part = parts[index];
    const escaped = between.trim().replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return `${between === '' ? '' : `\\s*${escaped}`}${escaped === '' ? '' : '\\s*'}${part === undefined ? '' : makeDateGroup(part)}`;
  });
  return new RegExp(`^${source.join('')}$`);
});

function makeDateGroup(part: string): string {
  const digits = part.length === 1 ? '1,2' : String(part.length);
  return `(?<${part.charAt(0)}>\\d{${digits}})`;
}

function toFullYear(year: string): string {
  if (year.length !== 2) return year;
  return Number(year) < FIRST_SHORT_YEAR ? `20${year}` : `19${year}`;
}

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(?:(Z|[+-]00(?::?00)?)|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * Parses a moment with an offset, such as `2024-04-03T22:30Z`, into its day, YYYY-MM-DD: in UTC
 * (`Z`, `+00:00`) the day of that moment in the time zone of this computer, with another offset
 * the day as written. Undefined for any other text.
 */
export function parseDayOfMoment(text: string): string | undefined {
  const [, day = '', time = '', utc] = MOMENT.exec(text) ?? [];
  if (!isRealDate(day)) return undefined;
  if (utc === undefined) return day;
  const ms = Date.parse(`${day}T${time.replace(',', '.')}Z`);
  return Number.isNaN(ms) ? undefined : formatLocalDate(ms);
}

/** Tells if a text is YYYY-MM-DD and a day of the Gregorian calendar. */
export function isRealDate(isoDate: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(isoDate)) return false;
  // A day that its month does not have becomes one of the next month.
  return new Date(`${isoDate}T00:00:00Z`).getUTCDate() === Number(isoDate.slice(8));
}

/**
 * Returns both meanings of a number like `1,000`: decimals in Czech, thousands in English.
 * Undefined for any other text.
 */
function parseBothReadings(
  cell: string,
): readonly [decimals: string, thousands: string] | undefined {
  const [, whole, digits = ''] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(cell) ?? [];
  return whole === undefined ? undefined : [String(Number(`${whole}.${digits}`)), whole + digits];
}

/** Centimetres per unit of depth. */
export const CENTIMETRES = { mm: 0.1, cm: 1, dm: 10, m: 100 } as const;
/** A unit in which a depth may be written, in lower case. */
export type DepthUnit = keyof typeof CENTIMETRES;
/** All of them, the smallest first. */
export const DEPTH_UNITS = Object.keys(CENTIMETRES) as readonly DepthUnit[];

/**
 * Parses a depth, which is in centimetres unless it names another unit, into whole centimetres:
 * `25`, `25,0 cm`, `0.25 m`. Negative ones are parsed; a rule refuses them. Unreadable (rule
 * `integer`): other texts, a fraction of a centimetre, and a number like `1,000` in mm or cm, which
 * may be 1 or 1000; the message names both. In dm and m it is 1, since no find is 100 m deep.
 */
export function parseDepth(cell: string): Reading<number> {
  const [, digits, named = 'cm'] =
    /^([+-]?\d{1,15}(?:[.,]\d+)?)\s*(mm|cm|dm|m)?\.?$/i.exec(cell) ?? [];
  if (digits === undefined)
    return makeRuleProblem(
      'integer',
      msg`"${cell}" is not a whole number of centimetres. Write for example 25 cm.`,
    );
  const unit = named.toLowerCase() as DepthUnit;
  const factor = CENTIMETRES[unit];
  const readings = factor > 1 ? undefined : parseBothReadings(digits);
  if (readings !== undefined) return makeFractionProblem(cell, readings, unit);
  // Rounding to 12 digits removes the error of the product: 0.285 m are 28.5 cm, not 28.499….
  const depth = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  return Number.isInteger(depth)
    ? { value: depth }
    : makeFractionProblem(cell, [Math.floor(depth), Math.ceil(depth)], 'cm');
}

function makeFractionProblem(
  cell: string,
  depths: readonly (number | string)[],
  unit: DepthUnit,
): RuleProblem {
  const advice = joinWithOr(depths.map((depth) => `${depth} ${unit}`));
  return makeRuleProblem(
    'integer',
    msg`"${cell}" is not a number of whole centimetres. Write ${advice}.`,
  );
}

/** Includes the words of spreadsheets in Czech and German. */
const YES = ['ano', 'a', 'yes', 'y', 'true', '1', 'pravda', 'wahr'];
const NO = ['ne', 'no', 'n', 'false', '0', 'nepravda', 'falsch'];

/**
 * Parses a truth value in any letter case: yes and no in Czech or English or their first letters,
 * true and false (also in Czech and German), 1 and 0. Any other text is unreadable.
 */
export function parseBoolean(cell: string): Reading<boolean> {
  const word = cell.toLowerCase();
  if (YES.includes(word) || NO.includes(word)) return { value: YES.includes(word) };
  return makeRuleProblem(
    'boolean',
    msg`"${cell}" is neither yes nor no. Write ano or ne, yes or no, true or false, 1 or 0.`,
  );
}

/** Parses `1`, `2` or `3`. Any other text is unreadable, also 4 (archived; A-STATE-5). */
export function parseTargetState(cell: string): Reading<TargetState> {
  const state = ([1, 2, 3] as const).find((each) => String(each) === cell);
  if (state !== undefined) return { value: state };
  return makeRuleProblem(
    'target-state',
    msg`"${cell}" is no state that an import can reach. Write 1 (registered), 2 (submitted) or 3 (confirmed).`,
  );
}

/**
 * Parses a coordinate system by its code or name, such as `EPSG:5514` or `S-JTSK`, in any letter
 * case. Unreadable for any other text, such as the name of a system that the service refuses.
 */
export function parseGeomSystem(cell: string): Reading<GeomSystem> {
  const system = parseSystemCode(cell);
  if (system !== undefined) return { value: system };
  const name = foldName(cell).replaceAll('_', '');
  if (['4326', 'wgs84', 'wgs1984', 'gcswgs1984'].includes(name)) return { value: '4326' };
  if (
    ['5514', '102067', 'jtsk', 'sjtsk', 'krovak', 'sjtskkrovak', 'sjtskkrovakeastnorth'].includes(
      name,
    )
  )
    return { value: '5514' };
  return makeRuleProblem('coordinate-system', explainUnknownSystem(cell));
}

/** Returns the message that a text names neither of the two systems, with what to write. */
export function explainUnknownSystem(cell: string): Message {
  return msg`"${cell}" is not a known coordinate system. Write 4326 (WGS 84) or 5514 (S-JTSK).`;
}

/** Months as a Roman numeral, and by their Czech names (nominative and genitive), folded. */
const MONTHS: readonly (readonly string[])[] = [
  ['I', 'leden', 'ledna'],
  ['II', 'unor', 'unora'],
  ['III', 'brezen', 'brezna'],
  ['IV', 'duben', 'dubna'],
  ['V', 'kveten', 'kvetna'],
  ['VI', 'cerven', 'cervna'],
  ['VII', 'cervenec', 'cervence'],
  ['VIII', 'srpen', 'srpna'],
  ['IX', 'zari'],
  ['X', 'rijen', 'rijna'],
  ['XI', 'listopad', 'listopadu'],
  ['XII', 'prosinec', 'prosince'],
];

/** A time of midnight, which spreadsheets write behind a day. */
const MIDNIGHT = /(?:T|(?<!\s)\s)\s*0{1,2}:00(?::00(?:[.,]0+)?)?$/;

/** Forms with one meaning; a date with slashes is ambiguous unless it begins with the year. */
const FORMS = ['yyyy-m-d', 'yyyy/m/d', 'd.m.yyyy'];
/** Other eight digits may have the day first. */
const DAY_OF_DIGITS = /^(?:1[789]|20)\d{6}$/;

const NAMED_MONTH = /^(\d{1,2})\.?\s*(\p{L}+)\.?\s*(\d{4})$/u;

/**
 * Replaces the month's Czech name or Roman numeral in a date by its number: `3. VI. 2024` →
 * `3.6.2024`.
 */
function withMonthNumber(date: string): string {
  return date.replace(NAMED_MONTH, (_, day: string, word: string, year: string) => {
    const month = MONTHS.findIndex(
      (names) => names.includes(word) || names.includes(foldName(word)),
    );
    return month === -1 ? date : `${day}.${month + 1}.${year}`;
  });
}

/**
 * Parses a day into YYYY-MM-DD: in that form, also with slashes (as GDAL writes it), in the Czech
 * one with dots (`3. 4. 2024`, `03.04.2024`), as eight digits (`20240403`), or with the month in
 * Roman numerals or by its Czech name; each may have a midnight behind it. The year has four
 * digits. A moment is parsed by {@link parseDayOfMoment}. The `!` of {@link hasConfirmationMark} is
 * dropped. Unreadable (rule `date`) in any other form, and where the calendar lacks the day.
 */
export function parseDateCell(written: string): Reading<string> {
  const cell = hasConfirmationMark(written) ? written.slice(0, -1).trimEnd() : written;
  if (isRealDate(cell)) return { value: cell };
  const moment = parseDayOfMoment(cell);
  if (moment !== undefined) return { value: moment };
  const day = withMonthNumber(cell.replace(MIDNIGHT, '').trim());
  const forms = DAY_OF_DIGITS.test(day) ? ['yyyymmdd'] : FORMS;
  const iso = forms.map((form) => readDateOfForm(day, form)).find((each) => each !== undefined);
  if (iso !== undefined && isRealDate(iso)) return { value: iso };
  if (iso !== undefined) {
    return makeRuleProblem(
      'date',
      msg`"${cell}" does not exist in the calendar. Write the right date as YYYY-MM-DD.`,
    );
  }
  return makeRuleProblem(
    'date',
    msg`"${cell}" is no single day in a known form. Write YYYY-MM-DD, or 3. 4. 2024. If the day is not known, leave the cell empty and write what is known in poznamka.`,
  );
}

/**
 * Tells if a cell of a date ends in `!`, by which a person confirms a day that pas would doubt:
 * `1936-05-01!`. The day itself is not read.
 */
export function hasConfirmationMark(cell: string): boolean {
  return cell.endsWith('!');
}

/** Marks and words for the value above, with blanks removed: `-"-`, `dtto`, `viz výše`. */
const DITTO_MARK = /^[-–—.]*(?:["„“”‟″〃«»]|''|,,|\|\||\/\/)+[-–—.]*$/u;
const DITTO_WORDS =
  'dto|dtto|dito|ditto|deto|detto|déto|idem|ibid|ibidem|totéž|totež|tamtéž|tamtež|stejně|stejné|stejný|' +
  'stejnějakovýše|stejnéjakovýše|stejnýjakovýše|vizvýše|viznahoře|vizpředchozí|jakovýše|jakonahoře|' +
  'jakopředchozí|same|sameasabove|asabove|seeabove|desgl|ebenso';
const DITTO_WORD = new RegExp(`^(?:${DITTO_WORDS})\\.?$`, 'iu');

/**
 * Tells if the text of a cell stands for the value in the row above: `"`, `dtto`, `idem`,
 * `viz výše`, `same as above`.
 */
export function isDitto(text: string): boolean {
  if (text.length > MAX_DITTO_CHARACTERS) return false;
  const plain = text.replace(/\s/g, '');
  return DITTO_MARK.test(plain) || DITTO_WORD.test(plain);
}

const MAX_DITTO_CHARACTERS = 20;

/** Texts that programs and people write where there is no value. */
const FILLER =
  /^(?:[-–—]+|null|nil|nan|undefined|n\/a|\\n|\[object object\]|[(<[](?:prázdn[éýá]|null|blank|empty|none|leer|na)[)>\]])$/i;

/**
 * Tells if a text is what programs and people write where there is no value: `-`, `null`, `n/a`,
 * `(blank)`, `<prázdné>`. False for an empty text.
 */
export function isFiller(text: string): boolean {
  return text.length <= MAX_DITTO_CHARACTERS && FILLER.test(text.trim());
}

/** No find in the service is older; an earlier year is a typing error, such as 0204. */
export const EARLIEST_YEAR = 1700;

/** Day 0 of spreadsheets, chosen so that days since March 1900 are right. */
const DAY_ZERO_MS = Date.parse('1899-12-30');
const DAY_MS = 86_400_000;

/**
 * Explains why a day is hardly the one that was meant: it is what a spreadsheet makes of a year
 * alone (1905-07-16 of 2024), is later than today, or before {@link EARLIEST_YEAR}. Undefined for
 * a likely day.
 * @param day YYYY-MM-DD, a day of the calendar
 * @param today this computer's day, YYYY-MM-DD
 */
export function findDayDoubt(day: string, today: string): Message | undefined {
  const year = (Date.parse(day) - DAY_ZERO_MS) / DAY_MS;
  if (year >= EARLIEST_YEAR && year < 2100)
    return msg`${day} is what a spreadsheet makes of the year ${year} in a cell of dates. Write the whole day, or leave the cell empty and write ${year} in poznamka.`;
  if (day > today)
    return msg`${day} is in the future. Check the year, or the clock of this computer.`;
  return Number(day.slice(0, 4)) < EARLIEST_YEAR
    ? msg`${day} is long ago, unlike other finds. Check the year, of which a digit may be wrong or missing.`
    : undefined;
}
