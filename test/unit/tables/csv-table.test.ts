import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { removeFormulaMark } from '../../../src/base/csv.ts';
import { FileError } from '../../../src/base/errors.ts';
import { hasErrors } from '../../../src/base/issue.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { readTable } from '../../../src/tables/readers.ts';
import { MAX_INPUT_BYTES } from '../../../src/tables/table.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const text = (content: string) => {
  const table = parseCsvTable('season.csv', Buffer.from(content, 'utf8'));
  return { ...table, rows: [...table.rows] };
};
const splitCells = (content: string) => text(content).rows.map((row) => row.cells);

describe('a text table', () => {
  test.each([
    ['commas', 'a,b\n1,"x, y"\n'],
    ['semicolons', 'a;b\n1;x, y\n'],
    ['tabs', 'a\tb\n1\tx, y\n'],
    ['a byte order mark', '\uFEFFa;b\n1;x, y'],
    ['Windows line ends', 'a;b\r\n1;x, y\r\n'],
    ['old Macintosh line ends', 'a;b\r1;x, y\r'],
    ['blanks around the cells', 'a ; b\n 1 ; "x, y" \n'],
    ['a quoted header with delimiters in it', '"a";"b"\n1;x, y\n'],
  ])('with %s reads the same', (_, content) => {
    const table = text(content);
    expect(table.header).toEqual(['a', 'b']);
    expect(table.rows.map((row) => row.cells)).toEqual([['1', 'x, y']]);
    expect(table.issues).toEqual([]);
  });

  test('keeps quoted line breaks in the cell, and numbers rows as a spreadsheet does', () => {
    const table = text('a;b\r\n1;"two\r\nlines"\r\n\r\n;\r\n2;x\r\n');
    expect(table.rows).toEqual([
      { row: 2, line: 2, cells: ['1', 'two\r\nlines'] },
      { row: 5, line: 6, cells: ['2', 'x'] },
    ]);
  });

  test('has doubled quotes inside a quoted cell, and plain ones in an unquoted cell', () => {
    expect(splitCells('a;b\n"nádoba ""hrnec""";12" hrnec\n')).toEqual([
      ['nádoba "hrnec"', '12" hrnec'],
    ]);
  });
});

