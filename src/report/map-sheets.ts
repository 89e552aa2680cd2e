import { type BoundingBox, computeMetresPerDegree, makeBoxAround } from '../place/polygon.ts';
import type { MappedFind } from './report-model.ts';

export type PlannedSheet = {
  readonly kind: 'overview' | 'detail';
  readonly finds: readonly MappedFind[];
  readonly box: BoundingBox;
};

/** Finds farther apart than about this are in different places. */
const GAP_M = 4000;
const MAX_DETAILS = 8;

/**
 * Plans an overview and a detail map of each place, those with most finds first. No map without
 * finds.
 */
export function planSheets(finds: readonly MappedFind[]): PlannedSheet[] {
  if (finds.length === 0) return [];
  const box = getBoundingBox(finds);
  const [mPerLon, mPerLat] = computeMetresPerDegree((box.minY + box.maxY) / 2);
  const richest = groupByPlace(finds, mPerLon, mPerLat)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_DETAILS);
  return [
    { kind: 'overview', finds, box },
    ...richest.map(
      (members): PlannedSheet => ({ kind: 'detail', finds: members, box: getBoundingBox(members) }),
    ),
  ];
}

function getBoundingBox(finds: readonly MappedFind[]): BoundingBox {
  return makeBoxAround(finds.map(({ place }) => place.wgs84));
}

/**
 * Groups finds by single linkage on a grid: neighbouring squares, also by a corner, form one place.
 */
function groupByPlace(
  finds: readonly MappedFind[],
  mPerLon: number,
  mPerLat: number,
): MappedFind[][] {
  const squares = new Map<
    string,
    { readonly column: number; readonly row: number; readonly finds: MappedFind[] }
  >();
  for (const find of finds) {
    const [longitude, latitude] = find.place.wgs84;
    const column = Math.floor((longitude * mPerLon) / GAP_M);
    const row = Math.floor((latitude * mPerLat) / GAP_M);
    const key = `${column} ${row}`;
    const square = squares.get(key) ?? { column, row, finds: [] };
    squares.set(key, square);
    square.finds.push(find);
  }
  const places: MappedFind[][] = [];
  while (squares.size > 0) {
    const [begin = ''] = squares.keys();
    const waiting = [begin];
    const members: MappedFind[] = [];
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const square = squares.get(key);
      if (square === undefined) continue;
      squares.delete(key);
      members.push(...square.finds);
      for (const dx of [-1, 0, 1])
        for (const dy of [-1, 0, 1]) waiting.push(`${square.column + dx} ${square.row + dy}`);
    }
    places.push(members.sort((a, b) => a.number - b.number));
  }
  return places;
}
