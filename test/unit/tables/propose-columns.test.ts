import { describe, expect, test } from 'vitest';
import type { LookupTerm } from '../../../src/finds/find.ts';
import {
  makeColumnMap,
  makeColumnProposer,
  type TableProposal,
} from '../../../src/tables/columns/propose-columns.ts';
import { listUnmappedTerms } from '../../../src/tables/columns/wizard.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import type { Table } from '../../../src/tables/table.ts';

const NOTHING_KNOWN = { isFind: () => false, isIdent: () => false };

/** A few entries of each vocabulary are enough to recognise a column. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'heslo:obdobi': [
    'doba bronzová',
    'doba laténská',
    'neolit',
    'novověk',
    'La Tène Period',
    'Neolithic',
  ],
  'heslo:predmet_druh': ['spona', 'mince', 'přezka', 'nůž', 'brooch', 'coin', 'knife'],
  'heslo:predmet_specifikace': ['bronz', 'železo', 'keramika', 'iron', 'bronze'],
  'heslo:nalezove_okolnosti': ['sběr', 'výkop', 'detektor kovů', 'metal detecting'],
  'heslo:pristupnost': ['archeolog', 'badatel'],
  organizace: ['Muzeum Moravského krasu'],
  osoba: ['Vrbka, Dobromil'],
};
const lookupTerm: LookupTerm = (setSpec, cell) =>
  ENTRIES[setSpec]?.includes(cell) === true
    ? { kind: 'found', term: { id: 'HES-000001', label: cell, setSpec } }
    : { kind: 'unknown', nearest: [] };
const notHarvested: LookupTerm = () => ({ kind: 'not-harvested' });

const proposeFor = (table: Table, lookup = lookupTerm): TableProposal =>
  makeColumnProposer(table, lookup, NOTHING_KNOWN)({ rules: new Map(), settings: [] });

function propose(lines: readonly string[], lookup = lookupTerm, file = 't.csv'): TableProposal {
  return proposeFor(parseCsvTable(file, Buffer.from(lines.join('\n'))), lookup);
}

const listFixed = ({ fixed }: TableProposal) => fixed.map(({ name, value }) => [name, value]);

/** Element of each column, with its options. */
function listRules(proposal: TableProposal): Record<string, unknown> {
  return Object.fromEntries(
    [...makeColumnMap('m', proposal).columns].map(([key, rule]) => {
      const { element, ...rest } = rule;
      if (element === undefined) return [key, '–'];
      const options = Object.fromEntries(
        Object.entries(rest).filter(([, option]) => option !== undefined),
      );
      return [key, Object.keys(options).length === 0 ? element : { [element]: options }];
    }),
  );
}

test('columns named x and y with degrees of two decimals and a decimal comma are the two coordinates', () => {
  const rules = listRules(propose(['č.;x;y', '1;16,42;49,38', '2;16,43;49,38', '3;16,44;49,39']));
  expect(rules).toMatchObject({ x: 'lon', y: 'lat' });
  expect(listRules(propose(['č.;poloha', '1;14,42', '2;14,43', '3;14,44']))).not.toMatchObject({
    poloha: 'wkt',
  });
});

