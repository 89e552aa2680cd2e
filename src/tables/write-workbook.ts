import type { Cell } from 'write-excel-file/node';
import write from 'write-excel-file/node';
import { isRealDate } from '../find/read-date.ts';
import { withMarkKept } from '../text/csv.ts';
import { spreadsheetNumber } from '../text/plain-number.ts';
import { type RowCell, wordOf } from './export-text.ts';
import { coordinatesOf, type ExportedFind, type ExportValue, exportColumns, valuesOf } from './exported-find.ts';

export type { Cell };

/** In characters: a column is as wide as its longest text, within these. */
const NARROWEST = 8;
const WIDEST = 50;

/** A workbook of one sheet; the first row stays in sight. */
export function workbookBytes(rows: Cell[][], sheet: string): Promise<Buffer> {
  return write(rows, { sheet, stickyRowsCount: 1, columns: columnsOf(rows) }).toBuffer();
}

/** A workbook of several sheets of texts, by name; the first row of each holds the names of its columns. */
export function workbookOfSheets(sheets: ReadonlyMap<string, readonly (readonly string[])[]>): Promise<Buffer> {
  const written = [...sheets].map(([sheet, [header = [], ...others]]) => {
    const data = [header.map(headingCell), ...others.map((row) => row.map((text) => (text === '' ? null : textCell(text))))];
    return { data, sheet, stickyRowsCount: 1, columns: columnsOf(data) };
  });
  return write(written).toBuffer();
}

function columnsOf(rows: Cell[][]): { width: number }[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? NARROWEST, widthOf(cell));
  }
  return widths.map((width) => ({ width }));
}

function widthOf(cell: Cell): number {
  const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : undefined;
  const lines = value instanceof Date ? ['0000-00-00'] : String(value ?? '').split('\n');
  return Math.min(Math.max(...lines.map((line) => line.length)) + 2, WIDEST);
}

/** Undefined for a text that is no day as `YYYY-MM-DD`, or one before the calendar of spreadsheets begins. */
export function dateCell(text: string): Cell | undefined {
  if (!/^(?:19|[2-9]\d)/.test(text) || !isRealDate(text)) return undefined;
  return { value: new Date(`${text}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
}

export function headingCell(text: string): Cell {
  return { value: literal(text), type: String, fontWeight: 'bold' };
}

export function textCell(text: string): Cell {
  return { value: literal(withMarkKept(text)), type: String };
}

/** Undefined for a text that is no number, or would lose digits as one. */
export function numberCell(text: string): Cell | undefined {
  return text !== '' && spreadsheetNumber(Number(text)) === text ? { value: Number(text), type: Number } : undefined;
}

/**
 * In a workbook `_x0041_` stands for a letter. A text that looks like that is written so itself, and so is what the library
 * would leave out: non-characters, halves of pairs, and the sign for something unreadable. It also mistakes the names of an
 * object's own functions, such as `toString`, for texts that it has met.
 */
function literal(text: string): string {
  const written = text
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replace(/\p{Noncharacter_Code_Point}|\p{Cs}|\ufffd/gu, escaped);
  return written in {} ? escaped(written.slice(0, 1)) + written.slice(1) : written;
}

function escaped(character: string): string {
  const codes = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return codes.map((code) => `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`).join('');
}

/** A workbook with one sheet. Days are dates and numbers are numbers, but for coordinates that would lose digits by it. */
export async function exportXlsx(finds: Iterable<ExportedFind>, labels = false): Promise<Buffer> {
  const columns = exportColumns(labels);
  const header = columns.map(headingCell);
  const rows: Cell[][] = [header];
  for (const find of finds) {
    const values = valuesOf(find);
    const coordinates = coordinatesOf(find.elements);
    rows.push(
      columns.map((name) => {
        const coordinate = coordinates.get(name);
        return coordinate === undefined ? cellOf(name, values.get(name)) : coordinateCell(coordinate);
      }),
    );
  }
  return workbookBytes(rows, 'finds');
}

/** Rows for people or other programs; the first is of headings. */
export function exportRows(rows: Iterable<readonly RowCell[]>): Promise<Buffer> {
  const [header = [], ...others] = rows;
  return workbookBytes(
    [header.map((heading) => headingCell(String(heading))), ...others.map((row) => row.map(rowCell))],
    'finds',
  );
}

function rowCell(cell: RowCell): Cell {
  if (typeof cell === 'object' && 'day' in cell) return dateCell(cell.day) ?? textCell(cell.day);
  return coordinateCell(typeof cell === 'string' ? cell : cell.decimal);
}

function cellOf(name: string, value: ExportValue | undefined): Cell {
  const word = wordOf(value);
  if (word === undefined) return null;
  if (typeof word === 'number') return { value: word, type: Number };
  return (name === 'datum_nalezu' ? dateCell(word) : undefined) ?? textCell(word);
}

function coordinateCell(text: string): Cell {
  return numberCell(text) ?? textCell(text);
}
