import { foldName } from '../text/names.ts';
import { type ElementName, FIELDS } from './fields.ts';

/** Columns that fill no element alone. */
const OWN_COLUMNS = ['local_id', 'photos', 'lon', 'lat', 'geom_x', 'geom_y', 'wkt', 'ident_cely'] as const;

export type ColumnName = ElementName | (typeof OWN_COLUMNS)[number];

/** Names that GIS programs give to the geometry column. */
const CALLED_GEOMETRY = ['geometry', 'geom', 'the_geom', 'wkt_geom'];

const meanings = new Map<string, ColumnName>([
  ...OWN_COLUMNS.map((name) => [name, name] as const),
  ...CALLED_GEOMETRY.map((name) => [name, 'wkt'] as const),
  ...FIELDS.flatMap((field) => [[field.name, field.name] as const, ...(field.alias ? [[field.alias, field.name] as const] : [])]),
]);

/** Every column name that a table may have: the contract's names and their English aliases. */
export const COLUMN_NAMES: readonly string[] = [...meanings.keys()];

const STORED_KINDS: readonly string[] = ['integer', 'date', 'boolean', 'state', 'point', 'geom-system'];
const STORED_COLUMNS = new Set<string>([
  ...['lon', 'lat', 'geom_x', 'geom_y', 'wkt'],
  ...FIELDS.filter(({ kind }) => STORED_KINDS.includes(kind)).map(({ name }) => name),
]);

/** Tells if the stored value of a cell counts (number, day, truth value); for all other columns the displayed text counts. */
export function isStoredColumn(name: ColumnName): boolean {
  return STORED_COLUMNS.has(name);
}

/** Label columns of `pas export --labels`, which repeat a code in words. */
export function labelColumnsOf(name: ElementName): readonly string[] {
  return [`${name}_cs`, `${name}_en`];
}

const LABEL_COLUMNS = new Set(FIELDS.filter(({ kind }) => kind === 'term').flatMap(({ name }) => labelColumnsOf(name)));

/** Tells if a column is a label of the code beside it. */
export function isLabelColumn(name: string): boolean {
  return LABEL_COLUMNS.has(foldName(name));
}

/** Finds a column by its name, independent of case, accents and language; undefined for an unknown name. */
export function meaningOfColumn(name: string): ColumnName | undefined {
  return meanings.get(foldName(name));
}