describe('museum tables with custom columns:', () => {
  test('a Czech register with abbreviations, metres, and S-JTSK as geodesists write it', () => {
    const proposal = propose([
      'inv. č.;určení;mat.;obd.;lok.;k. ú.;X;Y;hl. (m);dat. nál.;nálezce;okol.;ks;uloženo;pozn.;váha (g)',
      'A 12/87;spona;bronz;doba laténská;pole;Všesoky;1076185,62;694201,69;0,15;3.4.1987;Novák Jan;sběr;1;Muzeum Moravského krasu;;12,5',
      'A 13/87;mince;stř.;novověk;les;Všesoky;1076190,10;694198,12;1,2;1988;Mgr. Dvořáková Eva;detektor kovů;2;Muzeum Moravského krasu;ulomená;3,1',
      'A 14/87;přezka;železo;neolit;mez;Všesoky;1076200,00;694100,00;0,4;5.10.1988;Vrba Zdeněk;výkop;1;Muzeum Moravského krasu;;7',
    ]);
    expect(listRules(proposal)).toEqual({
      'inv. č.': 'local_id',
      určení: 'druh_nalezu',
      'mat.': 'specifikace',
      'obd.': 'obdobi',
      'lok.': 'lokalizace',
      'k. ú.': '–',
      X: { geom_y: { sign: 'minus' } },
      Y: { geom_x: { sign: 'minus' } },
      'hl. (m)': { hloubka: { unit: 'm' } },
      'dat. nál.': { datum_nalezu: { date: 'd.m.yyyy', year_only: 'note' } },
      nálezce: 'nalezce',
      'okol.': 'okolnosti',
      ks: 'pocet',
      uloženo: 'predano_organizace',
      'pozn.': 'poznamka',
      'váha (g)': { poznamka: { label: 'váha (g)' } },
    });
    expect(listFixed(proposal)).toEqual([
      ['stav', '1'],
      ['geom_system', '5514'],
    ]);
    expect(proposal.undecided).toEqual(['projekt', 'pristupnost']);
    expect(listUnmappedTerms(proposal.columns, lookupTerm)).toMatchObject([
      { element: 'specifikace', term: 'stř.', rows: 1 },
    ]);
  });

  test('an English one with degrees, American dates and depths in metres', () => {
    expect(
      listRules(
        propose([
          'Object ID,Object,Material,Period,Findspot,Latitude,Longitude,Depth (m),Date found,Found by,Method,Notes',
          'F1,brooch,bronze,La Tène Period,field,49.84050,15.17120,0.15,4/23/2019,Jan Novák,metal detecting,',
          'F2,coin,iron,Neolithic,wood,49.84061,15.17134,0.32,4/24/2019,Eva Dvořáková,metal detecting,bent',
        ]),
      ),
    ).toEqual({
      'Object ID': 'local_id',
      Object: 'druh_nalezu',
      Material: 'specifikace',
      Period: 'obdobi',
      Findspot: 'lokalizace',
      Latitude: 'lat',
      Longitude: 'lon',
      'Depth (m)': { hloubka: { unit: 'm' } },
      'Date found': { datum_nalezu: { date: 'm/d/yyyy' } },
      'Found by': 'nalezce',
      Method: 'okolnosti',
      Notes: 'poznamka',
    });
  });

  test('one whose "dat." is the dating and whose "dat" is the day: the values decide', () => {
    expect(
      listRules(
        propose([
          'č.;dat.;datum;druh',
          '1;neolit;2019-04-03;spona',
          '2;novověk;2019-04-04;mince',
          '3;doba laténská;2019-05-01;nůž',
        ]),
      ),
    ).toEqual({
      'č.': 'local_id',
      'dat.': 'obdobi',
      datum: { datum_nalezu: { date: 'yyyy-mm-dd' } },
      druh: 'druh_nalezu',
    });
  });

  test('one with swapped coordinate names, missing signs, and days that may be months', () => {
    const proposal = propose([
      'sáček;východ;sever;datum;foto',
      's1;-694201.69;-1076185.62;3/4/2019;IMG_1.jpg, IMG_2.jpg',
      's2;-694198.12;-1076190.40;5/6/2019;IMG_3.jpg',
    ]);
    expect(listRules(proposal)).toEqual({
      sáček: 'local_id',
      východ: 'geom_x',
      sever: 'geom_y',
      datum: { datum_nalezu: { date: 'd/m/yyyy' } },
      foto: 'photos',
    });
    expect(String(proposal.columns[3]?.doubt)).toContain(
      'the day and the month cannot be told apart',
    );
  });

  test('one with both coordinates in a cell, repeated numbers and centimetres', () => {
    const proposal = propose([
      'ID;GPS;hloubka;nalezeno dne;předáno',
      '7;49.8405N 15.1712E;15;2019-04-03;A',
      '7;49.8406N 15.1713E;120;2019-04-05;N',
      '8;49.8407N 15.1714E;35;2019-04-06;A',
    ]);
    expect(listRules(proposal)).toEqual({
      ID: 'local_id',
      GPS: { wkt: { form: 'position' } },
      hloubka: { hloubka: { unit: 'cm' } },
      'nalezeno dne': { datum_nalezu: { date: 'yyyy-mm-dd' } },
      předáno: 'predano',
    });
    expect(String(proposal.columns[0]?.doubt)).toContain('numbers are missing or repeated');
  });

  test('one with a position in either system in a cell: each row has its own system', () => {
    const proposal = propose(['č.;GPS', '1;49.8405N 15.1712E', '2;-694201 -1076185']);
    expect([listFixed(proposal).map(([name]) => name), proposal.undecided]).not.toContainEqual(
      expect.arrayContaining(['geom_system']),
    );
  });

  test.each<[string, string[], object]>([
    [
      'degrees, minutes and seconds in a cell of each coordinate',
      ['č.;šířka;délka', '1;49°35′13.6″;15°25′15″', '2;49°35′14.6″;15°25′16″'],
      { šířka: 'lat', délka: 'lon' },
    ],
    [
      'degrees and minutes without marks',
      ['č.;sev.;vých.', '1;50 05,226;14 25,248'],
      { 'sev.': 'lat', 'vých.': 'lon' },
    ],
    [
      'degrees, minutes and seconds without marks',
      ['č.;sev.;vých.', '1;50 05 13,6;14 25 15'],
      { 'sev.': 'lat', 'vých.': 'lon' },
    ],
    [
      'coordinates without their decimal marks: they do not go into the note',
      ['č.;x;y', '1;14.420.800;50.087.100'],
      { x: '–', y: '–' },
    ],
    [
      'a place in the trench, or a long description: both go into the note',
      ['č.;x;y;long description', '1;2,35;4,10;u stěny'],
      { x: { poznamka: {} }, y: { poznamka: {} }, 'long description': 'poznamka' },
    ],
    [
      'UTM, or with a second position: neither goes into the note',
      ['č.;Easting;Northing;GPS;GPS 2', '1;458000;5548000;49.58N 15.42E;49.59N 15.43E'],
      { Easting: '–', Northing: '–', GPS: { wkt: { form: 'position' } }, 'GPS 2': '–' },
    ],
  ])('one with %s', (_, lines, rules) => {
    expect(listRules(propose(lines))).toMatchObject(rules);
  });

  test('one with numbers by year: they are no positions', () => {
    const rules = listRules(propose(['č.;přír.', '1;12/45', '2;13/46', '3;14/45']));
    expect(JSON.stringify(rules)).not.toContain('wkt');
  });

  test.each([
    ['přesnost;longitude;latitude', '15.235;15.4208;49.5871', '16.444;15.4218;49.5872'],
    ['hmotnost;x;y', '14,235;15,4208;49,5871', '16,444;15,4218;49,5872'],
    ['č. negativu;Y;X', '743001;600011,5;1160265,7', '743002;600021,5;1160275,7'],
  ])(
    'one whose first column %s only looks like a coordinate: the named columns are the point',
    (...lines) => {
      const [measured = '', ...named] = (lines[0] ?? '').split(';');
      const rules = listRules(propose(lines));
      expect(JSON.stringify(rules[measured])).not.toMatch(/geom_|lon|lat/);
      expect(
        named
          .map((name) => JSON.stringify(rules[name]))
          .every((rule) => /geom_|lon|lat/.test(rule)),
      ).toBe(true);
    },
  );

  test('one with points in both systems: both are read, and must agree', () => {
    const rules = listRules(
      propose([
        'inv. c.;x;y;lon;lat',
        '1;694201;1076185;15.17120;49.84050',
        '2;;;15.17134;49.84061',
        '3;;;15.17140;49.84070',
        '4;694100;1076100;15.17150;49.84080',
      ]),
    );
    expect(rules).toEqual({
      'inv. c.': 'local_id',
      x: { geom_x: { sign: 'minus' } },
      y: { geom_y: { sign: 'minus' } },
      lon: 'lon',
      lat: 'lat',
    });
  });

  test('one that names its states, systems and projects leaves nothing undecided', () => {
    const proposal = propose([
      'č. nálezu;projekt;stav;systém;přístupnost;rok',
      '1;C-202400101;1;S-JTSK;archeolog;1987',
      '2;C-202400101;2;S-JTSK;badatel;1988',
    ]);
    expect(listRules(proposal)).toEqual({
      'č. nálezu': 'local_id',
      projekt: 'projekt',
      stav: 'stav',
      systém: 'geom_system',
      přístupnost: 'pristupnost',
      rok: { datum_nalezu: { date: 'd.m.yyyy', year_only: 'note' } },
    });
    expect([proposal.fixed, proposal.undecided]).toEqual([[], []]);
  });

  test('a state of preservation is not the state, a shelf not the museum, a description of the work not the find date', () => {
    const proposal = propose([
      'č.;stav;uložení;kresba',
      '1;dobrý;R3/2;ano',
      '2;zlomek;R3/3;ne',
      '3;dobrý;R4/1;ne',
    ]);
    const inNote = (label: string) => ({ poznamka: { label } });
    expect(listRules(proposal)).toEqual({
      'č.': 'local_id',
      stav: inNote('stav'),
      uložení: inNote('uložení'),
      kresba: inNote('kresba'),
    });
  });
});

