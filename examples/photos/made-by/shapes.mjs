/**
 * Outlines as distances in centimetres: positive inside, negative outside. y points down, as on
 * paper.
 */

export const circle = (cx, cy, radius) => (x, y) => radius - Math.hypot(x - cx, y - cy);
export const ellipse = (cx, cy, rx, ry) => (x, y) =>
  (1 - Math.hypot((x - cx) / rx, (y - cy) / ry)) * Math.min(rx, ry);
export const ring = (cx, cy, radius, width) => (x, y) =>
  width - Math.abs(Math.hypot(x - cx, y - cy) - radius);
export const union =
  (...shapes) =>
  (x, y) =>
    Math.max(...shapes.map((shape) => shape(x, y)));
export const without = (shape, hole) => (x, y) => Math.min(shape(x, y), -hole(x, y));
export const inside = (shape, other) => (x, y) => Math.min(shape(x, y), other(x, y));
/** Everything to the right of a line through a point; the angle in degrees turns it clockwise. */
export const half = (px, py, degrees) => (x, y) =>
  (x - px) * Math.cos((degrees * Math.PI) / 180) + (y - py) * Math.sin((degrees * Math.PI) / 180);

/** A rod of changing thickness along straight pieces. */
export const rod = (points, widths) => (x, y) => {
  let best = -Infinity;
  for (let i = 0; i + 1 < points.length; i++) {
    const [[ax, ay], [bx, by]] = [points[i], points[i + 1]];
    const [dx, dy] = [bx - ax, by - ay];
    const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    const width = widths[i] + (widths[i + 1] - widths[i]) * t;
    best = Math.max(best, width - Math.hypot(x - ax - dx * t, y - ay - dy * t));
  }
  return best;
};

/** A closed outline through corners. */
export const polygon = (corners) => (x, y) => {
  let distance = Infinity;
  let within = false;
  corners.forEach(([bx, by], i) => {
    const [ax, ay] = corners[(i + corners.length - 1) % corners.length];
    const [dx, dy] = [bx - ax, by - ay];
    const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    distance = Math.min(distance, Math.hypot(x - ax - dx * t, y - ay - dy * t));
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  });
  return within ? distance : -distance;
};

/** The same outline, gnawed by time. */
export const worn =
  (shape, noise, depth, scale = 2) =>
  (x, y) =>
    shape(x, y) + (noise(x * scale, y * scale) - 0.5) * depth;

/** Smooth random values between 0 and 1, the same for the same seed. */
export function makeNoise(seed) {
  const at = (x, y) => {
    let h = Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(seed, 2147483629);
    h = Math.imul(h ^ (h >>> 13), 1274126177);
    return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
  };
  const smooth = (t) => t * t * (3 - 2 * t);
  const value = (x, y) => {
    const [x0, y0] = [Math.floor(x), Math.floor(y)];
    const [u, v] = [smooth(x - x0), smooth(y - y0)];
    const upper = at(x0, y0) * (1 - u) + at(x0 + 1, y0) * u;
    const lower = at(x0, y0 + 1) * (1 - u) + at(x0 + 1, y0 + 1) * u;
    return upper * (1 - v) + lower * v;
  };
  return (x, y) => (value(x, y) * 4 + value(x * 2.1, y * 2.1) * 2 + value(x * 4.3, y * 4.3)) / 7;
}
