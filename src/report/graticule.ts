import { toSJtsk } from '../place/project.ts';
import { gridText, latitudeText, longitudeText } from './format.ts';
import { type Frame, roundStep } from './map-frame.ts';

/** A line of a coordinate system where it meets the edge of the frame: units along that edge. */
export type Tick = { readonly at: number; readonly label: string };

type Graticule = {
  /** Meridians by x, parallels by y: drawn across, named at the lower and the left edge. */
  readonly meridians: readonly Tick[];
  readonly parallels: readonly Tick[];
  /** S-JTSK: where its x meets the upper edge and its y the right one. Its lines lean, so only their ends are drawn. */
  readonly top: readonly Tick[];
  readonly right: readonly Tick[];
};

/** So many lines fit across, at the least. */
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

/** From the middle of the first interval on, so that no label touches a corner. */
function multiples(from: number, to: number, step: number): number[] {
  const room = (to - from) * 0.03;
  const first = Math.ceil((from + room) / step);
  const last = Math.floor((to - room) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

const SAMPLES = 16;

/** Where a coordinate takes round values along an edge. It changes all but evenly there, so it is interpolated in between. */
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
