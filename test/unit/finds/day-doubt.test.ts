import { expect, test } from 'vitest';
import { findDayDoubt } from '../../../src/finds/parse-cell.ts';

const USUAL = { today: '2024-11-20', areOldUsual: false };
const OLD = { ...USUAL, areOldUsual: true };

test.each([
  ['a year in a cell of dates', '1905-06-27', USUAL, 'the year 2005'],
  ['the same in a table of old finds', '1905-06-27', OLD, 'the year 2005'],
  ['a day in the future', '2042-06-01', USUAL, 'in the future'],
  ['a day later this year', '2024-12-01', USUAL, 'in the future'],
  ['a year without a digit', '0204-06-01', OLD, 'long ago, unlike other finds'],
  ['a day before 1950 among later ones', '1936-05-01', USUAL, 'long ago, unlike other finds'],
])('%s is doubted, with the likely cause', (_, day, context, says) => {
  expect(String(findDayDoubt(day, context))).toContain(says);
});

test.each([
  ['today', '2024-11-20', USUAL],
  ['an old day among old ones', '1936-05-01', OLD],
  ['a day twenty years ago', '2004-10-16', USUAL],
])('%s is not doubted', (_, day, context) => {
  expect(findDayDoubt(day, context)).toBeUndefined();
});
