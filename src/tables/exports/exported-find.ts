import { formatPlainNumber } from '../../base/characters.ts';
import { memoize } from '../../base/collections.ts';
import { joinFileNames, protectFormulaMark } from '../../base/csv.ts';
import { isReadable } from '../../base/issue.ts';
import { callInEachLanguage, getLanguage, t } from '../../base/message.ts';
import { renderXmlElement, replaceCharactersIllegalInXml } from '../../base/xml/build.ts';
import { type DocumentProfile, makeDocumentNode } from '../../finds/document.ts';
import {
  FIELDS,
  type Field,
  type FindElements,
  formatReferenceCell,
  getElementLabel,
  getPoint,
  getPointElement,
  NEW_PERSON,
  type Reference,
} from '../../finds/fields.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { findPointInBothSystems } from '../../finds/match-finds.ts';
import { formatPoint, type PointInSystem, toWgs84 } from '../../finds/place/geometry.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import { findTermByIdent } from '../../finds/vocabulary/terms.ts';
import { ENTRY_STATES, type EntryState } from '../../outbox/entry.ts';
import {
  formatPointOfFind,
  formatValueWithUnit,
  STATE_WORDS,
} from '../../outbox/views/entry-words.ts';
import type { RowCell } from './write-rows.ts';

/** A find to export, with data of the outbox. */
export type ExportedFind = {
  readonly localId: string;
  /** Set once the service assigned it. */
  readonly identCely?: string;
  /** Includes the registration number that was set last. */
  readonly elements: FindElements;
  readonly photos: readonly string[];
  readonly state?: string;
  readonly getLabels?: LabelLookup;
  /** Formats a reference for a table; by default as its identifier. */
  readonly formatReference?: FormatReference;
};

/**
 * Finds the labels of a vocabulary entry by its identifier; undefined for an entry that was not
 * harvested. A label is empty where the entry lacks it.
 */
export type LabelLookup = (id: string) => Labels | undefined;

type Labels = { readonly cs: string; readonly en: string };

/** Formats a reference for a cell, such as its label. */
export type FormatReference = (field: Field, reference: Reference) => string;

/**
 * Makes the lookup of the labels of a vocabulary's entries by their identifiers. Labels are cached,
 * since finds repeat them.
 */
export function makeLabelLookup(vocabulary: Vocabulary): LabelLookup {
  return memoize((id) => {
    const term = findTermByIdent(vocabulary, id);
    return term && { cs: term.label, en: term.labelEn ?? '' };
  });
}

/**
 * Makes the function that formats the references of finds for a table that `pas import` reads
 * again: the label in the current language, if it is known and `lookupTerm` finds the same entry by
 * it; else the identifier, or the name of a person whom the service does not know.
 */
export function makeReferenceFormatter(
  getLabels: LabelLookup,
  lookupTerm: LookupTerm,
): FormatReference {
  const resolve = makeReferenceResolver(lookupTerm);
  return (field, reference) => {
    const labels = getLabels(reference.id);
    if (labels === undefined) return formatReferenceCell(reference);
    const label = chooseLabel(labels);
    const reading = resolve(field, label);
    const isSame = isReadable(reading) && reading.value.id === reference.id;
    return isSame ? label : formatReferenceCell(reference);
  };
}

/** Returns the label in the current language; the Czech one where the English one is empty. */
function chooseLabel({ cs, en }: Labels): string {
  return getLanguage() === 'en' && en !== '' ? en : cs;
}

/** Column of a map layer with the state of a find's import; it is ignored on import. */
export const STATE_COLUMN = 'sending_state';

/** A value of a find in a table; references are texts. */
export type ExportValue = string | number | boolean;

/**
 * Returns the values of a find by the names of the columns that `pas import` reads: its local id,
 * its identifier, its elements in the order of the schema, and the file names of its photographs in
 * one text. Absent and empty values are left out, and the point, which each format stores in its
 * own way; references are texts.
 */
export function collectExportValues({
  localId,
  identCely,
  elements,
  photos,
  formatReference,
}: ExportedFind): Map<string, ExportValue> {
  const values = new Map<string, ExportValue>([['local_id', localId]]);
  if (identCely !== undefined) values.set('ident_cely', identCely);
  for (const field of FIELDS) {
    const value = elements[field.name];
    if (value === undefined || value === '' || field.kind === 'point') continue;
    if (typeof value !== 'object') values.set(field.name, value);
    else values.set(field.name, formatReference?.(field, value) ?? formatReferenceCell(value));
  }
  if (photos.length > 0) values.set('photos', joinFileNames(photos));
  return values;
}

