import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toSJtsk, toWgs84 } from '../../../src/finds/place/geometry.ts';

describe('projecting between WGS 84 and S-JTSK', () => {
  test.each([
    [14.42, 50.08, -743011.72, -1043823.18],
    [14.0667, 50.0333, -768785.47, -1045458.6],
  ])('%d %d equals the result of PROJ, to the centimetre', (lon, lat, x, y) => {
    const [projectedX, projectedY] = toSJtsk([lon, lat]);
    expect(projectedX.toFixed(2)).toBe(x.toFixed(2));
    expect(projectedY.toFixed(2)).toBe(y.toFixed(2));
  });

  // These pairs come from records, and no seven parameters meet them together with those above:
  // best fit, 0.37 m.
  test.each([
    [13.2311182, 49.9914407, -828708.49, -1041287.69],
    [16.7494989, 49.2941092, -586746.29, -1150904.89],
    [15.1700002, 49.84, -693174.81, -1077354.27],
  ])('the record at %d %d is reproduced within 1.2 m', (lon, lat, x, y) => {
    const [projectedX, projectedY] = toSJtsk([lon, lat]);
    expect(Math.hypot(projectedX - x, projectedY - y)).toBeLessThan(1.2);
  });

  test.each([toSJtsk, toWgs84])(
    'a number that is too long for a coordinate is converted to no place',
    (convert) => {
      expect(convert([Number('9'.repeat(400)), 50])).toEqual([NaN, NaN]);
    },
  );

  test('a point anywhere in Czechia survives a round trip within two millimetres', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 12, max: 19, noNaN: true }),
        fc.double({ min: 48.5, max: 51.1, noNaN: true }),
        (lon, lat) => {
          const [backLon, backLat] = toWgs84(toSJtsk([lon, lat]));
          expect(Math.abs(backLon - lon) * 72_000).toBeLessThan(0.002);
          expect(Math.abs(backLat - lat) * 111_200).toBeLessThan(0.002);
        },
      ),
    );
  });
});
