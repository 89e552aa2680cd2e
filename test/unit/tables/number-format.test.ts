import { describe, expect, test } from 'vitest';
import { formatSerialDay, parseNumberFormat } from '../../../src/tables/formats/sheet-table.ts';

/** 1 June 2024. */
const DAY = 45_444;

describe('a number format shows', () => {
  test.each([
    ['00000', 12, '00012'],
    ['#,##0.00', 1234.5, '1234.50'],
    ['[$€-407] #,##0.00', 1234.5, '€ 1234.50'],
    ['0%', 0.5, '50%'],
    ['General" cm"', 12, '12 cm'],
    ['_(* #,##0_)', 12, '12'],
    ['[>=100]"mnoho";[>=10]"dost";0', 7, '7'],
    ['General', 12, undefined],
    ['', 12, undefined],
    ['@', 12, undefined],
    ['0.0"', 12, undefined],
    [`${'0'.repeat(300)}`, 12, undefined],
  ])('%s of %s as %s', (code, value, shown) => {
    const format = parseNumberFormat(code);
    expect(format.show(value)).toBe(shown);
    expect(format.isDate).toBe(false);
  });

  test.each([
    ['d. m. yyyy', '1. 6. 2024', true],
    ['[$-405]d. mmmm yyyy;@', '1. června 2024', true],
    ['[$-409]mmmm dd, yyyy', 'June 01, 2024', true],
    ['yyyy\\-mm\\-dd\\ hh:mm', '2024-06-01 12:00', true],
    ['mmm-yy', 'VI-24', false],
    ['d.m.', '1.6.', false],
  ])('%s as %s, a whole day or none', (code, shown, isWholeDay) => {
    const format = parseNumberFormat(code);
    expect(format.show(DAY + (code.includes('hh') ? 0.5 : 0))).toBe(shown);
    expect([format.isDate, format.isWholeDay]).toEqual([true, isWholeDay]);
  });

  test.each([
    ['h:mm', 0.4375, '10:30'],
    ['[h]:mm', 1.5, '36:00'],
    ['mm:ss', 0.5 / 24, '30:00'],
  ])('the time of %s, which is not a day', (code, value, shown) => {
    const format = parseNumberFormat(code);
    expect(format.show(value)).toBe(shown);
    expect(format.isDate).toBe(false);
  });
});

test.each([
  [DAY + 0.5, '2024-06-01'],
  [DAY - 1e-10, '2024-06-01'],
  [15, '1900-01-15'],
  [0, undefined],
  [-1, undefined],
  [10_000_000, undefined],
])('the serial number %d is the day %s', (days, day) => {
  expect(formatSerialDay(days)).toBe(day);
});
