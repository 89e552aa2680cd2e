import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isRealDate,
  parseBoolean,
  parseDateCell,
  parseDepth,
  parseGeomSystem,
  parseTargetState,
} from '../../../src/finds/parse-cell.ts';

const getProblem = (reading: object): string =>
  'problem' in reading ? String(reading.problem) : 'none';

describe('dates', () => {
  test.each([
    ['2024-06-17', '2024-06-17'],
    ['17. 6. 2024', '2024-06-17'],
    ['17.6.2024', '2024-06-17'],
    ['03.04.2024', '2024-04-03'],
    ['29. 2. 2024', '2024-02-29'],
    ['1. 6. 2024 0:00', '2024-06-01'],
    ['2024-06-17 00:00:00', '2024-06-17'],
    ['3. VI. 2024', '2024-06-03'],
    ['3.XII.2024', '2024-12-03'],
    ['3. června 2024', '2024-06-03'],
    ['14. července 2024', '2024-07-14'],
    ['3. leden 2024', '2024-01-03'],
    ['2024-6-7', '2024-06-07'],
  ])('%s is %s', (cell, value) => {
    expect(parseDateCell(cell)).toEqual({ value });
  });

  test.each([
    ['03/04/2024', 'is no single day in a known form'],
    ['25/04/2024', 'is no single day in a known form'],
    ['04-25-2024', 'is no single day in a known form'],
    ['31. 2. 2024', 'does not exist in the calendar'],
    ['2023-02-29', 'does not exist in the calendar'],
    ['2024-06-17T10:00:00', 'is no single day in a known form'],
    ['17. 6. 2024 14:30', 'is no single day in a known form'],
    ['17. 6. 24', 'is no single day in a known form'],
    ['45460', 'is no single day in a known form'],
    ['červen 2024', 'is no single day in a known form'],
    ['VI/2024', 'is no single day in a known form'],
    ['6/2024', 'is no single day in a known form'],
    ['2024-06', 'is no single day in a known form'],
    ['čvn-24', 'is no single day in a known form'],
    ['2024', 'is no single day in a known form'],
    ['1.–3. 6. 2024', 'is no single day in a known form'],
    ['30. 5. - 2. 6. 2024', 'is no single day in a known form'],
    ['1. 6. 2024 – 3. 6. 2024', 'is no single day in a known form'],
    ['3. led. 2024', 'Write YYYY-MM-DD'],
    ['3 June 2024', 'Write YYYY-MM-DD'],
    ['3. brambor 2024', 'Write YYYY-MM-DD'],
    ['31. června 2024', 'does not exist in the calendar'],
    ['13/2024', 'Write YYYY-MM-DD'],
    ['06052024', 'is no single day in a known form'],
    ['99991231', 'is no single day in a known form'],
  ])('%s is not read, and the message gives the format', (cell, advice) => {
    expect(getProblem(parseDateCell(cell))).toContain(advice);
  });

  test('every calendar day is read in both formats', () => {
    const days = fc.date({
      min: new Date('1700-01-01'),
      max: new Date('2100-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(days, (day) => {
        const iso = day.toISOString().slice(0, 10);
        expect(parseDateCell(iso)).toEqual({ value: iso });
        expect(
          parseDateCell(`${day.getUTCDate()}. ${day.getUTCMonth() + 1}. ${day.getUTCFullYear()}`),
        ).toEqual({ value: iso });
        expect(isRealDate(iso)).toBe(true);
      }),
    );
  });
});

describe('depths', () => {
  test.each([
    ['25', 25],
    ['0', 0],
    ['025', 25],
    ['25,0', 25],
    ['25.00', 25],
    ['-5', -5],
    ['0,000', 0],
    ['1000,000', 1000],
    ['25,0000', 25],
    ['25 cm', 25],
    ['2 M', 200],
    ['0.29 m', 29],
    ['1,250 m', 125],
    ['350mm', 35],
    ['3 dm.', 30],
  ])('%s is %d', (cell, value) => {
    expect(parseDepth(cell)).toEqual({ value });
  });

  test.each([
    ['1,000', '1 cm or 1000 cm'],
    ['-1.000', '-1 cm or -1000 cm'],
    ['1,500', '1.5 cm or 1500 cm'],
    ['1.250 mm', '1.25 mm or 1250 mm'],
  ])('%s is ambiguous, and both readings are given', (cell, readings) => {
    expect(getProblem(parseDepth(cell))).toContain(`Write ${readings}.`);
  });

  test.each([
    ['12,5', 'whole centimetres. Write 12 cm or 13 cm.'],
    ['0,500', 'whole centimetres'],
    ['0.285 m', 'Write 28 cm or 29 cm.'],
    ['35 mm', 'Write 3 cm or 4 cm.'],
    ['0x19', '25 cm'],
    ['1e2', '25 cm'],
    ['0,3–0,5 m', '25 cm'],
    ['9'.repeat(20), '25 cm'],
  ])('%s is not read', (cell, advice) => {
    expect(getProblem(parseDepth(cell))).toContain(advice);
  });
});

test.each([
  ['ano', true],
  ['ANO', true],
  ['yes', true],
  ['True', true],
  ['1', true],
  ['ne', false],
  ['No', false],
  ['false', false],
  ['0', false],
])('%s means %s', (cell, value) => {
  expect(parseBoolean(cell)).toEqual({ value });
});

test('a third answer to a yes-no question is refused', () => {
  expect(getProblem(parseBoolean('možná'))).toContain('ano or ne');
});

test('a target state is 1, 2 or 3; 4 is explained', () => {
  expect(['1', '2', '3'].map(parseTargetState)).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
  expect(getProblem(parseTargetState('4'))).toContain('an import can reach');
  expect(getProblem(parseTargetState('potvrzeno'))).toContain('1 (registered)');
});

describe('coordinate systems', () => {
  test.each([
    ['4326', '4326'],
    ['EPSG:4326', '4326'],
    ['WGS84', '4326'],
    ['wgs 84', '4326'],
    ['5514', '5514'],
    ['epsg:5514', '5514'],
    ['S-JTSK', '5514'],
    ['sjtsk', '5514'],
    ['S-JTSK / Krovak East North', '5514'],
    ['Křovák', '5514'],
    ['urn:ogc:def:crs:EPSG::5514', '5514'],
    ['urn:ogc:def:crs:EPSG:9.9.1:4326', '4326'],
    ['http://www.opengis.net/def/crs/EPSG/0/4326', '4326'],
    ['EPSG:5514 - S-JTSK / Krovak East North', '5514'],
    ['WGS 84 (EPSG:4326)', '4326'],
    ['OGC:CRS84', '4326'],
  ])('%s is %s', (cell, value) => {
    expect(parseGeomSystem(cell)).toEqual({ value });
  });

  test('others are refused', () => {
    expect(getProblem(parseGeomSystem('EPSG:4326 / EPSG:5514'))).toContain(
      'is not a known coordinate system',
    );
    expect(getProblem(parseGeomSystem('32633'))).toBe(
      '"32633" is not a known coordinate system. Write 4326 (WGS 84) or 5514 (S-JTSK).',
    );
  });
});
