import { type DocumentProfile, makeDocumentNode } from '../find/build-document.ts';
import { getPoint } from '../find/fields.ts';
import { BYTE_ORDER_MARK, formatCsvCell, joinNames, withMarkKept } from '../text/csv.ts';
import { renderElement, replaceIllegalCharacters } from '../xml/write-xml.ts';
import {
  collectValues,
  type ExportedFind,
  type ExportValue,
  exportColumns,
  formatCoordinates,
  toWgs84Point,
} from './exported-find.ts';

/** Namespace of the elements around the import documents in one file of `pas export`. */
export const FINDS_NAMESPACE = 'urn:pas:finds:1';

const SEPARATORS = { semicolon: ';', comma: ',', tab: '\t' } as const;
type Separator = keyof typeof SEPARATORS;

/**
 * Writes a table for Excel and LibreOffice: UTF-8 with byte order mark, CRLF, formulas marked as
 * texts. With semicolons it has decimal commas, which such locales use. `pas import` reads the same
 * finds from it.
 */
export function* exportCsv(finds: Iterable<ExportedFind>, separator: Separator): Generator<string> {
  const delimiter = SEPARATORS[separator];
  const columns = exportColumns();
  yield `${BYTE_ORDER_MARK}${columns.join(delimiter)}\r\n`;
  for (const find of finds) {
    const values = collectValues(find);
    const coordinates = formatCoordinates(find.elements);
    const cells = columns.map((name) => {
      const coordinate = coordinates.get(name);
      if (coordinate !== undefined) return formatDecimalCell(coordinate, separator);
      return formatCsvCell(formatExportValue(values.get(name)), delimiter);
    });
    yield `${cells.join(delimiter)}\r\n`;
  }
}

/** A text, or a typed cell: a plain decimal with all its digits, a day as `YYYY-MM-DD`. */
export type RowCell = string | { readonly decimal: string } | { readonly day: string };

/** Writes rows, the first with headings. Decimals as in {@link exportCsv}. */
export function* formatCsvLines(
  rows: Iterable<readonly RowCell[]>,
  separator: Separator,
): Generator<string> {
  let mark = BYTE_ORDER_MARK;
  for (const row of rows) {
    yield `${mark}${row.map((cell) => formatRowCell(cell, separator)).join(SEPARATORS[separator])}\r\n`;
    mark = '';
  }
}

function formatRowCell(cell: RowCell, separator: Separator): string {
  if (typeof cell === 'object' && 'decimal' in cell)
    return formatDecimalCell(cell.decimal, separator);
  return formatCsvCell(typeof cell === 'string' ? cell : cell.day, SEPARATORS[separator]);
}

/** Formats a decimal; as a text, a negative one would get the formula mark. */
function formatDecimalCell(text: string, separator: Separator): string {
  return separator === 'semicolon' ? text.replace('.', ',') : text;
}

/**
 * Uses Czech words for true and false, since a spreadsheet would replace boolean values by its own.
 */
export function formatExportValue(value: ExportValue | undefined): string | number | undefined {
  if (typeof value !== 'boolean') return value;
  return value ? 'ano' : 'ne';
}

/**
 * Writes a FeatureCollection (RFC 7946), one feature per line. Points are in WGS 84; one that was
 * measured in S-JTSK has its own coordinates among the properties as well.
 */
export function* exportGeoJson(finds: Iterable<ExportedFind>): Generator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let before = '\n';
  for (const find of finds) {
    yield `${before}${JSON.stringify(makeFeature(find))}`;
    before = ',\n';
  }
  yield '\n]}\n';
}

function makeFeature(find: ExportedFind): Record<string, unknown> {
  const values = [...collectValues(find)].map(([name, value]) => [
    name,
    typeof value === 'string' ? withMarkKept(value) : value,
  ]);
  const properties: Record<string, unknown> = Object.fromEntries(values);
  const point = getPoint(find.elements);
  if (point === undefined) return { type: 'Feature', geometry: null, properties };
  const { longitude, latitude, exact } = toWgs84Point(point);
  if (exact !== undefined) properties[exact.column] = exact.wkt;
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties,
  };
}

/** Writes the import document of each find in an element that adds local id and photographs. */
export function* exportXml(
  finds: Iterable<ExportedFind>,
  profile: DocumentProfile,
): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<finds xmlns="${FINDS_NAMESPACE}">\n`;
  for (const { localId, identCely, elements, photos } of finds) {
    const attributes = {
      local_id: replaceIllegalCharacters(localId),
      ...(identCely === undefined ? {} : { ident_cely: identCely }),
      ...(photos.length === 0 ? {} : { photos: replaceIllegalCharacters(joinNames(photos)) }),
    };
    yield renderElement(
      { name: 'find', attributes, content: [makeDocumentNode(elements, profile)] },
      1,
    );
  }
  yield '</finds>\n';
}
