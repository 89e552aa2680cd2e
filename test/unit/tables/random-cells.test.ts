import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { readFinds } from '../../support/read-finds.ts';
import { randomRow, wrongCells } from './random-cells.ts';
import { makeOpenDocument, makeWorkbook } from './random-spreadsheets.ts';

const rows = fc.array(randomRow, { minLength: 8, maxLength: 8 });

/** The decimal separator in a text is a setting of the computer that wrote it. */
const withPoints = (text: string): string => text.replace(/(?<=\d),(?=\d)/g, '.');

describe('a random spreadsheet cell is queued as intended, or named in an issue', () => {
  test('in XLSX', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        expect(wrongCells(table, await readFinds('season.xlsx', makeWorkbook(table)))).toEqual([]);
      }),
      SLOW_RUNS,
    );
  });

  test.each(['.', ','] as const)('in ODS with the decimal separator %s', async (decimal) => {
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        expect(
          wrongCells(
            table,
            await readFinds('season.ods', makeOpenDocument(table, decimal)),
            withPoints,
          ),
        ).toEqual([]);
      }),
      SLOW_RUNS,
    );
  });
});
