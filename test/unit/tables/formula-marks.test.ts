import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCsvCell, protectFormulaMark, removeFormulaMark } from '../../../src/base/csv.ts';

const SEPARATORS = [',', ';', '\t'] as const;
const FORMULA = /^[=+\-@]\S/;
const hostile = fc
  .array(
    fc.constantFrom('=cmd', '=', '+1', '-', '@x', ';', ',', '\t', '\n', '\r\n', '"', "'", 'a', ' '),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Cells as a spreadsheet reads them that takes `separator` for that of the file. */
function splitCells(line: string, separator: string): string[] {
  const rows = parse(line, {
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
  }) as string[][];
  return rows.flat();
}

test('a cell is no formula for a spreadsheet with another separator', () => {
  for (const text of ['x;=cmd', 'x,=cmd', 'x\t=cmd', 'x;"=cmd', 'x\n=cmd', ';@a', 'a;;+b']) {
    for (const read of SEPARATORS) {
      const line = ['first', formatCsvCell(text), 'last'].join(';');
      expect([
        line,
        read,
        splitCells(line, read).filter((cell) => FORMULA.test(cell.replace(/^"+/, ''))),
      ]).toEqual([line, read, []]);
    }
  }
});

test('for any text, it is read back as it was written', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const [cell = ''] = splitCells(`${formatCsvCell(text)};end`, ';');
      expect(removeFormulaMark(cell)).toBe(text);
      expect(removeFormulaMark(protectFormulaMark(text))).toBe(text);
    }),
  );
});

test('ordinary texts are left unchanged', () => {
  for (const text of ['Kč 15,-', 'hrdlo; 3 ks', 'a, -3', 'x = y', 'N50.1, E14.2', 'e-mail a@b.cz'])
    expect([text, `"${text}"`]).toContain(formatCsvCell(text));
});
