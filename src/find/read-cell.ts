import { type Message, msg } from '../base/message.ts';
import type { GeomSystem } from '../place/geometry.ts';
import { alternatives } from '../text/names.ts';
import { type Reading, unreadable } from '../text/reading.ts';
import type { TargetState } from './field.ts';

/** Returns both meanings of a number like `1,000`: decimals in Czech, thousands in English. Undefined for any other text. */
export function twoReadings(cell: string): readonly [decimals: string, thousands: string] | undefined {
  const [, whole, digits = ''] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(cell) ?? [];
  return whole === undefined ? undefined : [String(Number(`${whole}.${digits}`)), whole + digits];
}

/** Centimetres per unit of depth. */
export const CENTIMETRES = { mm: 0.1, cm: 1, dm: 10, m: 100 } as const;

/** Parses a whole number; `25,0` is one, `25,5` is not. */
export function parseInteger(cell: string): Reading<number> {
  const unit = /(?<!\s)\s*(mm|cm|dm|m)\.?$/i.exec(cell);
  const digits = cell.slice(0, unit?.index);
  const readings = twoReadings(digits);
  if (readings !== undefined) {
    const meant = alternatives(readings);
    return unreadable(
      'integer',
      msg`"${cell}" is ambiguous: it can mean ${meant}, decimals or thousands. Write only the digits.`,
    );
  }
  if (/^[+-]?\d{1,15}([.,]0+)?$/.test(cell)) return { value: Number.parseInt(cell, 10) };
  if (/^[+-]?\d{1,15}(?:[.,]\d+)?$/.test(digits)) {
    if (unit === null)
      return unreadable('integer', msg`"${cell}" is not a whole number. Depth is in whole centimetres: 1.5 m is 150.`);
    const advice = adviceFor(digits, CENTIMETRES[unit[1]?.toLowerCase() as keyof typeof CENTIMETRES]);
    return unreadable('integer', msg`"${cell}" has a unit. Depth is in whole centimetres, without a unit: write ${advice}.`);
  }
  return unreadable('integer', msg`"${cell}" is not a whole number. Write digits only, without a unit.`);
}

/** Returns the depth in centimetres, or the two nearest whole ones. */
function adviceFor(digits: string, factor: number): Message | string {
  const depth = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  return Number.isInteger(depth) ? String(depth) : alternatives([String(Math.floor(depth)), String(Math.ceil(depth))]);
}

/** Includes the words of spreadsheets in Czech and German. */
const YES = ['ano', 'yes', 'true', '1', 'pravda', 'wahr'];
const NO = ['ne', 'no', 'false', '0', 'nepravda', 'falsch'];

export function parseBoolean(cell: string): Reading<boolean> {
  const word = cell.toLowerCase();
  if (YES.includes(word) || NO.includes(word)) return { value: YES.includes(word) };
  return unreadable('boolean', msg`"${cell}" is neither yes nor no. Write ano or ne, yes or no, true or false, 1 or 0.`);
}

export function parseTargetState(cell: string): Reading<TargetState> {
  const state = ([1, 2, 3] as const).find((each) => String(each) === cell);
  if (state !== undefined) return { value: state };
  if (cell === '4') return unreadable('target-state', msg`An import cannot reach state 4 (archived). Write at most 3.`);
  return unreadable('target-state', msg`"${cell}" is not a target state. Write 1 (registered), 2 (submitted) or 3 (confirmed).`);
}

export function parseGeomSystem(cell: string): Reading<GeomSystem> {
  const name = cell
    .toLowerCase()
    .replace(/^(?:epsg|esri):+/, '')
    .replace(/[\s_/-]/g, '');
  if (['4326', 'wgs84'].includes(name)) return { value: '4326' };
  if (['5514', '102067', 'sjtsk', 'sjtskkrovakeastnorth'].includes(name)) return { value: '5514' };
  const alike = ['5513', '2065'].includes(name) ? msg` It differs from 5514 in the order or the signs of its axes.` : '';
  return unreadable(
    'coordinate-system',
    msg`"${cell}" is not a known coordinate system.${alike} Write 4326 (WGS 84) or 5514 (S-JTSK).`,
  );
}
