import { localDate } from '../base/clock.ts';
import { isRealDate } from '../find/read-date.ts';

/** A form is the parts of a day with their separators, such as `d.m.yyyy`; a day of a spreadsheet is a number. */
export const DAY_NUMBER = 'day-number';

/** Two digits of a year mean 1940 to 2039. */
const FIRST_SHORT_YEAR = 40;

const PART = /yyyy|yy|mm|m|dd|d/g;

/** Day 0 of spreadsheets, chosen so that days since March 1900 are right. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

export function isDateForm(form: string): boolean {
  if (form === DAY_NUMBER) return true;
  const parts = form.match(PART) ?? [];
  const kinds = parts
    .map((part) => part.charAt(0))
    .sort()
    .join('');
  return kinds === 'dmy' && !/[a-z0-9]/.test(form.replace(PART, ''));
}

/** A moment with its zone, as devices write it. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/**
 * Parses a day of a form into YYYY-MM-DD; a time behind it is dropped, and a moment becomes the local day. Undefined where the
 * text does not have the form, or is no day of the calendar.
 */
export function parseDateForm(text: string, form: string): string | undefined {
  if (MOMENT.test(text.trim())) {
    const ms = Date.parse(text.trim().replace(',', '.'));
    return form !== 'yyyy-mm-dd' || Number.isNaN(ms) ? undefined : localDate(ms);
  }
  const day = text.trim().replace(/(?:T|(?<!\s) )\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '');
  if (form === DAY_NUMBER) return dayOfNumber(day);
  const match = patternOf(form).exec(day);
  if (match?.groups === undefined) return undefined;
  const { y = '', m = '', d = '' } = match.groups;
  const iso = `${fullYear(y)}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
  return isRealDate(iso) ? iso : undefined;
}

const patterns = new Map<string, RegExp>();

function patternOf(form: string): RegExp {
  const known = patterns.get(form);
  if (known !== undefined) return known;
  const pieces = form.split(PART);
  const parts = form.match(PART) ?? [];
  const source = pieces.map((between, index) => {
    const part = parts[index];
    const escaped = between.trim().replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return `${between === '' ? '' : `\\s*${escaped}`}${escaped === '' ? '' : '\\s*'}${part === undefined ? '' : groupOf(part)}`;
  });
  const pattern = new RegExp(`^${source.join('')}$`);
  patterns.set(form, pattern);
  return pattern;
}

function groupOf(part: string): string {
  const digits = part.length === 1 ? '1,2' : String(part.length);
  return `(?<${part.charAt(0)}>\\d{${digits}})`;
}

function fullYear(year: string): string {
  if (year.length !== 2) return year;
  return Number(year) < FIRST_SHORT_YEAR ? `20${year}` : `19${year}`;
}

function dayOfNumber(text: string): string | undefined {
  if (!/^\d{4,5}(?:[.,]\d+)?$/.test(text)) return undefined;
  const days = Math.floor(Number(text.replace(',', '.')));
  return days < 61 ? undefined : new Date(DAY_ZERO_MS + days * DAY_MS).toISOString().slice(0, 10);
}
