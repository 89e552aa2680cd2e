import { BYTE_ORDER_MARK, formatCsvCell } from '../text/csv.ts';

/**
 * A cell of a written table: a value, a plain decimal with all its digits, or a text that a workbook
 * stores as the number or day that it reads as.
 */
export type RowCell =
  | string
  | number
  | boolean
  | { readonly decimal: string }
  | { readonly written: string };

/** Czech words for true and false, since a spreadsheet would replace these values by its own. */
export function formatTruth(value: boolean): string {
  return value ? 'ano' : 'ne';
}

const SEPARATORS = { semicolon: ';', comma: ',', tab: '\t' } as const;
type Separator = keyof typeof SEPARATORS;

/**
 * Writes rows, the first with headings, for Excel and LibreOffice: UTF-8 with byte order mark, CRLF,
 * formulas marked as texts. With semicolons it has decimal commas, which such locales use.
 */
export function* formatCsvLines(
  rows: Iterable<readonly RowCell[]>,
  separator: Separator,
): Generator<string> {
  let mark = BYTE_ORDER_MARK;
  for (const row of rows) {
    const cells = row.map((cell) => formatRowCell(cell, separator));
    yield `${mark}${cells.join(SEPARATORS[separator])}\r\n`;
    mark = '';
  }
}

/** A negative number would get the formula mark as a text. */
function formatRowCell(cell: RowCell, separator: Separator): string {
  const delimiter = SEPARATORS[separator];
  if (typeof cell === 'boolean') return formatTruth(cell);
  if (typeof cell !== 'object') return formatCsvCell(cell, delimiter);
  if ('decimal' in cell)
    return separator === 'semicolon' ? cell.decimal.replace('.', ',') : cell.decimal;
  const isNumber = /^-?\d+(?:[.,]\d+)?$/.test(cell.written);
  return isNumber ? cell.written : formatCsvCell(cell.written, delimiter);
}
