import { type Point, toSJtsk } from '../place/geometry.ts';
import { type BoundingBox, computeMetresPerDegree } from '../place/polygon.ts';
import { formatGridLine, formatLatitude, formatLongitude } from './format.ts';

/**
 * The window of a map: converts degrees to drawing units, x to the right and y down. The projection
 * is equirectangular with the scale of the middle latitude: over the width of the country the error
 * is less than 2 %.
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
export function makeFrameAround(
  { minX, minY, maxX, maxY }: BoundingBox,
  kind: keyof typeof MIN_METRES,
): Frame {
  const midX = (minX + maxX) / 2;
  const midY = (minY + maxY) / 2;
  const [mPerLon, mPerLat] = computeMetresPerDegree(midY);
  const least = MIN_METRES[kind];
  const wide = Math.max((maxX - minX) * mPerLon * (1 + 2 * MARGIN), least);
  const high = Math.max((maxY - minY) * mPerLat * (1 + 2 * MARGIN), least * 0.6);
  const height = Math.round(
    Math.min(Math.max((MAP_WIDTH * high) / wide, HEIGHTS.least), HEIGHTS.most),
  );
  const metresPerUnit = Math.max(wide / MAP_WIDTH, high / height);
  const halfLon = (MAP_WIDTH / 2) * (metresPerUnit / mPerLon);
  const halfLat = (height / 2) * (metresPerUnit / mPerLat);
  const box = {
    minX: midX - halfLon,
    maxX: midX + halfLon,
    minY: midY - halfLat,
    maxY: midY + halfLat,
  };
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

/** Returns the largest of 1, 2 and 5 times a power of ten that is at most `most`. */
export function roundDownToStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return digit * power;
}

/** Intersection of a grid line with the edge of the frame: units along that edge. */
export type Tick = { readonly at: number; readonly label: string };

type Graticule = {
  /** Meridians by x, parallels by y: drawn across, labelled at the lower and the left edge. */
  readonly meridians: readonly Tick[];
  readonly parallels: readonly Tick[];
  /**
   * S-JTSK: x at the upper edge and y at the right one. Its lines are inclined, so only their ends
   * are drawn.
   */
  readonly top: readonly Tick[];
  readonly right: readonly Tick[];
};

/** Minimum number of lines across. */
const LINES = 3;

/**
 * Makes the lines of WGS 84 (degrees), and the marks of S-JTSK (metres) at the upper and right
 * edges.
 */
export function makeGraticule(frame: Frame): Graticule {
  const { box, width, height } = frame;
  const lonStep = roundDownToStep((box.maxX - box.minX) / LINES);
  const latStep = roundDownToStep((box.maxY - box.minY) / LINES);
  const countDigits = (step: number): number => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const metres = roundDownToStep((width * frame.metresPerUnit) / (LINES + 1));
  return {
    meridians: listMultiples(box.minX, box.maxX, lonStep).map((longitude) => ({
      at: frame.place([longitude, box.minY])[0],
      label: formatLongitude(longitude, countDigits(lonStep)),
    })),
    parallels: listMultiples(box.minY, box.maxY, latStep).map((latitude) => ({
      at: frame.place([box.minX, latitude])[1],
      label: formatLatitude(latitude, countDigits(latStep)),
    })),
    top: findCrossings(
      metres,
      width,
      (share) => toSJtsk([box.minX + share * (box.maxX - box.minX), box.maxY])[0],
    ),
    right: findCrossings(
      metres,
      height,
      (share) => toSJtsk([box.maxX, box.maxY - share * (box.maxY - box.minY)])[1],
    ),
  };
}

/** Starts within the first interval, so that no label touches a corner. */
function listMultiples(from: number, to: number, step: number): number[] {
  const room = (to - from) * 0.03;
  const first = Math.ceil((from + room) / step);
  const last = Math.floor((to - room) / step);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => (first + index) * step,
  );
}

const SAMPLES = 16;

/**
 * Finds round values of a coordinate along an edge, by linear interpolation between samples, since
 * it changes almost evenly.
 */
function findCrossings(step: number, length: number, valueAt: (share: number) => number): Tick[] {
  const values = Array.from({ length: SAMPLES + 1 }, (_, index) => valueAt(index / SAMPLES));
  const ticks: Tick[] = [];
  for (let index = 0; index < SAMPLES; index++) {
    const [a = 0, b = 0] = [values[index], values[index + 1]];
    if (!Number.isFinite(a) || !Number.isFinite(b) || a === b) continue;
    for (
      let value = Math.ceil(Math.min(a, b) / step) * step;
      value < Math.max(a, b);
      value += step
    ) {
      const at = ((index + (value - a) / (b - a)) / SAMPLES) * length;
      if (at > length * 0.04 && at < length * 0.96)
        ticks.push({ at, label: formatGridLine(value, step) });
    }
  }
  return ticks;
}
