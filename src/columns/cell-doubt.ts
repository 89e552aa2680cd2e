import type { Doubt } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { type ColumnName, isStoredColumn } from '../find/fields.ts';
import { isDitto, isFiller } from '../find/parse-cell.ts';
import { findNumberDoubt } from '../find/value-rules.ts';
import { getDisplayedText, type RowCells } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import { NUMBER_COLUMNS } from './column-rule.ts';

/** Detects a text in the place of a value: a mark for the value above, or a word for none. */
export function findStandIn(text: string, above: string | undefined): Doubt | undefined {
  if (isFiller(text)) {
    const problem = msg`"${text}" is read as an empty cell.`;
    return { severity: 'warning', rule: 'cell-filler', problem };
  }
  if (!isDitto(text)) return undefined;
  const problem =
    above === undefined
      ? msg`"${text}" stands for the value above, and there is none. Write the value.`
      : msg`"${text}" stands for the value above. If it is "${above}", write that.`;
  return { severity: 'error', rule: 'cell-ditto', problem };
}

/** Detects what a spreadsheet changed in a typed text, or in a displayed number. */
export function findCellDoubt(text: string, name: ColumnName): Doubt | undefined {
  if (isStoredColumn(name)) return undefined;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/.test(text)) {
    const problem = msg`"${text}" is a number that a spreadsheet shortened. Format the column as text, and write all digits.`;
    return { severity: 'warning', rule: 'cell-shortened', problem };
  }
  const isOfFind = NUMBER_COLUMNS.includes(name);
  if (FORMULA.test(text)) {
    const problem = msg`"${text}" is a formula instead of its result. Save the table with the results, or write the value.`;
    return { severity: isOfFind ? 'error' : 'warning', rule: 'cell-formula', problem };
  }
  if (!isOfFind) return undefined;
  const lookalike = name === 'evidencni_cislo' ? findNumberDoubt(text) : undefined;
  if (lookalike !== undefined) return { severity: 'warning', ...lookalike };
  if (/^['’`´]\d/.test(text)) {
    const problem = msg`"${text}" begins with an apostrophe, by which spreadsheets mark a text. It is kept: remove it if it is only that mark.`;
    return { severity: 'warning', rule: 'cell-apostrophe', problem };
  }
  if (!isDateOfSpreadsheet(text)) return undefined;
  const problem = msg`"${text}" looks like a date that a spreadsheet made from a number. If so, format the column as text, and write the number again.`;
  return { severity: 'warning', rule: 'cell-date', problem };
}

/** Formula with a cell or a function: `=B2&"x"`, `=CONCAT(A1;"-")`. */
const FORMULA = /^=[-+(]*(?:\$?[A-Z]{1,3}\$?\d|\p{Lu}[\p{Lu}\d.]*\()/u;

export function makeDateCellDoubt(row: RowCells, index: number, isNumber: boolean): Doubt {
  const stored = row.cells[index] ?? '';
  const shown = getDisplayedText(row, index);
  const value = stored === shown ? msg`"${shown}"` : msg`"${shown}" (the day ${stored})`;
  const problem = isNumber
    ? msg`The cell contains a date, ${value}, where a number belongs: the spreadsheet changed what was typed. Format the column as a number, and write it again.`
    : msg`The cell contains a date, ${value}, where a text belongs: the spreadsheet changed what was typed. Format the column as text, and write it again.`;
  return { severity: 'error', rule: 'cell-date', problem };
}

/** Short month names of spreadsheets in Czech, English and German, folded. */
const SHORT_MONTHS =
  'led|uno|bre|dub|kve|cvn|cvc|srp|zar|rij|lis|pro|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez';
const DAY_OR_YEAR_AND_MONTH = new RegExp(
  `^(?:\\d{1,2}_(?:${SHORT_MONTHS})(?:_\\d{2,4})?|(?:${SHORT_MONTHS})_\\d{2,4})$`,
);

/**
 * Tells if a text looks like a converted date: `2.led`, `čvn-24`, `1-Feb`, `01.05.2024`; a number
 * such as 12/2024 does not.
 */
function isDateOfSpreadsheet(text: string): boolean {
  return DAY_OR_YEAR_AND_MONTH.test(foldName(text)) || /^\d{1,2}\. ?\d{1,2}\. ?\d{4}$/.test(text);
}
