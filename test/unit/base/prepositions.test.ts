import { expect, test } from 'vitest';
import { withPrepositions } from '../../../src/base/language.ts';

/** `s #` of a number → as it is said. */
const formatWith = (text: string, value: string): string =>
  withPrepositions(text.replace('#', ['$', '{0}'].join('')), [value]).replace(/\$\{0\}/, value);

test.each([
  [1, 's 1', 'v 1'],
  [2, 'se 2', 've 2'],
  [3, 'se 3', 've 3'],
  [4, 'se 4', 've 4'],
  [5, 's 5', 'v 5'],
  [6, 'se 6', 'v 6'],
  [7, 'se 7', 'v 7'],
  [8, 's 8', 'v 8'],
  [0, 's 0', 'v 0'],
  [10, 's 10', 'v 10'],
  [11, 's 11', 'v 11'],
  [14, 'se 14', 've 14'],
  [17, 'se 17', 'v 17'],
  [19, 's 19', 'v 19'],
  [30, 'se 30', 've 30'],
  [45, 'se 45', 've 45'],
  [58, 's 58', 'v 58'],
  [76, 'se 76', 'v 76'],
  [100, 'se 100', 've 100'],
  [199, 'se 199', 've 199'],
  [300, 'se 300', 've 300'],
  [1000, 's 1000', 'v 1000'],
  [2000, 'se 2000', 've 2000'],
  [7001, 'se 7001', 'v 7001'],
  [100_000, 'se 100000', 've 100000'],
  [1_000_000, 's 1000000', 'v 1000000'],
])('%i gets the preposition of its pronunciation: %s, %s', (count, withIt, inIt) => {
  expect(formatWith('s #', String(count))).toBe(withIt);
  expect(formatWith('v #', String(count))).toBe(inIt);
  expect(formatWith('Z #', String(count))).toBe(withIt.replace('s', 'Z'));
  expect(formatWith('(k #', String(count))).toBe(inIt.replace('v', '(k'));
});

test('only a number changes a preposition, and no other word is one', () => {
  expect(formatWith('z #', '7 nálezů')).toBe('ze 7 nálezů');
  for (const place of ['127.0.0.1:8099', '7.csv', '3D-model', '/tmp/x', 'K-7'])
    expect(formatWith('z #', place)).toBe(`z ${place}`);
  expect(formatWith('zařadí se #', '8')).toBe('zařadí se 8');
  expect(formatWith('kus #', '7')).toBe('kus 7');
});
