import { describe, expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { TermLookupResult } from '../../../src/finds/find.ts';
import { checkFindByRules } from '../../../src/finds/rules.ts';
import {
  findNumberProblem,
  MAX_NUMBER_CHARACTERS,
  type RuleContext,
} from '../../../src/finds/value-rules.ts';
import { aFind, DELETED, lookupTerm, nothingHarvested } from './a-find.ts';

function said(overrides: Partial<FindElements>, context: Partial<RuleContext> = {}): string[] {
  const issues = checkFindByRules(aFind(overrides), {
    today: '2024-11-20',
    lookupTerm,
    ...context,
  });
  return issues.map(({ rule, message }) => `${rule}: ${message}`);
}

describe('a registration number', () => {
  test('has at most as many characters as the service accepts, whatever their bytes', () => {
    expect(findNumberProblem('🏺'.repeat(MAX_NUMBER_CHARACTERS))).toBeUndefined();
    expect(findNumberProblem('a'.repeat(256))).toMatchObject({ rule: 'number-length' });
    expect(String(findNumberProblem('a'.repeat(256))?.problem)).toBe(
      'The number has 256 characters; the service accepts at most 255. Shorten it.',
    );
  });

  test.each([
    ['\n', 'U+000A'],
    ['\r', 'U+000D'],
    ['\t', 'U+0009'],
  ])('is a single line, so %j is refused', (character, code) => {
    const problem = `The number contains the invisible character ${code} after "A". Remove it.`;
    expect(findNumberProblem(`A${character}1`)).toMatchObject({ rule: 'number-form' });
    expect(String(findNumberProblem(`A${character}1`)?.problem)).toBe(problem);
    expect(said({ evidencni_cislo: `A${character}1` })).toEqual([`number-form: ${problem}`]);
    // Around it they are taken away, as the service does.
    expect(said({ evidencni_cislo: ` A 1${character}` })).toEqual([]);
  });

  test('with characters that XML cannot contain has one issue', () => {
    expect(said({ evidencni_cislo: 'A\u00071' })).toEqual([
      'text-characters: evidencni_cislo contains the character U+0007, which XML does not allow. Remove it.',
    ]);
  });
});

describe('an issue about a value', () => {
  test.each<[Partial<FindElements>, string]>([
    [
      { poznamka: 'a\r\u0000' },
      'text-characters: poznamka contains the character U+0000, which XML does not allow. Remove it.',
    ],
    [
      { obdobi: { id: 'HES-000253\u0001', text: '' } },
      'text-characters: obdobi contains the character U+0001, which XML does not allow. Remove it.',
    ],
    [
      { hloubka: 1.5 },
      'depth-range: hloubka must be a whole number of centimetres below the surface, 0 to 2147483647.',
    ],
    [
      { hloubka: Number('9'.repeat(40)) },
      'depth-range: hloubka must be a whole number of centimetres below the surface, 0 to 2147483647.',
    ],
    [
      { datum_nalezu: '17.6.2024' },
      'date: "17.6.2024" is not a calendar date. Write YYYY-MM-DD, without a time or time zone.',
    ],
    [
      { datum_nalezu: '1699-12-31' },
      'date-plausible: 1699-12-31 is long ago, unlike other finds. Check the year, of which a digit may be wrong or missing.',
    ],
    [
      { datum_nalezu: '2024-11-21' },
      'date-plausible: 2024-11-21 is in the future. Check the year, or the clock of this computer.',
    ],
    [
      { obdobi: { id: 'HES-1x', text: '' } },
      'identifier-form: "HES-1x" cannot be an identifier of obdobi. Write the one that pas vocab search finds.',
    ],
    [
      { obdobi: { id: 'xHES-1', text: '' } },
      'identifier-form: "xHES-1" cannot be an identifier of obdobi. Write the one that pas vocab search finds.',
    ],
    [
      { obdobi: { id: 'HES-000691', text: 'lahev' } },
      'vocabulary: lahev (HES-000691) is an entry of Object (heslo:predmet_druh), but this element needs one of Period (heslo:obdobi). See: pas vocab list heslo:obdobi',
    ],
    [
      { obdobi: { id: DELETED.id, text: '' } },
      'vocabulary: zrušené (HES-000999) was deleted from Period (heslo:obdobi). Choose another: pas vocab search zrušené --set heslo:obdobi',
    ],
    [
      { predano_organizace: { id: 'Muzeum', text: '' } },
      'vocabulary: "Muzeum" cannot be an identifier of predano_organizace. Write the one that pas vocab search finds.',
    ],
  ])('%j', (overrides, text) => {
    const [first, ...otherNames] = said(overrides);
    expect(first).toBe(text);
    // The same element is not looked up as well, where its form is wrong.
    expect(otherNames.filter((other) => !other.startsWith('identifier-form'))).toEqual([]);
  });

  test.each(['1700-01-01', '2024-11-20', ' ', ''])('%j is accepted as a day', (datum_nalezu) => {
    expect(said({ datum_nalezu, stav: 1 })).toEqual([]);
  });

  test('blanks around an identifier of an organisation are ignored', () => {
    expect(said({ projekt: { id: ' C-202400101 ', text: '' } })).toEqual([]);
  });
});

describe('a lookup in the vocabulary reports', () => {
  const found = (lookup: TermLookupResult, text = 'paleolit') =>
    said(
      { obdobi: { id: 'HES-000253', text } },
      { lookupTerm: (set, cell) => (set === 'heslo:obdobi' ? lookup : lookupTerm(set, cell)) },
    );
  const term = (id: string, label: string) => ({ id, label, setSpec: 'heslo:obdobi' });

  test('an entry with another label', () => {
    expect(found({ kind: 'found', term: term('HES-000300', 'doba bronzová') })).toEqual([
      'vocabulary: "HES-000253" cannot be an identifier of obdobi. Write the one that pas vocab search finds.',
    ]);
  });

  test('several entries', () => {
    const candidates = [term('HES-1', 'jehla'), term('HES-2', 'jehla')];
    expect(found({ kind: 'ambiguous', candidates })).toEqual([
      'vocabulary: "HES-000253" cannot be an identifier of obdobi. Write the one that pas vocab search finds.',
    ]);
  });

  test('no entry, with similar labels, or else the command that lists all', () => {
    const nearest = [term('HES-000300', 'doba bronzová')];
    const text =
      'vocabulary: "HES-000253" is no entry of Period (heslo:obdobi). Nearest: doba bronzová (HES-000300). If it is new, run pas harvest-vocab.';
    expect(found({ kind: 'unknown', nearest })).toEqual([text]);
    const none = found({ kind: 'unknown', nearest: [] }, 'paleolit').join();
    expect(none).toContain(' To list them all: pas vocab list heslo:obdobi.');
  });

  test('a term that is mapped to no entry', () => {
    expect(
      found({
        kind: 'mapping-conflict',
        ownTerm: 'starý',
        target: 'HES-7',
        failure: { kind: 'unknown', nearest: [] },
      }),
    ).toEqual([
      'vocabulary: "starý" is mapped to HES-7, which is no entry of Period (heslo:obdobi) now. Choose another: pas vocab map set heslo:obdobi starý ID',
    ]);
  });

  test('nothing, if the vocabulary was not harvested', () => {
    expect(said({}, { lookupTerm: nothingHarvested })).toContain(
      'not-harvested: HES-000253 in obdobi was not checked: Period (heslo:obdobi) was not harvested. Run pas harvest-vocab to check it.',
    );
    expect(
      checkFindByRules(aFind({ obdobi: { id: 'HES-777777', text: '' } }), { today: '2024-11-20' }),
    ).toEqual([]);
  });
});
