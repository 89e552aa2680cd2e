import { foldName } from '../text/names.ts';
import { type ElementName, FIELDS } from './fields.ts';

/** Columns that fill no single element by themselves. */
const OWN_COLUMNS = ['local_id', 'photos', 'lon', 'lat', 'geom_x', 'geom_y', 'wkt', 'ident_cely'] as const;

export type ColumnName = ElementName | (typeof OWN_COLUMNS)[number];

/** How GIS programs call the column of the geometry. */
const CALLED_GEOMETRY = ['geometry', 'geom', 'the_geom', 'wkt_geom'];

const meanings = new Map<string, ColumnName>([
  ...OWN_COLUMNS.map((name) => [name, name] as const),
  ...CALLED_GEOMETRY.map((name) => [name, 'wkt'] as const),
  ...FIELDS.flatMap((field) => [[field.name, field.name] as const, ...(field.alias ? [[field.alias, field.name] as const] : [])]),
]);

/** Every column name that a table may have, the contract's names and their English aliases. */
export const COLUMN_NAMES: readonly string[] = [...meanings.keys()];

const STORED_KINDS: readonly string[] = ['integer', 'date', 'boolean', 'state', 'point', 'geom-system'];
const STORED_COLUMNS = new Set<string>([
  ...['lon', 'lat', 'geom_x', 'geom_y', 'wkt'],
  ...FIELDS.filter(({ kind }) => STORED_KINDS.includes(kind)).map(({ name }) => name),
]);

/** Whether a column means a number, a day or a truth: the value that a cell stores. Of all others the text that it shows is meant. */
export function isStoredColumn(name: ColumnName): boolean {
  return STORED_COLUMNS.has(name);
}

/** Columns of `pas export --labels`, which say a code once more. */
export function labelColumnsOf(name: ElementName): readonly string[] {
  return [`${name}_cs`, `${name}_en`];
}

const LABEL_COLUMNS = new Set(FIELDS.filter(({ kind }) => kind === 'term').flatMap(({ name }) => labelColumnsOf(name)));

/** Whether a column only repeats what the code beside it says. */
export function isLabelColumn(name: string): boolean {
  return LABEL_COLUMNS.has(foldName(name));
}

/** The column that a name stands for, whatever its case, accents and language; undefined where none is called so. */
export function meaningOfColumn(name: string): ColumnName | undefined {
  return meanings.get(foldName(name));
}
