import type { ColumnName } from '../find/fields.ts';
import type { NameOrder } from '../find/person-name.ts';

export const DEPTH_UNITS = ['mm', 'cm', 'dm', 'm'] as const;
export type DepthUnit = (typeof DEPTH_UNITS)[number];
/** Placeholder for a unit that a person must choose; a map that contains it is refused. */
export const OPEN_UNIT = '?';

export type ColumnRule = { readonly kind: 'ignored' } | ReadColumn;

export type ReadColumn = {
  readonly kind: 'read';
  readonly element: ColumnName;
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Date form such as `d.m.yyyy`; see find/date-form.ts. */
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
