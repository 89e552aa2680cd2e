/** Cells of a text table (RFC 4180) that spreadsheets open as they are meant. */

/** Also behind our own mark, so that what is read back is what was written. */
const FORMULA_START = /^'*[=+\-@\t\r]/;
/** The same within a text: a spreadsheet that takes another separator for that of the file begins a cell there. */
const INNER_FORMULA = /([;,\t\r\n]"*)('*[=+\-@](?=[^\s;,"]))/g;
const MARKED_INNER_FORMULA = /([;,\t\r\n]"*)'('*[=+\-@](?=[^\s;,"]))/g;

/** Quoted where needed; a text that a spreadsheet would take for a formula, or for text and a formula, is marked as text. */
export function csvCell(value: string | number | null | undefined, delimiter: ',' | ';' | '\t' = ','): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return plainCsvCell(withFormulaMark(value), delimiter);
}

function withFormulaMark(text: string): string {
  const marked = text.replace(INNER_FORMULA, "$1'$2");
  return FORMULA_START.test(text) ? `'${marked}` : marked;
}

/** For programs, which take a text as it stands. */
export function plainCsvCell(text: string, delimiter: ',' | ';' | '\t' = ','): string {
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What {@link csvCell} was given, read back; the mark may have gone through other programs, and so into any format. */
export function withoutFormulaMark(cell: string): string {
  if (!cell.includes("'")) return cell;
  const text = cell.startsWith("'") && FORMULA_START.test(cell.slice(1)) ? cell.slice(1) : cell;
  return text.replace(MARKED_INNER_FORMULA, '$1$2');
}

/** A text for a format that needs no such mark, so that a reader, which takes one away, leaves the text as it is. */
export function withMarkKept(text: string): string {
  const kept = text.replace(MARKED_INNER_FORMULA, "$1''$2");
  return text.startsWith("'") && FORMULA_START.test(text) ? `'${kept}` : kept;
}

/** UTF-8 is not recognised without it. */
export const BYTE_ORDER_MARK = '\ufeff';
