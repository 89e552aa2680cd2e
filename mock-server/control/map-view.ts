import { bordersOf } from '../areas.ts';
import type { Mock } from '../mock.ts';
import type { Position } from '../polygons.ts';
import type { Entity } from '../records/record.ts';
import { textOf } from '../records/record.ts';

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
