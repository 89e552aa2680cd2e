import { type BoundingBox, metresPerDegree } from '../place/polygon.ts';
import type { Point } from '../place/project.ts';

/**
 * The window of a map: converts degrees to drawing units, x to the right and y down. The projection is equirectangular with the
 * scale of the middle latitude: over the width of the country the error is less than 2 %.
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
/** Margin around the content, as a share of its size. */
const MARGIN = 0.14;
/** Minimum width in metres, so that a single find has surroundings. */
const MIN_METRES = { overview: 16_000, detail: 900 };

/** Makes a frame centred on a box of degrees, with a margin. */
export function frameAround({ minX, minY, maxX, maxY }: BoundingBox, kind: keyof typeof MIN_METRES): Frame {
  const [midX, midY] = [(minX + maxX) / 2, (minY + maxY) / 2];
  const [mPerLon, mPerLat] = metresPerDegree(midY);
  const least = MIN_METRES[kind];
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

/** Returns the bounding box of points. @throws RangeError without any */
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

/** Returns the largest of 1, 2 and 5 times a power of ten that is at most `most`. */
export function roundStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return digit * power;
}
