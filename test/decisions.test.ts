import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
/** A part may grow by as much before its page is wrong. */
const TOLERANCE = 0.1;

const printed = execFileSync(process.execPath, [join(ROOT, 'scripts', 'decisions.mjs')], {
  encoding: 'utf8',
});
const parts = [...printed.matchAll(/^ *(\d+) +(\d+|nothing) {2}(\S+): (.+)$/gm)].map(
  ([, measured, written, page, words]) => ({
    measured: Number(measured),
    written: Number(written),
    page,
    words,
  }),
);

test('the pages of decisions give the sizes of own parts as they are', () => {
  expect(parts.length).toBeGreaterThan(15);
  expect(parts.filter(({ measured }) => measured === 0)).toEqual([]);
  expect(
    parts.filter(
      ({ measured, written }) => !(Math.abs(written - measured) <= measured * TOLERANCE),
    ),
  ).toEqual([]);
});

test('every row of the page on own parts is measured', () => {
  const page = readFileSync(join(ROOT, 'docs', 'decisions', '0019-own-parts.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?), [\d,]+(?:,.*?)? \|/gm)].map(([, words = '']) => words);
  expect(rows).toEqual(
    parts.filter(({ page: name }) => name === '0019-own-parts').map(({ words }) => words),
  );
});
