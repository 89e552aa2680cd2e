import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isReadable } from '../../../src/base/issue.ts';
import { findRangeProblem, toSJtsk } from '../../../src/finds/place/geometry.ts';
import { formatPosition, parsePosition } from '../../../src/finds/place/read-position.ts';

/**
 * Value read, shortened: `14.42 50.08`, followed by `?` where it has to be confirmed; otherwise the
 * rule.
 */
function read(text: string): string {
  const reading = parsePosition(text);
  if (!isReadable(reading)) return reading.rule;
  const { system, point, doubt } = reading.value;
  return `${system === '5514' ? 'S-JTSK ' : ''}${point.x} ${point.y}${doubt === undefined ? '' : ' ?'}`;
}

describe('a position is read', () => {
  test.each([
    ['14.4208 50.0871', '14.4208 50.0871'],
    ['14,4208; 50,0871', '14.4208 50.0871'],
    ['14,4208 50,0871', '14.4208 50.0871'],
    ['50.0871N, 14.4208E', '14.4208 50.0871'],
    ['N 50.0871 E 14.4208', '14.4208 50.0871'],
    ['Loc: 50.0871N 14.4208E', '14.4208 50.0871'],
    ['lat 50.0871 lon 14.4208', '14.4208 50.0871'],
    [`50°4'48.1"N 14°25'12"E`, '14.42 50.0800278'],
    [`50°4'48,1"N, 14°25'12"E`, '14.42 50.0800278'],
    [`50°04′48.1″ N, 014°25′12″ E`, '14.42 50.0800278'],
    [`50°4'48.1''N 14°25'12''E`, '14.42 50.0800278'],
    [`N50°4'48.1" E14°25'12"`, '14.42 50.0800278'],
    [`14°25'12"E 50°4'48.1"N`, '14.42 50.0800278'],
    ['50 4 48 N 14 25 12 E', '14.42 50.08'],
    ['50 4 48 N 14 25 12', '14.42 50.08'],
    ['49 N 16 E', '16 49'],
    ['16 49', '16 49'],
    [`50° 4,8' s. š., 14° 25,2' v. d.`, '14.42 50.08'],
    [`50°4′48″ s.š. 14°25′12″ v.d.`, '14.42 50.08'],
    [`50°05.226'N, 014°25.248'E`, '14.4208 50.0871'],
    [`50°4'48" severní šířky, 14°25'12" východní délky`, '14.42 50.08'],
    ['šířka: 50.0871, délka: 14.4208', '14.4208 50.0871'],
    ['50.0871 nördl. Breite, 14.4208 östl. Länge', '14.4208 50.0871'],
    ['50,0871 N 14,4208 O', '14.4208 50.0871'],
    ['North 50.0871 East 14.4208', '14.4208 50.0871'],
    ['50.0871 s. 14.4208 v.', '14.4208 50.0871'],
    ['50.0871 S 14.4208 V', '14.4208 50.0871'],
    ['14.4208 v 50.0871 s', '14.4208 50.0871'],
    [`50 deg 4' 48.00" N, 14 deg 25' 12.00" E`, '14.42 50.08'],
    [`50°4´48´´N 14°25´12´´E`, '14.42 50.08'],
    [`50°4´48´´ NBr. 14°25´12´´ ÖL`, '14.42 50.08'],
    [`50.0°4.0'48.0"N 14.0°25.0'12.0"E`, '14.42 50.08'],
    ['lng: 14.4208, lat: 50.0871', '14.4208 50.0871'],
    ['50.0871 lat, 14.4208 lon', '14.4208 50.0871'],
    ['WGS-84: 50.0871N 14.4208E', '14.4208 50.0871'],
    ['S-JTSK x -743011.7 y -1043265.5', 'S-JTSK -743011.7 -1043265.5'],
    ['POINT (14.4208 50.0871)', '14.4208 50.0871'],
    ['-743011.72 -1043265.5', 'S-JTSK -743011.72 -1043265.5'],
    ['−743011,72; −1043265,5', 'S-JTSK -743011.72 -1043265.5'],
    ['-743 011,72 -1 043 265,5', 'S-JTSK -743011.72 -1043265.5'],
    ['EPSG:5514 -743011.72, -1043265.5', 'S-JTSK -743011.72 -1043265.5'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe('a position that is only plausible in another reading is read so, and must be confirmed', () => {
  test.each([
    ['50.0871, 14.4208', '14.4208 50.0871 ?', 'axes swapped'],
    ['50,0871 14,4208', '14.4208 50.0871 ?', 'axes swapped'],
    ['50 4 48 14 25 12', '14.42 50.08 ?', 'axes swapped'],
    ['50.1E 14.4N', '14.4 50.1 ?', 'axes swapped'],
    ['50.0871S 14.4208E', '14.4208 50.0871 ?', 'a wrong sign'],
    ['-14.4208 50.0871', '14.4208 50.0871 ?', 'a wrong sign'],
    ['50.0871 S 14.4208 W', '14.4208 50.0871 ?', 'a wrong sign'],
    ['50.0871 J 14.4208 V', '14.4208 50.0871 ?', 'a wrong sign'],
    ['-50.0871 S 14.4208 E', '14.4208 50.0871 ?', 'a wrong sign'],
    ['50.0871 -14.4208', '14.4208 50.0871 ?', 'wrong sign'],
    ['743011.72 1043265.5', 'S-JTSK -743011.72 -1043265.5 ?', 'a wrong sign'],
    ['1043265.5 743011.72', 'S-JTSK -743011.72 -1043265.5 ?', 'a wrong sign'],
    ['X: 1 043 265,5 Y: 743 011,72', 'S-JTSK -743011.72 -1043265.5 ?', 'a wrong sign'],
    ['743011,1043265', 'S-JTSK -743011 -1043265 ?', 'a wrong sign'],
    ['POINT (50.0871 14.4208)', '14.4208 50.0871 ?', 'axes swapped'],
  ])('%s', (text, expected, doubt) => {
    expect(read(text)).toBe(expected);
    expect(JSON.stringify(parsePosition(text))).toContain(doubt);
  });
});

describe('a position is refused', () => {
  test.each([
    ['50 4 48 N', 'is not a position'],
    ['50.0871', 'is not a position'],
    ['14,42', 'is not a position'],
    ['50.1N 14.4N', 'is not a position'],
    ['50 60 48 N 14 25 12 E', 'is not a position'],
    ['50.5 4 N 14.5 3 E', 'is not a position'],
    [`50"4'3° N 14 E`, 'is not a position'],
    ['0 0', 'while it has no position'],
    ['50.0871 14.4208 50.0872 14.4209', 'is not a position'],
    ['14.4208,50.0871,312', 'is not a position'],
    ['33U 458000 5548000', 'is not a position'],
    ['33N 458000 5548000', 'is not a position'],
    ['UTM 33N 458000 5548000', 'is not a position'],
    ['33UVR5800048000', 'is not a position'],
    ['458000 5548000', 'far outside the country'],
    ['48.8584 2.2945', 'far outside the country'],
    ['behind the mill', 'is not a position'],
    ['50.0871N 14.4208E 35', 'is not a position'],
    ['1 2 3 4 5 6 7 8', 'is not a position'],
    ['POINT (14.4 50.1 300)', 'is not a point'],
    ['', 'is not a position'],
  ])('%s', (text, reason) => {
    const reading = parsePosition(text);
    expect(isReadable(reading)).toBe(false);
    expect(JSON.stringify(reading)).toContain(reason);
  });
});

const longitude = fc.integer({ min: 12_100_000, max: 18_800_000 }).map((number) => number / 1e6);
const latitude = fc.integer({ min: 48_600_000, max: 51_000_000 }).map((number) => number / 1e6);

type Writing = (degrees: number) => string;

const inMinutes: Writing = (value) => `${Math.floor(value)}° ${((value % 1) * 60).toFixed(6)}'`;
const inSeconds: Writing = (value) => {
  const seconds = Math.round(value * 3600 * 1e4) / 1e4;
  return `${Math.floor(seconds / 3600)}°${Math.floor((seconds % 3600) / 60)}'${(seconds % 60).toFixed(4)}"`;
};
const withoutMarks: Writing = (value) => inSeconds(value).replace(/[°'"]/g, ' ').trim();
const decimal: Writing = (value) => value.toFixed(6);

test('all notations of a place read as the same place', () => {
  fc.assert(
    fc.property(
      longitude,
      latitude,
      fc.constantFrom(inMinutes, inSeconds, withoutMarks, decimal),
      fc.constantFrom(['N', 'E'], [' N', ' E'], [' s. š.', ' v. d.']),
      fc.constantFrom(' ', ', ', '; '),
      fc.boolean(),
      fc.boolean(),
      (lon, lat, write, [north, east], between, isLatitudeFirst, hasComma) => {
        const parts = [`${write(lat)}${north}`, `${write(lon)}${east}`];
        const text = (isLatitudeFirst ? parts : parts.reverse()).join(between);
        const reading = parsePosition(
          hasComma ? text.replaceAll('.', ',').replace(/(s|v), (š|d),/g, '$1. $2.') : text,
        );
        if (!isReadable(reading)) throw new Error(String(reading.problem));
        expect(Number(reading.value.point.x)).toBeCloseTo(lon, 6);
        expect(Number(reading.value.point.y)).toBeCloseTo(lat, 6);
        expect(reading.value.doubt).toBeUndefined();
      },
    ),
  );
});

test('S-JTSK in any order and with any signs reads as the same place', () => {
  fc.assert(
    fc.property(
      longitude,
      latitude,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      (lon, lat, isSwapped, isXPositive, isYPositive) => {
        const [x = '', y = ''] = toSJtsk([lon, lat]).map((value) => value.toFixed(2));
        fc.pre(findRangeProblem('5514', Number(x), Number(y)) === undefined);
        const pair = [isXPositive ? x.slice(1) : x, isYPositive ? y.slice(1) : y];
        const reading = parsePosition((isSwapped ? pair.reverse() : pair).join(' '));
        if (!isReadable(reading)) throw new Error(String(reading.problem));
        expect(reading.value).toMatchObject({ system: '5514', point: { x, y } });
        expect(reading.value.doubt === undefined).toBe(!isSwapped && !isXPositive && !isYPositive);
      },
    ),
  );
});

test('any input is a place that the service can convert, or the error is explained', () => {
  const pieces = fc.constantFrom(
    '50',
    '14',
    '4',
    '48.1',
    '743011',
    '1043265,5',
    '-',
    '°',
    "'",
    '"',
    'N',
    'E',
    'S',
    ' ',
    ',',
    ';',
    's. š.',
    'x',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      ),
      (text) => {
        const reading = parsePosition(text);
        if (!isReadable(reading)) expect(String(reading.problem).length).toBeGreaterThan(10);
        else {
          const { system, point } = reading.value;
          expect(findRangeProblem(system, Number(point.x), Number(point.y))).toBeUndefined();
          expect(formatPosition(reading.value)).not.toBe('');
        }
      },
    ),
  );
});
