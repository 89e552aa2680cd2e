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
  [7, 'se 7', 'v 7'],
  [0, 's 0', 'v 0'],
  [14, 'se 14', 've 14'],
  [76, 'se 76', 'v 76'],
  [100, 'se 100', 've 100'],
  [199, 'se 199', 've 199'],
  [300, 'se 300', 've 300'],
  [1000, 's 1000', 'v 1000'],
  [100_000, 'se 100000', 've 100000'],
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
