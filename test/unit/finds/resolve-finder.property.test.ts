import { describe, expect, test } from 'vitest';
import { makePersonKey } from '../../../src/base/names.ts';
import { resolveFinder } from '../../../src/finds/resolve-references.ts';
import { makeTermLookup } from '../../../src/finds/vocabulary/term-lookup.ts';
import { aTerm, fill, markHarvested, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { nothingHarvested } from './a-find.ts';

const CASES = 2000;

type Person = { readonly id: string; readonly surname: string; readonly given: string };

const SURNAMES = (
  'Novák Novotný Dvořák Černý Procházka Kučera Veselý Horák Němec Pokorný Marek Šťastný Beneš Fiala Říha Žák Ďuriš Kováč Čapek Hájek ' +
  'Nováková Novotná Dvořáková Černá Kučerová Veselá Šťastná Benešová Říhová Ďurišová Sýkorová Tichá'
).split(' ');
const GIVEN = [
  'Jan',
  'Eva',
  'Jiří',
  'Šárka',
  'Anna-Marie',
  'Jaroslav Karel',
  'Zdeněk',
  'Ľubomír',
  'Petr',
  'Kateřina',
  'Ondřej',
];

/** One person of a name: no two names here fold to the same. */
const PEOPLE: readonly Person[] = SURNAMES.flatMap((surname, row) =>
  GIVEN.filter((_, column) => (row + column) % 3 === 0).map((givenName, column) => ({
    id: `OS-${String(row * 100 + column).padStart(6, '0')}`,
    surname,
    given: givenName,
  })),
);

/** The same numbers in each run: a failure names its case. */
function drawFrom(seed: number): <T>(of: readonly T[]) => T {
  let state = seed * 2654435761 + 1;
  return (of) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    const chosen = of[(state >>> 8) % of.length];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  };
}

const TITLES_BEFORE = [
  '',
  '',
  '',
  'Mgr. ',
  'Ing. ',
  'prof. PhDr. ',
  'Mgr. et Mgr. ',
  'Bc. ',
  'p. ',
  'pan ',
  'paní ',
  'pí ',
  'doc. RNDr. ',
  'Ing.arch. ',
];
const TITLES_BEHIND = [
  '',
  '',
  '',
  ', Ph.D.',
  ' CSc.',
  ', DrSc.',
  ', DiS.',
  ', MBA',
  ' Ph. D.',
  ', LL.M.',
];
const stripped = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '');
const CASES_OF_TEXT: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
];
const ACCENTS = [
  (text: string) => text,
  (text: string) => text,
  stripped,
  (text: string) => text.normalize('NFD'),
];
const BLANKS = [' ', ' ', '  ', '\u00a0', '\t', ' \u2009'];

type Odd = { readonly text: string; readonly person: Person; readonly suffix: string };

function oddName(seed: number): Odd {
  const draw = drawFrom(seed);
  const person = draw(PEOPLE);
  const { surname, given } = person;
  const ordered = draw([
    `${surname}, ${given}`,
    `${surname} ${given}`,
    `${given} ${surname}`,
    `${surname},${given}`,
    `${surname} , ${given}`,
  ]);
  const suffix = draw(['', '', '', '', ' ml.', ' st.', ' mladší', ' (st.)', ', ml.']);
  const name = draw(ACCENTS)(draw(CASES_OF_TEXT)(ordered)) + suffix;
  const titled = `${draw(TITLES_BEFORE)}${name}${draw(TITLES_BEHIND)}`;
  const text =
    draw(['', ' ', '\u00a0']) + titled.replaceAll(' ', draw(BLANKS)) + draw(['', ' ', '\n']);
  return { text, person, suffix };
}

const odd = Array.from({ length: CASES }, (_, seed) => oddName(seed));
const terms = PEOPLE.map(({ id, surname, given }) =>
  aTerm(id, `${surname}, ${given}`, { setSpec: 'osoba' }),
);
const lookup = makeTermLookup(markHarvested(fill(tempVocabulary(), ...terms), 'osoba'));

describe(`${CASES} odd spellings of known people`, () => {
  test('create no new person, and match no other one', () => {
    const wrong = odd.filter(({ text, person, suffix }) => {
      const read = resolveFinder(text, lookup);
      if (!('value' in read))
        return suffix === '' || read.candidates?.some(({ id }) => id === person.id) !== true;
      const isByName =
        read.value.id === ':tba' && read.value.text === `${person.surname}, ${person.given}`;
      return suffix !== '' || (read.value.id !== person.id && !isByName);
    });
    expect(wrong).toEqual([]);
  });

  test('are not reordered if no person is known yet', () => {
    const wrong = odd.filter(({ text, person, suffix }) => {
      const read = resolveFinder(text, nothingHarvested);
      if (!('value' in read)) return false;
      const [surname = '', given = ''] = read.value.text.replace(/ (?:st|ml)\.,/, ',').split(', ');
      const hasSuffix = / (?:st|ml)\.,/.test(read.value.text);
      return (
        makePersonKey(surname) !== makePersonKey(person.surname) ||
        makePersonKey(given) !== makePersonKey(person.given) ||
        hasSuffix !== (suffix !== '')
      );
    });
    expect(wrong).toEqual([]);
  });

  test('that are new people are read again as the same person', () => {
    const changed = odd.flatMap(({ text }) => {
      const read = resolveFinder(text, nothingHarvested);
      if (!('value' in read)) return [];
      const again = resolveFinder(read.value.text, nothingHarvested);
      return 'value' in again && again.value.text === read.value.text
        ? []
        : [[text, read.value.text, again]];
    });
    expect(changed).toEqual([]);
  });
});
