import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Find, LookupTerm } from '../../../src/finds/find.ts';
import { formatColumnMap, parseColumnMap } from '../../../src/tables/columns/column-map.ts';
import { applyColumnRule, COLUMN_NAMES } from '../../../src/tables/columns/column-meaning.ts';
import { mapTableToFinds } from '../../../src/tables/columns/map-table.ts';
import {
  type ColumnProposal,
  makeColumnMap,
  makeColumnProposer,
  type TableProposal,
} from '../../../src/tables/columns/propose-columns.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import type { Table } from '../../../src/tables/table.ts';
import { makeWorkbook } from '../../support/make-workbook.ts';

const NOTHING_KNOWN = { isFind: () => false, isIdent: () => false };

const lookupTerm: LookupTerm = (setSpec, cell) =>
  ['spona', 'mince', 'nůž'].includes(cell) && setSpec === 'heslo:predmet_druh'
    ? { kind: 'found', term: { id: 'HES-000001', label: cell, setSpec } }
    : { kind: 'unknown', nearest: [] };

const propose = (table: Table): TableProposal =>
  makeColumnProposer(table, lookupTerm, NOTHING_KNOWN)({ rules: new Map(), settings: [] });

const csv = (text: string, file = 'sezona.csv'): Table => parseCsvTable(file, Buffer.from(text));

function getColumns(table: Table): Record<string, ColumnProposal> {
  return Object.fromEntries(propose(table).columns.map((column) => [column.profile.key, column]));
}

const getElement = (column: ColumnProposal | undefined): string | undefined => column?.rule.element;

/** The finds that the proposed map makes of a table, and what is wrong with its rows. */
function readAsProposed(table: Table) {
  const map = makeColumnMap('t.map.toml', propose(table));
  const mapped = mapTableToFinds(table, {
    map,
    lookupTerm,
    resolvePhoto: (name) => ({ value: name }),
  });
  const rows = [...mapped.rows];
  return {
    finds: rows.flatMap(({ find }): Find[] => (find === undefined ? [] : [find])),
    rows,
    issues: mapped.issues,
  };
}

describe('the column of find numbers', () => {
  test('with repeated values behind thousands of other rows is recognised, too', () => {
    const rows = Array.from({ length: 4000 }, (_, index) => `A-${index};spona`);
    const { 'inv. č.': column } = getColumns(
      csv(['inv. č.;předmět', ...rows, 'A-3999;mince'].join('\n')),
    );
    expect(String(column?.doubt)).toContain('numbers are missing or repeated');
  });

  test('that only counts the rows is used as it is written, whatever the table is called', () => {
    const { finds } = readAsProposed(csv('č.;Předmět\n1;spona\n2;mince\n', 'Všesoky 2024.csv'));
    expect(finds.map(({ localId }) => localId)).toEqual(['1', '2']);
  });

  test.each(['A-1', '2024/17', 'K1a'])('such as %s is used as it is, and preselected', (first) => {
    const { 'č.': column } = getColumns(csv(`č.;Předmět\n${first};spona\nQ-2;mince\n`));
    expect([column?.rule, column?.doubt]).toEqual([{ element: 'local_id' }, undefined]);
  });

  test('is not the weight, which has decimals', () => {
    const { váha: column } = getColumns(csv('váha;Předmět\n12,5;spona\n3,1;mince\n'));
    expect(getElement(column)).toBe('poznamka');
  });
});

