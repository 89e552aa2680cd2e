/** The photographed finds of project M-202400202, as outlines and relief in centimetres. */
import { coinRelief, head, horse, IRON, noises, SILVER, wave } from './materials.mjs';
import { circle, ellipse, polygon, rod, union, without, worn } from './shapes.mjs';

export const KRTINSKO = [
  {
    file: 'KR24-001.jpg',
    colour: [88, 118, 96],
    pixelsPerCm: 60,
    shine: 0.3,
    roughness: 0.7,
    edgeCm: 0.25,
    shape: worn(
      union(
        rod(
          [
            [-2.6, -0.9],
            [-1.7, -1.2],
            [-0.6, -0.5],
            [1, 0.3],
            [2.9, 0.7],
          ],
          [0.75, 0.6, 0.3, 0.24, 0.3],
        ),
        ellipse(-0.5, -0.45, 0.28, 0.62),
        polygon([
          [0.9, 0.3],
          [2.9, 0.7],
          [2.6, 1.7],
          [1.4, 1.5],
        ]),
        rod(
          [
            [-2.6, -1.7],
            [-2.6, 0],
          ],
          [0.24, 0.24],
        ),
      ),
      noises[8],
      0.12,
      3,
    ),
  },
  {
    file: 'KR24-002.jpg',
    colour: [110, 116, 76],
    pixelsPerCm: 84,
    shine: 0.25,
    roughness: 0.8,
    edgeCm: 0.12,
    shape: worn(circle(0, 0, 1.65), noises[9], 0.22),
    relief: coinRelief(1.65, 9, head),
  },
  {
    file: 'KR24-005.jpg',
    colour: SILVER,
    pixelsPerCm: 110,
    shine: 0.5,
    roughness: 0.35,
    edgeCm: 0.14,
    shape: worn(ellipse(0, 0, 1.25, 1.18), noises[10], 0.12),
    relief: (x, y) => Math.min(0.1, Math.max(0, head(x / 1.5, y / 1.5) * 0.5)),
  },
  {
    file: 'KR24-005-rub.jpg',
    colour: SILVER,
    pixelsPerCm: 110,
    shine: 0.5,
    roughness: 0.35,
    edgeCm: 0.14,
    shape: worn(ellipse(0, 0, 1.22, 1.19), noises[10], 0.12),
    relief: (x, y) => Math.min(0.1, Math.max(0, horse(x / 1.6, y / 1.6) * 0.6)),
  },
  {
    file: 'KR24-007.jpg',
    colour: [196, 108, 30],
    pixelsPerCm: 110,
    shine: 0.8,
    roughness: 0.5,
    edgeCm: 0.6,
    shape: worn(without(ellipse(0, 0, 1.4, 1.15), circle(0.05, 0, 0.2)), noises[11], 0.1),
    paint: (x, y) => [
      150 + 80 * noises[12](x * 1.5, y * 1.5),
      70 + 80 * noises[12](x * 1.5, y * 1.5),
      24,
    ],
  },
  {
    file: 'KR24-009.png',
    colour: [104, 98, 92],
    pixelsPerCm: 40,
    shine: 0.35,
    roughness: 0.25,
    edgeCm: 0.5,
    shape: worn(
      polygon([
        [0, -3.2],
        [1.2, -0.9],
        [1.7, 1.6],
        [0.8, 2.6],
        [-0.9, 2.7],
        [-1.7, 1.4],
        [-1.1, -1],
      ]),
      noises[13],
      0.3,
      1.5,
    ),
    relief: (x, y) => 0.35 - 0.3 * Math.abs(x - 0.1 * y) + (y > 1.2 ? 0.12 * wave(x * 0.6) : 0),
  },
  {
    file: 'KR24-012.jpg',
    colour: [92, 132, 104],
    pixelsPerCm: 27,
    shine: 0.9,
    roughness: 0.12,
    edgeCm: 1.2,
    shape: union(
      rod(
        [
          [-3.2, 0],
          [2.8, 0],
        ],
        [2, 2],
      ),
      rod(
        [
          [2.8, 0],
          [5.2, 0],
        ],
        [1.2, 0.8],
      ),
      rod(
        [
          [5.4, -0.75],
          [5.4, 0.75],
        ],
        [0.45, 0.45],
      ),
    ),
    relief: (x, y) =>
      Math.abs(y) < 0.5 && x > -3.6 && x < 2.6 && noises[14](x * 2.4, y * 2.4) > 0.56 ? 0.1 : 0,
  },
  {
    file: 'KR24-014.jpg',
    colour: IRON,
    pixelsPerCm: 27,
    roughness: 1,
    edgeCm: 0.7,
    shape: worn(
      without(
        union(
          polygon([
            [-5, -1.5],
            [-1.5, -1.7],
            [2.5, -2],
            [6, -2.6],
            [6.4, 3.4],
            [3.4, 2.6],
            [1, 0.9],
            [-5, 1.2],
          ]),
          circle(-5, -0.1, 1.3),
        ),
        ellipse(-2.6, -0.3, 0.9, 0.65),
      ),
      noises[15],
      0.5,
      1,
    ),
  },
];
