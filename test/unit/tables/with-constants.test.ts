import { expect, test } from 'vitest';
import { parseColumns } from '../../../src/tables/columns/columns.ts';
import { parseFixedValues } from '../../../src/tables/columns/settings.ts';

test('constants fill empty cells of a table, and missing columns', () => {
  const rows = [
    { row: 1, line: 2, cells: ['', 'a = b'] },
    { row: 2, line: 3, cells: ['C-1', ''] },
  ];
  const table = { file: 'finds.csv', header: ['Projekt', 'note'], rows, rowCount: 2, issues: [] };
  const constants = parseFixedValues(['project=C-2', 'poznámka=x=y', 'stav=1']);
  const { columns } = parseColumns(table, undefined, constants);
  expect(columns.names).toEqual(['poznamka', 'projekt', 'stav']);
  expect(rows.map((row) => columns.names.map((name) => columns.getCell(row, name)))).toEqual([
    ['a = b', 'C-2', '1'],
    ['x=y', 'C-1', '1'],
  ]);
});

test.each([
  ['stav', /"stav" is not element=value/],
  ['=1', /"=1" is not element=value/],
  ['hlubka=1', /no element hlubka.*Did you mean hloubka/],
  ['local_id=K-1', /local_id belongs to a single find/],
  ['IDENT_CELY=C-1', /IDENT_CELY belongs to a single find/],
])('"%s" is not a constant', (text, message) => {
  expect(() => parseFixedValues([text])).toThrow(message);
});
