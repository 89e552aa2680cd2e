/** Colours, and what several finds have in common. */
import { circle, ellipse, makeNoise, polygon, rod, union } from './shapes.mjs';

export const CERAMIC = [158, 106, 74];
export const SILVER = [176, 177, 174];
export const BRONZE = [96, 128, 98];
export const IRON = [112, 74, 52];
export const STONE = [124, 130, 120];

export const noises = Array.from({ length: 30 }, (_, seed) => makeNoise(seed));
export const wave = (value) => Math.sin(value * Math.PI * 2);

/** Letters around the rim and a worn figure in the middle. */
export function coinRelief(radius, seed, figure) {
  return (x, y) => {
    const [r, angle] = [Math.hypot(x, y), Math.atan2(y, x)];
    const rim = Math.max(0, 1 - Math.abs(r - radius * 0.93) / (radius * 0.06)) * 0.05;
    const letters =
      Math.abs(r - radius * 0.76) < radius * 0.1 && noises[seed](angle * 14, r * 6) > 0.5
        ? 0.045
        : 0;
    return (
      rim +
      letters +
      (r < radius * 0.6 ? Math.min(0.07, Math.max(0, figure(x / radius, y / radius) * 0.4)) : 0)
    );
  };
}

/** A point on an arc, for bent wire and bows. */
export const arc = (cx, cy, rx, ry, from, to, steps = 12) =>
  Array.from({ length: steps + 1 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / steps) * Math.PI) / 180;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  });

export const head = union(
  ellipse(0.02, -0.08, 0.3, 0.36),
  polygon([
    [-0.2, 0.1],
    [0.2, 0.1],
    [0.34, 0.52],
    [-0.34, 0.52],
  ]),
  circle(0.33, -0.04, 0.08),
);
export const horse = union(
  ellipse(0, 0, 0.36, 0.15),
  rod(
    [
      [0.25, -0.05],
      [0.42, -0.35],
      [0.52, -0.28],
    ],
    [0.1, 0.08, 0.05],
  ),
  ...[-0.28, -0.14, 0.16, 0.29].map((x) =>
    rod(
      [
        [x, 0.05],
        [x + 0.06, 0.45],
      ],
      [0.05, 0.04],
    ),
  ),
);
export const crown = polygon([
  [-0.35, 0.25],
  [-0.45, -0.3],
  [-0.2, -0.02],
  [0, -0.4],
  [0.2, -0.02],
  [0.45, -0.3],
  [0.35, 0.25],
]);
