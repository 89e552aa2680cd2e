import { describe, expect, test } from 'vitest';
import type { LookupTerm } from '../../../src/finds/find.ts';
import { type ResolvedFinder, resolveFinder } from '../../../src/finds/resolve-references.ts';
import { makeTermLookup } from '../../../src/finds/vocabulary/term-lookup.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { makeMappedLookup, parseMapping } from '../../../src/tables/own-terms/mapping.ts';
import { aTerm, fill, markHarvested, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { nothingHarvested } from './a-find.ts';

const PEOPLE: Readonly<Record<string, string>> = {
  'OS-000001': 'Neurčeno, Neurčeno',
  'OS-000231': 'Kudrnová, Marie',
  'OS-000304': 'Kučera, Pavel',
  'OS-000305': 'Kučera, Pavel',
  'OS-000911': 'Malý, Petr',
  'OS-000912': 'Maly, Petr',
  'OS-001188': 'Vávra, Jaroslav Karel',
  'OS-001213': 'Tichá, Anna-Marie',
  'OS-001507': 'Novák, Jan',
  'OS-001508': 'Dvořáková, Eva',
  'OS-001510': 'Karel, Jan',
  'OS-001533': 'Ďurišová, Šárka',
  'OS-001550': 'Kováč, Ľubomír',
  'OS-001600': 'Nováková, Jana',
};

function peopleLookup(people: Readonly<Record<string, string>>): LookupTerm {
  const store = tempVocabulary();
  const facts: Readonly<Record<string, Record<string, string>>> = {
    'OS-000304': { rok_narozeni: '1966' },
    'OS-000305': { rok_narozeni: '1989' },
  };
  const terms = Object.entries(people).map(([id, label]) =>
    aTerm(id, label, { setSpec: 'osoba', details: { facts: facts[id] ?? {} } }),
  );
  return makeTermLookup(markHarvested(fill(store, ...terms), 'osoba'));
}

const lookup = peopleLookup(PEOPLE);

/**
 * `OS-…` for a person by identifier, `=Surname, Given` for one by name, `?rule OS-… OS-…` where it
 * is refused.
 */
function getOutcome(read: ResolvedFinder): string {
  if ('value' in read) return read.value.id === ':tba' ? `=${read.value.text}` : read.value.id;
  return ['?', read.rule, ...(read.candidates ?? []).map(({ id }) => ` ${id}`)].join('');
}

const outcome = (cell: string, by: LookupTerm = lookup): string =>
  getOutcome(resolveFinder(cell, by));

const NOVAK = [
  'novák, jan',
  'Novak, Jan',
  'NOVÁK, Jan',
  'Novák, JAN',
  'Jan Novák',
  'Novák Jan',
  'JAN NOVÁK',
  'novak jan',
  'Jan, Novák',
  'Novák  Jan',
  'Ing. Jan Novák',
  'Ing. Novák, Jan',
  'Novák, Ing. Jan',
  'Novák, Jan, Ing.',
  'Jan Novák, CSc.',
  'Ing.Jan Novák',
  'prof. PhDr. Jan Novák, DrSc.',
  'Mgr. et Mgr. Jan Novák, Ph.D.',
  'Mgr. et Bc. Novák Jan',
  'Bc. Jan Novák, DiS.',
  'Jan Novák DiS.',
  'p. Novák Jan',
  'p. Jan Novák',
  'pan Jan Novák',
  'Pan Novák Jan',
  'PAN JAN NOVÁK',
  'doc. Novák Jan',
  'Dr. Jan Novák',
  'Jan Novák Ph. D.',
  'Jan Novák PhD',
  'Ing. arch. Jan Novák',
  'Ing.arch. Novák Jan',
  'akad. mal. Jan Novák',
  'JUDr. Ing. Novák, Jan, MBA',
  'Novák, Jan,',
  'RNDr Jan Novák',
  'mgr Novák Jan',
  'Jan Novák, LL.M.',
  'plk. Jan Novák',
];

const EVA = [
  'DVOŘÁKOVÁ, Eva',
  'Dvorakova, Eva',
  'dvořáková eva',
  'Eva Dvořáková',
  'Dvořáková Eva',
  'pí Dvořáková Eva',
  'pí. Eva Dvořáková',
  'paní Eva Dvořáková',
  'sl. Eva Dvořáková',
  'slečna Dvořáková Eva',
  'Mgr. et Mgr. Eva Dvořáková, Ph.D.',
  'Mgr. Eva  Dvořáková',
  'Dvořáková, Mgr. Eva',
  'Dvořáková Eva, Mgr.',
  'PaedDr. EVA DVOŘÁKOVÁ',
  'Paní Mgr. Eva Dvořáková',
  'pí. Dvořáková, Eva',
  'Eva, Dvořáková',
  'Dvořáková\u00a0Eva',
  'Dvořáková\tEva',
  'Eva Dvořáková'.normalize('NFD'),
  'Dvořáková, Eva, Ph.D., MBA',
];

const TABLE: readonly (readonly [cell: string, outcome: string])[] = [
  ['Novák, Jan', '=Novák, Jan'],
  ['Novák,Jan', '=Novák, Jan'],
  [' Novák ,  Jan ', '=Novák, Jan'],
  ['Novák, Jan'.normalize('NFD'), '=Novák, Jan'],
  ...NOVAK.map((cell) => [cell, 'OS-001507'] as const),
  ...EVA.map((cell) => [cell, 'OS-001508'] as const),
  // Two people of one name, and two whom an accent tells apart.
  ['Kučera, Pavel', '?term-ambiguous OS-000304 OS-000305'],
  ['Pavel Kučera', '?term-ambiguous OS-000304 OS-000305'],
  ['Mgr. KUČERA Pavel', '?term-ambiguous OS-000304 OS-000305'],
  ['Malý, Petr', '=Malý, Petr'],
  ['Maly, Petr', '=Maly, Petr'],
  ['Petr Malý', 'OS-000911'],
  ['Maly Petr', 'OS-000912'],
  ['MALÝ, Petr', '?term-ambiguous OS-000911 OS-000912'],
  // Initials and words cut short are candidates, and never cut off.
  ['Kučera, P.', '?finder-unsure OS-000304 OS-000305'],
  ['P. Kučera', '?finder-unsure OS-000304 OS-000305'],
  ['Kučera P', '?finder-unsure OS-000304 OS-000305'],
  ['Novák, J.', '?finder-unsure OS-001507'],
  ['J. Novák', '?finder-unsure OS-001507'],
  ['J.Novák', '?finder-unsure OS-001507'],
  ['Novák J.', '?finder-unsure OS-001507'],
  ['NOVÁK J', '?finder-unsure OS-001507'],
  ['E. Dvořáková', '?finder-unsure OS-001508'],
  ['Mgr. E. Dvořáková', '?finder-unsure OS-001508'],
  ['Vávra, J. K.', '?finder-unsure OS-001188'],
  ['J. K. Vávra', '?finder-unsure OS-001188'],
  ['Vávra, Jaroslav K.', '?finder-unsure OS-001188'],
  ['Jar. Vávra', '?finder-unsure OS-001188'],
  ['Novák, Jan P.', '?finder-unsure OS-001507'],
  ['Novák, P. J.', '=Novák, P. J.'],
  ['P. J. Novák', '=Novák, P. J.'],
  ['P.J. Novák', '=Novák, P. J.'],
  ['Novák P. J.', '=Novák, P. J.'],
  ['Dvořák, P.', '=Dvořák, P.'],
  ['K. Dvořáková', '=Dvořáková, K.'],
  // Father and son.
  ['Jan Novák (ml.)', '?finder-unsure OS-001507'],
  ['Jan Novák ml.', '?finder-unsure OS-001507'],
  ['Novák Jan st.', '?finder-unsure OS-001507'],
  ['Novák, Jan, ml.', '?finder-unsure OS-001507'],
  ['Novák ml., Jan', '?finder-unsure OS-001507'],
  ['Novák, Jan mladší', '?finder-unsure OS-001507'],
  ['Novák starší, Jan', '?finder-unsure OS-001507'],
  ['Jan Novák Jr.', '?finder-unsure OS-001507'],
  ['Ing. Jan Novák st., CSc.', '?finder-unsure OS-001507'],
  ['Petr Novák st.', '=Novák st., Petr'],
  ['Novák, Petr (ml.)', '=Novák ml., Petr'],
  ['Petr Novák mladší', '=Novák ml., Petr'],
  ['st. Petr Novák', '=Novák st., Petr'],
  // A name at birth is left to a person.
  ['Marie Kudrnová (roz. Horáčková)', '?finder-name OS-000231'],
  ['Kudrnová, Marie, rozená Horáčková', '?finder-name'],
  ['Kudrnová roz. Horáčková, Marie', '?finder-name'],
  ['kudrnová roz. horáčková marie', '?finder-name OS-000231'],
  ['Eva Kolářová, roz. Horká', '?finder-name'],
  // Women of two surnames, people of several given names, particles.
  ['Jana Nováková Svobodová', '=Nováková Svobodová, Jana'],
  ['Nováková Svobodová Jana', '=Nováková Svobodová, Jana'],
  ['Nováková Svobodová, Jana', '=Nováková Svobodová, Jana'],
  ['Jana Nováková-Svobodová', '=Nováková-Svobodová, Jana'],
  ['Jana Nováková', 'OS-001600'],
  ['Anna Marie Tichá', 'OS-001213'],
  ['Tichá Anna-Marie', 'OS-001213'],
  ['Jaroslav Karel Vávra', 'OS-001188'],
  ['VÁVRA Jaroslav Karel', 'OS-001188'],
  ['Komenský Jan Amos', '=Komenský, Jan Amos'],
  ['Jan Petr Komenský', '=Komenský, Jan Petr'],
  ['Karel z Dubé', '=z Dubé, Karel'],
  ['Ludvík van Beethoven', '=van Beethoven, Ludvík'],
  ['Simon, Thierry', '=Simon, Thierry'],
  ['Durisova Sarka', 'OS-001533'],
  ['Šárka Ďurišová', 'OS-001533'],
  ['LUBOMIR KOVAC', 'OS-001550'],
  ['Kolář Jan', '=Kolář, Jan'],
  ['Jan Kolář', '=Kolář, Jan'],
  ['KOLÁŘ JAN', '=KOLÁŘ, JAN'],
  ['kolář, jan', '=kolář, jan'],
  ['p. Zdeňka Kolářová', '=Kolářová, Zdeňka'],
  ['Xenie-Ivana Hrubá', '=Hrubá, Xenie-Ivana'],
  ["Eva D'Este", "=D'Este, Eva"],
  // If both parts may be given names, the comma decides, and without one nothing does.
  ['Karel, Jan', '=Karel, Jan'],
  ['Jan, Karel', '?finder-unsure OS-001510'],
  ['Pavel Ctibor', '?finder-name'],
  ['Martin Havel', '?finder-name'],
  ['Martin, Havel', '=Martin, Havel'],
  ['Hrubý, Kolář', '=Hrubý, Kolář'],
  ['Horáková Nová', '?finder-name'],
  // The rules warn of its order.
  ['Eva, Horáková', '=Eva, Horáková'],
  // More than one person, and what is none.
  ['Novák Jan, Eva Dvořáková', '?finder-name'],
  ['Jan Novák, Eva Dvořáková', '?finder-name'],
  ['Novák, Jan; Dvořáková, Eva', '?finder-name'],
  ['Novák, Jan, Dvořáková, Eva', '?finder-name'],
  ['Jan Novák a Eva Dvořáková', '?finder-name OS-001507 OS-001508'],
  ['Jan Novák + Eva Dvořáková', '?finder-name OS-001507 OS-001508'],
  ['Jan Novák/Eva Dvořáková', '?finder-name OS-001507 OS-001508'],
  ['Jan Novák Eva Dvořáková', '?finder-name OS-001507 OS-001508'],
  ['Jan Novák s Evou', '?finder-name OS-001507'],
  ['Novák, Jan a kol.', '?finder-name'],
  ['Jan Novák et al.', '?finder-name OS-001507'],
  ['Kolář a Hrubý', '?finder-name'],
  ['rodina Nováková', '?finder-name'],
  ['manželé Kolářovi', '?finder-name'],
  ['Jan Novák (Praha)', '?finder-name OS-001507'],
  ['Jan Kolář 602123456', '?finder-name'],
  ['Jan "Honza" Kolář', '?finder-name'],
  ['Kolář Hrubý', '?finder-name'],
  ['Novák', '?finder-name OS-001507'],
  ['Kolář', '?finder-name'],
  ['Ing. Kolář', '?finder-name'],
  ['pí Kolářová', '?finder-name'],
  ['Novák,', '?finder-name'],
  [', Jan', '?finder-name'],
  [',', '?finder-name'],
  [':tba', '?finder-name'],
  ['Mgr.', '?finder-name'],
  [`Kolář, ${'J'.repeat(101)}`, '?finder-name'],
  ['A B C D E F G', '?finder-name'],
  // One who is not known.
  ...[
    'neznámý nálezce',
    'Neznámý nálezce',
    'neznámý',
    'anonym',
    'neuveden',
    'neuvedeno',
    '?',
    '???',
    '-',
    '–',
    'unknown',
  ].map((cell) => [cell, 'OS-000001'] as const),
  ...[
    'n/a',
    'nálezce neznámý',
    'NEZNÁMÁ',
    'bez jména',
    'xxx',
    'neurčeno',
    'nezjištěn',
    'nikdo',
    'Anonymous',
  ].map((cell) => [cell, 'OS-000001'] as const),
  ['Neurčeno, Neurčeno', '=Neurčeno, Neurčeno'],
  ['Jan Neznámý', '=Neznámý, Jan'],
  // Identifiers.
  ['OS-001507', 'OS-001507'],
  ['os-001507', 'OS-001507'],
  ['https://api.example.org/id/OS-001507', 'OS-001507'],
  ['OS-999999', '?term-unknown'],
];

describe('a finder', () => {
  test.each(TABLE)('%j: %s', (cell, expected) => {
    expect(outcome(cell)).toBe(expected);
  });

  test('that matches several people is refused with their differences, and a command that decides', () => {
    const read = resolveFinder('Kučera, Pavel', lookup);
    expect('problem' in read && String(read.problem)).toBe(
      '"Kučera, Pavel" may be Kučera, Pavel (OS-000304, 1966), Kučera, Pavel (OS-000305, 1989). ' +
        `Write the identifier, or the whole name of another person; if it is always this one: pas vocab map set osoba 'Kučera, Pavel' OS-000304`,
    );
  });

  test('without a known person stays unresolved', () => {
    const { 'OS-000001': _, ...others } = PEOPLE;
    expect(outcome('anonym', peopleLookup(others))).toBe('?finder-unknown');
    expect(outcome('?', nothingHarvested)).toBe('?finder-unknown');
  });

  test.each([
    ['Novák, Jan', '=Novák, Jan'],
    ['Jan Novák', '=Novák, Jan'],
    ['Mgr. Eva Dvořáková, Ph.D.', '=Dvořáková, Eva'],
    ['J. Kolář', '=Kolář, J.'],
    ['Eva, Dvořáková', '=Eva, Dvořáková'],
    ['OS-001507', 'OS-001507'],
  ])('before the first harvest is accepted by name: %s', (cell, expected) => {
    expect(outcome(cell, nothingHarvested)).toBe(expected);
  });
});

describe('a user’s own mapping', () => {
  const HEADER = 'set;term;id;label;note;confirmed';
  const mapped = (...rows: string[]): LookupTerm =>
    makeMappedLookup(
      lookup,
      parseMapping(parseCsvTable('mapping.csv', Buffer.from([HEADER, ...rows].join('\n')))),
    );

  const own = mapped(
    'osoba;Kučera, Pavel;OS-000305;;;yes',
    'osoba;Ing. Novák;OS-001507;;;yes',
    'osoba;Novák, Jan;OS-001600;;;yes',
    'osoba;starý Kolář;OS-000911;;;yes',
    'osoba;Jan Novák ml.;OS-001550;;;yes',
    'osoba;?;OS-001508;;;yes',
    'osoba;parta z Lhoty;OS-000001;;;yes',
    'osoba;Horák, Petr;OS-999999;;;yes',
  );

  test.each([
    ['Kučera, Pavel', 'OS-000305'],
    ['Pavel Kučera', 'OS-000305'],
    ['KUČERA, Pavel', 'OS-000305'],
    ['Mgr. Pavel Kučera, Ph.D.', 'OS-000305'],
    ['Kucera Pavel', 'OS-000305'],
    ['Ing. Novák', 'OS-001507'],
    ['ing. novák', 'OS-001507'],
    ['Novák, Jan', 'OS-001600'],
    ['Ing. Jan Novák', 'OS-001600'],
    ['Novák Jan (ml.)', 'OS-001550'],
    ['starý Kolář', 'OS-000911'],
    ['Starý  kolář', 'OS-000911'],
    ['?', 'OS-001508'],
    ['parta z Lhoty', 'OS-000001'],
    ['Petr Horák', '?term-mapping-conflict'],
  ])('takes precedence: %s', (cell, expected) => {
    expect(outcome(cell, own)).toBe(expected);
  });

  test('of a name that differs from another by accents only is asked about if the accents are missing', () => {
    const two = mapped('osoba;Malý, Petr;OS-001507;;;yes', 'osoba;Maly, Petr;OS-001508;;;yes');
    expect([
      outcome('Malý, Petr', two),
      outcome('maly, petr', two),
      outcome('Petr Maly', two),
    ]).toEqual(['OS-001507', 'OS-001508', '?term-ambiguous OS-001507 OS-001508']);
  });
});
