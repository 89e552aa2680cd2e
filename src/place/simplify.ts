/** `[x0, y0, x1, y1, …]`; a closed ring repeats its first point at the end. */
export type Line = Float64Array;

/**
 * Leaves out points of a closed ring so that its line moves by at most `tolerance`, in the ring's own units (Douglas and Peucker
 * 1973). The remaining points keep their order, and the ring stays closed.
 * @returns undefined where fewer points than a triangle's remain: at this scale the ring is invisible
 */
export function simplifyRing(ring: Line, tolerance: number): Line | undefined {
  const last = ring.length / 2 - 1;
  if (last < 3) return undefined;
  const opposite = farthestFrom(ring, 0);
  const kept = new Uint8Array(last + 1);
  kept[0] = kept[last] = kept[opposite] = 1;
  const waiting: [number, number][] = [
    [0, opposite],
    [opposite, last],
  ];
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    const [from, to] = span;
    const { index, squared } = farthestBetween(ring, from, to);
    if (squared <= tolerance * tolerance) continue;
    kept[index] = 1;
    waiting.push([from, index], [index, to]);
  }
  const points = [...kept.keys()].filter((index) => kept[index] === 1).flatMap((index) => pointOf(ring, index));
  return points.length < 8 ? undefined : Float64Array.from(points);
}

function pointOf(ring: Line, index: number): readonly [number, number] {
  return [ring[2 * index] ?? 0, ring[2 * index + 1] ?? 0];
}

function farthestFrom(ring: Line, from: number): number {
  const [x0, y0] = pointOf(ring, from);
  let [farthest, most] = [from + 1, -1];
  for (let index = from + 1; index < ring.length / 2 - 1; index++) {
    const [x, y] = pointOf(ring, index);
    const squared = (x - x0) ** 2 + (y - y0) ** 2;
    if (squared > most) [farthest, most] = [index, squared];
  }
  return farthest;
}

function farthestBetween(ring: Line, from: number, to: number): { readonly index: number; readonly squared: number } {
  const [x1, y1] = pointOf(ring, from);
  const [x2, y2] = pointOf(ring, to);
  const [dx, dy] = [x2 - x1, y2 - y1];
  const lengthSquared = dx * dx + dy * dy;
  let [index, most] = [from, -1];
  for (let between = from + 1; between < to; between++) {
    const [x, y] = pointOf(ring, between);
    const along = lengthSquared === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / lengthSquared));
    const squared = (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2;
    if (squared > most) [index, most] = [between, squared];
  }
  return { index, squared: most };
}
