import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findRangeProblem,
  formatPoint,
  parseCoordinateNumber,
  parsePoint,
  parseWrittenPoint,
} from '../../../src/finds/place/geometry.ts';

const getProblem = (reading: object): string =>
  'problem' in reading ? String(reading.problem) : 'none';
const decimal = fc
  .tuple(
    fc.boolean(),
    fc.integer({ min: 0, max: 2_000_000 }),
    fc.option(fc.stringMatching(/^\d{1,9}$/)),
  )
  .map(
    ([negative, whole, fraction]) =>
      `${negative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`,
  );

describe('well-known text of a point', () => {
  test('is returned as it was written, digit by digit', () => {
    fc.assert(
      fc.property(decimal, decimal, (x, y) => {
        expect(parsePoint(formatPoint({ x, y }))).toEqual({ value: { x, y } });
      }),
    );
  });

  test.each(['POINT(14.42 50.08)', 'point (14.42 50.08)', '  Point ( 14.42   50.08 ) '])(
    '%s is read',
    (wkt) => {
      expect(parsePoint(wkt)).toEqual({ value: { x: '14.42', y: '50.08' } });
    },
  );

  test.each([
    'POINT EMPTY',
    'SRID=4326;POINT (14.42 50.08)',
    'POINT (14.42)',
    'POINT (14.42 50.08 300)',
    'POINT Z (14.42 50.08 300)',
    'POINT M (14.42 50.08)',
    'POINT (14,42 50,08)',
    'POINT (1.442e1 50.08)',
    'POINT (+14.42 50.08)',
    'POINT (.5 50.08)',
    'POINT (5. 50.08)',
    'MULTIPOINT ((14.42 50.08))',
    'LINESTRING (14 50, 15 51)',
    '14.42 50.08',
    'POINT (14.42\t50.08)',
    'POINT (14.42\u00a050.08)',
    'POINT\n(14.42 50.08)',
  ])('%j is no point', (wkt) => {
    expect(getProblem(parsePoint(wkt))).toContain('is not a point');
  });

  test('in a cell may have any white space, which is not sent', () => {
    expect(parseWrittenPoint(' POINT\u00a0(14.42\t50.08\n)')).toEqual({
      value: { x: '14.42', y: '50.08' },
    });
  });
});

describe('decimal numbers in everyday notation', () => {
  test.each([
    ['14.4208', '14.4208'],
    ['14,4208', '14.4208'],
    ['+14.4208', '14.4208'],
    ['\u2212743011,72', '-743011.72'],
    ['-743 011,72', '-743011.72'],
    ['-1\u00a0043\u202f823,18', '-1043823.18'],
    ['-743011.720', '-743011.720'],
  ])('%s is %s', (cell, value) => {
    expect(parseCoordinateNumber(cell)).toEqual({ value });
  });

  test.each(['50°04\'48"', '1.4E+01', '743.011,72', '1,043,823.18', '14 4208', 'sever', '.5'])(
    '%s is not read',
    (cell) => {
      expect(getProblem(parseCoordinateNumber(cell))).toContain('is not a plain number');
    },
  );
});

describe('a point that cannot be converted is explained', () => {
  test.each([
    ['4326', 50.08, 14.42, 'has its axes swapped. It may be 14.42 50.08 in the system 4326'],
    ['4326', 0, 0, 'while it has no position'],
    [
      '4326',
      -743011.72,
      -1043823.18,
      'is in the other coordinate system. It may be -743011.72 -1043823.18 in the system 5514',
    ],
    ['4326', 1043823.18, 743011.72, 'It may be -743011.72 -1043823.18 in the system 5514'],
    ['4326', -74, 40.7, 'far outside the country'],
    ['5514', -1043823.18, -743011.72, 'has its axes swapped'],
    ['5514', 743011.72, 1043823.18, 'has a wrong sign. It may be -743011.72'],
    ['5514', 1043823.18, 743011.72, 'swapped and a wrong sign'],
    ['5514', 14.42, 50.08, 'It may be 14.42 50.08 in the system 4326'],
    ['5514', 50.08, 14.42, 'It may be 14.42 50.08 in the system 4326'],
    ['5514', 0, 0, 'while it has no position'],
    ['5514', 458000, 5550000, 'lies far outside the country'],
    ['5514', 1, 2, 'far outside the country'],
    ['5514', -743.011, -1043.823, 'lies far outside the country'],
  ] as const)('%s %d %d: %s', (system, x, y, message) => {
    expect(String(findRangeProblem(system, x, y))).toContain(message);
  });

  test.each([
    ['4326', 14.42, 50.08],
    ['4326', 5, 40],
    ['4326', 25, 60],
    ['5514', -743011.72, -1043823.18],
    ['5514', -905000, -1230000],
    ['5514', -400000, -930000],
  ] as const)('%s %d %d is accepted', (system, x, y) => {
    expect(findRangeProblem(system, x, y)).toBeUndefined();
  });
});
