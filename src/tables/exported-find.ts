import { labelColumnsOf } from '../find/column-names.ts';
import type { Reference } from '../find/field.ts';
import { FIELDS, type FindElements } from '../find/fields.ts';
import type { Change } from '../find/harvested-find.ts';
import { cellOfReference } from '../find/resolve-reference.ts';
import {
  findRangeProblem,
  formatPoint,
  type GeomSystem,
  type PointInSystem,
  type PointText,
  parsePoint,
} from '../place/geometry.ts';
import { toSJtsk, toWgs84 } from '../place/project.ts';
import { joinNames } from '../text/file-names.ts';
import { plainNumber } from '../text/plain-number.ts';
import { isReadable } from '../text/reading.ts';

/** A find as it is taken out, with what the outbox knows of it beside its elements. */
export type ExportedFind = {
  readonly localId: string;
  /** Once the service has given one. */
  readonly identCely?: string;
  /** With the registration number that was set last. */
  readonly elements: FindElements;
  /** File names. */
  readonly photos: readonly string[];
  /** Of its import. */
  readonly state?: string | undefined;
  /** As it was sent, and as the service last showed it; undefined where it shows it no more. */
  readonly accessibilities?: readonly (Reference | undefined)[];
  /** What the service has otherwise than it was sent; the elements are as the service has them. */
  readonly changed?: readonly Change[];
  readonly labelsOf?: LabelsOf;
  /** Where the photographs lie. */
  readonly photoFiles?: readonly { readonly name: string; readonly path: string }[];
};

/** What an entry of a harvested vocabulary is called; empty where it has no label. */
export type LabelsOf = (id: string) => { readonly cs: string; readonly en: string } | undefined;

/** The column of a map layer that says what became of a find's import; it is not read back. */
export const STATE_COLUMN = 'sending_state';

export type ExportValue = string | number | boolean;

/** The values of a find but for its point, by the names of the columns that `pas import` reads. What is absent is left out. */
export function valuesOf({ localId, identCely, elements, photos, labelsOf }: ExportedFind): Map<string, ExportValue> {
  const values = new Map<string, ExportValue>([['local_id', localId]]);
  if (identCely !== undefined) values.set('ident_cely', identCely);
  for (const { name, kind } of FIELDS) {
    const value = elements[name];
    if (value === undefined || value === '' || kind === 'point') continue;
    values.set(name, typeof value === 'object' ? cellOfReference(value) : value);
    const labels = kind === 'term' && typeof value === 'object' ? labelsOf?.(value.id) : undefined;
    for (const [language, label] of Object.entries(labels ?? {})) if (label !== '') values.set(`${name}_${language}`, label);
  }
  if (photos.length > 0) values.set('photos', joinNames(photos));
  return values;
}

/** The point of the system that the find is in. */
export function pointOf({ geom_system: system, ...elements }: FindElements): PointInSystem | undefined {
  if (system === undefined) return undefined;
  const reading = parsePoint((system === '4326' ? elements.geom_wkt : elements.geom_sjtsk_wkt) ?? '');
  return isReadable(reading) ? { system, ...reading.value } : undefined;
}

/** The same in the columns of a table of finds; undefined for those of a find without a point. */
export function coordinatesOf(elements: FindElements): ReadonlyMap<string, string | undefined> {
  const point = pointOf(elements);
  return new Map([
    ['geom_x', point?.x],
    ['geom_y', point?.y],
  ]);
}

/**
 * The columns of a table of finds, in the order of the schema.
 * @param labels with a column for each language beside those of codes
 */
export function exportColumns(labels: boolean): readonly string[] {
  const ofFields = FIELDS.filter(({ kind }) => kind !== 'point').flatMap(({ name, kind }) => {
    if (name === 'geom_system') return [name, 'geom_x', 'geom_y'];
    return labels && kind === 'term' ? [name, ...labelColumnsOf(name)] : [name];
  });
  return ['local_id', 'ident_cely', ...ofFields, 'photos'];
}

/** A centimetre. */
const DEGREE_DIGITS = 7;
const METRE_DIGITS = 2;

type Wgs84Point = {
  /** Degrees. */
  readonly longitude: number;
  readonly latitude: number;
  /**
   * The point as it is, where the degrees do not say it: in the other system, or with digits that a number loses. Reading
   * takes it, and the degrees only to see whether the point was moved.
   */
  readonly exact?: { readonly column: 'geom_wkt' | 'geom_sjtsk_wkt'; readonly wkt: string };
};

export function wgs84Of(point: PointInSystem): Wgs84Point {
  const [x, y] = [Number(point.x), Number(point.y)];
  if (point.system === '4326') {
    const isPlain = plainNumber(x) === point.x && plainNumber(y) === point.y;
    return { longitude: x, latitude: y, ...(isPlain ? {} : { exact: { column: 'geom_wkt', wkt: formatPoint(point) } }) };
  }
  const [longitude = 0, latitude = 0] = toWgs84([x, y]).map((degrees) => Number(degrees.toFixed(DEGREE_DIGITS)));
  return { longitude, latitude, exact: { column: 'geom_sjtsk_wkt', wkt: formatPoint(point) } };
}

/**
 * A point in both systems: as it was measured, digit by digit, and computed to a centimetre. What no system can express is not
 * computed.
 */
export function inBothSystems({ system, x, y }: PointInSystem): Readonly<Partial<Record<GeomSystem, PointText>>> {
  const [from, own] = [[Number(x), Number(y)] as const, { x, y }];
  if (findRangeProblem(system, ...from) !== undefined) return { [system]: own };
  const [computed, digits] = system === '4326' ? [toSJtsk(from), METRE_DIGITS] : [toWgs84(from), DEGREE_DIGITS];
  const [otherX = '', otherY = ''] = computed.map((number) => number.toFixed(digits));
  const other = { x: otherX, y: otherY };
  return system === '4326' ? { '4326': own, '5514': other } : { '4326': other, '5514': own };
}