describe('an unreadable row is reported and left out', () => {
  test.each([
    [
      'too many cells',
      'a;b\n1;2;3\nok;ok\n',
      'table-cells',
      'another number of cells (3) than the header (2)',
    ],
    [
      'too few cells',
      'a;b\n1\nok;ok\n',
      'table-cells',
      'another number of cells (1) than the header (2)',
    ],
    ['a control character', 'a;b\n1;x\u0007\nok;ok\n', 'table-control-character', 'U+0007'],
    ['a non-character', 'a;b\n1;x\uFFFE\nok;ok\n', 'table-control-character', 'U+FFFE'],
    [
      'a quote closed in the middle',
      'a;b\n1;"12" x\nok;ok\n',
      'table-quote',
      'closes in the middle of a cell',
    ],
    ['a quote never closed', 'a;b\n1;"12 x\nok;ok\n', 'table-quote', 'never closes'],
    [
      'a million characters, without a quote',
      `a;b\n1;${'x'.repeat(1_100_000)}\nok;ok\n`,
      'table-quote',
      'too much for one find',
    ],
  ])('%s', (_, content, rule, message) => {
    const table = text(content);
    expect(table.rows.map((row) => row.cells)).toEqual([['ok', 'ok']]);
    expect(table.issues).toHaveLength(1);
    expect(table.issues[0]).toMatchObject({ rule, row: 2, file: 'season.csv', severity: 'error' });
    expect(table.issues[0]?.message).toContain(message);
  });

  test('each broken quote affects only its own row', () => {
    const table = text('a;b\n1;"12 x\n2;"abc"\n3;d\n4;"open\n5;ok\n');
    expect(table.rows.map((row) => row.cells[0])).toEqual(['2', '3', '5']);
    expect(table.issues.map((issue) => issue.row)).toEqual([2, 5]);
  });

  test('a file full of broken quotes is given up after a hundred rows, quickly', () => {
    const table = text(`a;b\n${'1;"x" y\n'.repeat(5_000)}`);
    expect(table.issues).toHaveLength(101);
    expect(table.issues.at(-1)?.message).toContain('Too many rows');
  });

  test('a blank behind a quoted cell at the end of a row is no fault', () => {
    expect(splitCells('h;i\na;"b" \nc;"12""" \n')).toEqual([
      ['a', 'b'],
      ['c', '12"'],
    ]);
  });

  test('unclosed quotes are searched to their limit', () => {
    const rows = `${'x'.repeat(20_000)};y\n`.repeat(53);
    const table = text(`a;b\n${`"open;\n${rows}`.repeat(12)}`);
    expect(table.issues.filter(({ rule }) => rule === 'table-quote')).toHaveLength(12);
    expect(table.rows).toHaveLength(12 * 53);
  });

  test.each([
    ['lines within cells', `"${'\n'.repeat(900)}";b\n`.repeat(2300), 'is larger than pas reads'],
    ['cells in a row with quotes', `"${'";"'.repeat(1000)}"\n`, 'is larger than pas reads'],
    ['cells in a row', `${';'.repeat(1000)}\n`, 'is larger than pas reads'],
  ])('too many %s are refused', (_, rows, message) => {
    expect(() => text(`a;b\n${rows}`)).toThrow(message);
  });
});

describe('a file that is not a table is refused with the reason', () => {
  test.each([
    ['nothing', Buffer.alloc(0), 'is empty'],
    ['only blank lines', Buffer.from('\r\n\n  \n'), 'is empty'],
    ['a NUL', Buffer.from('a;b\n1;\0'), 'line 2 has a byte that is not valid'],
    [
      'a letter of another encoding',
      Buffer.from([0x61, 0x0a, 0xe1, 0x0a]),
      'line 2 has a byte that is not valid',
    ],
    [
      'UTF-8 cut in the middle of a letter',
      Buffer.from('a;ž\n1;ř').subarray(0, -1),
      'is not a text in UTF-8',
    ],
  ])('%s', (_, bytes, message) => {
    expect(() => parseCsvTable('season.csv', bytes)).toThrow(FileError);
    expect(() => parseCsvTable('season.csv', bytes)).toThrow(message);
  });
});

describe('reading from disk', () => {
  let folder = '';
  beforeAll(() => {
    folder = tempFolder();
  });

  test('a missing file, a folder and a path through a file are named', async () => {
    const file = join(folder, 'plain.csv');
    writeFileSync(file, 'a\n1\n');
    await expect(readTable(join(folder, 'none.csv'))).rejects.toThrow('There is no file');
    writeFileSync(join(folder, 'finds.csv'), 'local_id\u0000');
    await expect(readTable(folder)).rejects.toThrow('with these tables: finds.csv, plain.csv.');
    await expect(readTable(join(file, 'x.csv'))).rejects.toThrow('There is no file');
    await expect(readTable('/dev/zero')).rejects.toThrow('not a regular file');
  });

  test('a file larger than any table is refused before it is read', async () => {
    const file = join(folder, 'endless.csv');
    writeFileSync(file, '');
    truncateSync(file, MAX_INPUT_BYTES + 1);
    await expect(readTable(file)).rejects.toThrow('is larger than pas reads');
  });

  test('a named pipe is refused at once, with the way to read it', async () => {
    const pipe = join(folder, 'silent.csv');
    execFileSync('mkfifo', [pipe]);
    await expect(readTable(pipe)).rejects.toMatchObject({
      hint: expect.stringContaining('standard input'),
    });
  });
});

describe('for any cells', () => {
  const cell = fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .filter((value) => !/[\u007f-\u009f\ufffd]/.test(value));
  const broken = fc
    .tuple(cell, fc.constantFrom('\n', '\r\n', '"', ',', ';', '\t', '\n\n'), cell)
    .map((parts) => parts.join(''));
  // The apostrophe that guards what looks like a formula is taken off again.
  const written = fc.oneof(cell, broken).filter((value) => removeFormulaMark(value) === value);
  const rows = fc.array(fc.tuple(written, written, fc.constant('end')), {
    minLength: 1,
    maxLength: 8,
  });

  test('a table is read back as it was written', () => {
    fc.assert(
      fc.property(
        rows,
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        (cells, delimiter, end, bom) => {
          const quote = (value: string) => `"${value.replaceAll('"', '""')}"`;
          const lines = [['first', 'second', 'third'], ...cells].map((row) =>
            row.map(quote).join(delimiter),
          );
          const table = text((bom ? '\uFEFF' : '') + lines.join(end) + end);
          // Letters around a question mark give a warning.
          expect(hasErrors(table.issues)).toBe(false);
          expect(table.rows.map((row) => [...row.cells])).toEqual(cells);
          expect(table.rows.map((row) => row.row)).toEqual(cells.map((_, index) => index + 2));
        },
      ),
    );
  });

  test('a table reads the same whether or not some of its rows have quotes', () => {
    const piece = fc.constantFrom('a', ' ', '\u00a0', '\ufeff', '\f', 'ž', '🦴', "'", '=', '-1');
    const plain = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
    const line = fc.oneof(
      fc.tuple(plain, plain),
      fc.tuple(plain),
      fc.tuple(plain, plain, plain),
      fc.constant(['']),
    );
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    const lines = fc.array(fc.tuple(line, ends, fc.boolean()), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        lines,
        fc.constantFrom(',', ';', '\t'),
        fc.boolean(),
        (rows, delimiter, isEnded) => {
          const written = (mark: string): string => {
            const body = rows
              .map(
                ([cells, end, marked]) =>
                  `${[...cells, marked ? mark : 'x'].join(delimiter)}${end}`,
              )
              .join('');
            const content = `h${delimiter}i${delimiter}j\n${body}`;
            return isEnded ? content : content.trimEnd();
          };
          // A quoted cell makes its row, and what follows it, go through the parser.
          expect(text(written('x'))).toEqual(text(written('"x"')));
        },
      ),
    );
  });
});
