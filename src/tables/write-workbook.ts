import type { Cell } from 'write-excel-file/node';
import write from 'write-excel-file/node';
import { isRealDate } from '../find/date-form.ts';
import { formatSpreadsheetNumber } from '../text/characters.ts';
import { withMarkKept } from '../text/csv.ts';
import { formatExportValue, type RowCell } from './export-text.ts';
import {
  collectValues,
  type ExportedFind,
  type ExportValue,
  exportColumns,
  formatCoordinates,
} from './exported-find.ts';

export type { Cell };

/** Column width in characters: that of the longest text, within these limits. */
const NARROWEST = 8;
const WIDEST = 50;

export function makeWorkbook(rows: Cell[][], sheet: string): Promise<Buffer> {
  return write(rows, { sheet, stickyRowsCount: 1, columns: makeColumns(rows) }).toBuffer();
}

/** Writes a workbook of several sheets of texts, by name; the first row of each is its header. */
export function makeWorkbookOfSheets(
  sheets: ReadonlyMap<string, readonly (readonly string[])[]>,
): Promise<Buffer> {
  const written = [...sheets].map(([sheet, [header = [], ...dataRows]]) => {
    const data = [
      header.map(makeHeadingCell),
      ...dataRows.map((row) => row.map((text) => (text === '' ? null : makeTextCell(text)))),
    ];
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
export function makeDateCell(text: string): Cell | undefined {
  if (text < FIRST_SAFE_DAY || !isRealDate(text)) return undefined;
  return { value: new Date(`${text}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
}

export function makeHeadingCell(text: string): Cell {
  return { value: escapeForWorkbook(text), type: String, fontWeight: 'bold' };
}

export function makeTextCell(text: string): Cell {
  return { value: escapeForWorkbook(withMarkKept(text)), type: String };
}

/** Makes a number cell; undefined for a text that is no number, or would lose digits. */
export function makeNumberCell(text: string): Cell | undefined {
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

/**
 * Writes a workbook with one sheet. Days are dates and numbers are numbers, except coordinates that
 * would lose digits.
 */
export async function exportXlsx(finds: Iterable<ExportedFind>): Promise<Buffer> {
  const columns = exportColumns();
  const header = columns.map(makeHeadingCell);
  const rows: Cell[][] = [header];
  for (const find of finds) {
    const values = collectValues(find);
    const coordinates = formatCoordinates(find.elements);
    rows.push(
      columns.map((name) => {
        const coordinate = coordinates.get(name);
        return coordinate === undefined
          ? makeCell(name, values.get(name))
          : makeCoordinateCell(coordinate);
      }),
    );
  }
  return makeWorkbook(rows, 'finds');
}

/** Writes rows; the first has the headings. */
export function exportRows(rows: Iterable<readonly RowCell[]>): Promise<Buffer> {
  const [header = [], ...dataRows] = rows;
  return makeWorkbook(
    [
      header.map((heading) => makeHeadingCell(String(heading))),
      ...dataRows.map((row) => row.map(makeRowCell)),
    ],
    'finds',
  );
}

function makeRowCell(cell: RowCell): Cell {
  if (typeof cell === 'object' && 'day' in cell)
    return makeDateCell(cell.day) ?? makeTextCell(cell.day);
  return makeCoordinateCell(typeof cell === 'string' ? cell : cell.decimal);
}

function makeCell(name: string, value: ExportValue | undefined): Cell {
  const word = formatExportValue(value);
  if (word === undefined) return null;
  if (typeof word === 'number') return { value: word, type: Number };
  return (name === 'datum_nalezu' ? makeDateCell(word) : undefined) ?? makeTextCell(word);
}

function makeCoordinateCell(text: string): Cell {
  return makeNumberCell(text) ?? makeTextCell(text);
}
