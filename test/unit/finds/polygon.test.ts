import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInPolygon, parsePolygon } from '../../../src/finds/place/areas.ts';

const SQUARE_WITH_HOLE =
  'POLYGON ((14 50, 15 50, 15 51, 14 51, 14 50), (14.4 50.4, 14.6 50.4, 14.6 50.6, 14.4 50.6, 14.4 50.4))';
const TWO_SQUARES =
  'MULTIPOLYGON (((14 50, 15 50, 15 51, 14 51, 14 50)), ((16 50, 17 50, 17 51, 16 51, 16 50)))';

describe('reading polygons', () => {
  test('a polygon has its rings and their bounding box', () => {
    const polygon = parsePolygon(SQUARE_WITH_HOLE);
    expect(polygon.rings.map((ring) => ring.length)).toEqual([5, 5]);
    expect(polygon.box).toEqual({ minX: 14, minY: 50, maxX: 15, maxY: 51 });
  });

  test('letter case and spaces do not matter', () => {
    const polygon = parsePolygon('  polygon((14 50,15 50,15 51,14 50))\n');
    expect(polygon.rings[0]?.flat()).toEqual([14, 50, 15, 50, 15, 51, 14, 50]);
  });

  test.each([
    ['POINT (14 50)', 'not a POLYGON'],
    ['POLYGON EMPTY', 'not a POLYGON'],
    ['POLYGON ((14 50, 15 50, 15 51, 14 50)', 'not a POLYGON'],
    ['POLYGON (((14 50, 15 50, 15 51, 14 50)))', 'not a POLYGON'],
    ['MULTIPOLYGON ((14 50, 15 50, 15 51, 14 50))', 'not a POLYGON'],
    ['POLYGON ((14 50, 15 50, 15 51, 14 51))', 'not closed'],
    ['POLYGON ((14 50, 15 50, 14 50))', 'four points'],
    ['POLYGON ((14 50, 15 x, 15 51, 14 50))', 'not a point'],
    ['POLYGON ((14 50 1, 15 50 1, 15 51 1, 14 50 1))', 'not a point'],
    ['POLYGON ((14 50, 15 50, 15 51, 14 50) and (14 50, 15 50, 15 51, 14 50))', 'not a POLYGON'],
  ])('%s is refused', (wkt, reason) => {
    expect(() => parsePolygon(wkt)).toThrow(reason);
  });

  test.each(['polygon', '', 'polygon ('])(
    'a million blanks after "%s" are refused in linear time',
    (beginning) => {
      expect(() => parsePolygon(`${beginning}${' '.repeat(1_000_000)}x`)).toThrow('not a POLYGON');
    },
  );
});

describe('a point in a polygon', () => {
  test.each([
    [14.2, 50.2, true],
    [14.5, 50.5, false],
    [14.4, 50.5, true],
    [14, 50, true],
    [14, 50.5, true],
    [13.999999, 50.5, false],
    [14.5, 51.000001, false],
    [14.2, 50.4, true],
    [13, 50.6, false],
  ])('at %d %d with a hole: %s', (lon, lat, expected) => {
    expect(isInPolygon(parsePolygon(SQUARE_WITH_HOLE), lon, lat)).toBe(expected);
  });

  test('is inside any part of a multipolygon, but not in the gap between them', () => {
    const polygon = parsePolygon(TWO_SQUARES);
    expect([14.5, 15.5, 16.5].map((lon) => isInPolygon(polygon, lon, 50.5))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('agrees with the half-planes of a triangle', () => {
    const coordinate = fc.integer({ min: -50, max: 50 });
    const corner = fc.tuple(coordinate, coordinate);
    fc.assert(
      fc.property(corner, corner, corner, corner, (a, b, c, [x, y]) => {
        const sides = [side(a, b, x, y), side(b, c, x, y), side(c, a, x, y)];
        fc.pre(side(a, b, ...c) !== 0);
        const expected = sides.every((value) => value >= 0) || sides.every((value) => value <= 0);
        const ring = [a, b, c, a].map((point) => point.join(' ')).join(', ');
        expect(isInPolygon(parsePolygon(`POLYGON ((${ring}))`), x, y)).toBe(expected);
      }),
    );
  });
});

function side(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  x: number,
  y: number,
): number {
  return (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1);
}
