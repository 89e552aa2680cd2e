import { makeUnreadable, type Reading } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { type GeomSystem, parseSystemCode } from '../place/geometry.ts';
import { foldName, joinAlternatives } from '../text/names.ts';
import {
  addDays,
  DAY_ZERO,
  isRealDate,
  matchDateForm,
  parseDateForm,
  parseDayOfMoment,
} from './date-form.ts';
import type { TargetState } from './field.ts';

/**
 * Returns both meanings of a number like `1,000`: decimals in Czech, thousands in English.
 * Undefined for any other text.
 */
export function parseBothReadings(
  cell: string,
): readonly [decimals: string, thousands: string] | undefined {
  const [, whole, digits = ''] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(cell) ?? [];
  return whole === undefined ? undefined : [String(Number(`${whole}.${digits}`)), whole + digits];
}

/** Centimetres per unit of depth. */
export const CENTIMETRES = { mm: 0.1, cm: 1, dm: 10, m: 100 } as const;

/** Parses a whole number; `25,0` is one, `25,5` is not. */
export function parseInteger(cell: string): Reading<number> {
  const unit = /(?<!\s)\s*(mm|cm|dm|m)\.?$/i.exec(cell);
  const digits = cell.slice(0, unit?.index);
  const readings = parseBothReadings(digits);
  if (readings !== undefined) {
    const meant = joinAlternatives(readings);
    return makeUnreadable(
      'integer',
      msg`"${cell}" is ambiguous: it can mean ${meant}. Write only digits, without a separator.`,
    );
  }
  if (/^[+-]?\d{1,15}([.,]0+)?$/.test(cell)) return { value: Number.parseInt(cell, 10) };
  if (/^[+-]?\d{1,15}(?:[.,]\d+)?$/.test(digits)) {
    const advice = getDepthAdvice(
      digits,
      CENTIMETRES[(unit?.[1]?.toLowerCase() ?? 'cm') as keyof typeof CENTIMETRES],
    );
    return makeUnreadable(
      'integer',
      msg`"${cell}" is not a number of whole centimetres without a unit. Write ${advice}.`,
    );
  }
  return makeUnreadable(
    'integer',
    msg`"${cell}" is not a whole number. Write digits only, without a unit.`,
  );
}

/** Returns the depth in centimetres, or the two nearest whole ones. */
function getDepthAdvice(digits: string, factor: number): Message | string {
  const depth = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  return Number.isInteger(depth)
    ? String(depth)
    : joinAlternatives([String(Math.floor(depth)), String(Math.ceil(depth))]);
}

/** Includes the words of spreadsheets in Czech and German. */
const YES = ['ano', 'yes', 'true', '1', 'pravda', 'wahr'];
const NO = ['ne', 'no', 'false', '0', 'nepravda', 'falsch'];

export function parseBoolean(cell: string): Reading<boolean> {
  const word = cell.toLowerCase();
  if (YES.includes(word) || NO.includes(word)) return { value: YES.includes(word) };
  return makeUnreadable(
    'boolean',
    msg`"${cell}" is neither yes nor no. Write ano or ne, yes or no, true or false, 1 or 0.`,
  );
}

/** Parses 1, 2 or 3; archived (4) has an error of its own, since no import reaches it. */
export function parseTargetState(cell: string): Reading<TargetState> {
  const state = ([1, 2, 3] as const).find((each) => String(each) === cell);
  if (state !== undefined) return { value: state };
  if (cell === '4')
    return makeUnreadable(
      'target-state',
      msg`An import cannot reach state 4 (archived). Write at most 3.`,
    );
  return makeUnreadable(
    'target-state',
    msg`"${cell}" is not a target state. Write 1 (registered), 2 (submitted) or 3 (confirmed).`,
  );
}

/** Parses a coordinate system by its code or name, such as `EPSG:5514` or `S-JTSK`. */
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
  const alike = /(?:5513|2065)$/.test(name)
    ? msg` It differs from 5514 in the order or the signs of its axes.`
    : '';
  return makeUnreadable(
    'coordinate-system',
    msg`"${cell}" is not a known coordinate system.${alike} Write 4326 (WGS 84) or 5514 (S-JTSK).`,
  );
}

/**
 * Months in Czech (nominative and genitive) and in English, folded; a word matches by its
 * beginning.
 */
