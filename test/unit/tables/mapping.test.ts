import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getField } from '../../../src/finds/fields.ts';
import type { LookupTerm } from '../../../src/finds/find.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import {
  checkMapping,
  findSetOfElement,
  formatMapping,
  type Mapping,
  makeMappedLookup,
  parseMapping,
  parseOwnTerms,
  readMappingFile,
} from '../../../src/tables/own-terms/mapping.ts';
import { inWords } from '../../support/in-words.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const HEADER = 'set;term;id;label;note;confirmed';

function mapping(...lines: string[]): Mapping {
  return parseMapping(parseCsvTable('mapping.csv', Buffer.from([HEADER, ...lines].join('\n'))));
}

const entry = (id: string, label: string, setSpec = 'heslo:obdobi') => ({ id, label, setSpec });

/** One entry that is alive, one that was deleted, one that moved; everything else is unknown. */
const lookupTerm: LookupTerm = (_set, cell) => {
  if (cell === 'HES-000286' || cell === 'doba laténská')
    return { kind: 'found', term: entry('HES-000286', 'doba laténská') };
  if (cell === 'HES-000001') return { kind: 'deleted', term: entry('HES-000001', 'stará') };
  if (cell === 'HES-000002')
    return { kind: 'wrong-set', term: entry('HES-000002', 'hradiště', 'heslo:areal') };
  if (cell === 'HES-000003') return { kind: 'not-harvested' };
  return { kind: 'unknown', nearest: [] };
};

describe('a museum’s own term', () => {
  const stored = mapping(
    'heslo:obdobi;laten;HES-000286;doba laténská;;yes',
    'obdobi;halštat;HES-000283;;;',
    'period;Pozdní  doba;HES-000286;;viz kartotéka;ANO',
  );
  const lookup = makeMappedLookup(lookupTerm, stored);

  test('counts in its own set only', () => {
    expect(lookup('heslo:predmet_druh', 'laten').kind).toBe('unknown');
  });

  test('with another accent is another term', () => {
    expect(lookup('heslo:obdobi', 'latén').kind).toBe('unknown');
  });

  test('leaves everything else unchanged', () => {
    expect(lookup('heslo:obdobi', 'doba laténská')).toMatchObject({ kind: 'found' });
    expect(lookup('heslo:obdobi', 'HES-000286')).toMatchObject({ kind: 'found' });
  });

  test.each([
    [
      'deleted',
      'HES-000001',
      /mapped to stará \(HES-000001\), which is no entry of Period \(heslo:obdobi\) now\..*pas vocab map set/,
    ],
    ['moved', 'HES-000002', /which is no entry of Period/],
    [
      'never there',
      'HES-999999',
      /mapped to HES-999999, which is no entry of Period \(heslo:obdobi\)/,
    ],
  ])('whose entry was %s is refused with advice', (_, id, message) => {
    const reading = makeReferenceResolver(
      makeMappedLookup(lookupTerm, mapping(`obdobi;moje;${id};;;yes`)),
    )(getField('obdobi'), 'moje');
    expect(inWords(reading)).toMatchObject({
      rule: 'term-mapping-conflict',
      problem: expect.stringMatching(message),
    });
  });

  test('is accepted by its identifier if the vocabulary was not harvested', () => {
    const reading = makeReferenceResolver(
      makeMappedLookup(lookupTerm, mapping('obdobi;moje;HES-000003;nová;;yes')),
    )(getField('obdobi'), 'moje');
    expect(reading).toEqual({ value: { id: 'HES-000003', text: 'nová' } });
  });
});

