import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeBoxAround } from '../../../src/finds/place/areas.ts';
import { toSJtsk } from '../../../src/finds/place/geometry.ts';
import {
  groupOverlappingFinds,
  MAP,
  makeMapFrame,
  planMapSheets,
  roundDownToStep,
} from '../../../src/report/map.ts';
import type { MappedFind } from '../../../src/report/report-model.ts';

const lonLat = fc.tuple(
  fc.double({ min: 12, max: 19, noNaN: true }),
  fc.double({ min: 48.5, max: 51.1, noNaN: true }),
);

function findAt(number: number, wgs84: readonly [number, number]): MappedFind {
  return {
    number,
    localId: `K-${number}`,
    state: 'queued',
    area: undefined,
    place: { wgs84, sJtsk: toSJtsk(wgs84), measuredIn: '4326' },
  };
}

describe('a map’s frame', () => {
  test('contains all of its points, north up and east to the right', () => {
    fc.assert(
      fc.property(
        fc.array(lonLat, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('overview', 'detail'),
        (points, kind) => {
          const frame = makeMapFrame(makeBoxAround(points), kind as 'overview' | 'detail');
          for (const point of points) {
            const [x, y] = frame.place(point);
            expect(x).toBeGreaterThanOrEqual(0);
            expect(x).toBeLessThanOrEqual(MAP.width);
            expect(y).toBeGreaterThanOrEqual(0);
            expect(y).toBeLessThanOrEqual(MAP.height);
          }
          const west = frame.place([frame.box.minX, 50]);
          const east = frame.place([frame.box.maxX, 50]);
          expect(west[0]).toBeLessThan(east[0]);
          expect(frame.place([15, frame.box.maxY])[1]).toBeLessThan(
            frame.place([15, frame.box.minY])[1],
          );
        },
      ),
    );
  });

  test('has the printed scale, to a thousandth', () => {
    const frame = makeMapFrame({ minX: 15.1, minY: 49.8, maxX: 15.2, maxY: 49.86 }, 'detail');
    const a = toSJtsk([15.15, 49.83]);
    const b = toSJtsk([15.16, 49.83]);
    const units = frame.place([15.16, 49.83])[0] - frame.place([15.15, 49.83])[0];
    expect((units * frame.metresPerUnit) / Math.hypot(a[0] - b[0], a[1] - b[1])).toBeCloseTo(1, 3);
  });
});

test('a step is 1, 2 or 5 with zeros, and no more than requested', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (most) => {
      const step = roundDownToStep(most);
      expect(step).toBeLessThanOrEqual(most * (1 + 1e-6));
      expect(step * 2.5).toBeGreaterThanOrEqual(most * (1 - 1e-6));
      expect(Number(step.toExponential(6).slice(0, 8))).toBeOneOf([1, 2, 5]);
    }),
  );
});

test('groups contain every find once, and separate distant ones', () => {
  fc.assert(
    fc.property(fc.array(lonLat, { minLength: 1, maxLength: 80 }), (places) => {
      const finds = places.map((place, index) => findAt(index, place));
      const frame = makeMapFrame(makeBoxAround(places), 'overview');
      const groups = groupOverlappingFinds(finds, frame, 'detail');
      expect(
        groups.flatMap(({ members }) => members.map(({ number }) => number)).sort((a, b) => a - b),
      ).toEqual([...finds.keys()]);
      for (const { members, reach } of groups) {
        const [first = [0, 0], ...others] = members.map(({ place }) => frame.place(place.wgs84));
        for (const [x, y] of others)
          expect(Math.hypot(x - first[0], y - first[1])).toBeLessThan(15);
        expect(reach).toBeLessThan(30);
      }
    }),
  );
});

test('ten thousand finds make no more groups than fit a map', () => {
  const places = Array.from(
    { length: 10_000 },
    (_, index) =>
      [12 + ((index * 7919) % 700) / 100, 48.6 + ((index * 104_729) % 500) / 200] as const,
  );
  const finds = places.map((place, index) => findAt(index, place));
  const frame = makeMapFrame(makeBoxAround(places), 'overview');
  expect(groupOverlappingFinds(finds, frame, 'overview').length).toBeLessThan(1000);
});

test('two hundred thousand finds of one place are one group', () => {
  const finds = Array.from({ length: 200_000 }, (_, index) => findAt(index, [15.17, 49.84]));
  const frame = makeMapFrame(makeBoxAround([[15.17, 49.84]]), 'detail');
  expect(
    groupOverlappingFinds(finds, frame, 'detail').map(({ members }) => members.length),
  ).toEqual([200_000]);
});

describe('sheets', () => {
  test('are an overview and one for each place with finds, the largest first', () => {
    const finds = [
      findAt(1, [16.75, 49.29]),
      findAt(2, [15.17, 49.84]),
      findAt(3, [15.172, 49.841]),
      findAt(4, [15.18, 49.85]),
    ];
    const sheets = planMapSheets(finds);
    expect(
      sheets.map(({ kind, finds: members }) => [kind, members.map(({ number }) => number)]),
    ).toEqual([
      ['overview', [1, 2, 3, 4]],
      ['detail', [2, 3, 4]],
      ['detail', [1]],
    ]);
  });

  test('are empty without finds, and at most nine for finds all over the country', () => {
    expect(planMapSheets([])).toEqual([]);
    const scattered = Array.from({ length: 300 }, (_, index) =>
      findAt(index + 1, [12.5 + (index % 20) * 0.3, 48.7 + Math.floor(index / 20) * 0.15]),
    );
    expect(planMapSheets(scattered).length).toBe(9);
  });
});