const MONTHS: readonly (readonly string[])[] = [
  ['leden', 'ledna', 'january'],
  ['unor', 'unora', 'february'],
  ['brezen', 'brezna', 'march'],
  ['duben', 'dubna', 'april'],
  ['kveten', 'kvetna', 'may'],
  ['cerven', 'cervna', 'june', 'cvn'],
  ['cervenec', 'cervence', 'july', 'cvc'],
  ['srpen', 'srpna', 'august'],
  ['zari', 'september'],
  ['rijen', 'rijna', 'october'],
  ['listopad', 'listopadu', 'november'],
  ['prosinec', 'prosince', 'december'],
];
const ROMAN = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII'];
const NO_MONTH = '00';

/** A time of midnight, which spreadsheets write behind a day. */
const MIDNIGHT = /(?:T|(?<!\s)\s)\s*0{1,2}:00(?::00(?:[.,]0+)?)?$/;

/** Forms with one meaning; a date with slashes is ambiguous unless it begins with the year. */
const FORMS = ['yyyy-m-d', 'yyyy/m/d', 'd.m.yyyy'];
/** Other eight digits may have the day first. */
const DAY_OF_DIGITS = /^(?:1[789]|20)\d{6}$/;

const DAY_BEFORE_MONTH = /^(?<d>\d{1,2})\.?\s*(?<m>\p{L}+)\.?\s*(?<y>\d{4})$/u;
const MONTH_BEFORE_DAY = /^(?<m>[A-Z][a-z]+)\s+(?<d>\d{1,2}),?\s+(?<y>\d{4})$/;

/** Replaces the month's name or Roman numeral in a date by its number: `3. VI. 2024` → `3.06.2024`. */
function withMonthNumber(day: string): string {
  const match = DAY_BEFORE_MONTH.exec(day) ?? MONTH_BEFORE_DAY.exec(day);
  if (match?.groups === undefined) return day;
  const { y = '', m = '', d = '' } = match.groups;
  const month = parseMonth(m);
  return month === NO_MONTH ? day : `${d}.${month}.${y}`;
}

/**
 * Parses a day into YYYY-MM-DD, after the form of a column map, if any
 * (./date-form.ts). It reads that form, also with slashes (as GDAL writes it), the
 * Czech one with dots (`3. 4. 2024`, `03.04.2024`), a month in Roman numerals or by name, each with
 * an optional midnight. A moment is read by {@link parseDayOfMoment}. A `!` behind it confirms it.
 */
export function parseDateCell(written: string): Reading<string> {
  const cell = isConfirmed(written) ? written.slice(0, -1).trimEnd() : written;
  const moment = parseDayOfMoment(cell);
  if (moment !== undefined) return { value: moment };
  const day = withMonthNumber(cell.replace(MIDNIGHT, '').trim());
  const forms = DAY_OF_DIGITS.test(day) ? ['yyyymmdd'] : FORMS;
  const text = forms.map((form) => matchDateForm(day, form)).find((iso) => iso !== undefined);
  if (text !== undefined && isRealDate(text)) return { value: text };
  if (text !== undefined) {
    return makeUnreadable(
      'date',
      msg`"${cell}" does not exist in the calendar. Write the right date as YYYY-MM-DD.`,
    );
  }
  const why = explainNoDate(cell);
  return makeUnreadable('date', msg`"${cell}" ${why}`);
}

/** Tells if a person confirms a day that pas would doubt: `1936-05-01!`. */
export function isConfirmed(cell: string): boolean {
  return cell.endsWith('!');
}

