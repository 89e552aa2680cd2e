import { type BoundingBox, metresPerDegree } from '../place/polygon.ts';
import type { Point } from '../place/project.ts';

/**
 * The window of a map: degrees to units of the drawing, x to the right and y down. Longitude and latitude are drawn straight,
 * longitudes shortened by the latitude in the middle: over the width of the country that is off by less than two in a hundred.
 */
export type Frame = {
  readonly width: number;
  readonly height: number;
  readonly metresPerUnit: number;
  /** Degrees. */
  readonly box: BoundingBox;
  place(lonLat: Point): Point;
};

export const MAP_WIDTH = 760;
const HEIGHTS = { least: 380, most: 560 };
/** Room around what is framed, as a share of its size. */
const MARGIN = 0.14;
/** A single find is shown with this much of its surroundings. */
const LEAST_METRES = { overview: 16_000, detail: 900 };

/** A frame that holds a box of degrees in its middle with some room around. */
export function frameAround({ minX, minY, maxX, maxY }: BoundingBox, kind: keyof typeof LEAST_METRES): Frame {
  const [midX, midY] = [(minX + maxX) / 2, (minY + maxY) / 2];
  const [mPerLon, mPerLat] = metresPerDegree(midY);
  const least = LEAST_METRES[kind];
  const wide = Math.max((maxX - minX) * mPerLon * (1 + 2 * MARGIN), least);
  const high = Math.max((maxY - minY) * mPerLat * (1 + 2 * MARGIN), least * 0.6);
  const height = Math.round(Math.min(Math.max((MAP_WIDTH * high) / wide, HEIGHTS.least), HEIGHTS.most));
  const metresPerUnit = Math.max(wide / MAP_WIDTH, high / height);
  const [halfLon, halfLat] = [(MAP_WIDTH / 2) * (metresPerUnit / mPerLon), (height / 2) * (metresPerUnit / mPerLat)];
  const box = { minX: midX - halfLon, maxX: midX + halfLon, minY: midY - halfLat, maxY: midY + halfLat };
  return {
    width: MAP_WIDTH,
    height,
    metresPerUnit,
    box,
    place: ([longitude, latitude]) => [
      ((longitude - box.minX) / (box.maxX - box.minX)) * MAP_WIDTH,
      ((box.maxY - latitude) / (box.maxY - box.minY)) * height,
    ],
  };
}

/** The smallest box around points. @throws RangeError without any */
export function boxAround(points: readonly Point[]): BoundingBox {
  if (points.length === 0) throw new RangeError('no point to put a box around');
  const box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (const [x, y] of points) {
    box.minX = Math.min(box.minX, x);
    box.maxX = Math.max(box.maxX, x);
    box.minY = Math.min(box.minY, y);
    box.maxY = Math.max(box.maxY, y);
  }
  return box;
}

/** The largest of 1, 2 and 5 with some noughts that is no more than `most`. */
export function roundStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return digit * power;
}
