import { type Message, msg } from '../base/message.ts';
import { type ColumnName, isStoredColumn } from '../find/column-names.ts';
import { shownText, type TableRow } from '../tables/table.ts';
import { foldName } from '../text/names.ts';

export type RowCells = Pick<TableRow, 'cells' | 'shown'>;

/**
 * Returns the trimmed text of a cell for a column. Numbers, coordinates, days and truth values are read as stored; texts, terms
 * and names as displayed, such as `00012` or `12.10`.
 */
export function cellText(row: RowCells, index: number, name: ColumnName): string {
  return (isStoredColumn(name) ? (row.cells[index] ?? '') : shownText(row, index)).trim();
}

/** Indication that a text was not typed so. */
export type CellDoubt = { readonly severity: 'error' | 'warning'; readonly rule: string; readonly problem: Message };

/** Detects what a spreadsheet changed in a typed text, or in a displayed number. */
export function findCellDoubt(row: RowCells, index: number, name: ColumnName): CellDoubt | undefined {
  const text = cellText(row, index, name);
  if (text === '' || name === 'datum_nalezu') return undefined;
  if (row.shown?.get(index)?.isDate === true) return dateCell(row, index, isStoredColumn(name));
  if (isStoredColumn(name)) return undefined;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/.test(text)) {
    const problem = msg`"${text}" is a number that a spreadsheet shortened. Format the column as text, and write all digits.`;
    return { severity: 'warning', rule: 'cell-shortened', problem };
  }
  if (!NAMES_OF_FINDS.includes(name) || !isDateOfSpreadsheet(text)) return undefined;
  const problem = msg`"${text}" looks like a date that a spreadsheet made from a number. If so, format the column as text, and write the number again.`;
  return { severity: 'warning', rule: 'cell-date', problem };
}

const NAMES_OF_FINDS: readonly ColumnName[] = ['local_id', 'evidencni_cislo', 'ident_cely'];

function dateCell(row: RowCells, index: number, isNumber: boolean): CellDoubt {
  const [stored = '', shown] = [row.cells[index], shownText(row, index)];
  const value = stored === shown ? msg`"${shown}"` : msg`"${shown}" (the day ${stored})`;
  const problem = isNumber
    ? msg`The cell contains a date, ${value}, where a number belongs: the spreadsheet changed what was typed. Format the column as a number, and write it again.`
    : msg`The cell contains a date, ${value}, where a text belongs: the spreadsheet changed what was typed. Format the column as text, and write it again.`;
  return { severity: 'error', rule: 'cell-date', problem };
}

/** Short month names of spreadsheets in Czech, English and German, folded. */
const SHORT_MONTHS =
  'led|uno|bre|dub|kve|cvn|cvc|srp|zar|rij|lis|pro|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez';
const DAY_OR_YEAR_AND_MONTH = new RegExp(`^(?:\\d{1,2}_(?:${SHORT_MONTHS})(?:_\\d{2,4})?|(?:${SHORT_MONTHS})_\\d{2,4})$`);

/** Tells if a text looks like a converted date: `2.led`, `čvn-24`, `1-Feb`, `01.05.2024`; a number such as 12/2024 does not. */
function isDateOfSpreadsheet(text: string): boolean {
  return DAY_OR_YEAR_AND_MONTH.test(foldName(text)) || /^\d{1,2}\. ?\d{1,2}\. ?\d{4}$/.test(text);
}
