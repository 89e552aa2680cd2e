import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import type { TermDraft } from '../../../src/finds/vocabulary/term.ts';
import { renderTerms } from '../../../src/tables/own-terms/map-terms.ts';
import { aTerm, fill, markHarvested, tempVocabulary } from '../../support/temp-vocabulary.ts';

const TERM = aTerm('HES-000253', 'paleolit', {
  labelEn: 'Palaeolithic',
  description: 'starší doba kamenná, "lovci"\ndruhá řádka',
  sortOrder: 10,
  details: {
    dating: { fromMin: -800000, fromMax: null, toMin: -10000, toMax: -9000, note: null },
  },
  superiors: [{ ident: 'HES-000100', kind: 'podřízenost' }],
});

describe('a table', () => {
  const rows = (...terms: TermDraft[]): Record<string, string>[] => {
    using store = tempVocabulary();
    const vocabulary = markHarvested(fill(store, ...terms), 'heslo');
    return parse(renderTerms(vocabulary, [], 'csv'), { columns: true, bom: true, delimiter: ';' });
  };

  test('contains every cell unchanged, including quotes and line breaks', () => {
    expect(rows(TERM)).toEqual([
      expect.objectContaining({
        id: 'HES-000253',
        label: 'paleolit',
        description: TERM.description,
        order: '10',
        superiors: 'HES-000100',
        year_from_min: '-800000',
        year_from_max: '',
        changed_at: '2025-01-01T00:00:00.000Z',
      }),
    ]);
  });
});
