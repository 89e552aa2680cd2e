import type { Position } from '../base/polygons.ts';
import { ShapeError } from '../base/shape.ts';
import { bordersOf } from '../state/areas.ts';
import type { Mock } from '../state/mock.ts';
import { type ArchiveRecord, childOf, type Entity, listOf, textOf } from '../state/records/record.ts';
import { assertKnownParameters, wholeNumber } from './query.ts';

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
type PhotographView = { readonly id: string; readonly name: string; readonly type: string; readonly size_bytes: number };

/**
 * The newest live finds, and how many there are in all: `?limit=`, `?state=` 1 to 4, `?text=` that stands anywhere in the
 * record. `revision` stays the same as long as no find changes.
 * @throws ShapeError
 */
export function findsView(mock: Mock, query: URLSearchParams): unknown {
  assertKnownParameters(query, 'limit', 'state', 'text');
  const set = 'samostatny_nalez';
  const wanted = { set, isLive: true, ...filterOf(query) };
  const limit = wholeNumber(query, 'limit', { default: DEFAULT_LIMIT, max: MAX_FINDS });
  const states = mock.archive.statistics().filter((row) => row.entity === set);
  return {
    revision: mock.archive.revision('samostatny_nalez'),
    matching: mock.archive.count(wanted),
    by_state: Object.fromEntries(states.map((row) => [String(row.stav), row.count])),
    photos: mock.photographs.count(),
    finds: mock.archive.list({ ...wanted, limit }).map(findView),
  };
}

function filterOf(query: URLSearchParams): { readonly stav?: number; readonly text?: string } {
  const state = query.get('state');
  if (state !== null && !/^[1-4]$/.test(state)) throw new ShapeError('state', 'must be 1, 2, 3 or 4');
  const text = query.get('text')?.trim() ?? '';
  return { ...(state === null ? {} : { stav: Number(state) }), ...(text === '' ? {} : { text }) };
}

function findView({ ident, stav, datestampMs, body }: ArchiveRecord): FindView {
  const guarded = childOf(body['chranene_udaje']);
  return {
    ident,
    state: stav,
    label: textOf(body['druh_nalezu']) ?? 'find without object type',
    place: textOf(guarded?.['katastr']) ?? null,
    registration_number: textOf(body['evidencni_cislo']) ?? null,
    point: pointOf(textOf(guarded?.['geom_wkt'])),
    datestamp: new Date(datestampMs).toISOString(),
    photos: listOf(body['soubor']).flatMap(photographView),
  };
}

function pointOf(wkt: string | undefined): readonly [number, number] | null {
  const [longitude, latitude] = (/\(([^()]*)\)/.exec(wkt ?? '')?.[1] ?? '').trim().split(/\s+/).map(Number);
  return longitude !== undefined && latitude !== undefined && Number.isFinite(longitude + latitude)
    ? [longitude, latitude]
    : null;
}

function photographView(value: ReturnType<typeof listOf>[number]): PhotographView[] {
  const file = childOf(value);
  const id = textOf(file?.['url'])?.split('/').at(-1);
  if (file === undefined || id === undefined) return [];
  return [
    {
      id,
      name: textOf(file['nazev']) ?? id,
      type: textOf(file['mimetype']) ?? '',
      size_bytes: Math.round(Number(textOf(file['size_mb']) ?? 0) * 1_048_576),
    },
  ];
}

/** More cadastral areas than this are no background any more. */
const MAX_AREAS = 2000;
/** Points of a border that are closer together than this many degrees (about a hundred metres) are drawn as one. */
const CLOSE_DEGREES = 0.001;

type Shape = {
  readonly ident: string;
  readonly name: string;
  /** The definition point: where the name may stand. Longitude, latitude. */
  readonly at: Position | null;
  readonly rings: ReadonlyArray<readonly Position[]>;
};

/** The seed's regions, districts and cadastral areas as outlines in WGS 84, simplified for drawing. */
export function mapView(mock: Mock): unknown {
  const areas = shapesOf(mock, 'ruian_katastr');
  return {
    regions: shapesOf(mock, 'ruian_kraj'),
    districts: shapesOf(mock, 'ruian_okres'),
    areas: areas.length > MAX_AREAS ? [] : areas,
  };
}

function shapesOf(mock: Mock, entity: Entity): Shape[] {
  return mock.archive.allOf(entity).map((record) => ({
    ident: record.ident,
    name: textOf(record.body['nazev']) ?? record.ident,
    at: firstPoint(textOf(record.body['definicni_bod_wkt']) ?? ''),
    rings: bordersOf(record)
      .flat()
      .filter((ring) => ring.length > 2)
      .map(simplified),
  }));
}

function firstPoint(wkt: string): Position | null {
  const [, longitude, latitude] = /\(\s*(-?[\d.]+)\s+(-?[\d.]+)/.exec(wkt) ?? [];
  return longitude === undefined || latitude === undefined ? null : [Number(longitude), Number(latitude)];
}

function simplified(ring: readonly Position[]): Position[] {
  const kept: Position[] = [];
  for (const [longitude, latitude] of ring) {
    const last = kept.at(-1);
    if (last !== undefined && Math.hypot(longitude - last[0], latitude - last[1]) < CLOSE_DEGREES) continue;
    kept.push([longitude, latitude]);
  }
  return kept;
}
