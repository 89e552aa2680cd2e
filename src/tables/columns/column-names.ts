import { foldName } from '../../base/names.ts';
import { type ElementName, FIELDS } from '../../finds/fields.ts';

/** Columns that fill no element alone. */
const OWN_COLUMNS = [
  'local_id',
  'photos',
  'lon',
  'lat',
  'geom_x',
  'geom_y',
  'wkt',
  'ident_cely',
] as const;

/**
 * Canonical name of a table column: an element, `local_id`, `photos`, `ident_cely`, or one of the
 * columns that only hold a point (`lon`, `lat`, `geom_x`, `geom_y`, `wkt`).
 */
export type ColumnName = ElementName | (typeof OWN_COLUMNS)[number];

/** Names that GIS programs and devices give to columns of the point. */
const CALLED_POINT: Readonly<Record<string, ColumnName>> = {
  geometry: 'wkt',
  geom: 'wkt',
  the_geom: 'wkt',
  wkt_geom: 'wkt',
  longitude: 'lon',
  lng: 'lon',
  latitude: 'lat',
};

const meanings = new Map<string, ColumnName>([
  ...OWN_COLUMNS.map((name) => [name, name] as const),
  ...Object.entries(CALLED_POINT),
  ...FIELDS.flatMap(({ name, alias = name }) => [[name, name] as const, [alias, name] as const]),
]);

/** Every column name that a table may have: the contract's names and their English aliases. */
export const COLUMN_NAMES: readonly string[] = [...meanings.keys()];

/**
 * Finds a column by its name in any letter case, with or without accents: the canonical name, the
 * English alias of an element, or a name that GIS programs give to a point, such as `geometry`.
 * Undefined for any other name.
 */
export function findColumnByName(name: string): ColumnName | undefined {
  return meanings.get(foldName(name));
}

/** Columns with coordinates. */
export const POINT_COLUMNS: readonly ColumnName[] = [
  'lon',
  'lat',
  'geom_x',
  'geom_y',
  'wkt',
  'geom_wkt',
  'geom_sjtsk_wkt',
];

/** Tells if a column has coordinates or a geometry; `geom_system` has neither. */
export function isPointColumn(name: string): boolean {
  return POINT_COLUMNS.some((column) => column === name);
}

const STORED_COLUMNS = new Set([
  ...POINT_COLUMNS,
  ...FIELDS.filter(({ kind }) => !['text', 'reference', 'term'].includes(kind)).map(
    ({ name }) => name,
  ),
]);

/**
 * Tells if the stored values of a column count: numbers, coordinates, days and truth values. Of all
 * other columns the displayed texts count.
 */
export function isReadAsStored(name: ColumnName): boolean {
  return STORED_COLUMNS.has(name);
}
