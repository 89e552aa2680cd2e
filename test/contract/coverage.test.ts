import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const FOLDER = import.meta.dirname;

/**
 * Rows of the tables in README.md: clauses of the contract, in which file they are tested, under
 * which title.
 */
const rows = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  .split('\n')
  .map((line) => /^\|\s*(.+?)\s*\|\s*(\S+\.ts)\s*\|\s*(.+?)\s*\|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, row = '', file = '', title = '']) => ({ row, file, title }));

describe('The table of what is tested where', () => {
  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(100);
  });

  test.each(rows)('$row', ({ file, title }) => {
    expect(readFileSync(join(FOLDER, file), 'utf8')).toContain(title);
  });
});
