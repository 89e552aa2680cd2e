// Cells of a text table (RFC 4180), written so that spreadsheets keep texts as texts.

/** Also matches behind the mark of pas, so that a written cell is read back unchanged. */
const FORMULA_START = /^'*[=+\-@\t\r]/;
/**
 * The same within a text: a spreadsheet that takes another separator for that of the file begins a
 * cell there.
 */
const INNER_FORMULA = /([;,\t\r\n]"*)('*[=+\-@](?=[^\s;,"]))/g;
const MARKED_INNER_FORMULA = /([;,\t\r\n]"*)'('*[=+\-@](?=[^\s;,"]))/g;

type CsvValue = string | number | null | undefined;

/**
 * Formats a cell of a CSV table with the delimiter `;`: quotes the text where needed, and marks
 * with `'` what a spreadsheet would evaluate as a formula, at its start or behind another
 * delimiter. A number stays plain; null and undefined are an empty cell.
 */
export function formatCsvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return formatPlainCsvCell(withFormulaMark(value), ';');
}

function withFormulaMark(text: string): string {
  const marked = text.replace(INNER_FORMULA, "$1'$2");
  return FORMULA_START.test(text) ? `'${marked}` : marked;
}

/**
 * Quotes a cell where CSV needs it (RFC 4180, section 2), without the mark of
 * {@link formatCsvCell}: for programs only, since a spreadsheet may evaluate the cell as a formula.
 */
export function formatPlainCsvCell(text: string, delimiter: ',' | ';' = ','): string {
  return /["\r\n]/.test(text) || text.includes(delimiter)
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

/**
 * Removes the mark of {@link formatCsvCell} from a cell of any format, since other programs may
 * have copied the mark there. A cell without the mark is returned unchanged.
 */
export function removeFormulaMark(cell: string): string {
  if (!cell.includes("'")) return cell;
  const text = cell.startsWith("'") && FORMULA_START.test(cell.slice(1)) ? cell.slice(1) : cell;
  return text.replace(MARKED_INNER_FORMULA, '$1$2');
}

/**
 * Prepares a text for a format in which pas marks no formulas: a text that looks as if it had the
 * mark of {@link formatCsvCell} gets another one, which {@link removeFormulaMark} removes when the
 * text is read. Any other text is returned unchanged.
 */
export function protectFormulaMark(text: string): string {
  const marked = text.replace(MARKED_INNER_FORMULA, "$1''$2");
  return text.startsWith("'") && FORMULA_START.test(text) ? `'${marked}` : marked;
}

/** Stands at the beginning of a file; without it Excel does not recognise UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff';

/**
 * Formats a small table that a person will edit, with a byte order mark, by which Excel recognises
 * UTF-8, and with `;`, the delimiter of Czech spreadsheets. Cells are as of {@link formatCsvCell}.
 */
export function formatCsvTable(rows: readonly (readonly CsvValue[])[]): string {
  const lines = rows.map((row) => `${row.map(formatCsvCell).join(';')}\n`);
  return `${BYTE_ORDER_MARK}${lines.join('')}`;
}

/**
 * Joins file names with `;`. A name with a `;`, a quotation mark, or white space at an end stands
 * in double quotes, as in CSV.
 */
export function joinFileNames(names: readonly string[], between: ';' | '; ' = ';'): string {
  return names
    .map((name) => (/[;"]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
    .join(between);
}

/**
 * Splits a text that {@link joinFileNames} made, or that a person wrote: a name without quotes is
 * trimmed, an empty one left out, and a quotation mark inside a name is a part of it.
 */
export function splitFileNames(text: string): string[] {
  return [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?=;|$)|[^;]+/g)]
    .map(([plain, quoted]) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter((name) => name !== '');
}
