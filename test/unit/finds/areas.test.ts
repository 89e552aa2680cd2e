import { describe, expect, test } from 'vitest';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import { makeAreaLookup } from '../../../src/finds/vocabulary/term-lookup.ts';
import { storeTerm, storeTombstone } from '../../../src/finds/vocabulary/terms.ts';
import { aTerm, fill, markHarvested, tempVocabulary } from '../../support/temp-vocabulary.ts';

const square = (west: number, south: number, east: number, north: number): string =>
  `POLYGON ((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))`;

const area = (ident: string, label: string, boundary: string, setSpec = 'ruian_katastr') =>
  aTerm(ident, label, { setSpec, boundary });

const harvested = (vocabulary: Vocabulary): Vocabulary =>
  markHarvested(vocabulary, 'ruian_katastr');

function threeAreas(store: ReturnType<typeof tempVocabulary>): Vocabulary {
  return harvested(
    fill(
      store,
      area('ruian-600001', 'západ', square(14, 50, 14.1, 50.1)),
      // An L whose box covers the notch, and an area that fills it.
      area(
        'ruian-600002',
        'roh',
        'POLYGON ((14.1 50, 14.3 50, 14.3 50.2, 14.2 50.2, 14.2 50.1, 14.1 50.1, 14.1 50))',
      ),
      area('ruian-600003', 'výřez', square(14.1, 50.1, 14.2, 50.2)),
      area('ruian-0001', 'okres', square(13, 49, 16, 51), 'ruian_okres'),
    ),
  );
}

describe('the cadastral area of a point', () => {
  test.each([
    [14.05, 50.05, 'západ'],
    [14.15, 50.05, 'roh'],
    [14.25, 50.15, 'roh'],
    [14.15, 50.15, 'výřez'],
  ])('at %f %f is %s', (longitude, latitude, label) => {
    using store = tempVocabulary();
    expect(makeAreaLookup(threeAreas(store))(longitude, latitude)).toMatchObject({
      kind: 'inside',
      area: { label },
    });
  });

  test('is none outside of all of them', () => {
    using store = tempVocabulary();
    expect(makeAreaLookup(threeAreas(store))(13.99998, 50.05)).toEqual({ kind: 'outside' });
  });

  test('is never "outside" before the areas were harvested', () => {
    using store = tempVocabulary();
    const vocabulary = fill(store, area('ruian-600001', 'západ', square(14, 50, 14.1, 50.1)));
    const lookup = makeAreaLookup(vocabulary);
    expect([lookup(14.05, 50.05).kind, lookup(15, 50).kind]).toEqual(['inside', 'not-harvested']);
  });

  test('changes with a new boundary, and a deleted area contains nothing', () => {
    using store = tempVocabulary();
    const vocabulary = threeAreas(store);
    vocabulary.change(() => {
      storeTerm(
        vocabulary,
        area('ruian-600001', 'západ', square(12, 50, 12.1, 50.1)),
        Date.UTC(2026, 0),
      );
      storeTombstone(vocabulary, {
        ident: 'ruian-600003',
        setSpec: 'ruian_katastr',
        goneAtMs: Date.UTC(2026, 0),
        why: 'deleted',
      });
    });
    const lookup = makeAreaLookup(vocabulary);
    expect([
      lookup(14.05, 50.05).kind,
      lookup(12.05, 50.05).kind,
      lookup(14.15, 50.15).kind,
    ]).toEqual(['outside', 'inside', 'outside']);
  });

  test('an unreadable boundary leaves the term without one', () => {
    using store = tempVocabulary();
    const vocabulary = fill(store, area('ruian-600001', 'západ', 'POLYGON ((14 50'));
    expect(makeAreaLookup(harvested(vocabulary))(14, 50).kind).toBe('outside');
  });
});
