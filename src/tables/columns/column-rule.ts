import { joinNames } from '../../base/csv.ts';
import type { ColumnName } from '../../finds/fields.ts';
import { CENTIMETRES, parseBothReadings, parseDateForm } from '../../finds/parse-cell.ts';
import {
  detectNameOrder,
  type NameOrder,
  parseName,
  splitByOrder,
} from '../../finds/person-name.ts';

export const DEPTH_UNITS = ['mm', 'cm', 'dm', 'm'] as const;
export type DepthUnit = (typeof DEPTH_UNITS)[number];
/** Placeholder for a unit that a person must choose; a map that contains it is refused. */
export const OPEN_UNIT = '?';

/** Meaning of a column of a table; undefined for one that is ignored. */
export type ColumnRule = ReadingOptions & { readonly element: ColumnName | undefined };
export type ReadColumn = ReadingOptions & { readonly element: ColumnName };

export const IGNORED: ColumnRule = { element: undefined };

type ReadingOptions = {
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Date form such as `d.m.yyyy`; see finds/parse-cell.ts. */
  readonly date?: string;
  /** A year alone goes into the note, and the date stays empty. */
  readonly yearOnly?: 'note';
  /** Order of names without a comma, where the words do not show it. */
  readonly name?: NameOrder;
  /** A coordinate of S-JTSK that is written without its minus sign. */
  readonly sign?: 'minus';
  /** Both coordinates in one cell, in any usual notation. */
  readonly form?: 'position';
  /** Label before the text where several columns are joined. */
  readonly label?: string;
  /** Separator of names of photographs; `;` by default. */
  readonly separator?: string;
  /** Text in the table → value. */
  readonly values?: Readonly<Record<string, string>>;
};

/**
 * A value under an element's Czech or English name: `--set period=bronz`, a line of config.toml, an
 * answer.
 */
export type Setting = {
  readonly name: ColumnName;
  readonly givenName: string;
  readonly value: string;
};

export type ColumnMap = {
  readonly file: string;
  /** Rules by key of the column; see {@link makeColumnKeys}. */
  readonly columns: ReadonlyMap<string, ColumnRule>;
  /** Values for every find whose own cell is empty. */
  readonly fixed: readonly Setting[];
  /** Template of a composed local id, such as `{rok}/{č.}`. */
  readonly localId?: string;
};

/** Elements that may be joined from several columns. */
export const JOINED: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace', 'photos'];

/** Joined elements whose parts may have a label. */
export const LABELLED: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace'];

/** Columns with the number of a find: its own, the service's and the museum's. */
export const NUMBER_COLUMNS: readonly ColumnName[] = ['local_id', 'ident_cely', 'evidencni_cislo'];

/** Column in the template of a local id. */
export const TEMPLATE_PART = /\{([^{}]+)\}/g;

/** Returns the columns of a composed local id. */
export function getTemplateParts(template: string): string[] {
  return [...template.matchAll(TEMPLATE_PART)].map(([, key = '']) => key);
}

/**
 * Returns the keys of columns in a map: the header; `name #2` for the second of a name; `#5` for
 * the fifth without one.
 */
export function makeColumnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(normalizeKey(key)) ?? 0) + 1;
    seen.set(normalizeKey(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/** Normalises a key: case and white space do not count. */
export function normalizeKey(key: string): string {
  return key.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/**
 * Converts a cell to the form that pas reads: centimetres, YYYY-MM-DD, surname first and others. A
 * cell that does not have the form of the rule stays unchanged, so that the report quotes the
 * museum's text.
 */
export function applyColumnRule(cell: string, rule: ColumnRule): string {
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
    parts.length > 1 || detectNameOrder(name) !== undefined ? undefined : splitByOrder(name, order);
  return read === undefined ? text : `${read.surname}, ${read.givenName} ${suffix}`.trim();
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0
    ? `-${text}`
    : text;
}
