import { expect, test } from 'vitest';
import { quoteShellWord } from '../../../src/base/message.ts';

test.each([
  ['finds.csv', 'finds.csv'],
  ['C-202400101-N00001', 'C-202400101-N00001'],
  ['Výkop u brodu/nálezy.csv', "'Výkop u brodu/nálezy.csv'"],
  ["O'Neill", "'O'\\''Neill'"],
  ['50%', '50%'],
  ["a\n29\u2028'", String.raw`$'a\x0a29\U00002028\''`],
  ['', "''"],
])('from %j a shell of Linux and macOS reads %s as one word', (word, written) => {
  expect(quoteShellWord(word, 'linux')).toBe(written);
  expect(quoteShellWord(word, 'darwin')).toBe(written);
});

test.each([
  ['finds.csv', 'finds.csv'],
  ['C:\\Users\\eva\\nálezy.csv', 'C:\\Users\\eva\\nálezy.csv'],
  ['C:\\Výkop u brodu\\nálezy.csv', '"C:\\Výkop u brodu\\nálezy.csv"'],
  ['C:\\Výkop u brodu\\', '"C:\\Výkop u brodu\\\\"'],
  ["O'Neill", '"O\'Neill"'],
  ['@season', '"@season"'],
  ['a;b', '"a;b"'],
  ['5 $ a piece', "'5 $ a piece'"],
  ['', '""'],
])('from %j cmd and PowerShell read %s as one word', (word, written) => {
  expect(quoteShellWord(word, 'win32')).toBe(written);
});
