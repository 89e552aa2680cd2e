import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findRangeProblem,
  formatPoint,
  parseDecimal,
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
    ['POINT EMPTY', 'is an empty point'],
    ['SRID=4326;POINT (14.42 50.08)', 'begins with an SRID'],
    ['POINT (14.42)', 'only one coordinate'],
    ['POINT (14.42 50.08 300)', 'more than two coordinates'],
    ['POINT Z (14.42 50.08 300)', 'more than two coordinates'],
    ['POINT M (14.42 50.08)', 'more than two coordinates'],
    ['POINT (14,42 50,08)', '"14,42", which is not a plain decimal'],
    ['POINT (1.442e1 50.08)', '"1.442e1", which is not a plain decimal'],
    ['POINT (+14.42 50.08)', '"+14.42", which is not a plain decimal'],
    ['POINT (.5 50.08)', '".5", which is not a plain decimal'],
    ['POINT (5. 50.08)', '"5.", which is not a plain decimal'],
    ['MULTIPOINT ((14.42 50.08))', 'is not a point'],
    ['LINESTRING (14 50, 15 51)', 'is not a point'],
    ['14.42 50.08', 'is not a point in WKT'],
    ['POINT (14.42\t50.08)', 'contains a tab, a line break or a no-break space'],
    ['POINT (14.42\u00a050.08)', 'contains a tab, a line break or a no-break space'],
    ['POINT\n(14.42 50.08)', 'contains a tab, a line break or a no-break space'],
  ])('%s %s', (wkt, problem) => {
    expect(getProblem(parsePoint(wkt))).toContain(problem);
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
    expect(parseDecimal(cell)).toEqual({ value });
  });

  test.each([
    ['50°04\'48"', 'decimal degrees'],
    ['1.4E+01', 'scientific notation'],
    ['743.011,72', 'several separators'],
    ['1,043,823.18', 'several separators'],
    ['14 4208', 'several separators'],
    ['sever', 'not a number'],
    ['.5', 'not a number'],
  ])('%s is not read', (cell, advice) => {
    expect(getProblem(parseDecimal(cell))).toContain(advice);
  });
});

describe('a point that cannot be converted is explained', () => {
  test.each([
    ['4326', 50.08, 14.42, 'axes swapped: longitude first'],
    ['4326', 0, 0, 'while it has no position'],
    ['4326', -743011.72, -1043823.18, 'the coordinate system is 5514'],
    ['4326', 1043823.18, 743011.72, 'the coordinate system is 5514'],
    ['4326', -74, 40.7, 'far outside the country'],
    ['5514', -1043823.18, -743011.72, 'axes swapped: x first'],
    ['5514', 743011.72, 1043823.18, 'smaller number first: -743011.72 -1043823.18'],
    ['5514', 1043823.18, 743011.72, 'smaller number first: -743011.72 -1043823.18'],
    ['5514', 14.42, 50.08, 'the coordinate system is 4326'],
    ['5514', 50.08, 14.42, 'the coordinate system is 4326'],
    ['5514', 0, 0, 'while it has no position'],
    ['5514', 458000, 5550000, 'is UTM, which pas does not read'],
    ['4326', 5550000, 458000, 'is UTM, which pas does not read'],
    ['5514', 1, 2, 'far outside the country'],
    ['5514', -743.011, -1043.823, 'Write all digits together: -743011 -1043823'],
    ['5514', 743.011, 1043.823, 'Write all digits together: 743011 1043823'],
    ['4326', -743.011, -1043.823, 'Write all digits together: -743011 -1043823'],
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
