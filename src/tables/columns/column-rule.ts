import { isReadable } from '../../base/issue.ts';
import { type DepthUnit, parseDateInForm, parseDepth } from '../../finds/parse-cell.ts';
import type { ColumnName } from './column-names.ts';

/** Placeholder for a unit that a person must choose; a map that contains it is refused. */
export const OPEN_UNIT = '?';

/**
 * How a column of a table is read: the element that it fills, undefined for one that is ignored.
 */
export type ColumnRule = ReadingOptions & { readonly element: ColumnName | undefined };
/** How a column is read that fills an element. */
export type ElementRule = ReadingOptions & { readonly element: ColumnName };

/** Rule of a column that is not read; a column map says `ignore`. */
export const IGNORED_COLUMN: ColumnRule = { element: undefined };

type ReadingOptions = {
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Date form such as `d.m.yyyy`; see finds/parse-cell.ts. */
  readonly date?: string;
  /** A year alone goes into the note, and the date stays empty. */
  readonly year_only?: 'note';
  /** A coordinate of S-JTSK that is written without its minus sign. */
  readonly sign?: 'minus';
  /** Both coordinates in one cell, in any usual notation. */
  readonly form?: 'position';
  /** Label before the text where several columns are joined. */
  readonly label?: string;
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

/** A person's description of the columns of a foreign table, from a file. */
export type ColumnMap = {
  readonly file: string;
  /** Rules by key of the column; see {@link makeColumnKeys}. */
  readonly columns: ReadonlyMap<string, ColumnRule>;
  /** Values for every find whose own cell is empty. */
  readonly fixed: readonly Setting[];
};

/** Elements that may be joined from several columns, whose parts may have a label. */
export const LABELLED_COLUMNS: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace'];

/** Columns that may be joined from several. */
export const JOINABLE_COLUMNS: readonly ColumnName[] = [...LABELLED_COLUMNS, 'photos'];

/** Columns that name a find, and so differ for each. */
export const IDENTIFYING_COLUMNS: readonly ColumnName[] = ['local_id', 'ident_cely'];

/** Columns with the number of a find: its own, the service's and the museum's. */
export const NUMBER_COLUMNS: readonly ColumnName[] = [...IDENTIFYING_COLUMNS, 'evidencni_cislo'];

/**
 * Returns the keys by which a column map names the columns of a table: the header of a column,
 * `header #2` for the second column of a header, `#5` for the fifth column if it has none.
 */
export function makeColumnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(makeTextKey(key)) ?? 0) + 1;
    seen.set(makeTextKey(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/**
 * Returns the key by which a museum's texts are compared, such as headers and own terms: letter
 * case, white space and the composition of accents do not count, accents do.
 */
export function makeTextKey(text: string): string {
  return text.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/**
 * Converts the text of a cell to a form that pas reads: first by the rule's replacements, then by
 * its unit (`35` → `35 cm`), its date form (→ YYYY-MM-DD) or its sign (`35` → `-35`). A text that
 * does not fit the rule is only trimmed, so that an issue quotes the museum's text; '' stays ''.
 */
export function applyColumnRule(cell: string, rule: ColumnRule): string {
  const text = replaceText(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.unit !== undefined) return addUnit(text, rule.unit);
  if (rule.date !== undefined) return parseDateInForm(text, rule.date) ?? text;
  return rule.sign === 'minus' ? withMinus(text) : text;
}

function replaceText(text: string, values: ElementRule['values']): string {
  if (values === undefined) return text;
  const key = makeTextKey(text);
  const replacement = Object.entries(values).find(([from]) => makeTextKey(from) === key);
  return replacement?.[1] ?? text;
}

/** Adds the unit of the column to a depth without one of its own. */
function addUnit(text: string, unit: DepthUnit | typeof OPEN_UNIT): string {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(text) ? `${text} ${unit}` : text;
}

/** Tells if a text is a depth in whole centimetres: by the unit in the text, else by `unit`. */
export function isWholeDepth(text: string, unit: DepthUnit): boolean {
  return isReadable(parseDepth(addUnit(text, unit)));
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0
    ? `-${text}`
    : text;
}
