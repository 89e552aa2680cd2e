/** Byte order (little-endian) and types of a polygon and of several (OGC 06-103r4, 8.2.4). */
const [LITTLE, POLYGON, MULTI_POLYGON] = [1, 3, 6];

/**
 * Converts a `POLYGON` or `MULTIPOLYGON` of two dimensions to the well-known binary of a MULTIPOLYGON, with its rings in their
 * order.
 * @param wkt a text that {@link parsePolygon} accepts
 */
export function multiPolygonWkb(wkt: string): Buffer {
  const isMulti = /^\s*multi/i.test(wkt);
  const body = wkt.slice(wkt.indexOf('('));
  // A polygon is a bracket of rings, and a ring holds no bracket.
  const polygons = [
    ...(isMulti ? body.slice(body.indexOf('(') + 1) : body).matchAll(/\(\s*(\([^()]*\)\s*(?:,\s*\([^()]*\)\s*)*)\)/g),
  ];
  const parts = polygons.map(([, rings = '']) => polygonWkb([...rings.matchAll(/\(([^()]*)\)/g)].map(([, ring = '']) => ring)));
  return Buffer.concat([head(MULTI_POLYGON, parts.length), ...parts]);
}

function polygonWkb(rings: readonly string[]): Buffer {
  return Buffer.concat([head(POLYGON, rings.length), ...rings.map(ringWkb)]);
}

function ringWkb(ring: string): Buffer {
  const points = ring.split(',').map((point) => point.trim().split(/\s+/).map(Number));
  const bytes = Buffer.alloc(4 + 16 * points.length);
  bytes.writeUInt32LE(points.length, 0);
  for (const [index, [x = 0, y = 0]] of points.entries()) {
    bytes.writeDoubleLE(x, 4 + 16 * index);
    bytes.writeDoubleLE(y, 12 + 16 * index);
  }
  return bytes;
}

function head(type: number, count: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(LITTLE, 0);
  bytes.writeUInt32LE(type, 1);
  bytes.writeUInt32LE(count, 5);
  return bytes;
}
