import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorkbook } from '../support/make-workbook.ts';
import { setFlags } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

const mock = useMock();
const home = useVocabularies(mock);

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog', 'geom_system=4326');
const FINDS = ['Z-1;spona;2024-06-01;5;', 'Z-2;nůž;2024-06-01;12;'];
const season = (...rows: readonly string[]): string =>
  ['local_id;druh_nalezu;datum_nalezu;hloubka;poznamka', ...rows].join('\n');

test('totals, rules, repeated headers and remarks are named with their rows and left out; the import succeeds', async () => {
  const homeCopy = home.copy();
  const otherNames = [
    'Celkem:;;;17;',
    'Σ;;;17;',
    'Součet: 2;;;;',
    'Grand total;;;;',
    '---;---;;;',
    'local_id;druh_nalezu;;;',
    'Zapsala Nováková;;;;',
  ];
  const table = homeCopy.file(
    'season.csv',
    season(...FINDS, ...otherNames, 'Z-3;mince;2024-06-02;1;Celkem zachovalá'),
  );
  const report = await homeCopy.json('import', table, ...SET);
  expect(report).toMatchObject({ added: 3, invalid: 0 });
  expect(report.issues.map(({ rule, severity, row }) => [rule, severity, row])).toEqual(
    otherNames.map((_, index) => ['row-no-find', 'warning', index + 4]),
  );
  expect(report.issues.map(({ message }) => message)).toEqual([
    ...['Celkem:', 'Σ', 'Součet: 2', 'Grand total', '---', 'local_id'].map((word) =>
      expect.stringContaining(`("${word}") is a total, a heading or a separator`),
    ),
    expect.stringMatching(/"Zapsala Nováková".*no object, place or date.*--keep-rows/),
  ]);
  const run = await homeCopy.pas('import', table, ...SET, '--keep-rows', '--json');
  expect(run.code).toBe(3);
  expect(JSON.parse(run.stdout)).toMatchObject({ added: 5, invalid: 2 });
});

test('a find with only a number and a remark stays, as do tables in which finds and remarks cannot be told apart', async () => {
  const homeCopy = home.copy();
  const rows = [...FINDS, 'Z-3;;;;ztraceno', 'Z-4;;;;'];
  expect(
    await homeCopy.json('import', homeCopy.file('season.csv', season(...rows)), ...SET),
  ).toMatchObject({
    added: 4,
    issues: [],
  });
  const bare = await homeCopy.json(
    'import',
    homeCopy.file('bare.csv', 'local_id;poznamka\nB-1;spona\nkonec;x\n'),
    ...SET,
  );
  expect(bare).toMatchObject({ added: 2, issues: [] });
  const few = await homeCopy.json(
    'import',
    homeCopy.file('few.csv', season('F-1;spona;;;', 'dál;;;;x')),
    ...SET,
  );
  expect(few).toMatchObject({ added: 2 });
});

test('the same holds through the proposed map, in workbooks, and for registration numbers', async () => {
  const homeCopy = home.copy();
  const rows = [
    ['č.', 'Předmět', 'Ks', 'X', 'Y'],
    ['Z-1', 'spona', 1, -693_922.37, -1_076_044.69],
    ['Z-2', 'mince', 2, -693_925.1, -1_076_050],
    ['Celkem', null, { xml: '<c r="@"><f>SUM(C2:C3)</f><v>3</v></c>' }],
    ['Měřil Jan Novák'],
  ];
  const table = homeCopy.file('museum.xlsx', makeWorkbook([{ name: 'A', rows }]));
  const wizard = await homeCopy.json('import', table, '--wizard', '--yes', ...SET.slice(0, 6));
  expect(JSON.stringify(wizard)).not.toContain('Celkem');
  const report = await homeCopy.json(
    'import',
    table,
    '--map',
    join(homeCopy.folder, 'museum.map.toml'),
  );
  expect(report).toMatchObject({ added: 2, invalid: 0 });
  expect(report.issues.filter(({ rule }) => rule === 'row-no-find').map(({ row }) => row)).toEqual([
    4, 5,
  ]);
  const numbers = homeCopy.file(
    'numbers.csv',
    'local_id;evidencni_cislo\nZ-1;A 1\nZ-2;A 2\nCelkem;2\n',
  );
  expect(await homeCopy.json('number', 'import', numbers)).toMatchObject({
    issues: [{ rule: 'row-no-find', row: 4, severity: 'warning' }],
  });
});
