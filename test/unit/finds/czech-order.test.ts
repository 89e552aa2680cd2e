import { expect, test } from 'vitest';
import { listInferiors, listTermsOfSet } from '../../../src/finds/vocabulary/terms.ts';
import { aTerm, fill, tempVocabulary } from '../../support/temp-vocabulary.ts';

const NAMES = [
  'Zeman',
  'Čapek',
  'Chalupa',
  'Hora',
  'Říha',
  'Šimek',
  'Suk',
  'Cyril',
  'Rada',
  'Žák',
  'Novák',
];
const IN_ORDER = [
  'Cyril',
  'Čapek',
  'Hora',
  'Chalupa',
  'Novák',
  'Rada',
  'Říha',
  'Suk',
  'Šimek',
  'Zeman',
  'Žák',
];

test('people are in the order of the Czech alphabet', () => {
  using store = tempVocabulary();
  const vocabulary = fill(
    store,
    ...NAMES.map((name, index) => aTerm(`OS-00000${index}`, name, { setSpec: 'osoba' })),
  );
  expect(listTermsOfSet(vocabulary, 'osoba').map(({ label }) => label)).toEqual(IN_ORDER);
});

test('terms with an order of their own keep it, and those without are alphabetical', () => {
  using store = tempVocabulary();
  const vocabulary = fill(
    store,
    aTerm('HES-000001', 'Žebrák', { sortOrder: 1 }),
    aTerm('HES-000002', 'ahoj', { sortOrder: 3 }),
    aTerm('HES-000003', 'čepel', { sortOrder: 2 }),
    aTerm('HES-000004', 'cep', { sortOrder: 2 }),
    aTerm('HES-000005', 'dýka', { sortOrder: 2 }),
  );
  expect(listTermsOfSet(vocabulary, 'heslo').map(({ label }) => label)).toEqual([
    'Žebrák',
    'cep',
    'čepel',
    'dýka',
    'ahoj',
  ]);
});

test('entries below an entry are alphabetical', () => {
  using store = tempVocabulary();
  const above = { superiors: [{ ident: 'HES-000100', kind: 'nadrazene' }] };
  const vocabulary = fill(
    store,
    aTerm('HES-000100', 'šperky'),
    ...NAMES.map((name, index) => aTerm(`HES-00001${index}`, name, above)),
  );
  expect(listInferiors(vocabulary, 'HES-000100').map(({ label }) => label)).toEqual(IN_ORDER);
});