/**
 * Returns the names of all columns of an exported table, in the order of the schema, also of those
 * that no find fills; the point is in `geom_x` and `geom_y`.
 */
export function listExportColumns(): readonly string[] {
  const ofFields = FIELDS.filter(({ kind }) => kind !== 'point').flatMap(({ name }) =>
    name === 'geom_system' ? [name, 'geom_x', 'geom_y'] : [name],
  );
  return ['local_id', 'ident_cely', ...ofFields, 'photos'];
}

/**
 * Yields the rows of a table that `pas import` reads again: the names of all columns, then a row
 * per find, with '' for absent values. A point has its measured digits in `geom_x` and `geom_y`. A
 * find is taken from `finds` only when its row is requested.
 */
export function* makeFindRows(finds: Iterable<ExportedFind>): Generator<readonly RowCell[]> {
  const columns = listExportColumns();
  yield columns;
  for (const find of finds) {
    const cells = new Map<string, RowCell>(collectExportValues(find));
    const { datum_nalezu: day } = find.elements;
    if (day !== undefined) cells.set('datum_nalezu', { written: day });
    const point = getPoint(find.elements);
    if (point !== undefined)
      cells.set('geom_x', { decimal: point.x }).set('geom_y', { decimal: point.y });
    yield columns.map((name) => cells.get(name) ?? '');
  }
}

/** Digits for a centimetre. */
const DIGITS = { '4326': 7, '5514': 2 };

type Wgs84Point = {
  /** Degrees. */
  readonly longitude: number;
  readonly latitude: number;
  /**
   * The exact point, where the degrees lose digits or are converted. The import uses the degrees to
   * detect a moved point.
   */
  readonly exact?: { readonly column: 'geom_wkt' | 'geom_sjtsk_wkt'; readonly wkt: string };
};

/**
 * Converts a point to degrees in WGS 84; one that was measured in S-JTSK is rounded to a
 * centimetre. `exact` is set where it was converted, or where the numbers lose some of its measured
 * digits.
 */
export function makeWgs84Point(point: PointInSystem): Wgs84Point {
  const x = Number(point.x);
  const y = Number(point.y);
  const exact = { column: getPointElement(point.system), wkt: formatPoint(point) };
  if (point.system === '4326') {
    const isPlain = formatPlainNumber(x) === point.x && formatPlainNumber(y) === point.y;
    return { longitude: x, latitude: y, exact: isPlain ? undefined : exact };
  }
  const [longitude = 0, latitude = 0] = toWgs84([x, y]).map((degrees) =>
    Number(degrees.toFixed(DIGITS['4326'])),
  );
  return { longitude, latitude, exact };
}

/** Namespace of the elements around the import documents in one file of `pas export`. */
export const FINDS_NAMESPACE = 'urn:pas:finds:1';

/**
 * Yields the text of a GeoJSON FeatureCollection (RFC 7946), one feature per line. Points are in
 * WGS 84; one that was converted, or would lose digits, has its measured coordinates among the
 * properties as well.
 */
export function* renderGeoJson(finds: Iterable<ExportedFind>): Generator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let before = '\n';
  for (const find of finds) {
    yield `${before}${JSON.stringify(makeFeature(find))}`;
    before = ',\n';
  }
  yield '\n]}\n';
}

function makeFeature(find: ExportedFind): Record<string, unknown> {
  const values = [...collectExportValues(find)].map(([name, value]) => [
    name,
    typeof value === 'string' ? protectFormulaMark(value) : value,
  ]);
  const properties: Record<string, unknown> = Object.fromEntries(values);
  const point = getPoint(find.elements);
  if (point === undefined) return { type: 'Feature', geometry: null, properties };
  const { longitude, latitude, exact } = makeWgs84Point(point);
  if (exact !== undefined) properties[exact.column] = exact.wkt;
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties,
  };
}

/**
 * Yields the text of an XML document with the import document of each find, in an element that adds
 * local id, identifier and photographs. Characters that XML cannot hold become U+FFFD. States are
 * not written, and of references only what is stored.
 * @param profile of the import documents
 */