describe('what two columns could be', () => {
  const table = parseCsvTable('t.csv', Buffer.from('č.;inv. č.;předmět\n1;A 1;spona\n2;A 2;mince'));
  const proposeWith = makeColumnProposer(table, lookupTerm, NOTHING_KNOWN);

  test('is decided by an answer, and the other column gets its next meaning', () => {
    const rules = new Map([['č.', { element: 'local_id' } as const]]);
    const answered = proposeWith({ rules, settings: [] });
    expect(answered.questions).toEqual([]);
    expect(listRules(answered)).toEqual({
      'č.': 'local_id',
      'inv. č.': 'evidencni_cislo',
      předmět: 'druh_nalezu',
    });
  });

  test('is asked even where one header names nothing else', () => {
    const { questions } = propose(['č.;datace;období', '1;novověk;neolit', '2;neolit;novověk']);
    expect(questions).toMatchObject([{ element: 'obdobi', keys: ['datace', 'období'] }]);
  });

  test('is not asked where the values fit one of them only', () => {
    const detailed = propose(['č.;datace;období', '1;13. stol.;neolit', '2;14. stol.;novověk']);
    expect(detailed.questions).toEqual([]);
    expect(listRules(detailed)).toMatchObject({ datace: 'presna_datace', období: 'obdobi' });
    const proposal = propose(['inv. č.;typ;předmět', 'A 1;A3;spona', 'A 2;B7;mince']);
    expect(proposal.questions).toEqual([]);
    expect(listRules(proposal)).toMatchObject({
      'inv. č.': 'local_id',
      předmět: 'druh_nalezu',
      typ: { poznamka: { label: 'typ' } },
    });
  });
});

