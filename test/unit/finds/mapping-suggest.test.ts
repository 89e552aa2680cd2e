import { describe, expect, test } from 'vitest';
import { searchTerms } from '../../../src/finds/vocabulary/search.ts';
import type { TermDraft } from '../../../src/finds/vocabulary/term.ts';
import { aTerm, fill, tempVocabulary } from '../../support/temp-vocabulary.ts';

const OBJECTS: readonly TermDraft[] = [
  aTerm('HES-000001', 'spona', { labelEn: 'brooch' }),
  aTerm('HES-000002', 'zlomek nádoby', { labelEn: 'vessel sherd' }),
  aTerm('HES-000003', 'nádoba', { labelEn: 'vessel' }),
  aTerm('HES-000004', 'nůž', { labelEn: 'knife' }),
  aTerm('HES-000005', 'kování opasku', { labelEn: 'belt fitting' }),
  aTerm('HES-000006', 'kování', { labelEn: 'fitting' }),
  aTerm('HES-000007', 'sekeromlat', { labelEn: 'shaft-hole axe' }),
  aTerm('HES-000008', 'dláto', { labelEn: 'chisel' }),
  aTerm('HES-000009', 'hrot šípu', { labelEn: 'arrowhead', abbreviation: 'HŠ' }),
  aTerm('HES-000010', 'hřebík', { labelEn: 'nail' }),
];

function suggested(own: string, drafts: readonly TermDraft[] = OBJECTS) {
  using store = tempVocabulary();
  const hits = searchTerms(fill(store, ...drafts), own, {
    setSpec: 'heslo:predmet_druh',
    limit: 5,
  });
  return hits.map(({ term, score }) => ({ label: term.label, score }));
}

describe('a form of a Czech word finds it', () => {
  test.each([
    ['nádoba', 'nádoby', 'nádobu', 'nádobami', 'nádob', 'nádobka'],
    ['nůž', 'nože', 'noži'],
    ['opasek', 'opasku', 'opaskem'],
    ['hrnec', 'hrnce', 'hrnců'],
    ['laténská', 'laténské', 'laténského'],
    ['bronz', 'bronzový'],
    ['kost', 'kostěný'],
  ])('%s', (word, ...forms) => {
    const draft = aTerm('HES-000001', word);
    expect(forms.map((form) => suggested(form, [draft])[0]?.label)).toEqual(forms.map(() => word));
  });
});

describe('a museum’s term finds its entry', () => {
  test.each([
    ['the name itself', 'spona', 'spona'],
    ['without accents, in capitals', 'NUZ', 'nůž'],
    ['the English name', 'brooch', 'spona'],
    ['the entry’s own abbreviation', 'HŠ', 'hrot šípu'],
    ['another form', 'nože', 'nůž'],
    ['a diminutive', 'nádobka', 'nádoba'],
    ['a typing error', 'spnoa', 'spona'],
    ['two words written as one', 'zlomeknadoby', 'zlomek nádoby'],
    ['an abbreviation of the trade', 'zl. nádoby', 'zlomek nádoby'],
    ['a word cut off', 'hřeb.', 'hřebík'],
    ['another word for it', 'fibula', 'spona'],
    ['words in another order', 'opasek - kování', 'kování opasku'],
    ['a part of a compound', 'mlat', 'sekeromlat'],
    ['words written apart', 'sekero mlat', 'sekeromlat'],
    ['a material that no entry names', 'spona bronzová', 'spona'],
    ['a remark in brackets', 'nůž (zlomek)', 'nůž'],
  ])('%s', (_, own, label) => {
    const [first] = suggested(own);
    expect(first).toMatchObject({ label });
    expect(first?.score).toBeGreaterThan(0.2);
    expect(first?.score).toBeLessThanOrEqual(1);
  });

  test('an abbreviation is not penalised as mistyped words', () => {
    expect(suggested('zl. nádoby')[0]?.label).toBe('zlomek nádoby');
  });

  test('the closer entry comes first', () => {
    expect(suggested('kování opasku, zlacené').map(({ label }) => label)).toEqual([
      'kování opasku',
      'kování',
    ]);
    expect(suggested('kování')[0]).toMatchObject({ label: 'kování', score: 1 });
  });

  test.each(['mazanice', '???', '', '. . .', '123'])('nothing is proposed for "%s"', (own) => {
    expect(suggested(own)).toEqual([]);
  });

  test('deleted entries are not proposed', () => {
    expect(suggested('spona', [])).toEqual([]);
  });
});

test('a term of many thousand letters is answered at once', () => {
  expect(suggested('o'.repeat(20_000))).toEqual([]);
  expect(suggested('zl. '.repeat(5000))[0]?.label).toBe('zlomek nádoby');
});
