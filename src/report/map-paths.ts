import { centreOf, clipRing } from '../geo/clip.ts';
import type { BoundingBox, Polygon } from '../geo/polygon.ts';
import type { Point } from '../geo/project.ts';
import { type Line, simplifyRing } from '../geo/simplify.ts';
import type { Frame } from './map-frame.ts';

/** Units by which a boundary may be off. */
const TOLERANCE = { overview: 0.5, detail: 0.2 };
/** Boundaries are cut this far outside the frame, so that the cut itself is never seen. */
const BLEED = 12;
/** An area with less than this in the frame, in square units, has no room for its name. */
const LEAST_NAMED = 2600;

export type Surface = {
  /** Path data; empty where nothing of it is seen in the frame. */
  readonly path: string;
  /** The middle of the largest part that is in the frame, where there is room for a name. */
  readonly nameAt: Point | undefined;
};

/** A boundary as it is drawn in a frame: cut off around it, and no finer than can be seen. */
export function surfaceIn(frame: Frame, polygon: Polygon, scale: keyof typeof TOLERANCE): Surface {
  const around: BoundingBox = { minX: -BLEED, minY: -BLEED, maxX: frame.width + BLEED, maxY: frame.height + BLEED };
  const inner: BoundingBox = { minX: 0, minY: 0, maxX: frame.width, maxY: frame.height };
  const paths: string[] = [];
  let named: { readonly doubleArea: number; readonly at: Point } | undefined;
  for (const ring of polygon.rings) {
    const cut = clipRing(drawn(frame, ring), around);
    const line = simplifyRing(cut, TOLERANCE[scale]);
    if (line === undefined) continue;
    paths.push(pathOf(line));
    const { doubleArea, x, y } = centreOf(clipRing(cut, inner));
    if (Math.abs(doubleArea) > (named?.doubleArea ?? 0)) named = { doubleArea: Math.abs(doubleArea), at: [x, y] };
  }
  return { path: paths.join(''), nameAt: named !== undefined && named.doubleArea / 2 >= LEAST_NAMED ? named.at : undefined };
}

function drawn(frame: Frame, ring: Float64Array): Line {
  const line = new Float64Array(ring.length);
  for (let i = 0; i + 1 < ring.length; i += 2) {
    const [x, y] = frame.place([ring[i] ?? 0, ring[i + 1] ?? 0]);
    line[i] = x;
    line[i + 1] = y;
  }
  return line;
}

/** In tenths of a unit, each point from the one before: so rounding does not add up. */
function pathOf(line: Line): string {
  const tenths = [...line].map((value) => Math.round(value * 10));
  let [x = 0, y = 0] = tenths;
  let path = `M${x / 10} ${y / 10}l`;
  for (let i = 2; i + 3 < tenths.length; i += 2) {
    const [nextX = 0, nextY = 0] = [tenths[i], tenths[i + 1]];
    path += `${i === 2 ? '' : ' '}${(nextX - x) / 10} ${(nextY - y) / 10}`;
    [x, y] = [nextX, nextY];
  }
  return `${path}z`;
}
