import { parseDateForm } from '../find/date-form.ts';
import { CENTIMETRES, parseBothReadings } from '../find/parse-cell.ts';
import {
  detectNameOrder,
  type NameOrder,
  parseBothOrders,
  parseName,
} from '../find/person-name.ts';
import { joinNames } from '../text/csv.ts';
import { type DepthUnit, normalizeKey, OPEN_UNIT, type ReadColumn } from './column-rule.ts';

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
  const key = normalizeKey(text);
  const replacement = Object.entries(values).find(([from]) => normalizeKey(from) === key);
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
