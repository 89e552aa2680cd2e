import type { ColumnName } from '../find/column-names.ts';
import type { NameOrder } from '../find/person-name.ts';
import type { AnglePart } from '../place/read-degrees.ts';
import type { Setting } from './settings.ts';

export const DEPTH_UNITS = ['mm', 'cm', 'dm', 'm'] as const;
export type DepthUnit = (typeof DEPTH_UNITS)[number];
/** The unit of a column that a person has yet to tell; a map that says it is refused. */
export const OPEN_UNIT = '?';

/** What becomes of a column of a strange table. */
export type ColumnRule = { readonly kind: 'ignored' } | ReadColumn;

export type ReadColumn = {
  readonly kind: 'read';
  readonly element: ColumnName;
  /** Stands before the local id: numbers that count from 1 in every table stay apart by it. */
  readonly prefix?: string;
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Such as `d.m.yyyy`; see date-form.ts. */
  readonly date?: string;
  /** A year alone is no day: it is kept in the note, and the date stays empty. */
  readonly yearOnly?: 'note';
  /** How people are written who stand without a comma, where their names do not tell. */
  readonly name?: NameOrder;
  /** A coordinate of S-JTSK that is written without its minus sign. */
  readonly sign?: 'minus';
  /** Of a coordinate whose degrees, minutes and seconds stand in columns of their own. */
  readonly part?: AnglePart;
  /** Both coordinates stand in one cell, in any usual notation. */
  readonly form?: 'position';
  /** Stands before the text where several columns are put together in one. */
  readonly label?: string;
  /** Between the names of photographs; `;` unless said. */
  readonly separator?: string;
  /** What the table writes → what is meant by it. */
  readonly values?: Readonly<Record<string, string>>;
};

/** What a file says of the columns of a table. */
export type ColumnMap = {
  readonly file: string;
  /** By the key of the column; see {@link columnKeys}. */
  readonly columns: ReadonlyMap<string, ColumnRule>;
  /** For every find whose own cell is empty. */
  readonly fixed: readonly Setting[];
  /** The local id put together from columns, such as `{rok}/{č.}`. */
  readonly localId?: string;
};

/** Several columns may be put together in these. */
export const JOINED: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace', 'photos'];

/** Of these, each column's text may stand behind a label. */
export const LABELLED: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace'];

/**
 * How a column map calls the columns of a header: by their names; the second of the same name is `name #2`, and one without a
 * name is called by its place, `#5`.
 */
export function columnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(keyForm(key)) ?? 0) + 1;
    seen.set(keyForm(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/** Keys are the same whatever their case and white space. */
export function keyForm(key: string): string {
  return key.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/** The columns that a composed local id is made of. */
export function partsOf(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].map(([, key = '']) => key);
}