/** Marks and words for the value above, with blanks removed: `-"-`, `dtto`, `viz výše`. */
const DITTO_MARK = /^[-–—.]*(?:["„“”‟″〃«»]|''|,,|\|\||\/\/)+[-–—.]*$/u;
const DITTO_WORD =
  /^(?:dt+o|ditt?o|d[eé]to|idem|ibid|ibidem|tot[eé]ž|tamt[eé]ž|stejn[éýě](?:jakovýše)?|(?:viz|jako)(?:výše|nahoře|předchozí)|same(?:asabove)?|(?:as|see)above|desgl|ebenso)\.?$/iu;

/** Tells if a text stands for the value above it. */
export function isDitto(text: string): boolean {
  if (text.length > MAX_DITTO_CHARACTERS) return false;
  const plain = text.replace(/\s/g, '');
  return DITTO_MARK.test(plain) || DITTO_WORD.test(plain);
}

const MAX_DITTO_CHARACTERS = 20;

/** Texts that programs and people write where there is no value. */
const FILLER =
  /^(?:[-–—]+|null|nil|nan|undefined|n\/a|\\n|\[object object\]|[(<[](?:prázdn[éýá]|null|blank|empty|none|leer|na)[)>\]])$/i;

export function isFiller(text: string): boolean {
  return text.length <= MAX_DITTO_CHARACTERS && FILLER.test(text.trim());
}

/**
 * Returns the month's number, from a Roman numeral or a name; `00` where no name, or several, begin
 * so.
 */
function parseMonth(word: string): string {
  const folded = foldName(word);
  const roman = ROMAN.indexOf(word) + 1;
  if (roman > 0) return String(roman);
  const named = MONTHS.findIndex((names) => names.includes(folded)) + 1;
  const begun = MONTHS.filter(
    (names) => folded.length > 2 && names.some((name) => name.startsWith(folded)),
  );
  const [only, another] = begun;
  if (named > 0) return String(named);
  return only === undefined || another !== undefined ? NO_MONTH : String(MONTHS.indexOf(only) + 1);
}

const DAY_ZERO_OF_MACS = '1904-01-01';

/** Forms of which a text may have two. */
const AMBIGUOUS_FORMS = ['d/m/yyyy', 'm/d/yyyy', 'd-m-yyyy', 'm-d-yyyy'];

/** Explains why a text is no day, with the remedy. */
function explainNoDate(cell: string): Message {
  const readings = new Set(AMBIGUOUS_FORMS.flatMap((form) => parseDateForm(cell, form) ?? []));
  const days = joinAlternatives([...readings]);
  if (readings.size === 2) return msg`can be two different days. Write ${days}.`;
  if (readings.size === 1) return msg`is not in a known form. Write ${days}.`;
  const [, withoutTime = ''] = /^(.*\d)[T ]\s*\d{1,2}:\d{2}/.exec(cell) ?? [];
  const timed = withoutTime === '' ? undefined : parseDateCell(withoutTime);
  if (timed !== undefined && 'value' in timed) {
    const day = timed.value;
    return msg`has a time. Write only the day: ${day}.`;
  }
  if (/^\d{1,2}[./-]\s*\d{1,2}[./-]\s*\d{2}$/.test(cell))
    return msg`has a two-digit year. Write the day as YYYY-MM-DD.`;
  if (/^\d{5}(?:[.,]\d+)?$/.test(cell)) {
    const days = Number.parseInt(cell, 10);
    const since1900 = addDays(DAY_ZERO, days);
    const since1904 = addDays(DAY_ZERO_OF_MACS, days);
    return msg`is a spreadsheet's day number: ${since1900}, or ${since1904} in an old Mac workbook. Format the column as a date, or write the date.`;
  }
  if (/^(?:1[5-9]|20)\d\d$/.test(cell)) return msg`is a year, not a day. ${ONE_DAY}`;
  if (isMonth(cell)) return msg`is a month, not a day. ${ONE_DAY}`;
  if (/^\d{1,2}\.?\s*(?:\d{1,2}\.?\s*|\p{L}+\.?\s*)?(?:\d{4}\s*)?[-–—]\s*\d{1,2}\./u.test(cell))
    return msg`is more than one day. ${ONE_DAY}`;
  return msg`is not in a known date format. Write YYYY-MM-DD, such as 2024-04-03, or 3. 4. 2024.`;
}

const ONE_DAY = msg`The service accepts one whole day: write it as YYYY-MM-DD. If the day is not known, leave the cell empty and write what is known in poznamka.`;

function isMonth(cell: string): boolean {
  if (/^\d{4}[-/.](?:0?[1-9]|1[0-2])$/.test(cell)) return true;
  const [, month = ''] =
    /^(\p{L}+|\d{1,2})\.?(?:\s+|\s*[/.-]\s*)\d{4}$|^(\p{L}+)[.\s-]*\d{2}$/u
      .exec(cell)
      ?.filter(Boolean) ?? [];
  const number = Number(/^\d/.test(month) ? month : parseMonth(month));
  return month !== '' && number >= 1 && number <= 12;
}
