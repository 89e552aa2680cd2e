import { type NameOrder, orderOf, parseName, readings } from '../find/person-name.ts';
import { CENTIMETRES, twoReadings } from '../find/read-cell.ts';
import { formatPoint } from '../place/geometry.ts';
import { parsePosition } from '../place/read-position.ts';
import { joinNames } from '../text/csv.ts';
import { isReadable } from '../text/reading.ts';
import { type DepthUnit, keyForm, OPEN_UNIT, type ReadColumn } from './column-rule.ts';
import { parseDateForm } from './date-form.ts';

/**
 * Converts a cell to the form that pas reads: centimetres, YYYY-MM-DD, surname first and others. A cell that does not have the
 * form of the rule stays unchanged, so that the report quotes the museum's text.
 */
export function convertCell(cell: string, rule: ReadColumn): string {
  const text = replaced(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.prefix !== undefined) return rule.prefix + text;
  if (rule.unit !== undefined) return inCentimetres(text, rule.unit) ?? text;
  if (rule.date !== undefined) return parseDateForm(text, rule.date) ?? text;
  if (rule.name !== undefined) return surnameFirst(text, rule.name);
  if (rule.sign === 'minus') return withMinus(text);
  if (rule.form === 'position') return pointText(text);
  return rule.separator === undefined ? text : joinNames(text.split(rule.separator).map((name) => name.trim()));
}

function replaced(text: string, values: ReadColumn['values']): string {
  if (values === undefined) return text;
  const found = Object.entries(values).find(([own]) => keyForm(own) === keyForm(text));
  return found === undefined ? text : found[1];
}

/**
 * Converts a depth to whole centimetres; a unit in the cell overrides the column's. A depth that would round to 0 keeps its text
 * and unit, so that it is reported. `1,000` is ambiguous in mm and cm and stays; in dm and m it has decimals, since no find is a
 * hundred metres deep.
 */
function inCentimetres(text: string, unit: DepthUnit | typeof OPEN_UNIT): string | undefined {
  const match = /^([+-]?\d+(?:[.,]\d+)?)\s*(mm|cm|dm|m)?\.?$/i.exec(text);
  if (match === null) return undefined;
  const [, digits = '', own] = match;
  const measured = (own?.toLowerCase() as DepthUnit | undefined) ?? unit;
  if (measured === OPEN_UNIT) return `${text} ${OPEN_UNIT}`;
  const factor: number = CENTIMETRES[measured];
  if (factor <= 1 && twoReadings(digits) !== undefined) return undefined;
  // Rounding to 12 digits removes the error of the multiplication: 0.285 m are 28.5 cm.
  const centimetres = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  return Math.round(centimetres) === 0 && centimetres !== 0 ? `${digits} ${measured}` : String(Math.round(centimetres));
}

/** Converts a name of ambiguous order to `Surname, Given name`; any other text is left to the reader. */
function surnameFirst(text: string, order: NameOrder): string {
  const { parts, suffix = '' } = parseName(text);
  const [name = ''] = parts;
  const read = parts.length > 1 || orderOf(name) !== undefined ? undefined : readings(name)?.[order];
  return read === undefined ? text : `${read.surname}, ${read.given} ${suffix}`.trim();
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0 ? `-${text}` : text;
}

function pointText(text: string): string {
  const position = parsePosition(text);
  return isReadable(position) && position.value.isTurned !== true ? formatPoint(position.value.point) : text;
}
