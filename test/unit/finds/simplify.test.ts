import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clipRing, simplifyRing } from '../../../src/finds/place/areas.ts';

type Point = readonly [number, number];

const ring = (...points: readonly Point[]): Point[] => [...points, points[0] ?? [0, 0]];

function distance([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): number {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const squared = dx * dx + dy * dy;
  const along =
    squared === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / squared));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

const coordinate = fc.double({ min: -1000, max: 1000, noNaN: true });
const anyRing = fc
  .array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 60 })
  .map((points) => ring(...points));

describe('a simplified ring', () => {
  test('stays closed, keeps some of its own points in order, and all others are within the tolerance', () => {
    fc.assert(
      fc.property(anyRing, fc.double({ min: 0.01, max: 200, noNaN: true }), (line, tolerance) => {
        const simple = simplifyRing(line, tolerance);
        if (simple === undefined) return;
        const kept = simple;
        const all = line;
        expect(kept.at(-1)).toEqual(kept[0]);
        let at = 0;
        for (const point of kept) {
          at = all.findIndex(
            (each, index) => index >= at && each[0] === point[0] && each[1] === point[1],
          );
          expect(at).toBeGreaterThanOrEqual(0);
        }
        for (const point of all) {
          const nearest = Math.min(
            ...kept.slice(1).map((to, index) => distance(point, kept[index] ?? to, to)),
          );
          expect(nearest).toBeLessThanOrEqual(tolerance * (1 + 1e-9) + 1e-9);
        }
      }),
    );
  });

  test('loses points on a straight line, and is empty if nothing would be visible', () => {
    const square = ring([0, 0], [5, 0], [10, 0], [10, 5], [10, 10], [0, 10]);
    expect(simplifyRing(square, 0.1)).toEqual(ring([0, 0], [10, 0], [10, 10], [0, 10]));
    expect(simplifyRing(square, 100)).toBeUndefined();
  });
});

describe('a ring clipped to a box', () => {
  const box = { minX: 0, minY: 0, maxX: 100, maxY: 100 };

  test('lies in the box', () => {
    fc.assert(
      fc.property(anyRing, (line) => {
        for (const [x, y] of clipRing(line, box)) {
          expect(Math.min(x, y)).toBeGreaterThanOrEqual(-1e-6);
          expect(Math.max(x, y)).toBeLessThanOrEqual(100 + 1e-6);
        }
      }),
    );
  });

  test('is itself if inside, empty if outside, and the common part across the edge', () => {
    const inside = ring([10, 10], [20, 10], [20, 20]);
    expect(clipRing(inside, box).length).toBe(4);
    expect(clipRing(ring([200, 0], [300, 0], [300, 50]), box).length).toBe(0);
    const half = clipRing(ring([50, 20], [150, 20], [150, 40], [50, 40]), box);
    expect(new Set(half.map(String))).toEqual(new Set(['50,20', '100,20', '100,40', '50,40']));
  });
});
