import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitTrigrams } from '../../../src/base/names.ts';
import { findSimilarWords } from '../../../src/finds/vocabulary/search.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { aTerm, fill, tempVocabulary } from '../../support/temp-vocabulary.ts';

const syllable = fc.constantFrom('spo', 'na', 'ko', 'le', 'mis', 'ka', 'pas', 'kru', 'hy');
const word = fc
  .array(syllable, { minLength: 1, maxLength: 4 })
  .map((syllables) => syllables.join(''));

test('the words with the most common grams are found, as by a comparison with each word of the vocabulary', () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 150 }),
      word,
      fc.integer({ min: 1, max: 20 }),
      (words, typed, most) => {
        using store = tempVocabulary();
        const vocabulary = fill(
          store,
          ...words.map((text, index) => aTerm(`HES-${index}`, text, { labelEn: null })),
        );
        const grams = new Set(splitTrigrams(typed));
        const expected = (
          vocabulary.sql('select id, text from words order by id desc').all() as {
            id: number;
            text: string;
          }[]
        )
          .map((stored) => ({
            stored,
            shared: splitTrigrams(stored.text).filter((gram) => grams.has(gram)).length,
          }))
          .filter(({ shared }) => shared > 0)
          .sort((a, b) => b.shared - a.shared)
          .slice(0, most)
          .map(({ stored }) => stored);
        expect(findSimilarWords(vocabulary, typed, most)).toEqual(expected);
      },
    ),
    SLOW_RUNS,
  );
});

test('long lists are skipped without a change of the result', () => {
  using store = tempVocabulary();
  const otherNames = Array.from({ length: 900 }, (_, n) => `b${n}na`);
  const vocabulary = fill(store, aTerm('HES-1', 'spona'), aTerm('HES-2', otherNames.join(' ')));
  expect(findSimilarWords(vocabulary, 'spona', 1).map(({ text }) => text)).toEqual(['spona']);
  expect(findSimilarWords(vocabulary, 'sponka', 1).map(({ text }) => text)).toEqual(['spona']);
});

test('a word with no common gram is similar to none', () => {
  using store = tempVocabulary();
  expect(findSimilarWords(fill(store, aTerm('HES-1', 'spona')), 'xyz', 5)).toEqual([]);
  using empty = tempVocabulary();
  expect(findSimilarWords(fill(empty), 'spona', 5)).toEqual([]);
});