describe('a mapping that a person has edited', () => {
  test.each([
    [
      'maps a term twice',
      ['obdobi;a;HES-000286;;;yes', 'obdobi;A;HES-000283;;;yes'],
      'mapping-twice',
      3,
    ],
    ['has a word that is neither yes nor no', ['obdobi;a;HES-000286;;;perhaps'], 'mapping-row', 2],
    ['names no set', ['Období doby;a;HES-000286;;;yes'], 'mapping-row', 2],
    ['has no term', ['obdobi;;HES-000286;;;yes'], 'mapping-row', 2],
    ['confirms nothing', ['obdobi;a;;;;yes'], 'mapping-row', 2],
    ['confirms a label without its entry', ['obdobi;a;;spona;;yes'], 'mapping-row', 2],
    [
      'gives an identifier another meaning',
      ['obdobi;HES-000286;HES-000283;;;yes'],
      'mapping-row',
      2,
    ],
    ['has a row too long', ['obdobi;a;HES-000286;;;yes;more'], 'table-cells', 2],
  ])('%s: the row is named and does not count', (_, lines, rule, row) => {
    const { rows, issues } = mapping(...lines);
    expect(rows).toEqual([]);
    expect(issues).toMatchObject([{ rule, row, severity: 'error', file: 'mapping.csv' }]);
  });

  test('without a required column is refused', () => {
    const table = parseCsvTable('mapping.csv', Buffer.from('set;label\nobdobi;a\n'));
    expect(parseMapping(table).issues.map(({ message }) => message)).toEqual([
      expect.stringContaining('no column term'),
      expect.stringContaining('no column id'),
    ]);
  });

  test('is read back from its file unchanged, including formula-like and quoted terms', () => {
    const rows = ['=1+1', '-', '+', '@x', "'=x", 'a;b', 'he said "no"', 'řádek\ndva'].map(
      (term) => ({
        set: 'heslo:obdobi',
        term,
        id: 'HES-000286',
        label: 'doba laténská',
        note: '',
      }),
    );
    const text = formatMapping(rows);
    expect(text).toContain("'=1+1");
    const read = parseMapping(parseCsvTable('mapping.csv', Buffer.from(text)));
    expect(read.rows.map(({ row: _row, ...rest }) => rest)).toEqual(rows);
    expect(read.issues).toEqual([]);
  });
});

describe('a check of a mapping', () => {
  const listIssues = (line: string) => checkMapping(mapping(line), lookupTerm);

  test.each([
    ['deleted', 'obdobi;a;HES-000001;stará;;yes', 'mapping-deleted', 'error'],
    ['moved to another set', 'obdobi;a;HES-000002;hradiště;;yes', 'mapping-moved', 'error'],
    ['unknown', 'obdobi;a;HES-999999;;;yes', 'mapping-unknown', 'error'],
    ['renamed', 'obdobi;a;HES-000286;laténské období;;yes', 'mapping-renamed', 'warning'],
    ['not to be looked up', 'obdobi;a;HES-000003;;;yes', 'mapping-unchecked', 'warning'],
  ])('reports an entry that is %s with its row', (_, line, rule, severity) => {
    expect(listIssues(line)).toMatchObject([{ rule, severity, file: 'mapping.csv', row: 2 }]);
  });

  test('in its file names rows that no person confirmed, which a change would lose', async () => {
    const file = join(tempFolder(), 'mapping.csv');
    const confirmed = 'obdobi;a;HES-000286;;;yes';
    writeFileSync(file, [HEADER, confirmed, 'obdobi;a;HES-000283;;;', 'obdobi;b;;;;'].join('\n'));
    const { rows, issues } = await readMappingFile(file);
    expect(rows).toMatchObject([{ term: 'a', id: 'HES-000286' }]);
    expect(issues.map(({ message }) => message)).toEqual([
      'Rows that are not confirmed, and so have no effect: 2. Write yes under "confirmed", or delete them.',
    ]);
  });
});

describe('a list of terms', () => {
  const listed = (...lines: string[]) =>
    parseOwnTerms(parseCsvTable('terms.csv', Buffer.from(lines.join('\n'))));

  test('names each different term once', () => {
    const { terms } = listed(
      'term;element',
      'laten;obdobi',
      'Laten;obdobi',
      'laten;druh_nalezu',
      ';obdobi',
      'br.;',
    );
    expect(terms).toEqual([
      { row: 2, term: 'laten', set: 'heslo:obdobi' },
      { row: 4, term: 'laten', set: 'heslo:predmet_druh' },
      { row: 6, term: 'br.' },
    ]);
  });

  test('without a column of terms is refused', () => {
    expect(listed('a;b', '1;2').issues).toMatchObject([{ rule: 'list-column' }]);
  });

  test('with an unknown set says where', () => {
    expect(listed('term;set', 'laten;Nesmysl!', 'br.;obdobi')).toMatchObject({
      terms: [{ term: 'br.' }],
      issues: [{ rule: 'list-set', row: 2 }],
    });
  });
});

test.each([
  ['obdobi', 'heslo:obdobi'],
  ['period', 'heslo:obdobi'],
  ['Druh nálezu', 'heslo:predmet_druh'],
  ['predmet_druh', 'heslo:predmet_druh'],
  ['heslo:obdobi', 'heslo:obdobi'],
  ['heslo:areal', undefined],
  ['heslo', undefined],
  ['osoba', 'osoba'],
  ['pocet!', undefined],
  ['', undefined],
])('"%s" names the set %s', (text, set) => {
  expect(findSetOfElement(text)).toBe(set);
});