export function* renderFindsXml(
  finds: Iterable<ExportedFind>,
  profile: DocumentProfile,
): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<finds xmlns="${FINDS_NAMESPACE}">\n`;
  for (const { localId, identCely, elements, photos } of finds) {
    const attributes: Record<string, string> = { local_id: replaceCharactersIllegalInXml(localId) };
    if (identCely !== undefined) attributes['ident_cely'] = identCely;
    if (photos.length > 0)
      attributes['photos'] = replaceCharactersIllegalInXml(joinFileNames(photos));
    yield renderXmlElement(
      { name: 'find', attributes, content: [makeDocumentNode(elements, profile)] },
      1,
    );
  }
  yield '</finds>\n';
}

const COLUMNS: readonly Field[] = FIELDS.filter(
  ({ kind }) => kind !== 'geom-system' && kind !== 'point',
);

/** Elements with a column for the code; a project is its code. */
const isCoded = ({ name, kind }: Field): boolean =>
  kind === 'term' || (kind === 'reference' && name !== 'projekt');

/**
 * Yields the rows of a table for museum systems such as Demus and MUSEION: headings, which are
 * Czech in any language of pas, since those systems match them; then a row per find: of each term
 * and person the Czech label, else the stored text, and the code, '' for a new person; of a project
 * the code alone; the point in WGS 84 and S-JTSK.
 */
export function* makeMuseumRows(finds: Iterable<ExportedFind>): Generator<readonly RowCell[]> {
  yield callInEachLanguage(makeHeadings).cs;
  for (const find of finds) yield makeRow(find);
}

function makeHeadings(): readonly string[] {
  return [
    t`Find`,
    t`Identifier`,
    ...COLUMNS.flatMap((field) => {
      const { unit } = field;
      const label = getElementLabel(field);
      if (unit !== undefined) return [`${label} (${unit})`];
      return isCoded(field) ? [label, t`${label} (code)`] : [label];
    }),
    t`Longitude (WGS 84)`,
    t`Latitude (WGS 84)`,
    'S-JTSK X (EPSG:5514)',
    'S-JTSK Y (EPSG:5514)',
    t`Measured in (EPSG)`,
    t`Photographs`,
  ];
}

function makeRow(find: ExportedFind): readonly RowCell[] {
  return [
    find.localId,
    find.identCely ?? '',
    ...COLUMNS.flatMap((field) => makeCells(find, field)),
    ...makePointCells(find.elements),
    joinFileNames(find.photos, '; '),
  ];
}

/**
 * Makes the cells of the point in WGS 84 and S-JTSK, and of the system in which it was measured: of
 * that one with the measured digits, of the other rounded to a centimetre.
 */
function makePointCells(elements: FindElements): readonly RowCell[] {
  const point = getPoint(elements);
  const both = findPointInBothSystems(elements);
  if (point === undefined || both === undefined) return ['', '', '', '', ''];
  const measured = [point.x, point.y];
  const wgs84 = both.wgs84.map((number) => number.toFixed(DIGITS['4326']));
  const sJtsk = both.sJtsk.map((number) => number.toFixed(DIGITS['5514']));
  const texts = both.measuredIn === '4326' ? [...measured, ...sJtsk] : [...wgs84, ...measured];
  return [...texts.map((decimal) => ({ decimal })), both.measuredIn];
}

/** Makes the one or two cells of an element; a new person has no code. */
function makeCells({ elements, getLabels }: ExportedFind, field: Field): readonly RowCell[] {
  const value = elements[field.name];
  if (value === undefined) return isCoded(field) ? ['', ''] : [''];
  if (typeof value === 'object') {
    if (!isCoded(field)) return [value.id];
    return [getLabels?.(value.id)?.cs || value.text, value.id === NEW_PERSON ? '' : value.id];
  }
  if (field.kind === 'date') return [{ written: String(value) }];
  return [value];
}

/**
 * Yields the rows of a table for people, which is not meant to be imported: headings, then a row
 * per find, with labels in the current language in place of codes. A term without a harvested label
 * has its stored text, else its code.
 */
export function* makeReadableRows(finds: Iterable<ExportedFind>): Generator<readonly string[]> {
  yield [
    t`Find`,
    t`Sending state`,
    t`Identifier`,
    ...COLUMNS.map((field) => getElementLabel(field)),
    t`Coordinates`,
    t`Photographs`,
  ];
  for (const find of finds) {
    const state = ENTRY_STATES.find((each: EntryState) => each === find.state);
    yield [
      find.localId,
      state === undefined ? t`not queued` : String(STATE_WORDS[state]),
      find.identCely ?? '',
      ...COLUMNS.map((field) => formatField(find, field)),
      formatPointOfFind(find.elements) ?? '',
      joinFileNames(find.photos, '; '),
    ];
  }
}

function formatField({ elements, getLabels }: ExportedFind, field: Field): string {
  const value = elements[field.name];
  const labels =
    field.kind === 'term' && typeof value === 'object' ? getLabels?.(value.id) : undefined;
  if (labels === undefined) return formatValueWithUnit(field, value) ?? '';
  return chooseLabel(labels);
}