describe('a column with a clear name', () => {
  test('of days is read even if half of them are unreadable, and their rows say so', () => {
    const rows = Array.from(
      { length: 10 },
      (_, index) => `D${index};spona;${index < 5 ? `${index + 1}.5.2024` : 'květen 2024'}`,
    );
    const table = csv(['č.;Předmět;Datum nálezu', ...rows].join('\n'));
    const column = getColumns(table)['Datum nálezu'];
    expect([getElement(column), String(column?.doubt)]).toEqual([
      'datum_nalezu',
      expect.stringContaining('this way: 5 of 10;'),
    ]);
    const { finds, rows: read } = readAsProposed(table);
    expect(finds).toHaveLength(5);
    expect(read.flatMap(({ issues }) => issues.map(({ rule, row }) => `${row} ${rule}`))).toEqual(
      [7, 8, 9, 10, 11].map((row) => `${row} date`),
    );
  });

  test('without readable values is read all the same', () => {
    const columns = getColumns(
      csv('č.;hloubka;předmět;nálezce\nA1;mělko;101;?\nA2;hluboko;102;?\n'),
    );
    expect(['hloubka', 'předmět', 'nálezce'].map((key) => getElement(columns[key]))).toEqual([
      'hloubka',
      'druh_nalezu',
      'nalezce',
    ]);
    expect(columns['hloubka']?.doubt).toBeDefined();
  });

  test('counts fractions of a centimetre, which their rows report', () => {
    const column = getColumns(csv('č.;hloubka (cm)\nA1;15\nA2;12,5\nA3;cca 10\n'))['hloubka (cm)'];
    expect(String(column?.doubt)).toContain('this way: 2 of 3;');
  });

  test.each([
    ['Popis místa', 'lokalizace'],
    ['ident_cely', 'ident_cely'],
    ['lon', 'lon'],
  ])('%s is %s', (header, element) => {
    expect(getElement(getColumns(csv(`č.;${header}\nA1;nic takového\nA2;jiné\n`))[header])).toBe(
      element,
    );
  });

  test('"ks" below a merged "Předmět" is the count', async () => {
    const rows = [
      ['č.', 'Předmět', '', 'X', 'Y'],
      ['', 'druh', 'ks', '', ''],
      ['A1', 'spona', '1', '-693922,37', '-1076044,69'],
      ['A2', 'mince', '2', '-693925,10', '-1076050,00'],
    ];
    const table = await parseTableBytes('sezona.xlsx', makeWorkbook([{ name: 'n', rows }]));
    const columns = Object.values(getColumns(table));
    expect(columns.map(getElement)).toEqual([
      'local_id',
      'druh_nalezu',
      'pocet',
      'geom_x',
      'geom_y',
    ]);
  });
});

test('a table with the names of a GPS device is read as its waypoints', () => {
  const table = csv(
    'name,lat,lon,time,desc,photo\nW01a,49.84050,15.17120,2024-06-01T10:00:00Z,spona u cesty,a.jpg\n' +
      'W02a,49.84060,15.17130,2024-06-02T10:00:00Z,,b.jpg\n',
  );
  const columns = getColumns(table);
  expect(Object.values(columns).map(getElement)).toEqual([
    'local_id',
    'lat',
    'lon',
    'datum_nalezu',
    'poznamka',
    'photos',
  ]);
  const { finds } = readAsProposed(table);
  expect(
    finds.map(({ localId, elements, photos }) => [
      localId,
      elements.datum_nalezu,
      elements.poznamka,
      photos,
    ]),
  ).toEqual([
    ['W01a', '2024-06-01', 'spona u cesty', ['a.jpg']],
    ['W02a', '2024-06-02', undefined, ['b.jpg']],
  ]);
});

test('a row has the system of its position, and without one WGS 84', () => {
  const table = csv('č.;GPS\n1;49.8405N 15.1712E\n2;-694201 -1076185\n3;\n');
  const { finds } = readAsProposed(table);
  expect(finds.map(({ elements }) => elements.geom_system)).toEqual(['4326', '5514', '4326']);
});

test('a column like no element is kept in the note, and an area is left to the service', () => {
  const table = csv(
    'č.;váha (g);regál;historie;k. ú.\nA1;12,5;R1;dar 1932;Všesoky\nA2;;R2;;Všesoky\n',
  );
  expect(readAsProposed(table).finds.map(({ elements }) => elements.poznamka)).toEqual([
    'váha (g): 12,5; regál: R1; historie: dar 1932',
    'regál: R2',
  ]);
});

test('two columns of photographs, and two of remarks, are joined', () => {
  const { finds } = readAsProposed(csv('č.;foto;obr;poznámka;popis\nA1;a.jpg;b.jpg;jedna;druhá\n'));
  expect(finds[0]?.photos).toEqual(['a.jpg', 'b.jpg']);
  expect(finds[0]?.elements.poznamka).toMatch(/jedna/);
  expect(finds[0]?.elements.poznamka).toMatch(/druhá/);
});

