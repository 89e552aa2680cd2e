import { describe, expect, test } from 'vitest';
import { parseColumns } from '../../../src/tables/columns/columns.ts';
import type { Table } from '../../../src/tables/table.ts';

function makeTable(header: readonly string[], ...rows: readonly string[][]): Table {
  return {
    file: 'season.csv',
    header,
    rows: rows.map((cells, index) => ({ row: index + 2, line: index + 2, cells })),
    rowCount: rows.length,
    issues: [],
  };
}

describe('column names', () => {
  test('accents, letter case, blanks and English aliases all lead to the same element', () => {
    for (const header of [
      'datum_nalezu',
      'Datum nálezu',
      'DATUM-NALEZU',
      ' datum_nalezu ',
      'found_on',
      'Found on',
    ]) {
      const { columns, issues } = parseColumns(makeTable([header], ['2024-06-17']));
      expect(issues).toEqual([]);
      expect(columns.getCell({ cells: ['2024-06-17'] }, 'datum_nalezu')).toBe('2024-06-17');
      expect(columns.getHeader('datum_nalezu')).toBe(header);
    }
  });

  test.each([
    ['hlubka', 'hlubka (hloubka?).'],
    ['druh_nalez', 'druh_nalez (druh_nalezu?).'],
    ['objecttype', 'objecttype (object_type?).'],
    ['barva', 'barva. Rename or remove them.'],
  ])('the unknown column %s is one error with advice', (header, advice) => {
    const { issues } = parseColumns(makeTable(['local_id', header], ['1', 'x']));
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({
      rule: 'column-unknown',
      severity: 'error',
      column: header,
      row: 1,
      file: 'season.csv',
    });
    expect(issues[0]?.message).toContain(advice);
  });

  test('all unknown columns are one error', () => {
    const { issues } = parseColumns(makeTable(['barva', 'hloubka', 'regál', 'hlubka']));
    expect(issues).toHaveLength(1);
    expect(issues[0]?.message).toContain('no element: barva, regál, hlubka (hloubka?).');
  });

  test('the same column twice, or an element under two names, is an error', () => {
    for (const second of ['hloubka', 'depth_cm'])
      expect(parseColumns(makeTable(['hloubka', second])).issues[0]?.message).toContain(
        `"hloubka" and "${second}" both mean hloubka. Keep one`,
      );
  });

  test('a column without a name matters only if it has values, and is named by its place', () => {
    expect(parseColumns(makeTable(['hloubka', ''], ['1', ''])).issues).toEqual([]);
    expect(parseColumns(makeTable(['hloubka', ''], ['1', 'x'])).issues).toMatchObject([
      { rule: 'column-unknown', severity: 'error', column: '#2' },
    ]);
  });

  test('a column that the service sets itself is ignored with a warning, and one that pas wrote without one', () => {
    const { issues } = parseColumns(makeTable(['hloubka', 'katastr', 'issues']));
    expect(issues).toMatchObject([
      { rule: 'column-not-sent', severity: 'warning', column: 'katastr' },
    ]);
  });
});
