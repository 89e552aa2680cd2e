import fc from 'fast-check';
import stringWidth from 'string-width';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  cutText,
  loadWidthLibrary,
  measureDisplayWidth,
  wrapText,
} from '../../../src/base/characters.ts';
import { formatTable, makeProgressBar, makeTerminal } from '../../../src/cli/terminal.ts';

beforeAll(() => loadWidthLibrary());

describe('the width of a text', () => {
  test.each([
    ['zlomek nádoby', 13],
    ['zlomek nádoby'.normalize('NFD'), 13],
    ['青銅', 4],
    ['ﾊﾆﾜ', 3],
    ['🏺', 2],
    ['👩‍🔬', 2],
    ['a\u200bb', 2],
    ['\u001b[31m✗\u001b[39m', 1],
    ['', 0],
  ])('%j is its number of terminal cells', (text, cells) => {
    expect(measureDisplayWidth(text)).toBe(cells);
  });

  test('is known without the library only if every letter has one cell', () => {
    const letters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter(
      (letter) => letter >= ' ',
    );
    expect(letters.filter((letter) => measureDisplayWidth(letter) !== stringWidth(letter))).toEqual(
      [],
    );
  });

  test('a shortened text is never wider than allowed, and never ends within a letter', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 30 }),
        (text, cells) => {
          expect(measureDisplayWidth(cutText(text, cells))).toBeLessThanOrEqual(Math.max(cells, 0));
        },
      ),
    );
    expect(cutText('nádoba'.normalize('NFD'), 3)).toBe(`${'ná'.normalize('NFD')}…`);
  });
});

describe('a table', () => {
  const header = ['FIND', 'OBJECT', 'IDENTIFIER'];
  const rows = [
    ['K-1', 'zlomek nádoby z mladší doby bronzové', 'C-202400101-N00001'],
    ['K-002', 'přeslen'.normalize('NFD'), ''],
  ];

  test('aligns by display width', async () => {
    expect(await formatTable(header, rows)).toEqual([
      'FIND   OBJECT                                IDENTIFIER',
      'K-1    zlomek nádoby z mladší doby bronzové  C-202400101-N00001',
      `K-002  ${'přeslen'.normalize('NFD')}`,
    ]);
  });

  test('shortens words, but no code, to fit the terminal', async () => {
    const lines = await formatTable(header, rows, 44);
    expect(Math.max(...lines.map(measureDisplayWidth))).toBeLessThanOrEqual(44);
    expect(lines[1]).toBe('K-1    zlomek nádoby z…   C-202400101-N00001');
  });

  test('becomes one paragraph per row if the terminal is too narrow for its columns', async () => {
    expect(await formatTable(header, rows, 30)).toEqual([
      'FIND        K-1',
      'OBJECT      zlomek nádoby z mladší doby bronzové',
      'IDENTIFIER  C-202400101-N00001',
      '',
      'FIND        K-002',
      `OBJECT      ${'přeslen'.normalize('NFD')}`,
    ]);
  });
});

describe('a line that is too long', () => {
  test('is broken between words and continues under its text', () => {
    expect(wrapText('✗ disk             20 MiB free in the folder', 40)).toBe(
      '✗ disk             20 MiB free in the\n                   folder',
    );
    expect(wrapText('  - one two three', 9)).toBe('  - one\n  two\n  three');
  });

  test('keeps a command in one piece, so that it can be copied', () => {
    expect(wrapText('Run `pas vocab map check` now', 16)).toBe('Run\n`pas vocab map check`\nnow');
    expect(wrapText('    pas edit KH24-001 --set element=value', 20)).toBe(
      '    pas edit KH24-001 --set element=value',
    );
  });

  test('loses no word', () => {
    const line = fc
      .array(fc.stringMatching(/^[a-zěščř]{1,12}$/), { minLength: 1 })
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(line, fc.integer({ min: 12, max: 60 }), (text, columns) => {
        const lines = wrapText(text, columns).split('\n');
        expect(lines.join(' ')).toBe(text);
        expect(Math.max(...lines.map(measureDisplayWidth))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

test('a progress bar shows how much is done in one line of the terminal, and disappears at the end', () => {
  let atMs = 0;
  let written = '';
  const stream = {
    columns: 60,
    write: (text: string) => {
      written += text;
      return true;
    },
  };
  const bar = makeProgressBar(stream, 'Importing', () => atMs);
  bar.update(0, 100);
  expect(written).toBe('');
  atMs = 2000;
  bar.update(50, 100);
  expect(written).toContain('Importing ██████░░░░░░ 50/100');
  atMs = 3000;
  bar.update(60, undefined);
  expect(written).toContain('Importing 60');
  bar.end();
  expect(written.endsWith('\r\u001b[2K')).toBe(true);
});

test('a terminal with an unknown width, such as a serial line, is not treated as zero columns wide', () => {
  const options = {
    json: false,
    quiet: false,
    verbose: false,
    color: false,
    cursor: true,
  };
  const printAt = (columns: number): string => {
    let written = '';
    const write = (text: string) => {
      written += text;
    };
    const stdout = Object.assign(Object.create(process.stdout), { isTTY: true, columns, write });
    makeTerminal({ ...process, stdout }, options).printLine('one two');
    return written;
  };
  expect([0, 5].map(printAt)).toEqual(['one two\n', 'one\ntwo\n']);
});
