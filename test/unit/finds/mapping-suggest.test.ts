import { describe, expect, test } from 'vitest';
import {
  getWordRoot,
  getWordStem,
  makeTermSuggester,
} from '../../../src/finds/vocabulary/suggest.ts';
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
  return makeTermSuggester(fill(store, ...drafts), 'heslo:predmet_druh')(own, 5).map(
    ({ term, score, why }) => ({
      label: term.label,
      score,
      why: why.join('; '),
    }),
  );
}

describe('forms of a Czech word', () => {
  test.each([
    ['nádoba', 'nádoby', 'nádobu', 'nádobami', 'nádob'],
    ['nůž', 'nože', 'noži', 'nožů'],
    ['opasek', 'opasku', 'opaskem'],
    ['hrnec', 'hrnce', 'hrnců'],
    ['laténská', 'laténské', 'laténského', 'laténskou'],
  ])('%s: they share its stem', (word, ...forms) => {
    expect(forms.map(getWordStem)).toEqual(forms.map(() => getWordStem(word)));
  });

  test.each([
    ['nádoba', 'nádobka'],
    ['bronz', 'bronzový'],
    ['kost', 'kostěný'],
    ['kniha', 'knižní'],
    ['lahev', 'lahvička'],
    ['stavba', 'stavební'],
  ])('%s and %s are related', (one, other) => {
    expect(getWordRoot(other)).toBe(getWordRoot(one));
  });

  test.each([
    ['spona', 'sekera'],
    ['kov', 'kování'],
    ['mísa', 'mince'],
  ])('%s and %s are not', (one, other) => {
    expect(getWordRoot(other)).not.toBe(getWordRoot(one));
  });
});

describe('a museum’s term finds its entry, with the reason', () => {
  test.each([
    ['the name itself', 'spona', 'spona', 'spona ~ spona'],
    ['without accents, in capitals', 'NUZ', 'nůž', 'NUZ ~ nůž'],
    ['the English name', 'brooch', 'spona', 'brooch ~ brooch'],
    ['the entry’s own abbreviation', 'HŠ', 'hrot šípu', 'HŠ ~ HŠ'],
    ['another form', 'nože', 'nůž', 'nože ~ nůž'],
    ['a diminutive', 'nádobka', 'nádoba', 'nádobka ~ nádoba'],
    ['a typing error', 'spnoa', 'spona', 'spnoa ~ spona'],
    ['an error across words', 'zlomeknadoby', 'zlomek nádoby', 'zlomeknadoby ~ zlomek nádoby'],
    ['an abbreviation of the trade', 'zl. nádoby', 'zlomek nádoby', 'zl ~ zlomek'],
    ['a word cut off', 'hřeb.', 'hřebík', 'hřeb ~ hřebík'],
    ['another word for it', 'fibula', 'spona', 'fibula ~ spona'],
    ['words in another order', 'opasek - kování', 'kování opasku', 'opasek ~ opasku'],
    ['a part of a compound', 'mlat', 'sekeromlat', 'mlat ~ sekeromlat'],
    ['words written apart', 'sekero mlat', 'sekeromlat', 'sekero mlat ~ sekeromlat'],
    ['a material that no entry names', 'spona bronzová', 'spona', 'bronzová ~ ?'],
    ['a remark in brackets', 'nůž (zlomek)', 'nůž', 'nůž ~ nůž'],
  ])('%s', (_, own, label, why) => {
    const [first] = suggested(own);
    expect(first).toMatchObject({ label, why: expect.stringContaining(why) });
    expect(first?.score).toBeGreaterThan(0.5);
    expect(first?.score).toBeLessThanOrEqual(1);
  });

  test('missing words are reported as well', () => {
    expect(suggested('hrot')[0]?.why).toBe('hrot ~ hrot; ? ~ šípu');
  });

  test('an abbreviation is not penalised as mistyped words', () => {
    expect(suggested('zl. nádoby').map(({ label }) => label)).toEqual(['zlomek nádoby', 'nádoba']);
  });

  test('the closer entry comes first', () => {
    expect(suggested('kování opasku, zlacené').map(({ label }) => label)).toEqual([
      'kování opasku',
      'kování',
    ]);
    expect(suggested('kování')[0]).toMatchObject({ label: 'kování', score: 1 });
  });

  test.each(['mazanice', '???', '', '. . .', 'a', '123'])('nothing is proposed for "%s"', (own) => {
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
