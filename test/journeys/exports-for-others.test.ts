import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readTable } from '../../src/tables/readers.ts';
import { expectEnded } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

const TABLE = [
  'local_id;projekt;hloubka;okolnosti;obdobi;druh_nalezu;specifikace;nalezce;datum_nalezu;stav;geom_system;pristupnost;lokalizace;geom_x;geom_y;poznamka;photos',
  'A-1;C-202400101;12;HES-000560;HES-000253;HES-000691;HES-000988;Čermáková, Žofie;2024-06-01;2;4326;HES-000865;volné pole;14,4123;50,0876;otevřená;pole.png',
  'B-1;C-202400101;12;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-01;2;5514;HES-000867;tajná mez;-743987,65;-1043876,54;u tajné meze;mez.png',
  'D-1;C-202400101;;;;;;;;1;4326;HES-000868;tajný les;14,5333;50,1777;;',
];
beforeAll(async () => {
  home.file('pole.png', tinyPng(1));
  home.file('mez.png', tinyPng(2));
  await home.do('import', home.file('finds.csv', TABLE.join('\n')));
  await home.do('push', '--only', 'import', '--limit', '1', '--quiet', '--accept-new-people');
});

const path = (name: string): string => join(home.folder, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');

describe('pas export --for museum', () => {
  test('has Czech headings in either language, labels beside codes, and the point in both systems', async () => {
    await home.do('export', '--for', 'museum', '--out', path('museum.csv'));
    const [header = '', open = '', keptText = '', draft = ''] = read('museum.csv')
      .replace('\ufeff', '')
      .split('\r\n');
    for (const heading of [
      'Evidenční číslo',
      'Materiál',
      'Materiál – kód',
      'Zeměpisná délka (WGS 84)',
      'S-JTSK X (EPSG:5514)',
      'Fotografie',
    ])
      expect(header.split(';')).toContain(heading);
    expect(open).toContain(';kov;HES-000988;');
    expect(open).toMatch(
      /Čermáková, Žofie;;2024-06-01;.*;14,4123;50,0876;-74\d{4},\d\d;-104\d{4},\d\d;4326;pole\.png$/,
    );
    expect(keptText).toMatch(
      /;OS-001507;.*;14,4\d{6};50,0\d{6};-743987,65;-1043876,54;5514;mez\.png$/,
    );
    expect([open, keptText, draft].map((row) => row.split(';').length)).toEqual(
      Array(3).fill(header.split(';').length),
    );
    const { stdout } = await home.with({ PAS_LANG: 'cs' }).do('export', '--for', 'museum');
    expect(stdout).toBe(read('museum.csv'));
  });

  test('is the same as a workbook, with days and numbers', async () => {
    await home.do('export', '--for', 'museum', '--out', path('own.csv'));
    await home.do('export', '--for', 'museum', '--out', path('museum.xlsx'));
    const [text, workbook] = await Promise.all(
      ['own.csv', 'museum.xlsx'].map((name) => readTable(path(name))),
    );
    const rows = [...(workbook?.rows ?? [])].map(({ cells }) => cells);
    expect(rows).toHaveLength(3);
    const withPoint = (cell: string): string => cell.replace(/^(-?\d+),(\d+)$/, '$1.$2');
    expect(rows).toEqual([...(text?.rows ?? [])].map(({ cells }) => cells.map(withPoint)));
  });

  test('does not accept map formats', async () => {
    await expectEnded(
      home.pas('export', '--for', 'museum', '--out', path('museum.gpkg')),
      2,
      '.csv, .xlsx',
    );
  });
});