describe('the unit of depths', () => {
  const depths = (header: string, values: readonly string[]) => {
    const table = csv(
      [`č.;${header}`, ...values.map((value, index) => `A${index};"${value}"`)].join('\n'),
    );
    const { questions } = propose(table);
    const read = readAsProposed(table).finds.map(({ elements }) => elements.hloubka);
    return { questions, read };
  };

  test.each([
    ['hloubka v metrech', ['1', '2', '12'], [100, 200, 1200]],
    ['hloubka v milimetrech', ['350', '120'], [35, 12]],
    ['Hloubka (m)', ['1', '0,5'], [100, 50]],
    ['hl. [cm]', ['3', '4'], [3, 4]],
    ['hloubka v centimetrech', ['3', '4'], [3, 4]],
    ['depth in metres', ['1', '2'], [100, 200]],
    ['depth (millimeters)', ['100', '200'], [10, 20]],
    ['hloubka', ['2 m', '350 mm', '15 cm'], [200, 35, 15]],
    ['hloubka (cm)', ['12,5', '30'], [30]],
    ['hloubka', ['12', '30'], [12, 30]],
  ])('%s of %j is stated', (header, values, centimetres) => {
    expect(depths(header, values)).toEqual({ questions: [], read: centimetres });
  });

  test.each([
    ['hloubka', ['0,3', '0,45']],
    ['hloubka', ['12,5', '30']],
    ['hloubka', ['120', '3500']],
    ['hloubka (m)', ['0,3', '35']],
    ['hloubka (cm)', ['0,3', '35']],
    ['hloubka (mm)', ['3', '200']],
  ])('%s of %j is a question, and nothing is read until it is answered', (header, values) => {
    const { questions, read } = depths(header, values);
    expect(questions.map(({ problem }) => String(problem))).toEqual([
      expect.stringContaining('Which unit are they in?'),
    ]);
    expect(read).toEqual([]);
  });

  test('rounds no depth: the row of a fraction reports it', () => {
    const rule = { element: 'hloubka', unit: 'mm' } as const;
    expect(['3', '0,4 cm', '125', '200', '0'].map((cell) => applyColumnRule(cell, rule))).toEqual([
      '3 mm',
      '0,4 cm',
      '125 mm',
      '200 mm',
      '0 mm',
    ]);
  });
});

describe('for any table,', () => {
  const header = fc.oneof(
    fc.constantFrom(...COLUMN_NAMES),
    fc.constantFrom(
      'č.',
      'inv. č.',
      'Předmět',
      'ks',
      'Datum nálezu',
      'hl. (m)',
      'foto',
      'k. ú.',
      'X',
      'Y',
      'stav',
      'name',
      'desc',
    ),
    fc.stringMatching(/^[a-zěščř]{1,8}( [a-z]{1,4})?$/),
  );
  const cell = fc.oneof(
    fc.constantFrom(
      '',
      '1',
      '2',
      '2',
      'spona',
      '0,3',
      '35',
      '1.5.2024',
      'květen',
      'a.jpg',
      '-693922,37',
      '-1076044,69',
    ),
    fc.stringMatching(/^[a-z0-9 ]{0,6}$/),
  );
  const tables = fc
    .uniqueArray(header, { minLength: 1, maxLength: 7, selector: (name) => name.toLowerCase() })
    .chain((names) =>
      fc.record({
        names: fc.constant(names),
        rows: fc.array(fc.array(cell, { minLength: names.length, maxLength: names.length }), {
          minLength: 1,
          maxLength: 6,
        }),
      }),
    );
  const makeTable = (names: readonly string[], rows: readonly (readonly string[])[]): Table =>
    csv([names, ...rows].map((cells) => cells.map((text) => `"${text}"`).join(';')).join('\n'));

  test('without questions, the written map can be read', () => {
    fc.assert(
      fc.property(tables, ({ names, rows }) => {
        const proposal = propose(makeTable(names, rows));
        if (proposal.questions.length > 0) return;
        const map = makeColumnMap('m.toml', proposal);
        const text = formatColumnMap(map, { table: 't', columns: new Map(), undecided: [] });
        expect(parseColumnMap('m.toml', text).map?.columns).toEqual(map.columns);
      }),
    );
  });

  test('no column of repeated or missing numbers is preselected', () => {
    fc.assert(
      fc.property(tables, ({ names, rows }) => {
        for (const { profile, rule, doubt } of propose(makeTable(names, rows)).columns) {
          if (rule.element !== 'local_id') continue;
          const texts = rows
            .filter((row) => row.some((text) => text !== ''))
            .map((row) => (row[names.indexOf(profile.header)] ?? '').trim());
          if (new Set(texts).size < texts.length || texts.includes('')) expect(doubt).toBeDefined();
        }
      }),
    );
  });
});
