/** Two numbers: longitude and latitude, or the coordinates of S-JTSK. */
export type Position = readonly [number, number];
/** The last position repeats the first. */
export type Ring = readonly Position[];
/** Outer ring first, then holes. */
export type Polygon = readonly Ring[];

/**
 * Parses `POLYGON ((…), (…))` or `MULTIPOLYGON (((…)), …)`.
 * @returns the polygons, or the fault of the text
 */
export function parsePolygons(wkt: string): readonly Polygon[] | string {
  const [, multi, inner = ''] = /^(MULTI)?POLYGON\s*\(\s*\((.+)\)\s*\)$/is.exec(wkt.trim()) ?? [];
  if (inner === '')
    return 'must be a POLYGON((…)) or a MULTIPOLYGON(((…))) of longitude and latitude';
  const texts =
    multi === undefined
      ? [inner]
      : inner
          .trim()
          .replace(/^\(|\)$/g, '')
          .split(/\)\s*\)\s*,\s*\(\s*\(/);
  const polygons = texts.map((text) => text.split(/\)\s*,\s*\(/).map(parseRing));
  const fault = polygons.flat().find((ring) => typeof ring === 'string');
  return fault ?? polygons.map((rings) => rings.filter((ring) => typeof ring !== 'string'));
}

function parseRing(text: string): Ring | string {
  const ring: Position[] = [];
  for (const pair of text.split(',')) {
    const [x, y, ...more] = pair.trim().split(/\s+/).map(Number);
    if (
      x === undefined ||
      y === undefined ||
      more.length > 0 ||
      Number.isNaN(x) ||
      Number.isNaN(y)
    ) {
      return 'a position is two numbers, longitude and latitude';
    }
    ring.push([x, y]);
  }
  const first = ring[0];
  const last = ring.at(-1);
  const closed = first?.[0] === last?.[0] && first?.[1] === last?.[1];
  if (ring.length >= 4 && closed) return ring;
  return 'every ring needs at least four positions, of which the last repeats the first';
}

/** Tells if a polygon covers a point; its border and those of its holes belong to it. */
export function isPointCovered(polygons: readonly Polygon[], point: Position): boolean {
  return polygons.some(
    ([outer, ...holes]) =>
      outer !== undefined &&
      comparePosition(outer, point) >= 0 &&
      holes.every((hole) => comparePosition(hole, point) <= 0),
  );
}

/** Returns 1 inside, 0 on the border, -1 outside (even-odd rule over the ring's edges). */
function comparePosition(ring: Ring, [x, y]: Position): -1 | 0 | 1 {
  let inside = false;
  for (let index = 1; index < ring.length; index += 1) {
    const [x1, y1] = ring[index - 1] ?? [0, 0];
    const [x2, y2] = ring[index] ?? [0, 0];
    const side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
    const withinBox =
      Math.min(x1, x2) <= x &&
      x <= Math.max(x1, x2) &&
      Math.min(y1, y2) <= y &&
      y <= Math.max(y1, y2);
    if (side === 0 && withinBox) return 0;
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside ? 1 : -1;
}
