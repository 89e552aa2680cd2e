import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../src/base/errors.ts';

test('the page of exit codes says what the program does', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'exit-codes.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
  expect(rows).toEqual(Object.values(EXIT_CODES));
});
