import { expect, test } from 'vitest';
import { findDayDoubt } from '../../../src/finds/parse-cell.ts';

const TODAY = '2024-11-20';

test.each([
  ['a year in a cell of dates', '1905-06-27', 'the year 2005'],
  ['a day in the future', '2042-06-01', 'in the future'],
  ['a day later this year', '2024-12-01', 'in the future'],
  ['a year without a digit', '0204-06-01', 'long ago, unlike other finds'],
])('%s is doubted, with the likely cause', (_, day, says) => {
  expect(String(findDayDoubt(day, TODAY))).toContain(says);
});

test.each([
  ['today', TODAY],
  ['a day ninety years ago', '1936-05-01'],
  ['a day twenty years ago', '2004-10-16'],
])('%s is not doubted', (_, day) => {
  expect(findDayDoubt(day, TODAY)).toBeUndefined();
});
