import type { Position } from '../base/polygons.ts';
import { ShapeError } from '../base/shape.ts';
import { parseBorders } from '../state/areas.ts';
import type { Mock } from '../state/mock.ts';
import {
  type ArchiveRecord,
  type Entity,
  getChild,
  getList,
  getText,
} from '../state/records/record.ts';
import { assertKnownParameters, parseWholeNumber } from './query.ts';

const DEFAULT_LIMIT = 1000;
const MAX_FINDS = 5000;

type FindView = {
  readonly ident: string;
  readonly state: number | null;
  readonly label: string;
  /** Cadastral area, where it is known. */
  readonly place: string | null;
  readonly registration_number: string | null;
  /** Longitude and latitude in WGS 84. */
  readonly point: readonly [number, number] | null;
  readonly datestamp: string;
  readonly photos: readonly PhotographView[];
};

/** `id` is what `GET /photos/{id}` takes. */
type PhotographView = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size_bytes: number;
};

/**
 * Returns the newest live finds, and their total: `?limit=`, `?state=` 1 to 4, `?text=` anywhere in
 * the record. `revision` changes with every change of a find.
 * @throws ShapeError
 */
export function viewFinds(mock: Mock, query: URLSearchParams): unknown {
  assertKnownParameters(query, 'limit', 'state', 'text');
  const set = 'samostatny_nalez';
  const wanted = { set, isLive: true, ...parseFilter(query) };
  const limit = parseWholeNumber(query, 'limit', { default: DEFAULT_LIMIT, max: MAX_FINDS });
  const states = mock.archive.countByState().filter((row) => row.entity === set);
  return {
    revision: mock.archive.getRevision('samostatny_nalez'),
    matching: mock.archive.count(wanted),
    by_state: Object.fromEntries(states.map((row) => [String(row.stav), row.count])),
    photos: mock.photographs.count(),
    finds: mock.archive.list({ ...wanted, limit }).map(viewFind),
  };
}

function parseFilter(query: URLSearchParams): { readonly stav?: number; readonly text?: string } {
  const state = query.get('state');
  if (state !== null && !/^[1-4]$/.test(state))
    throw new ShapeError('state', 'must be 1, 2, 3 or 4');
  const text = query.get('text')?.trim() ?? '';
  return {
    stav: state === null ? undefined : Number(state),
    text: text === '' ? undefined : text,
  };
}

function viewFind({ ident, stav, datestampMs, body }: ArchiveRecord): FindView {
  const guarded = getChild(body['chranene_udaje']);
  return {
    ident,
    state: stav,
    label: getText(body['druh_nalezu']) ?? 'find without object type',
    place: getText(guarded?.['katastr']) ?? null,
    registration_number: getText(body['evidencni_cislo']) ?? null,
    point: parsePoint(getText(guarded?.['geom_wkt'])),
    datestamp: new Date(datestampMs).toISOString(),
    photos: getList(body['soubor']).flatMap(viewPhotographs),
  };
}

function parsePoint(wkt: string | undefined): readonly [number, number] | null {
  const [longitude, latitude] = (/\(([^()]*)\)/.exec(wkt ?? '')?.[1] ?? '')
    .trim()
    .split(/\s+/)
    .map(Number);
  return longitude !== undefined && latitude !== undefined && Number.isFinite(longitude + latitude)
    ? [longitude, latitude]
    : null;
}

function viewPhotographs(value: ReturnType<typeof getList>[number]): PhotographView[] {
  const file = getChild(value);
  const id = getText(file?.['url'])?.split('/').at(-1);
  if (file === undefined || id === undefined) return [];
  return [
    {
      id,
      name: getText(file['nazev']) ?? id,
      type: getText(file['mimetype']) ?? '',
      size_bytes: Math.round(Number(getText(file['size_mb']) ?? 0) * 1_048_576),
    },
  ];
}

/** Maximum of cadastral areas in the background of the map. */
const MAX_AREAS = 2000;
/**
 * Points of a border that are closer together than this many degrees (about a hundred metres) are
 * drawn as one.
 */
const CLOSE_DEGREES = 0.001;

type Shape = {
  readonly ident: string;
  readonly name: string;
  /** Position of the name: longitude, latitude. */
  readonly at: Position | null;
  readonly rings: ReadonlyArray<readonly Position[]>;
};

/**
 * Returns outlines of the seed's regions, districts and cadastral areas in WGS 84, simplified for
 * drawing.
 */
export function viewMap(mock: Mock): unknown {
  const areas = makeShapes(mock, 'ruian_katastr');
  return {
    regions: makeShapes(mock, 'ruian_kraj'),
    districts: makeShapes(mock, 'ruian_okres'),
    areas: areas.length > MAX_AREAS ? [] : areas,
  };
}

function makeShapes(mock: Mock, entity: Entity): Shape[] {
  return mock.archive.listAll(entity).map((record) => ({
    ident: record.ident,
    name: getText(record.body['nazev']) ?? record.ident,
    at: parseFirstPoint(getText(record.body['definicni_bod_wkt']) ?? ''),
    rings: parseBorders(record)
      .flat()
      .filter((ring) => ring.length > 2)
      .map(simplifyLine),
  }));
}

function parseFirstPoint(wkt: string): Position | null {
  const [, longitude, latitude] = /\(\s*(-?[\d.]+)\s+(-?[\d.]+)/.exec(wkt) ?? [];
  return longitude === undefined || latitude === undefined
    ? null
    : [Number(longitude), Number(latitude)];
}

function simplifyLine(ring: readonly Position[]): Position[] {
  const points: Position[] = [];
  for (const [longitude, latitude] of ring) {
    const last = points.at(-1);
    if (last !== undefined && Math.hypot(longitude - last[0], latitude - last[1]) < CLOSE_DEGREES)
      continue;
    points.push([longitude, latitude]);
  }
  return points;
}
