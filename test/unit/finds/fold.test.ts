import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeEditDistance, foldForSearch, splitWords } from '../../../src/base/names.ts';

test.each([
  ['SPÓNA', 'spona'],
  ['  Příliš   ŽLUŤOUČKÝ\tkůň ', 'prilis zlutoucky kun'],
  ['Łódź', 'lodz'],
  ['Straße', 'strasse'],
  ['ﬁbula', 'fibula'],
])('%s is compared as %s', (text, folded) => {
  expect(foldForSearch(text)).toBe(folded);
});

test('words are runs of letters and digits', () => {
  expect(splitWords(foldForSearch('pravěk – doba bronzová (B 2)'))).toEqual([
    'pravek',
    'doba',
    'bronzova',
    'b',
    '2',
  ]);
});

test.each([
  ['spona', 'spona', 0],
  ['spna', 'spona', 1],
  ['psona', 'spona', 1],
  ['sponaa', 'spona', 1],
  ['zpona', 'spona', 1],
  ['nuz', 'nuzky', 2],
])('from %s to %s it is %i', (a, b, distance) => {
  expect(computeEditDistance(a, b, 3)).toBe(distance);
});

test('the distance is symmetric, and never more than the limit plus one', () => {
  const word = fc.stringMatching(/^[abc]{0,7}$/);
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, limit) => {
      const there = computeEditDistance(a, b, limit);
      expect(there).toBe(computeEditDistance(b, a, limit));
      expect(there).toBeLessThanOrEqual(limit + 1);
      expect(there === 0).toBe(a === b);
      expect(computeEditDistance(a, b, 20)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
