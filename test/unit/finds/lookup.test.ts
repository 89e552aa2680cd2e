import { describe, expect, test } from 'vitest';
import type { TermLookupResult } from '../../../src/finds/find.ts';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import { makeTermLookup } from '../../../src/finds/vocabulary/term-lookup.ts';
import { storeTombstone } from '../../../src/finds/vocabulary/terms.ts';
import { aTerm, fill, markHarvested, tempVocabulary } from '../../support/temp-vocabulary.ts';

function aVocabulary(store: ReturnType<typeof tempVocabulary>): Vocabulary {
  const vocabulary = fill(
    store,
    aTerm('HES-000001', 'spona', { labelEn: 'brooch' }),
    aTerm('HES-000002', 'brož', { labelEn: 'brooch' }),
    aTerm('HES-000003', 'pas'),
    aTerm('HES-000004', 'pás'),
    aTerm('HES-000005', 'železo', { setSpec: 'heslo:predmet_specifikace' }),
    aTerm('HES-000006', 'zrušené'),
    aTerm('OS-001507', 'Novák, Jan', { setSpec: 'osoba', otherNames: ['Jan Novák'] }),
    aTerm('ORG-000091', 'Muzeum města Brna', { setSpec: 'organizace', otherNames: ['MMB'] }),
  );
  vocabulary.change(() =>
    storeTombstone(vocabulary, {
      ident: 'HES-000006',
      setSpec: 'heslo',
      goneAtMs: Date.UTC(2026, 0),
      why: 'deleted',
    }),
  );
  return markHarvested(vocabulary, 'heslo', 'osoba', 'organizace');
}

const TYPE = 'heslo:predmet_druh';

describe('a cell is looked up in its own set', () => {
  const cases: readonly [string, string, string, TermLookupResult['kind'], string | undefined][] = [
    ['an identifier', TYPE, 'HES-000001', 'found', 'HES-000001'],
    ['an identifier in small letters, with spaces', TYPE, ' hes-000001 ', 'found', 'HES-000001'],
    ['a Czech label', TYPE, 'Spona', 'found', 'HES-000001'],
    ['a label whose accent decides', TYPE, 'pás', 'found', 'HES-000004'],
    ['a label that two entries share but for the accent', TYPE, 'PAS', 'ambiguous', undefined],
    ['an English label of two entries', TYPE, 'brooch', 'ambiguous', undefined],
    ['an identifier of another set', TYPE, 'HES-000005', 'wrong-set', 'HES-000005'],
    ['a label of another set', TYPE, 'železo', 'unknown', undefined],
    ['a deleted identifier', TYPE, 'HES-000006', 'deleted', 'HES-000006'],
    ['a deleted label', TYPE, 'zrušené', 'deleted', 'HES-000006'],
    ['an identifier that is nowhere', TYPE, 'HES-999999', 'unknown', undefined],
    ['nothing', TYPE, '', 'unknown', undefined],
    ['a person', 'osoba', 'novak, jan', 'found', 'OS-001507'],
    ['a person, given name first', 'osoba', 'Jan Novák', 'found', 'OS-001507'],
    ['an organisation by its short name', 'organizace', 'mmb', 'found', 'ORG-000091'],
    ['a family of sets', 'heslo', 'železo', 'found', 'HES-000005'],
  ];
  test.each(cases)('%s', (_, set, cell, kind, ident) => {
    using store = tempVocabulary();
    const answer = makeTermLookup(aVocabulary(store))(set, cell);
    expect(answer.kind).toBe(kind);
    if (answer.kind === 'found') expect(answer.term.id).toBe(ident);
  });

  test('an exact name of two people does not offer a third one', () => {
    using store = tempVocabulary();
    const vocabulary = fill(
      store,
      aTerm('OS-000001', 'Čech, Petr', { setSpec: 'osoba' }),
      aTerm('OS-000002', 'Čech, Petr', { setSpec: 'osoba' }),
      aTerm('OS-000003', 'Cech, Petr', { setSpec: 'osoba' }),
    );
    const answer = makeTermLookup(markHarvested(vocabulary, 'osoba'))('osoba', 'Čech, Petr');
    expect(answer.kind === 'ambiguous' && answer.candidates.map(({ id }) => id)).toEqual([
      'OS-000001',
      'OS-000002',
    ]);
  });

  test('a table with very many unknown texts gets no more suggestions', () => {
    using store = tempVocabulary();
    const lookUp = makeTermLookup(aVocabulary(store));
    const listNearest = (cell: string): unknown => {
      const answer = lookUp('osoba', cell);
      return answer.kind === 'unknown' ? answer.nearest.map(({ id }) => id) : answer.kind;
    };
    expect(listNearest('Nowák, Jan')).toEqual(['OS-001507']);
    for (let number = 0; number < 300; number += 1) listNearest(`Neznámá, Osoba ${number}`);
    expect(listNearest('Nofák, Jan')).toEqual([]);
  });
});

