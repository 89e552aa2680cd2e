import type { Archive } from './records/archive.ts';
import { type ArchiveRecord, type BodyValue, textOf } from './records/record.ts';

/** Longitude, latitude. */
export type Point = readonly [number, number];
type Ring = readonly Point[];
/** Outer ring first, then holes. */
type Polygon = readonly Ring[];

type Area = {
  readonly record: ArchiveRecord;
  readonly polygons: readonly Polygon[];
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
};

export type Placement = { readonly katastr: BodyValue; readonly okres: BodyValue | undefined };

/** Finds the cadastral area of a point among the archive's `ruian_katastr` records. */
export class Areas {
  readonly #archive: Archive;
  #areas: readonly Area[] = [];
  #readAtRevision = -1;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** The area that the point lies in, and its district; a point on a shared border belongs to the first of both. */
  placementOf(point: Point): Placement | undefined {
    const area = this.#current().find((candidate) => covers(candidate, point));
    if (area === undefined) return undefined;
    const { ident, body } = area.record;
    return { katastr: { '@lang': 'cs', '@id': ident, '#': textOf(body['nazev']) ?? ident }, okres: body['okres'] };
  }

  #current(): readonly Area[] {
    const revision = this.#archive.revision('ruian_katastr');
    if (revision !== this.#readAtRevision) {
      this.#areas = this.#archive.allOf('ruian_katastr').map(areaOf);
      this.#readAtRevision = revision;
    }
    return this.#areas;
  }
}

function areaOf(record: ArchiveRecord): Area {
  const polygons = parsePolygons(textOf(record.body['hranice_wkt']) ?? '');
  const outer = polygons.flatMap((polygon) => polygon[0] ?? []);
  const longitudes = outer.map(([longitude]) => longitude);
  const latitudes = outer.map(([, latitude]) => latitude);
  return {
    record,
    polygons,
    west: Math.min(...longitudes),
    east: Math.max(...longitudes),
    south: Math.min(...latitudes),
    north: Math.max(...latitudes),
  };
}

function covers(area: Area, point: Point): boolean {
  const [longitude, latitude] = point;
  if (longitude < area.west || longitude > area.east || latitude < area.south || latitude > area.north) return false;
  return area.polygons.some(
    ([outer, ...holes]) =>
      outer !== undefined && positionIn(outer, point) >= 0 && holes.every((hole) => positionIn(hole, point) <= 0),
  );
}

/** 1 inside, 0 on the border, -1 outside (even-odd rule over the ring's edges). */
function positionIn(ring: Ring, [x, y]: Point): -1 | 0 | 1 {
  let inside = false;
  for (let index = 1; index < ring.length; index += 1) {
    const [x1, y1] = ring[index - 1] ?? [0, 0];
    const [x2, y2] = ring[index] ?? [0, 0];
    const side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
    const withinBox = Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2);
    if (side === 0 && withinBox) return 0;
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside ? 1 : -1;
}

/** `POLYGON ((…), (…))` or `MULTIPOLYGON (((…)), …)` in longitude and latitude. */
export function parsePolygons(wkt: string): readonly Polygon[] {
  const rings = /^\s*(MULTI)?POLYGON\s*(.*)$/is.exec(wkt)?.[2] ?? '';
  const nested = `${rings.replace(/[\s]*([(),])[\s]*/g, '$1')}`;
  const polygons = nested.startsWith('(((') ? nested.slice(2, -2).split(')),((') : [nested.slice(1, -1).replace(/^\(|\)$/g, '')];
  return polygons.map((polygon) =>
    polygon
      .replace(/^\(|\)$/g, '')
      .split('),(')
      .map((ring) => ring.split(',').map(pointOf)),
  );
}

function pointOf(text: string): Point {
  const [x = Number.NaN, y = Number.NaN] = text.trim().split(/\s+/).map(Number);
  return [x, y];
}
