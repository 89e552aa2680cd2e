import { type NameOrder, orderOf, parseName, readings } from '../find/person-name.ts';
import { CENTIMETRES, twoReadings } from '../find/read-cell.ts';
import { formatPoint } from '../place/geometry.ts';
import { readPosition } from '../place/read-position.ts';
import { joinNames } from '../text/file-names.ts';
import { isReadable } from '../text/reading.ts';
import { type DepthUnit, keyForm, OPEN_UNIT, type ReadColumn } from './column-rule.ts';
import { readDateForm } from './date-form.ts';

/**
 * A cell as pas reads it: centimetres, days as YYYY-MM-DD, surname before given name, and so on. What is not of the form that the
 * rule names stays as it is, so that it is reported with the museum's own words.
 */
export function convertCell(cell: string, rule: ReadColumn): string {
  const text = replaced(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.prefix !== undefined) return rule.prefix + text;
  if (rule.unit !== undefined) return inCentimetres(text, rule.unit) ?? text;
  if (rule.date !== undefined) return readDateForm(text, rule.date) ?? text;
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
 * To the nearest whole centimetre; a unit in the cell counts before the column's. A depth that would come to nothing stays, with its unit,
 * so that it is reported. Nobody digs a thousand metres deep.
 */
function inCentimetres(text: string, unit: DepthUnit | typeof OPEN_UNIT): string | undefined {
  const match = /^([+-]?\d+(?:[.,]\d+)?)\s*(mm|cm|dm|m)?\.?$/i.exec(text);
  if (match === null) return undefined;
  const [, digits = '', own] = match;
  const measured = (own?.toLowerCase() as DepthUnit | undefined) ?? unit;
  if (measured === OPEN_UNIT) return `${text} ${OPEN_UNIT}`;
  const factor: number = CENTIMETRES[measured];
  if (factor <= 1 && twoReadings(digits) !== undefined) return undefined;
  // What the multiplication adds behind the ninth digit is noise: 0.285 m are 28.5 cm.
  const centimetres = Number((Number(digits.replace(',', '.')) * factor).toPrecision(12));
  return Math.round(centimetres) === 0 && centimetres !== 0 ? `${digits} ${measured}` : String(Math.round(centimetres));
}

/** A name that does not tell by itself which part is the surname → `Surname, Given name`. All else stays for the reader. */
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
  const position = readPosition(text);
  return isReadable(position) && position.value.isTurned !== true ? formatPoint(position.value.point) : text;
}
