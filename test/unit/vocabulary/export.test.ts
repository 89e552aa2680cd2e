import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import {
  type ExportedTerm,
  formatTermCsv,
  formatTurtle,
} from '../../../src/vocabulary/export-terms.ts';

const TERM: ExportedTerm = {
  ident: 'HES-000253',
  setSpec: 'heslo:obdobi',
  label: 'paleolit',
  labelEn: 'Palaeolithic',
  abbreviation: null,
  description: 'starší doba kamenná, "lovci"\ndruhá řádka',
  descriptionEn: null,
  sortOrder: 10,
  details: {
    dating: { fromMin: -800000, fromMax: null, toMin: -10000, toMax: -9000, note: null },
    links: [
      {
        source: 'PeriodO',
        codeName: 'id',
        code: 'p0',
        uri: 'http://example.org/p0',
        relation: 'skos:exactMatch',
      },
      {
        source: 'AAT',
        codeName: 'id',
        code: '1',
        uri: 'http://example.org/a b"c',
        relation: 'podobné',
      },
      { source: 'X', codeName: 'id', code: '2', uri: 'no address', relation: 'skos:closeMatch' },
    ],
  },
  datestampMs: Date.UTC(2025, 0, 1),
  gone: null,
  goneAtMs: null,
  superiors: [{ ident: 'HES-000100', kind: 'podřízenost' }],
};

describe('a table', () => {
  const rows = (...terms: ExportedTerm[]): Record<string, string>[] =>
    parse([...formatTermCsv(terms)].join('\n'), { columns: true, bom: true });

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

  test.each(['=HYPERLINK("http://evil")', '+1', '-1+2', '@SUM(A1)', '\tx'])(
    'never contains %j as a formula',
    (label) => {
      expect(rows({ ...TERM, label })[0]?.['label']).toBe(`'${label}`);
    },
  );
});

describe('SKOS', () => {
  const turtle = [
    ...formatTurtle([TERM, { ...TERM, ident: 'HES-000254', gone: 'deleted' }], 'https://x.example'),
  ].join('\n');

  test('names the scheme once and each concept with its labels, place and links', () => {
    expect(turtle.match(/a skos:ConceptScheme/g)).toHaveLength(1);
    expect(turtle).toContain('<https://x.example/id/HES-000253> a skos:Concept ;');
    expect(turtle).toContain('skos:prefLabel "paleolit"@cs ;');
    expect(turtle).toContain('skos:prefLabel "Palaeolithic"@en ;');
    expect(turtle).toContain('skos:broader <https://x.example/id/HES-000100> ;');
    expect(turtle).toContain('skos:exactMatch <http://example.org/p0> ;');
  });

  test('escapes texts and addresses, and omits what is not an address', () => {
    expect(turtle).toContain(
      'skos:definition "starší doba kamenná, \\"lovci\\"\\ndruhá řádka"@cs ;',
    );
    expect(turtle).toContain('dct:references <http://example.org/a%20b%22c> ;');
    expect(turtle).not.toContain('no address');
  });

  test('marks deleted entries', () => {
    expect(turtle.match(/owl:deprecated true/g)).toHaveLength(1);
  });
});
