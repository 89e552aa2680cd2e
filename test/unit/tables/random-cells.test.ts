import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { randomRow, wrongCells } from './random-cells.ts';
import { makeWorkbook } from './random-spreadsheets.ts';
import { readFinds } from './read-finds.ts';

const rows = fc.array(randomRow, { minLength: 8, maxLength: 8 });

describe('a random spreadsheet cell is queued as intended, or named in an issue', () => {
  test('in XLSX', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        expect(wrongCells(table, await readFinds('season.xlsx', makeWorkbook(table)))).toEqual([]);
      }),
      SLOW_RUNS,
    );
  });
});
