import { formatLocalDate } from '../base/clock.ts';
import { memoize } from '../base/memoize.ts';

/**
 * A form is the parts of a day with their separators, such as `d.m.yyyy`; a day of a spreadsheet is
 * a number.
 */
export const DAY_NUMBER = 'day-number';

/** Two digits of a year mean 1940 to 2039. */
const FIRST_SHORT_YEAR = 40;

const PART = /yyyy|yy|mm|m|dd|d/g;

/** Day 0 of spreadsheets, chosen so that days since March 1900 are right. */
export const DAY_ZERO = '1899-12-30';
const DAY_MS = 86_400_000;

/** Returns the day so many days after another one. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

export function countDays(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

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
  const iso = matchDateForm(day, form);
  return iso !== undefined && isRealDate(iso) ? iso : undefined;
}

/** Reads a text of a form as YYYY-MM-DD, which need not be a day of the calendar. */
export function matchDateForm(text: string, form: string): string | undefined {
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

function toDay(text: string): string | undefined {
  if (!/^\d{4,5}(?:[.,]\d+)?$/.test(text)) return undefined;
  const days = Math.floor(Number(text.replace(',', '.')));
  return days < 61 ? undefined : addDays(DAY_ZERO, days);
}

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(Z|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * Returns the day of a moment: with an offset of its own the written day, in UTC the day where the
 * computer is. Undefined for any other text.
 */
export function parseDayOfMoment(text: string): string | undefined {
  const [moment, day = '', offset] = MOMENT.exec(text) ?? [];
  if (moment === undefined || !isRealDate(day)) return undefined;
  if (offset !== 'Z') return day;
  const ms = Date.parse(moment.replace(' ', 'T').replace(',', '.'));
  return Number.isNaN(ms) ? undefined : formatLocalDate(ms);
}

/** Tells if a text is YYYY-MM-DD and a day of the Gregorian calendar. */
export function isRealDate(isoDate: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(isoDate)) return false;
  const date = new Date(`${isoDate}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(isoDate);
}
