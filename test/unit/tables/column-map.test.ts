import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatColumnMap, parseColumnMap } from '../../../src/tables/columns/column-map.ts';
import type { ColumnMap } from '../../../src/tables/columns/column-meaning.ts';
import { parseColumns } from '../../../src/tables/columns/columns.ts';
import { mapTableToFinds } from '../../../src/tables/columns/map-table.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';

const table = (text: string) => parseCsvTable('museum.csv', Buffer.from(text));

function parseMap(text: string): ColumnMap {
  const { map, issues } = parseColumnMap('museum.map.toml', `version = 1\n${text}`);
  expect(issues).toEqual([]);
  if (map === undefined) throw new Error('no map');
  return map;
}

function listFaults(text: string): string[] {
  const { map, issues } = parseColumnMap('museum.map.toml', text);
  expect(map).toBeUndefined();
  return issues.map(({ rule, column, line }) =>
    [rule, column ?? line].filter((part) => part !== undefined).join(' '),
  );
}

/** Values of the first row, by the names that pas gives the columns. */
function splitCells(map: string, csv: string): Record<string, string> {
  const read = table(csv);
  const { columns } = parseColumns(read, parseMap(map));
  const [row] = read.rows;
  return Object.fromEntries(
    columns.names.map((name) => [name, row === undefined ? '' : columns.getCell(row, name)]),
  );
}

describe('a wrong column map is refused with the place and advice:', () => {
  test.each([
    ['an open quotation mark', 'version = 1\n[columns]\n"hl = "hloubka"\n', ['map-toml 3']],
    ['nothing at all', '', ['map-version']],
    ['a version of the future', 'version = 2\n', ['map-version']],
    ['a key that does not exist', 'version = 1\ncolumn = "x"\n', ['map-key']],
    ['a list for the columns', 'version = 1\ncolumns = ["a"]\n', ['map-key']],
    ['a mistyped element', 'version = 1\n[columns]\nhl = "hlubka"\n', ['map-element hl']],
    ['a number for an element', 'version = 1\n[columns]\nhl = 5\n', ['map-element hl']],
    [
      'an unknown unit',
      'version = 1\n[columns]\nhl = { element = "hloubka", unit = "ft" }\n',
      ['map-option hl'],
    ],
    [
      'a unit of a note',
      'version = 1\n[columns]\np = { element = "poznamka", unit = "m" }\n',
      ['map-option p'],
    ],
    [
      'a form that is no date',
      'version = 1\n[columns]\nd = { element = "datum_nalezu", date = "den" }\n',
      ['map-date d'],
    ],
    [
      'two values for one element',
      'version = 1\n[fixed]\nhloubka = 1\ndepth_cm = 2\n',
      ['map-element-twice hloubka'],
    ],
    [
      'the same column twice',
      'version = 1\n[columns]\nA = "hloubka"\na = "pocet"\n',
      ['map-column-twice a'],
    ],
    ['a fixed number of a find', 'version = 1\n[fixed]\nlocal_id = "1"\n', ['map-fixed local_id']],
    ['a fixed value that is empty', 'version = 1\n[fixed]\nprojekt = ""\n', ['map-fixed projekt']],
    [
      'values that are a list',
      'version = 1\n[columns]\ns = { element = "stav", values = ["a"] }\n',
      ['map-values s'],
    ],
  ])('%s', (_what, text, faults) => {
    expect(listFaults(text)).toEqual(faults);
  });

  test('a column that is missing from the table refuses the whole table', () => {
    const mapped = mapTableToFinds(table('hl.;č.\n1;2\n'), {
      map: parseMap('[columns]\n"hl" = "hloubka"\n"č." = "local_id"\n'),
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: () => ({ value: '' }),
    });
    expect([...mapped.rows]).toEqual([]);
    expect(mapped.issues.map(({ rule, message }) => [rule, message])).toEqual([
      [
        'map-column-missing',
        'museum.map.toml names the column "hl", which the table does not have. Did you mean hl.?',
      ],
    ]);
  });

  test('two columns for one element refuse the whole table', () => {
    const mapped = mapTableToFinds(table('č.;a;b\n1;2;3\n'), {
      map: parseMap('[columns]\n"č." = "local_id"\na = "hloubka"\nb = "hloubka"\n'),
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: () => ({ value: '' }),
    });
    expect([...mapped.rows]).toEqual([]);
    expect(mapped.issues).toMatchObject([
      { rule: 'column-twice', message: expect.stringContaining('"a" and "b" both mean hloubka') },
    ]);
  });

  test('a column that is missing from the map is named, not ignored', () => {
    const mapped = mapTableToFinds(table('č.;nové\n1;2\n'), {
      map: parseMap('[columns]\n"č." = "local_id"\n'),
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: () => ({ value: '' }),
    });
    expect(mapped.issues).toMatchObject([{ rule: 'column-unknown', column: 'nové' }]);
  });
});

