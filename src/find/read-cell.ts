import { type Message, msg } from '../base/message.ts';
import type { GeomSystem } from '../place/geometry.ts';
import { alternatives } from '../text/enumeration.ts';
import { type Reading, unreadable } from '../text/reading.ts';
import type { TargetState } from './field.ts';

/**
 * What a number means whose one separator stands before three digits: `1,000` has decimals in Czech and thousands in English.
 * Undefined for any other.
 */
export function twoReadings(cell: string): readonly [decimals: string, thousands: string] | undefined {
  const [, whole, digits = ''] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(cell) ?? [];
  return whole === undefined ? undefined : [String(Number(`${whole}.${digits}`)), whole + digits];
}

const UNIT = /\s*(?:mm|cm|dm|m)\.?$/i;

/** Whole number; `25,0` is one, `25,5` is not. */
export function readInteger(cell: string): Reading<number> {
  const readings = twoReadings(cell.replace(UNIT, ''));
  if (readings !== undefined) {
    const meant = alternatives(readings);
    return unreadable('integer', msg`"${cell}" can mean ${meant}: decimals or thousands. Write the digits alone.`);
  }
  if (/^[+-]?\d{1,15}([.,]0+)?$/.test(cell)) return { value: Number.parseInt(cell, 10) };
  if (/^[+-]?\d+[.,]\d+$/.test(cell)) {
    return unreadable('integer', msg`"${cell}" is not a whole number. Depth is in whole centimetres: 1.5 m is 150.`);
  }
  return unreadable('integer', msg`"${cell}" is not a whole number. Write digits only, without a unit.`);
}

const YES = ['ano', 'yes', 'true', '1'];
const NO = ['ne', 'no', 'false', '0'];

export function readBoolean(cell: string): Reading<boolean> {
  const word = cell.toLowerCase();
  if (YES.includes(word) || NO.includes(word)) return { value: YES.includes(word) };
  return unreadable('boolean', msg`"${cell}" is neither yes nor no. Write ano or ne, yes or no, true or false, 1 or 0.`);
}

export function readTargetState(cell: string): Reading<TargetState> {
  const state = ([1, 2, 3] as const).find((each) => String(each) === cell);
  if (state !== undefined) return { value: state };
  if (cell === '4') return unreadable('target-state', msg`An import cannot reach state 4 (archived). Write 3 at most.`);
  return unreadable('target-state', msg`"${cell}" is no target state. Write 1 (registered), 2 (submitted) or 3 (confirmed).`);
}

export function readGeomSystem(cell: string): Reading<GeomSystem> {
  const name = cell
    .toLowerCase()
    .replace(/^epsg:+/, '')
    .replace(/[\s_/-]/g, '');
  if (['4326', 'wgs84'].includes(name)) return { value: '4326' };
  if (['5514', 'sjtsk', 'sjtskkrovakeastnorth'].includes(name)) return { value: '5514' };
  const alike = ['5513', '2065', '102067'].includes(name)
    ? msg` It differs from 5514 in the order or the signs of its axes.`
    : '';
  return unreadable(
    'coordinate-system',
    msg`"${cell}" is no known coordinate system.${alike} Write 4326 (WGS 84) or 5514 (S-JTSK).`,
  );
}

/**
 * A date as YYYY-MM-DD. Read are that form and the Czech one with dots (`3. 4. 2024`, `03.04.2024`), which have one
 * meaning only; a date with slashes has two.
 */
export function readDate(cell: string): Reading<string> {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(cell);
  if (iso !== null) return realDate(cell, Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const czech = /^(\d{1,2})\.\s*(\d{1,2})\.\s*(\d{4})$/.exec(cell);
  if (czech !== null) return realDate(cell, Number(czech[3]), Number(czech[2]), Number(czech[1]));
  const why = whyNoDate(cell);
  return unreadable('date', msg`"${cell}" ${why}`);
}

/** Whether a day of this name exists in the calendar. */
export function isRealDate(isoDate: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(isoDate);
  if (match === null) return false;
  const [, year, month, day] = match.map(Number);
  return day !== undefined && month !== undefined && year !== undefined && day >= 1 && day <= daysIn(year, month);
}

function realDate(cell: string, year: number, month: number, day: number): Reading<string> {
  const text = isoText(year, month, day);
  return isRealDate(text)
    ? { value: text }
    : unreadable('date', msg`"${cell}" is a day that no calendar has. Write the right one as YYYY-MM-DD.`);
}

function whyNoDate(cell: string): Message {
  const slashes = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(cell);
  if (slashes !== null) {
    const [first, second, year] = [Number(slashes[1]), Number(slashes[2]), Number(slashes[3])];
    const readings = new Set([isoText(year, second, first), isoText(year, first, second)].filter(isRealDate));
    const days = alternatives([...readings]);
    if (readings.size === 2) return msg`can be two different days. Write ${days}.`;
    if (readings.size === 1) return msg`is not in a form that is read. Write ${days}.`;
  }
  const [, day] = /^(\d{4}-\d{2}-\d{2})[T ]\d{1,2}:/.exec(cell) ?? [];
  if (day !== undefined) return msg`has a time. Write only the day: ${day}.`;
  if (/^\d{1,2}[./-]\s*\d{1,2}[./-]\s*\d{2}$/.test(cell)) return msg`has a year of two digits. Write the day as YYYY-MM-DD.`;
  if (/^\d{5}$/.test(cell)) return msg`is a spreadsheet's day number. Format the column as a date, or write YYYY-MM-DD.`;
  return msg`is not a date that is read. Write YYYY-MM-DD, such as 2024-04-03, or 3. 4. 2024.`;
}

function isoText(year: number, month: number, day: number): string {
  return [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
}

function daysIn(year: number, month: number): number {
  return month >= 1 && month <= 12 ? new Date(Date.UTC(year, month, 0)).getUTCDate() : 0;
}
