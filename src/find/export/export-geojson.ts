import { type ExportedFind, pointOf, valuesOf } from './exported-find.ts';
import { wgs84Of } from './wgs84-point.ts';

/**
 * A FeatureCollection (RFC 7946), a feature a line. Points are in WGS 84; one that was measured in S-JTSK has its own
 * coordinates among the properties as well.
 */
export function* exportGeoJson(finds: Iterable<ExportedFind>): Generator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let before = '\n';
  for (const find of finds) {
    yield `${before}${JSON.stringify(featureOf(find))}`;
    before = ',\n';
  }
  yield '\n]}\n';
}

function featureOf(find: ExportedFind): Record<string, unknown> {
  const properties: Record<string, unknown> = Object.fromEntries(valuesOf(find));
  const point = pointOf(find.elements);
  if (point === undefined) return { type: 'Feature', geometry: null, properties };
  const { longitude, latitude, exact } = wgs84Of(point);
  if (exact !== undefined) properties[exact.column] = exact.wkt;
  return { type: 'Feature', geometry: { type: 'Point', coordinates: [longitude, latitude] }, properties };
}
