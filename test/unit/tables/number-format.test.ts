import { describe, expect, test } from 'vitest';
import { parseNumberFormat } from '../../../src/tables/number-format.ts';

/** 1 June 2024. */
const DAY = 45_444;

describe('a number format shows', () => {
  test.each([
    ['00000', 12, '00012'],
    ['0.00', 12.1, '12.10'],
    ['0.00', 1.005, '1.01'],
    ['0.0', -0.25, '-0.3'],
    ['0', 0.5, '1'],
    ['#,##0.00', 1234.5, '1234.50'],
    ['0.##', 12.5, '12.5'],
    ['0%', 0.5, '50%'],
    ['0,', 12_345, '12'],
    ['', 12.5, '12.5'],
    ['General', 0.1 + 0.2, '0.3'],
    ['@', 12, ''],
    ['0.00E+00', 123_456_789_012, '1.23E+11'],
    ['# ?/?', 1.5, '1 1/2'],
    ['# ??/??', 0.25, '1/4'],
    ['# ?/8', 0.375, '3/8'],
    ['0000"/"00', 123_456, '1234/56'],
    ['000\\-000', 1234, '001-234'],
    ['"A "0', 12, 'A 12'],
    ['[$Kč-405] 0.0', 2, 'Kč 2.0'],
    ['#,##0 "Kč";[Red]-#,##0 "Kč"', -1200, '-1200 Kč'],
    ['0;(0)', -3, '(3)'],
    ['0;-0;"nic"', 0, 'nic'],
    ['[<10]0.0;0', 5, '5.0'],
    ['[<10]0.0;0', 50, '50'],
    ['[>=100]"mnoho";[>=10]"dost";0', 7, '7'],
    ['_(* #,##0_)', 12, '12'],
  ])('%s of %s as %s', (code, value, shown) => {
    const format = parseNumberFormat(code);
    expect(format.show(value)).toBe(shown === '' ? String(value) : shown);
    expect([format.isDate, format.isTime]).toEqual([false, false]);
  });

  test.each([
    ['yyyymmdd', '20240601', true],
    ['d. m. yyyy', '1. 6. 2024', true],
    ['dd/mm/yy', '01/06/24', true],
    ['[$-405]d. mmmm yyyy;@', '1. červen 2024', true],
    ['[$-409]dddd, mmmm dd, yyyy', 'Saturday, June 01, 2024', true],
    ['[$-407]d. mmm yy', '1. Jun 24', true],
    ['b1d.m.yyyy', '1.6.2024', true],
    ['yyyy\\-mm\\-dd\\ hh:mm', '2024-06-01 12:00', true],
    ['mmm-yy', 'čvn-24', false],
    ['yyyy', '2024', false],
    ['d.m.', '1.6.', false],
    ['ddd d.m.', 'so 1.6.', false],
    ['mmmmm yyyy', 'č 2024', false],
  ])('%s as %s, a whole day or none', (code, shown, isWholeDay) => {
    const format = parseNumberFormat(code);
    expect(format.show(DAY + (code.includes('hh') ? 0.5 : 0))).toBe(shown);
    expect([format.isDate, format.isWholeDay]).toEqual([true, isWholeDay]);
  });

  test.each([
    ['h:mm', 0.4375, '10:30'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['[h]:mm', 1.5, '36:00'],
    ['mm:ss', 0.5 / 24, '30:00'],
    ['mm:ss.0', 0.5 / 86_400, '00:00.5'],
  ])('the time of %s, which is not a day', (code, value, shown) => {
    const format = parseNumberFormat(code);
    expect(format.show(value)).toBe(shown);
    expect([format.isDate, format.isTime]).toEqual([false, true]);
  });

  test('nothing in an unsupported calendar', () => {
    expect(parseNumberFormat('d.m.rrrr').show(DAY)).toBeUndefined();
    expect(parseNumberFormat('gge').show(DAY)).toBeUndefined();
  });
});
