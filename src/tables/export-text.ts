import { type DocumentProfile, makeDocumentNode } from '../find/build-document.ts';
import { getPoint } from '../find/fields.ts';
import { joinNames, withMarkKept } from '../text/csv.ts';
import { renderElement, replaceIllegalCharacters } from '../xml/write-xml.ts';
import { collectValues, type ExportedFind, toWgs84Point } from './exported-find.ts';

/** Namespace of the elements around the import documents in one file of `pas export`. */
export const FINDS_NAMESPACE = 'urn:pas:finds:1';

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
