/** Cells of a text table (RFC 4180), written so that spreadsheets keep texts as texts. */

/** Matches behind the mark of pas, too, so that a written cell is read back unchanged. */
const FORMULA_START = /^'*[=+\-@\t\r]/;

/** Quotes a cell where needed and marks a text that a spreadsheet would evaluate as a formula. */
export function csvCell(value: string | number | null | undefined, delimiter: ',' | ';' | '\t' = ','): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return plainCsvCell(FORMULA_START.test(value) ? `'${value}` : value, delimiter);
}

/** Quotes a cell for programs, without the formula mark. */
export function plainCsvCell(text: string, delimiter: ',' | ';' | '\t' = ','): string {
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Removes the mark of {@link csvCell}. Other programs may have copied it into any format. */
export function withoutFormulaMark(cell: string): string {
  return cell.startsWith("'") && FORMULA_START.test(cell.slice(1)) ? cell.slice(1) : cell;
}

/** Adds the mark to a text that looks like a marked one, for formats without marks: the reader removes one. */
export function withMarkKept(text: string): string {
  return text.startsWith("'") && FORMULA_START.test(text) ? `'${text}` : text;
}

/** Excel does not recognise UTF-8 without it. */
export const BYTE_ORDER_MARK = '\ufeff';
