/** Cells of a text table (RFC 4180) that spreadsheets open as they are meant. */

/** Also behind our own mark, so that what is read back is what was written. */
const FORMULA_START = /^'*[=+\-@\t\r]/;

/** Quoted where needed; a text that a spreadsheet would take for a formula is marked as text. */
export function csvCell(value: string | number | null | undefined, delimiter: ',' | ';' | '\t' = ','): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return plainCsvCell(FORMULA_START.test(value) ? `'${value}` : value, delimiter);
}

/** For programs, which take a text as it stands. */
export function plainCsvCell(text: string, delimiter: ',' | ';' | '\t' = ','): string {
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What {@link csvCell} was given, read back; the mark may have gone through other programs, and so into any format. */
export function withoutFormulaMark(cell: string): string {
  return cell.startsWith("'") && FORMULA_START.test(cell.slice(1)) ? cell.slice(1) : cell;
}

/** A text for a format that needs no such mark, so that a reader, which takes one away, leaves the text as it is. */
export function withMarkKept(text: string): string {
  return text.startsWith("'") && FORMULA_START.test(text) ? `'${text}` : text;
}

/** UTF-8 is not recognised without it. */
export const BYTE_ORDER_MARK = '\ufeff';
