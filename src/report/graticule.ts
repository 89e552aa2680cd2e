import { toSJtsk } from '../place/project.ts';
import { gridText, latitudeText, longitudeText } from './format.ts';
import { type Frame, roundStep } from './map-frame.ts';

/** Intersection of a grid line with the edge of the frame: units along that edge. */
export type Tick = { readonly at: number; readonly label: string };

type Graticule = {
  /** Meridians by x, parallels by y: drawn across, labelled at the lower and the left edge. */
  readonly meridians: readonly Tick[];
  readonly parallels: readonly Tick[];
  /** S-JTSK: x at the upper edge and y at the right one. Its lines are inclined, so only their ends are drawn. */
  readonly top: readonly Tick[];
  readonly right: readonly Tick[];
};

/** Minimum number of lines across. */
const LINES = 3;

export function graticuleOf(frame: Frame): Graticule {
  const { box, width, height } = frame;
  const lonStep = roundStep((box.maxX - box.minX) / LINES);
  const latStep = roundStep((box.maxY - box.minY) / LINES);
  const digits = (step: number): number => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const metres = roundStep((width * frame.metresPerUnit) / (LINES + 1));
  return {
    meridians: multiples(box.minX, box.maxX, lonStep).map((longitude) => ({
      at: frame.place([longitude, box.minY])[0],
      label: longitudeText(longitude, digits(lonStep)),
    })),
    parallels: multiples(box.minY, box.maxY, latStep).map((latitude) => ({
      at: frame.place([box.minX, latitude])[1],
      label: latitudeText(latitude, digits(latStep)),
    })),
    top: crossings(metres, width, (share) => toSJtsk([box.minX + share * (box.maxX - box.minX), box.maxY])[0]),
    right: crossings(metres, height, (share) => toSJtsk([box.maxX, box.maxY - share * (box.maxY - box.minY)])[1]),
  };
}

/** Starts within the first interval, so that no label touches a corner. */
function multiples(from: number, to: number, step: number): number[] {
  const room = (to - from) * 0.03;
  const first = Math.ceil((from + room) / step);
  const last = Math.floor((to - room) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

const SAMPLES = 16;

/** Finds round values of a coordinate along an edge, by linear interpolation between samples, since it changes almost evenly. */
function crossings(step: number, length: number, valueAt: (share: number) => number): Tick[] {
  const values = Array.from({ length: SAMPLES + 1 }, (_, index) => valueAt(index / SAMPLES));
  const ticks: Tick[] = [];
  for (let index = 0; index < SAMPLES; index++) {
    const [a = 0, b = 0] = [values[index], values[index + 1]];
    if (!Number.isFinite(a) || !Number.isFinite(b) || a === b) continue;
    for (let value = Math.ceil(Math.min(a, b) / step) * step; value < Math.max(a, b); value += step) {
      const at = ((index + (value - a) / (b - a)) / SAMPLES) * length;
      if (at > length * 0.04 && at < length * 0.96) ticks.push({ at, label: gridText(value, step) });
    }
  }
  return ticks;
}
