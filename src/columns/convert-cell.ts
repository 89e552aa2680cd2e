import { type NameOrder, orderOf, readings, withoutTitles } from '../find/person-name.ts';
import { CENTIMETRES, twoReadings } from '../find/read-cell.ts';
import { formatPoint } from '../place/geometry.ts';
import { readPosition } from '../place/read-position.ts';
import { isReadable } from '../text/reading.ts';
import { type DepthUnit, keyForm, type ReadColumn } from './column-rule.ts';
import { readDateForm } from './date-form.ts';

/**
 * A cell as pas reads it: centimetres, days as YYYY-MM-DD, surname before given name, and so on. What is not of the form that the
 * rule names stays as it is, so that it is reported with the museum's own words.
 */
export function convertCell(cell: string, rule: ReadColumn): string {
  const text = replaced(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.unit !== undefined) return inCentimetres(text, rule.unit) ?? text;
  if (rule.date !== undefined) return readDateForm(text, rule.date) ?? text;
  if (rule.name !== undefined) return surnameFirst(text, rule.name);
  if (rule.sign === 'minus') return withMinus(text);
  if (rule.form === 'position') return pointText(text);
  return rule.separator === undefined ? text : text.split(rule.separator).join(';');
}

function replaced(text: string, values: ReadColumn['values']): string {
  if (values === undefined) return text;
  const found = Object.entries(values).find(([own]) => keyForm(own) === keyForm(text));
  return found === undefined ? text : found[1];
}

/** To the nearest whole centimetre; a unit in the cell counts before the column's. Nobody digs a thousand metres deep. */
function inCentimetres(text: string, unit: DepthUnit): string | undefined {
  const match = /^([+-]?\d+(?:[.,]\d+)?)\s*(mm|cm|dm|m)?\.?$/i.exec(text);
  if (match === null) return undefined;
  const [, digits = '', own] = match;
  const factor: number = CENTIMETRES[(own?.toLowerCase() as DepthUnit | undefined) ?? unit];
  if (factor <= 1 && twoReadings(digits) !== undefined) return undefined;
  // What the multiplication adds behind the ninth digit is noise: 0.285 m are 28.5 cm.
  return String(Math.round(Number((Number(digits.replace(',', '.')) * factor).toPrecision(12))));
}

/** One person → `Surname, Given name`. An identifier, a comma and several people stay for the reader. */
function surnameFirst(text: string, order: NameOrder): string {
  const name = withoutTitles(text);
  const { surname, given } = (name.includes(',') ? undefined : readings(name)?.[orderOf(name) ?? order]) ?? {};
  return surname === undefined ? name : `${surname}, ${given}`;
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0 ? `-${text}` : text;
}

function pointText(text: string): string {
  const position = readPosition(text);
  return isReadable(position) && position.value.isTurned !== true ? formatPoint(position.value.point) : text;
}
