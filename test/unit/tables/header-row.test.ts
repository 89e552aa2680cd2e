import { describe, expect, test } from 'vitest';
import { parseColumns } from '../../../src/tables/columns/columns.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { parseHeaderRows } from '../../../src/tables/header-row.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import { makeWorkbook } from '../../support/make-workbook.ts';

const read = (content: string, row?: string) => {
  const table = parseCsvTable(
    'season.csv',
    Buffer.from(content),
    row === undefined ? undefined : parseHeaderRows(row),
  );
  return { ...table, rows: [...table.rows].map(({ row, cells }) => [row, ...cells]) };
};
const listRules = (content: string) => read(content).issues.map(({ rule }) => rule);

describe('the header row', () => {
  test('is found below a title, and the rows keep their numbers in the file', () => {
    const table = read(
      'Nálezy, sezóna 2024\n\nčíslo;nález;datum\n1;spona;1. 6. 2024\n2;jehla;2. 6. 2024\n',
    );
    expect(table).toMatchObject({ header: ['číslo', 'nález', 'datum'], headerRow: 3, rowCount: 2 });
    expect(table.rows).toEqual([
      [4, '1', 'spona', '1. 6. 2024'],
      [5, '2', 'jehla', '2. 6. 2024'],
    ]);
    expect(table.issues).toMatchObject([
      {
        rule: 'table-header-row',
        severity: 'warning',
        message: expect.stringContaining('are read from row 3'),
      },
    ]);
  });

  test("is found below Excel's own first line", () => {
    const table = read('sep=;\r\nčíslo;nález\r\n1;spona, bronz\r\n');
    expect(table).toMatchObject({ header: ['číslo', 'nález'], headerRow: 2, rowCount: 1 });
  });

  test('of numbers, as in the list of a total station, is no element, so nothing is imported', () => {
    const points = '1001;743011,72;1043265,50\n1002;743012,72;1043266,50\n';
    const { issues } = parseColumns(parseCsvTable('points.csv', Buffer.from(points)));
    expect(issues).toMatchObject([{ rule: 'column-unknown', severity: 'error' }]);
  });

  test('takes the name above if the one below is repeated, or is a unit', () => {
    expect(
      read('č.;Nález;;Určení;\n;druh;datum;druh;kdo\n1;spona;1. 6.;fibula;E. D.\n').header,
    ).toEqual(['č.', 'Nález druh', 'datum', 'Určení druh', 'kdo']);
    expect(read('č.;hloubka;datum\n;(cm);\n1;12;1. 6. 2024\n').header).toEqual([
      'č.',
      'hloubka (cm)',
      'datum',
    ]);
  });

  test.each([
    ['a table of one column', 'local_id\nA\nB\n'],
    ['rows that have more cells than the header', 'local_id\nA;kov\nB;sklo\n'],
    ['a first row of words', 'číslo;nález;místo\njedna;spona;les\ndvě;jehla;pole\n'],
    ['a column without a name', 'číslo;;místo\nA-1;spona;les\n'],
    ['hardly any names', 'a;;;;\n1;2;3;4;5\n'],
  ])('is the first row of %s', (_, content) => {
    expect(read(content).headerRow).toBe(1);
    expect(listRules(content)).not.toContain('table-header-row');
  });

  test('is where a person says', () => {
    const content = 'x;y;z\nčíslo;nález;datum\n1;spona;1. 6. 2024\n';
    expect(read(content, '2')).toMatchObject({
      header: ['číslo', 'nález', 'datum'],
      rowCount: 1,
      issues: [],
    });
    expect(read(content).header).toEqual(['x', 'y', 'z']);
    expect(read('a;;b\n;c;\n1;2;3\n', '1-2')).toMatchObject({
      header: ['a', 'c', 'b'],
      rowCount: 1,
    });
    expect(() => read(content, '9')).toThrow('nothing in row 9');
    expect(() => parseHeaderRows('1-4')).toThrow('is not a row of names');
    expect(() => parseHeaderRows('0')).toThrow('is not a row of names');
  });

  test('is found in a workbook with a merged title and merged groups', async () => {
    const rows = [
      ['Muzeum – nálezy 2024', null, null, null, null],
      [],
      ['č.', 'Nález', null, 'Poloha', null],
      [null, 'druh', 'datum', 'X', 'Y'],
      ['A-1', 'spona', { day: 45444 }, -700000, -1000000],
      ['A-2', 'jehla', { day: 45445 }, -700001, -1000001],
    ] as const;
    const bytes = makeWorkbook([
      { name: '2024', rows, merged: ['A1:E1', 'A3:A4', 'B3:C3', 'D3:E3'] },
    ]);
    const table = await parseTableBytes('season.xlsx', bytes);
    expect(table).toMatchObject({
      header: ['č.', 'druh', 'datum', 'X', 'Y'],
      headerRow: 4,
      rowCount: 2,
    });
    expect([...table.rows][0]).toMatchObject({
      row: 5,
      cells: ['A-1', 'spona', '2024-06-01', '-700000', '-1000000'],
    });
    const named = await parseTableBytes('season.xlsx', bytes, { headerRows: parseHeaderRows('4') });
    expect(named.header).toEqual(['', 'druh', 'datum', 'X', 'Y']);
  });
});
