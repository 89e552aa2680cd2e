import write, { type Cell } from 'write-excel-file/node';
import { formatSpreadsheetNumber } from '../../base/characters.ts';
import { withMarkKept } from '../../base/csv.ts';
import { isRealDate } from '../../finds/parse-cell.ts';
import { formatTruth, type RowCell } from './row-cell.ts';

/** Column width in characters: that of the longest text, within these limits. */
const NARROWEST = 8;
const WIDEST = 50;

/** Writes a workbook of sheets by name; the first row of each has the headings. */
export function makeWorkbook(
  sheets: ReadonlyMap<string, Iterable<readonly RowCell[]>>,
): Promise<Buffer> {
  const written = [...sheets].map(([sheet, [header = [], ...dataRows]]) => {
    const headings = header.map((heading) => makeHeadingCell(String(heading)));
    const data = [headings, ...dataRows.map((row) => row.map(makeCell))];
    return { data, sheet, stickyRowsCount: 1, columns: makeColumns(data) };
  });
  return write(written).toBuffer();
}

function makeColumns(rows: Cell[][]): { width: number }[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? NARROWEST, getWidth(cell));
  }
  return widths.map((width) => ({ width }));
}

function getWidth(cell: Cell): number {
  const value =
    typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : undefined;
  const lines = value instanceof Date ? ['0000-00-00'] : String(value ?? '').split('\n');
  return Math.min(Math.max(...lines.map((line) => line.length)) + 2, WIDEST);
}

/** Spreadsheets do not agree on the numbers of the days before, since 1900 was no leap year. */
const FIRST_SAFE_DAY = '1900-03-01';

/** Makes a date cell; undefined for a text that is no day as `YYYY-MM-DD`, or an earlier one. */
function makeDateCell(text: string): Cell | undefined {
  if (text < FIRST_SAFE_DAY || !isRealDate(text)) return undefined;
  return { value: new Date(`${text}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
}

function makeHeadingCell(text: string): Cell {
  return { value: escapeForWorkbook(text), type: String, fontWeight: 'bold' };
}

function makeTextCell(text: string): Cell {
  return { value: escapeForWorkbook(withMarkKept(text)), type: String };
}

/** Makes a number cell; undefined for a text that is no number, or would lose digits. */
function makeNumberCell(text: string): Cell | undefined {
  return text !== '' && formatSpreadsheetNumber(Number(text)) === text
    ? { value: Number(text), type: Number }
    : undefined;
}

/**
 * Escapes a text: in a workbook `_x0041_` stands for a letter, so a text of that form is escaped
 * itself, and so are characters that the library would drop (non-characters, lone surrogates,
 * U+FFFD). It also escapes names of object members such as `toString`, which the library mistakes
 * for texts that it has seen.
 */
function escapeForWorkbook(text: string): string {
  const written = text
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replace(/\p{Noncharacter_Code_Point}|\p{Cs}|\ufffd/gu, escapeMarkup);
  return written in {} ? escapeMarkup(written.slice(0, 1)) + written.slice(1) : written;
}

function escapeMarkup(character: string): string {
  const codes = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return codes.map((code) => `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`).join('');
}

/** A number that would lose digits stays a text. */
function makeCell(cell: RowCell): Cell {
  if (cell === '') return null;
  if (typeof cell === 'string') return makeTextCell(cell);
  if (typeof cell === 'number') return { value: cell, type: Number };
  if (typeof cell === 'boolean') return makeTextCell(formatTruth(cell));
  if ('decimal' in cell) return makeNumberCell(cell.decimal) ?? makeTextCell(cell.decimal);
  const { written } = cell;
  return makeNumberCell(written) ?? makeDateCell(written) ?? makeCell(written);
}