describe('a name that nobody has', () => {
  const people = {
    'OS-000001': 'Novák, Jakub',
    'OS-000002': 'Novák, Jan',
    'OS-000003': 'Kučera, Karel',
    'OS-000004': 'Svobodová, Marie',
    'OS-000005': 'Svobodová, Marie',
    'OS-000006': 'Svobodová, Maria',
  };

  test.each([
    ['with two errors', 'Kučerra Karl', ['OS-000003']],
    ['most similar ones first', 'Novák, Jann', ['OS-000002', 'OS-000001']],
    [
      'two people of one name once each, and none that is gone',
      'Svobdová, Marie',
      ['OS-000004', 'OS-000005'],
    ],
  ])('names the nearest people: %s', (_, typed, idents) => {
    using store = tempVocabulary();
    const vocabulary = fill(
      store,
      ...Object.entries(people).map(([ident, label]) => aTerm(ident, label, { setSpec: 'osoba' })),
    );
    const gone = { ident: 'OS-000006', setSpec: 'osoba', goneAtMs: 0, why: 'deleted' } as const;
    vocabulary.change(() => storeTombstone(vocabulary, gone));
    const answer = makeTermLookup(markHarvested(vocabulary, 'osoba'))('osoba', typed);
    expect(answer.kind === 'unknown' && answer.nearest.map(({ id }) => id)).toEqual(idents);
  });
});

test('a person with an abbreviated name is looked for among people only', () => {
  using store = tempVocabulary();
  const vocabulary = fill(
    store,
    aTerm('HES-000001', 'Novák, Jan'),
    aTerm('OS-000001', 'Novák, Jan', { setSpec: 'osoba' }),
  );
  const answer = makeTermLookup(markHarvested(vocabulary, 'osoba'))('osoba', 'J. Novák');
  expect(answer.kind === 'unknown' && answer.nearest.map(({ id }) => id)).toEqual(['OS-000001']);
});

describe('before a set was completely harvested', () => {
  test('existing entries are found by identifier only: another one may have the same name', () => {
    using store = tempVocabulary();
    const lookup = makeTermLookup(fill(store, aTerm('HES-000001', 'spona')));
    expect([lookup(TYPE, 'HES-000001').kind, lookup(TYPE, 'spona').kind]).toEqual([
      'found',
      'not-harvested',
    ]);
  });

  test('one part of a family does not represent the whole', () => {
    using store = tempVocabulary();
    const vocabulary = markHarvested(
      store.openSource('https://harvest.example.org'),
      'heslo:obdobi',
    );
    const lookup = makeTermLookup(vocabulary);
    expect([
      lookup('heslo:obdobi', 'x').kind,
      lookup(TYPE, 'x').kind,
      lookup('heslo', 'x').kind,
    ]).toEqual(['unknown', 'not-harvested', 'not-harvested']);
  });
});
