import type { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import type { TablePlace } from '../find/find.ts';
import { makeStruckCellFault } from './cell-text.ts';
import { assertTableSize, type CellValue, makeDamagedFileError } from './table.ts';

/** Rows and columns from 1, both ends included. */
export type CellRange = {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
};

/** A value in a row, with its column from 1. */
export type CellAt = CellValue & { readonly column: number };

/** Returns the address of a cell: 1, 4 is `A4`; 27 is `AA`. */
export function formatCellName(column: number, row: number): string {
  return `${toColumnLetters(column)}${row}`;
}

function toColumnLetters(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return (rest > 0 ? toColumnLetters(rest) : '') + String.fromCharCode(65 + ((column - 1) % 26));
}

const NO_CELLS: readonly CellValue[] = [];
const NO_VALUE: CellValue = { text: '' };
/** Last row and column of a spreadsheet; a higher number is malformed. */
const LAST_ROW = 1_048_576;
const LAST_COLUMN = 16_384;

/** Contents of a sheet of any format, collected row by row. */
export class SheetContents {
  readonly place: TablePlace;
  /** Cells by row and column, from 0: each row up to its last value or fault. */
  readonly rows: (readonly CellValue[])[] = [];
  readonly merged: CellRange[] = [];
  /** Numbers of rows and columns, from 1. */
  readonly hiddenRows: number[] = [];
  readonly hiddenColumns = new Set<number>();
  /** Rows whose cells are all struck through. */
  readonly struckRows: number[] = [];
  /** Addresses of cells, such as `B4`. */
  readonly comments: string[] = [];
  readonly pictures: string[] = [];
  #rowCount = 0;
  #cellCount = 0;
  #characterCount = 0;

  constructor(place: TablePlace) {
    this.place = place;
  }

  addHiddenColumns(first: number, last: number): void {
    for (let column = first; column <= Math.min(last, LAST_COLUMN); column++)
      this.hiddenColumns.add(column);
  }

  addMerged(range: CellRange): void {
    this.merged.push(range);
    assertTableSize(this.place.file, { cells: this.merged.length });
  }

  /**
   * Struck cells are empty and reported, except in a row that is struck through as a whole.
   * @throws FileError where rows or cells are not in their order, or too many
   */
  addRow(row: number, values: readonly CellAt[], isHidden: boolean): void {
    const { rows, place } = this;
    if (!(row > rows.length && row <= LAST_ROW)) throw makeDamagedSheetError(place);
    const isStruck =
      values.some((cell) => cell.isStruck === true) &&
      values.every((cell) => cell.text === '' || cell.isStruck === true);
    const cells: CellValue[] = [];
    for (const cell of values) {
      const { column, text, shown, fault } = cell;
      if (!(column > cells.length)) throw makeDamagedSheetError(place);
      if (text === '' && fault === undefined) continue;
      assertTableSize(place.file, { columns: column });
      while (cells.length < column - 1) cells.push(NO_VALUE);
      if (cell.isStruck === true && !isStruck)
        cells.push({ text: '', fault: makeStruckCellFault(text) });
      // A sheet may have millions of cells: most have nothing but their text.
      else if (shown === undefined && fault === undefined) cells.push({ text });
      else cells.push({ text, shown, fault });
      this.#characterCount += text.length;
    }
    this.#rowCount += 1;
    this.#cellCount += cells.length;
    assertTableSize(place.file, {
      rows: this.#rowCount - 1,
      cells: this.#cellCount,
      characters: this.#characterCount,
    });
    if (cells.length === 0) return;
    if (isStruck) this.struckRows.push(row);
    if (isHidden) this.hiddenRows.push(row);
    while (rows.length < row - 1) rows.push(NO_CELLS);
    rows.push(cells);
  }
}

export function makeDamagedSheetError({ file, sheet = '' }: TablePlace): FileError {
  return makeDamagedFileError(
    file,
    msg`${file}, sheet ${sheet}, has rows or cells that no spreadsheet program writes.`,
  );
}
