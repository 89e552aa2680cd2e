import { formatDecimal, getLanguage, msgid, ngettext, t } from '../base/language.ts';
import type { Place } from '../place/geometry.ts';

/** Numbers, dates and coordinates in the report's language. */

const NARROW_BLANK = '\u202f';
const MINUS = '\u2212';

/** Cached formats per language: making one takes longer than using it a hundred times. */
const FORMS = new Map<string, Intl.DateTimeFormat>();

function getDateFormat(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const locale = getLanguage() === 'cs' ? 'cs-CZ' : 'en-GB';
  const key = `${locale} ${name}`;
  const form = FORMS.get(key) ?? new Intl.DateTimeFormat(locale, options);
  FORMS.set(key, form);
  return form;
}

/** Formats `2024-03-09` as a date; other texts stay as they are. */
export function formatReportDay(isoDate: string): string {
  const day = new Date(`${isoDate}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(isoDate) || Number.isNaN(day.getTime())) return isoDate;
  return getDateFormat('date', { dateStyle: 'long', timeZone: 'UTC' }).format(day);
}

export function formatReportMoment(ms: number): string {
  return getDateFormat('moment', { dateStyle: 'long', timeStyle: 'short' }).format(new Date(ms));
}

export function formatDayOfMoment(ms: number): string {
  return getDateFormat('day', { dateStyle: 'long' }).format(new Date(ms));
}

export function formatWholeNumber(value: number): string {
  return groupDigits(String(value));
}

export function formatFinds(count: number): string {
  return ngettext(msgid`${count} find`, `${count} finds`, count);
}

function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+(?!\d))/g, NARROW_BLANK);
}

/** Formats `49.84050° N, 15.17120° E`. */
export function formatWgs84({ wgs84: [longitude, latitude] }: Place, digits = 5): string {
  return `${formatLatitude(latitude, digits)}, ${formatLongitude(longitude, digits)}`;
}

/** Always north: the service accepts no other points. */
export function formatLatitude(latitude: number, digits: number): string {
  return formatNorth(formatDecimal(latitude, digits));
}

export function formatLongitude(longitude: number, digits: number): string {
  return formatEast(formatDecimal(longitude, digits));
}

export function formatNorth(degrees: string): string {
  return t`${degrees}° N`;
}

export function formatEast(degrees: string): string {
  return t`${degrees}° E`;
}

/** Formats `X −693 174.81 m, Y −1 077 354.27 m`: east and north axes of EPSG:5514. */
export function formatSJtsk({ sJtsk: [x, y] }: Place): string {
  return `X\u00a0${formatSigned(x)}\u00a0m, Y\u00a0${formatSigned(y)}\u00a0m`;
}

function formatSigned(value: number): string {
  const [whole = '', fraction = ''] = formatDecimal(Math.abs(value), 2).split(/[.,]/);
  const mark = getLanguage() === 'cs' ? ',' : '.';
  return `${value < 0 ? MINUS : ''}${groupDigits(whole)}${mark}${fraction}`;
}

/** Formats `250 m`, `1.5 km`. */
export function formatMetres(metres: number): string {
  if (metres < 1000) return `${metres} m`;
  const km = metres / 1000;
  return `${formatDecimal(km, Number.isInteger(km) ? 0 : 1)} km`;
}

/**
 * Formats a grid line's coordinate: in metres, or in kilometres where all lines are at whole ones.
 */
export function formatGridLine(metres: number, step: number): string {
  const sign = metres < 0 ? MINUS : '';
  return step % 1000 === 0
    ? `${sign}${Math.abs(metres / 1000)} km`
    : `${sign}${groupDigits(String(Math.abs(metres)))}`;
}
