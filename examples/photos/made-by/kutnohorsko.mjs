/** The photographed finds of project C-202400101, as outlines and relief in centimetres. */
import {
  arc,
  BRONZE,
  CERAMIC,
  coinRelief,
  crown,
  head,
  IRON,
  noises,
  SILVER,
  STONE,
  wave,
} from './materials.mjs';
import {
  circle,
  ellipse,
  half,
  inside,
  polygon,
  ring,
  rod,
  union,
  without,
  worn,
} from './shapes.mjs';

export const KUTNOHORSKO = [
  {
    file: 'KH24-001.jpg',
    colour: CERAMIC,
    pixelsPerCm: 52,
    roughness: 0.8,
    edgeCm: 0.25,
    shape: worn(
      polygon([
        [-3.6, -2.4],
        [3.4, -2.6],
        [3.7, 0.4],
        [1.6, 2.6],
        [-0.6, 1.9],
        [-2.8, 2.7],
        [-3.9, 0.3],
      ]),
      noises[1],
      0.5,
    ),
    relief: (x, y) =>
      (y < -1.4 ? 0.2 * Math.abs(wave(x * 0.42)) : 0) + (Math.abs(y + 1.3) < 0.1 ? -0.08 : 0),
  },
  {
    file: 'KH24-003.png',
    colour: [166, 122, 90],
    pixelsPerCm: 62,
    roughness: 0.5,
    shape: worn(without(circle(0, 0, 1.7), circle(0.05, 0, 0.36)), noises[2], 0.12),
  },
  {
    file: 'KH24-004.jpg',
    colour: SILVER,
    pixelsPerCm: 130,
    shine: 0.5,
    roughness: 0.5,
    edgeCm: 0.08,
    shape: worn(circle(0, 0, 1.05), noises[3], 0.16, 3),
    relief: coinRelief(1.05, 3, head),
  },
  {
    file: 'KH24-007.jpg',
    colour: STONE,
    pixelsPerCm: 34,
    roughness: 0.4,
    edgeCm: 0.9,
    shape: worn(
      rod(
        [
          [-5.5, 0.2],
          [0, 0],
          [5.6, -0.1],
        ],
        [1.3, 1.7, 1.1],
      ),
      noises[4],
      0.2,
      1,
    ),
    relief: (x) => (x > 4.6 ? -(x - 4.6) * 0.3 : 0),
  },
  {
    file: 'KH24-007-rub.jpg',
    colour: [118, 124, 114],
    pixelsPerCm: 34,
    roughness: 0.6,
    edgeCm: 0.25,
    shape: worn(
      rod(
        [
          [-5.6, -0.1],
          [0, 0],
          [5.5, 0.2],
        ],
        [1.1, 1.7, 1.3],
      ),
      noises[4],
      0.2,
      1,
    ),
  },
  {
    file: 'KH24-008.png',
    colour: BRONZE,
    pixelsPerCm: 42,
    shine: 0.3,
    roughness: 0.5,
    edgeCm: 0.3,
    shape: rod(
      arc(0, 0, 3, 2.5, 105, 435, 30),
      arc(0, 0, 1, 1, 105, 435, 30).map((_, i) => (i < 2 || i > 28 ? 0.42 : 0.3)),
    ),
    relief: (x, y) => (wave(Math.atan2(y, x) * 1.1) > 0 ? 0.05 * wave(Math.atan2(y, x) * 9) : 0),
  },
  {
    file: 'KH24-010.jpg',
    colour: IRON,
    pixelsPerCm: 33,
    roughness: 1.1,
    edgeCm: 0.3,
    shape: worn(
      union(
        polygon([
          [-2.4, -0.9],
          [5.2, -0.8],
          [6.6, -0.2],
          [4.6, 0.7],
          [-2.4, 0.8],
        ]),
        rod(
          [
            [-2.4, -0.2],
            [-4.6, -0.3],
            [-5.9, 0.9],
          ],
          [0.5, 0.3, 0.15],
        ),
      ),
      noises[5],
      0.5,
      1.6,
    ),
    relief: (x, y) => (Math.hypot(x - 0.4, y + 0.1) < 0.3 ? -0.1 : 0),
  },
  {
    file: 'KH24-011.png',
    colour: BRONZE,
    pixelsPerCm: 70,
    shine: 0.3,
    roughness: 0.6,
    edgeCm: 0.2,
    shape: union(
      without(ellipse(0, 0, 2.1, 1.6), ellipse(0.1, 0, 1.55, 1.05)),
      rod(
        [
          [-1.9, 0],
          [1.95, 0.1],
        ],
        [0.2, 0.13],
      ),
      rod(
        [
          [-1.85, -1.1],
          [-1.85, 1.1],
        ],
        [0.2, 0.2],
      ),
    ),
  },
  {
    file: 'KH24-013.jpg',
    colour: [150, 150, 146],
    pixelsPerCm: 105,
    shine: 0.45,
    roughness: 0.5,
    edgeCm: 0.07,
    shape: worn(inside(circle(0, 0, 1.4), half(-0.55, 0, 25)), noises[6], 0.14, 3),
    relief: coinRelief(1.4, 6, crown),
  },
  {
    file: 'KH24-014.jpg',
    colour: BRONZE,
    pixelsPerCm: 62,
    shine: 0.3,
    roughness: 0.6,
    edgeCm: 0.2,
    shape: worn(
      union(
        rod(
          arc(-0.2, 0.6, 2.2, 1.7, 180, 360),
          arc(0, 0, 1, 1, 180, 360).map(([x]) => 0.34 - 0.14 * Math.abs(x)),
        ),
        rod(
          [
            [2, 0.6],
            [2.7, 1.1],
            [1.5, 1.2],
          ],
          [0.2, 0.2, 0.14],
        ),
        circle(1.35, 0.85, 0.34),
        ...[-0.45, -0.15, 0.15, 0.45].map((z) => ring(-2.35 + z * 0.5, 0.75 + z, 0.3, 0.12)),
      ),
      noises[7],
      0.06,
      4,
    ),
  },
  {
    file: 'KH24-015.png',
    colour: [38, 76, 156],
    pixelsPerCm: 88,
    shine: 0.8,
    roughness: 0.15,
    edgeCm: 0.5,
    shape: union(
      without(circle(-0.75, 0, 1.15), circle(-0.75, 0, 0.4)),
      inside(without(circle(1.4, 0.3, 0.95), circle(1.4, 0.3, 0.35)), half(1.2, 0.2, -30)),
    ),
    paint: (x, y) =>
      Math.abs(Math.hypot(x + 0.75, y) - 0.8 - 0.1 * wave(Math.atan2(y, x + 0.75) * 1.114)) < 0.07
        ? [225, 226, 220]
        : undefined,
  },
];