describe('a cell is read as the map says:', () => {
  test.each([
    ['m', '0,35', '0,35 m'],
    ['m', '40 cm', '40 cm'],
    ['m', '0,3–0,5', '0,3–0,5'],
    ['m', '', ''],
  ])('a depth in %s: %s', (unit, cell, read) => {
    expect(
      splitCells(`[columns]\nhl = { element = "hloubka", unit = "${unit}" }`, `hl;č\n${cell};1\n`)[
        'hloubka'
      ],
    ).toBe(read);
  });

  test.each([
    ['d.m.yyyy', '3. 4. 2019', '2019-04-03'],
    ['d.m.yyyy', '3.4.2019 0:00:00', '2019-04-03'],
    ['d.m.yy', '3.4.87', '1987-04-03'],
    ['d.m.yy', '3.4.19', '2019-04-03'],
    ['m/d/yyyy', '4/3/2019', '2019-04-03'],
    ['yyyymmdd', '20190403', '2019-04-03'],
    ['d.m.yyyy', '31.2.2019', '31.2.2019'],
    ['d/m/yyyy', 'jaro 2019', 'jaro 2019'],
  ])('a day in the form %s: %s', (form, cell, read) => {
    expect(
      splitCells(
        `[columns]\nd = { element = "datum_nalezu", date = "${form}" }`,
        `d;č\n${cell};1\n`,
      )['datum_nalezu'],
    ).toBe(read);
  });

  test('a year alone goes to the note, after the existing text', () => {
    const map =
      '[columns]\n"dat." = { element = "datum_nalezu", date = "d.m.yyyy", year_only = "note" }\npozn = "poznamka"';
    expect(splitCells(map, 'dat.;pozn\n1987;ze sbírky\n')).toEqual({
      datum_nalezu: '',
      poznamka: 'ze sbírky; dat.: 1987',
    });
  });

  test.each([
    ['r. 1987', { datum_nalezu: '', poznamka: 'dat.: 1987' }],
    ['1988', { datum_nalezu: '1.5.1988', poznamka: '' }],
  ])('a year alone is what the values of the map leave of %s', (written, cells) => {
    const map = `[columns]
"dat." = { element = "datum_nalezu", year_only = "note", values = { "r. 1987" = "1987", "1988" = "1.5.1988" } }
pozn = "poznamka"`;
    expect(splitCells(map, `dat.;pozn\n${written};\n`)).toEqual(cells);
  });

  test('coordinates get their missing sign', () => {
    const signs =
      '[columns]\nY = { element = "geom_x", sign = "minus" }\nX = { element = "geom_y", sign = "minus" }';
    expect(splitCells(signs, 'X;Y\n1076185,62;-694201,69\n')).toEqual({
      geom_x: '-694201,69',
      geom_y: '-1076185,62',
    });
  });

  test.each([
    ['49.84N 15.17E', 'POINT (15.17 49.84)', []],
    ['15.17 49.84', 'POINT (15.17 49.84)', []],
    [
      '49.84 15.17',
      'POINT (15.17 49.84)',
      ['has its axes swapped. It is read as 49.84 N 15.17 E.'],
    ],
    ['POINT(49.84 15.17)', 'POINT (15.17 49.84)', ['has its axes swapped. It is read as']],
    ['1077354 693174', 'POINT (-693174 -1077354)', ['and a wrong sign']],
    ['POINT(693174 1077354)', 'POINT (-693174 -1077354)', ['It is read as -693174 -1077354.']],
  ])('the position %s, and a change of it is told', (written, point, told) => {
    const map = parseMap(
      '[columns]\n"č" = "local_id"\ngps = { element = "wkt", form = "position" }',
    );
    const mapped = mapTableToFinds(table(`č;gps\n1;${written}\n`), {
      map,
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: () => ({ value: '' }),
    });
    const [row] = mapped.rows;
    const { geom_wkt: degrees, geom_sjtsk_wkt: metres } = row?.find?.elements ?? {};
    expect(degrees ?? metres).toBe(point);
    expect(row?.issues.map(({ severity, message }) => [severity, message])).toEqual(
      told.map((text) => ['warning', expect.stringContaining(text)]),
    );
  });

  test('several columns are joined, words are replaced, empty cells get fixed values', () => {
    const map = `[fixed]
projekt = "C-202400101"
[columns]
"stav zpr." = { element = "stav", values = { "hotovo" = 2, "rozprac." = "1" } }
pozn = "poznamka"
"váha" = { element = "poznamka", label = "váha (g)" }
"č." = "local_id"`;
    expect(splitCells(map, 'č.;stav zpr.;pozn;váha\n2019/7;Hotovo;zlomek;12\n')).toEqual({
      local_id: '2019/7',
      projekt: 'C-202400101',
      stav: '2',
      poznamka: 'zlomek; váha (g): 12',
    });
  });

  test('a part that stands for the value above is an error, and one that says nothing is left out', () => {
    const map = parseMap(
      '[columns]\n"č" = "local_id"\na = { element = "poznamka", label = "váha" }\nb = "poznamka"',
    );
    const { rows } = mapTableToFinds(table('č;a;b\n2024/1;5;x\n2024/2;-;x\n2024/3;dtto;x\n'), {
      map,
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: () => ({ value: '' }),
    });
    expect(
      Array.from(rows).flatMap(({ find }) =>
        find ? [[find.localId, find.elements.poznamka]] : [],
      ),
    ).toEqual([
      ['2024/1', 'váha: 5; x'],
      ['2024/2', 'x'],
    ]);
  });

  test('columns with equal names are distinguished by #2, those without a name by their position', () => {
    expect(
      splitCells(
        '[columns]\np = "pocet"\n"p #2" = "poznamka"\n"#3" = "lokalizace"',
        'p;p;\n1;2;3\n',
      ),
    ).toEqual({
      pocet: '1',
      poznamka: '2',
      lokalizace: '3',
    });
  });
});

test('a written map is read back unchanged, whatever the columns contain', () => {
  const word = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .map((text) => text.replace(/\p{Cs}/gu, 'x'));
  const key = word.filter((text) => text.trim() !== '' && text !== '__proto__');
  fc.assert(
    fc.property(
      fc.uniqueArray(key, {
        maxLength: 5,
        selector: (text) => text.normalize('NFC').toLowerCase(),
      }),
      word,
      (keys, label) => {
        const columns = new Map(
          keys.map((name) => [name, { element: 'poznamka', label } as const]),
        );
        const map: ColumnMap = {
          file: 'm',
          columns,
          fixed: [{ name: 'projekt', givenName: 'projekt', value: 'C-202400101' }],
        };
        const remarks = {
          table: label,
          columns: new Map(keys.map((name) => [name, [label]])),
          fixed: new Map(),
          undecided: [],
        };
        const read = parseColumnMap('m', formatColumnMap(map, remarks));
        // Keys that differ only in white space are one.
        if (read.map === undefined)
          expect(read.issues.map(({ rule }) => rule)).toContain('map-column-twice');
        else expect(read.map).toEqual(map);
      },
    ),
  );
});