describe('a longer name', () => {
  test.each<[string, unknown, string, string]>([
    ['Hloubka nálezu pod povrchem v cm', { hloubka: { unit: 'cm' } }, '20', '35'],
    ['Jméno a příjmení nálezce', 'nalezce', 'Jan Novák', 'Eva Malá'],
    ['Inventární číslo předmětu', 'local_id', 'A 1', 'A 2'],
    ['Datum nálezu (den)', { datum_nalezu: { date: 'd.m.yyyy' } }, '1.5.2024', '2.5.2024'],
    ['předm.', 'druh_nalezu', 'spona', 'mince'],
    ['Co to je', 'druh_nalezu', 'spona', 'mince'],
    ['Místo uložení', { poznamka: { label: 'Místo uložení' } }, 'R1', 'R2'],
  ])('%s is read', (header, rule, ...values) => {
    expect(listRules(propose([header, ...values]))).toEqual({ [header]: rule });
  });
});

describe('everyday column names', () => {
  const lines = [
    'nalez-cislo;Datum;Jak nalezeno;Kdo našel',
    'N-1;1. 6. 2024 0:00;detektor kovů;Dvořáková, Eva',
    'N-2;3. VI. 2024;sběr;Novák, Jan',
  ];

  test('are recognised by name and values, with and without vocabularies', () => {
    const rules = {
      'nalez-cislo': 'local_id',
      Datum: { datum_nalezu: { date: 'd.m.yyyy' } },
      'Jak nalezeno': 'okolnosti',
      'Kdo našel': expect.anything(),
    };
    expect(listRules(propose(lines))).toMatchObject(rules);
    expect(listRules(propose(lines, notHarvested))).toMatchObject(rules);
    expect(listRules(propose(['č.;Kdy', '1;1. 6. 2024', '2;2. 6. 2024']))).toMatchObject({
      Kdy: { datum_nalezu: { date: 'd.m.yyyy' } },
    });
  });

  test('are recognised only once per row of names', () => {
    const [column] = propose(lines.slice(0, 2)).columns;
    expect([column?.rule, column?.doubt]).toEqual([{ element: 'local_id' }, undefined]);
  });
});

test('the coordinate system of a file of points is decided', async () => {
  const gpx = `<gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="50.1" lon="14.5"><name>1</name></wpt></gpx>`;
  const proposal = proposeFor(await parseTableBytes('walk.gpx', Buffer.from(gpx)));
  expect(proposal.undecided).toEqual(['projekt', 'pristupnost']);
});

test('the values of a column tell the details of the element that a person has chosen', () => {
  const table = parseCsvTable(
    't.csv',
    Buffer.from('a;b;c;d\n3.4.87;Novák Jan;0,3;694201\n5.10.88;Dvořáková Eva;35;694202\n'),
  );
  const chosen = { a: 'datum_nalezu', b: 'nalezce', c: 'hloubka', d: 'geom_x' } as const;
  const rules = new Map(Object.entries(chosen).map(([key, element]) => [key, { element }]));
  const proposal = makeColumnProposer(table, lookupTerm, NOTHING_KNOWN)({ rules, settings: [] });
  expect(listRules(proposal)).toEqual({
    a: { datum_nalezu: { date: 'd.m.yy' } },
    b: 'nalezce',
    c: { hloubka: { unit: '?' } },
    d: { geom_x: { sign: 'minus' } },
  });
  expect(proposal.questions).toMatchObject([{ asks: 'unit', keys: ['c'] }]);
});
