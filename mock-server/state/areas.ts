import { isPointCovered, type Polygon, type Position, parsePolygons } from '../base/polygons.ts';
import type { Archive } from './records/archive.ts';
import { type ArchiveRecord, type BodyValue, getText } from './records/record.ts';

type Area = {
  readonly record: ArchiveRecord;
  readonly polygons: readonly Polygon[];
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
};

/** References to the cadastral area of a point and to its district, as a find's body has them. */
export type Placement = { readonly katastr: BodyValue; readonly okres: BodyValue | undefined };

/** Finds the cadastral area of a point among the archive's `ruian_katastr` records. */
export class Areas {
  readonly #archive: Archive;
  #areas: readonly Area[] = [];
  #readAtRevision = -1;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /**
   * Finds the area that contains the point, and its district; on a shared border the first of both.
   */
  findPlacement(point: Position): Placement | undefined {
    const area = this.#readCurrent().find((candidate) => isCovering(candidate, point));
    if (area === undefined) return undefined;
    const { ident, body } = area.record;
    return {
      katastr: { '@lang': 'cs', '@id': ident, '#': getText(body['nazev']) ?? ident },
      okres: body['okres'],
    };
  }

  #readCurrent(): readonly Area[] {
    const revision = this.#archive.getRevision('ruian_katastr');
    if (revision !== this.#readAtRevision) {
      this.#areas = this.#archive.listAll('ruian_katastr').map(parseArea);
      this.#readAtRevision = revision;
    }
    return this.#areas;
  }
}

function parseArea(record: ArchiveRecord): Area {
  const polygons = parseBorders(record);
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

function isCovering(area: Area, point: Position): boolean {
  const [longitude, latitude] = point;
  if (
    longitude < area.west ||
    longitude > area.east ||
    latitude < area.south ||
    latitude > area.north
  )
    return false;
  return isPointCovered(area.polygons, point);
}

/** Parses an area's borders in longitude and latitude; none where they are invalid. */
export function parseBorders({ body }: ArchiveRecord): readonly Polygon[] {
  const polygons = parsePolygons(getText(body['hranice_wkt']) ?? '');
  return typeof polygons === 'string' ? [] : polygons;
}
