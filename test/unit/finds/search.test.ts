import { describe, expect, test } from 'vitest';
import { searchTerms } from '../../../src/finds/vocabulary/search.ts';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import { storeTerm, storeTombstone } from '../../../src/finds/vocabulary/terms.ts';
import { aTerm, fill, tempSource, tempVocabulary } from '../../support/temp-vocabulary.ts';

function aVocabulary(store: ReturnType<typeof tempVocabulary>): Vocabulary {
  return fill(
    store,
    aTerm('HES-000001', 'spona', { labelEn: 'brooch' }),
    aTerm('HES-000002', 'spona s esovitou patkou', { labelEn: 'brooch with an S-shaped foot' }),
    aTerm('HES-000003', 'jehlice', {
      labelEn: 'pin',
      description: 'předchůdkyně spony, spona bez zapínání',
    }),
    aTerm('HES-000004', 'nůž', { labelEn: 'knife' }),
    aTerm('HES-000005', 'nůžky', { labelEn: 'shears' }),
    aTerm('HES-000006', 'mladší doba římská', {
      labelEn: 'Late Roman Period',
      setSpec: 'heslo:obdobi',
    }),
    aTerm('HES-000007', 'doba římská', { labelEn: 'Roman Period', setSpec: 'heslo:obdobi' }),
    aTerm('HES-000008', 'mladší doba bronzová', {
      labelEn: 'Late Bronze Age',
      setSpec: 'heslo:obdobi',
    }),
    aTerm('ORG-000001', 'Muzeum města Brna', {
      otherNames: ['MMB'],
      abbreviation: 'MMB',
      setSpec: 'organizace',
    }),
    aTerm('HES-000009', 'náramek', { labelEn: 'bracelet' }),
    aTerm('HES-000010', 'kř', { labelEn: 'cr' }),
    aTerm('HES-000011', 'hrot se dvěma křidélky a s tulejí', { description: 'část šípu' }),
  );
}

function found(vocabulary: Vocabulary, typed: string, setSpec?: string): string[] {
  return searchTerms(vocabulary, typed, {
    limit: 10,
    setSpec,
  }).map(({ term }) => term.ident);
}

describe('the intended entry comes first', () => {
  test.each([
    ['as it is written', 'spona', 'HES-000001'],
    ['without case and with a strange accent', 'SPÓNA', 'HES-000001'],
    ['in English', 'brooch', 'HES-000001'],
    ['with a letter left out', 'spna', 'HES-000001'],
    ['with two letters swapped', 'psona', 'HES-000001'],
    ['with a wrong letter', 'sbona', 'HES-000001'],
    ['in another case of grammar', 'sponu', 'HES-000001'],
    ['begun only', 'spo', 'HES-000001'],
    ['without accents', 'nuz', 'HES-000004'],
    ['with two letters left out of a long word', 'narmk', 'HES-000009'],
    ['by several words in another order', 'rimska mladsi', 'HES-000006'],
    ['by several words, one mistyped', 'mladsi doba bronzva', 'HES-000008'],
    ['by a short name', 'mmb', 'ORG-000001'],
    ['by a word of two letters', 'kř', 'HES-000010'],
    ['by its description, where its label is long', 'šípu', 'HES-000011'],
    ['by an abbreviation among other words', 'mladsi dr', 'HES-000006'],
    ['by its identifier', 'HES-000003', 'HES-000003'],
  ])('%s', (_, typed, ident) => {
    using store = tempVocabulary();
    expect(found(aVocabulary(store), typed)[0]).toBe(ident);
  });
});

test('the name itself comes before longer names, and a description comes last', () => {
  using store = tempVocabulary();
  expect(found(aVocabulary(store), 'spona')).toEqual(['HES-000001', 'HES-000002']);
  expect(found(aVocabulary(store), 'doba římská')).toEqual(['HES-000007', 'HES-000006']);
  expect(found(aVocabulary(store), 'zapínání')).toEqual(['HES-000003']);
});

test('a set or a family of sets narrows the search', () => {
  using store = tempVocabulary();
  const vocabulary = aVocabulary(store);
  expect(found(vocabulary, 'muzeum', 'heslo')).toEqual([]);
  expect(found(vocabulary, 'spona', 'heslo:predmet_druh')).toHaveLength(2);
  expect(found(vocabulary, 'spona', 'heslo')).toHaveLength(2);
});

test('deleted entries are not proposed', () => {
  using store = tempVocabulary();
  const vocabulary = aVocabulary(store);
  vocabulary.change(() =>
    storeTombstone(vocabulary, {
      ident: 'HES-000001',
      setSpec: 'heslo',
      goneAtMs: Date.UTC(2026, 0),
      why: 'deleted',
    }),
  );
  expect(found(vocabulary, 'spona')).not.toContain('HES-000001');
});

test.each(['', '   ', '–', 'qqqqqqqq', '%_*"\'', 'x'.repeat(500)])(
  '"%s" finds nothing without harm',
  (typed) => {
    using store = tempVocabulary();
    expect(found(aVocabulary(store), typed)).toEqual([]);
  },
);

test('a rare word finds its term among thousands that share the others', () => {
  using vocabulary = tempSource();
  vocabulary.change(() => {
    for (let n = 10_000; n < 14_000; n++)
      storeTerm(vocabulary, aTerm(`HES-${n}`, `přezka spona ${n}`, { labelEn: `brooch ${n}` }), 1);
  });
  for (const typed of ['prezka spona 13994', 'spona 13994', '13994 brooch']) {
    expect(searchTerms(vocabulary, typed, { limit: 20 })[0]?.term.ident, typed).toBe('HES-13994');
  }
});
