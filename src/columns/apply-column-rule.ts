import {
  CENTIMETRES,
  isRealDate,
  parseBothReadings,
  parseDayOfMoment,
} from '../find/parse-cell.ts';
import {
  detectNameOrder,
  type NameOrder,
  parseBothOrders,
  parseName,
} from '../find/person-name.ts';
import { joinNames } from '../text/csv.ts';
import { type DepthUnit, OPEN_UNIT, type ReadColumn } from './column-rule.ts';
import { normalizeKey } from './columns.ts';

/**
 * Converts a cell to the form that pas reads: centimetres, YYYY-MM-DD, surname first and others. A
 * cell that does not have the form of the rule stays unchanged, so that the report quotes the
 * museum's text.
 */
export function applyColumnRule(cell: string, rule: ReadColumn): string {
  const text = replaceText(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.unit !== undefined) return toCentimetres(text, rule.unit) ?? text;
  if (rule.date !== undefined) return parseDateForm(text, rule.date) ?? text;
  if (rule.name !== undefined) return reorderName(text, rule.name);
  if (rule.sign === 'minus') return withMinus(text);
  return rule.separator === undefined
    ? text
    : joinNames(text.split(rule.separator).map((name) => name.trim()));
}

function replaceText(text: string, values: ReadColumn['values']): string {
  if (values === undefined) return text;
  const replacement = Object.entries(values).find(
    ([from]) => normalizeKey(from) === normalizeKey(text),
  );
  return replacement === undefined ? text : replacement[1];
}

/**
 * Converts a depth to whole centimetres; a unit in the cell overrides the column's. A fraction of a
 * centimetre keeps its text and unit, so that it is reported. `1,000` is ambiguous in mm and
 * cm and stays; in dm and m it has decimals, since no find is a hundred metres deep.
 */
function toCentimetres(text: string, unit: DepthUnit | typeof OPEN_UNIT): string | undefined {
  const match = /^([+-]?\d+(?:[.,]\d+)?)\s*(mm|cm|dm|m)?\.?$/i.exec(text);
  if (match === null) return undefined;
  const [, digits = '', ownUnit] = match;
  const measured = (ownUnit?.toLowerCase() as DepthUnit | undefined) ?? unit;
  if (measured === OPEN_UNIT) return `${text} ${OPEN_UNIT}`;
  const factor: number = CENTIMETRES[measured];
  if (factor <= 1 && parseBothReadings(digits) !== undefined) return undefined;
  // Rounding to 12 digits removes the error of the multiplication: 0.285 m are 28.5 cm, not 28.499….
  const centimetres = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  if (Number.isInteger(centimetres)) return String(centimetres);
  return measured === 'cm' ? undefined : `${digits} ${measured}`;
}

/** Tells if a text is a depth in whole centimetres. */
export function isWholeDepth(text: string, unit: DepthUnit): boolean {
  return /^[+-]?\d+$/.test(toCentimetres(text, unit) ?? '');
}

/**
 * Converts a name of ambiguous order to `Surname, Given name`; any other text is left to the
 * reader.
 */
function reorderName(text: string, order: NameOrder): string {
  const { parts, suffix = '' } = parseName(text);
  const [name = ''] = parts;
  const read =
    parts.length > 1 || detectNameOrder(name) !== undefined
      ? undefined
      : parseBothOrders(name)?.[order];
  return read === undefined ? text : `${read.surname}, ${read.givenName} ${suffix}`.trim();
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0
    ? `-${text}`
    : text;
}

/**
 * A form is the parts of a day with their separators, such as `d.m.yyyy`; a day of a spreadsheet is
 * a number.
 */
export const DAY_NUMBER = 'day-number';

/** Two digits of a year mean 1940 to 2039. */
const FIRST_SHORT_YEAR = 40;

const PART = /yyyy|yy|mm|m|dd|d/g;

/** Day 0 of spreadsheets, chosen so that days since March 1900 are right. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/**
 * Tells if a text is DAY_NUMBER, or has one part for each of day, month and year and no other
 * lower-case letter or digit.
 */
export function isDateForm(form: string): boolean {
  if (form === DAY_NUMBER) return true;
  const parts = form.match(PART) ?? [];
  const kinds = parts
    .map((part) => part.charAt(0))
    .sort()
    .join('');
  return kinds === 'dmy' && !/[a-z0-9]/.test(form.replace(PART, ''));
}

/**
 * Parses a day of a form into YYYY-MM-DD; a time behind it is dropped, and a moment becomes its
 * day. Undefined where the text does not have the form, or is no day of the calendar.
 */
export function parseDateForm(text: string, form: string): string | undefined {
  const moment = parseDayOfMoment(text.trim());
  if (moment !== undefined) return form === 'yyyy-mm-dd' ? moment : undefined;
  const day = text.trim().replace(/(?:T|(?<!\s) )\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '');
  if (form === DAY_NUMBER) return toDay(day);
  const match = makeDatePattern(form).exec(day);
  if (match?.groups === undefined) return undefined;
  const { y = '', m = '', d = '' } = match.groups;
  const iso = `${toFullYear(y)}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
  return isRealDate(iso) ? iso : undefined;
}

const patterns = new Map<string, RegExp>();

function makeDatePattern(form: string): RegExp {
  const compiled = patterns.get(form);
  if (compiled !== undefined) return compiled;
  const pieces = form.split(PART);
  const parts = form.match(PART) ?? [];
  const source = pieces.map((between, index) => {
    const part = parts[index];
    const escaped = between.trim().replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return `${between === '' ? '' : `\\s*${escaped}`}${escaped === '' ? '' : '\\s*'}${part === undefined ? '' : makeDateGroup(part)}`;
  });
  const pattern = new RegExp(`^${source.join('')}$`);
  patterns.set(form, pattern);
  return pattern;
}

function makeDateGroup(part: string): string {
  const digits = part.length === 1 ? '1,2' : String(part.length);
  return `(?<${part.charAt(0)}>\\d{${digits}})`;
}

function toFullYear(year: string): string {
  if (year.length !== 2) return year;
  return Number(year) < FIRST_SHORT_YEAR ? `20${year}` : `19${year}`;
}

function toDay(text: string): string | undefined {
  if (!/^\d{4,5}(?:[.,]\d+)?$/.test(text)) return undefined;
  const days = Math.floor(Number(text.replace(',', '.')));
  return days < 61 ? undefined : new Date(DAY_ZERO_MS + days * DAY_MS).toISOString().slice(0, 10);
}
