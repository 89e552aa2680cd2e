import type { FileError } from '../base/errors.ts';
import type { Doubt } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { TablePlace } from '../find/find.ts';
import { makeStruckCellFault } from './cell-text.ts';
import {
  assertTableSize,
  type CellValue,
  makeDamagedFileError,
  type ShownCell,
  type ShownCells,
} from './table.ts';

export type SheetContents = {
  /**
   * Cells by row and column, from 0: each row up to its last value, rows up to the last with a
   * value.
   */
  readonly rows: readonly (readonly string[])[];
  readonly merged: readonly CellRange[];
  readonly hiddenRows: readonly number[];
  readonly hiddenColumns: readonly ColumnRange[];
  /** Cells whose value is an error such as `#DIV/0!`, or a formula without a saved result. */
  readonly withoutValue: readonly FaultyCell[];
  /** Displayed texts by row number, from 1. */
  readonly shown: ReadonlyMap<number, ShownCells>;
  /** Numbers of the rows whose cells are all struck through. */
  readonly struckRows: readonly number[];
  /** Addresses of cells, such as `B4`. */
  readonly comments: readonly string[];
  readonly pictures: readonly string[];
};

/** Rows and columns from 1, both ends included. */
export type CellRange = ColumnRange & {
  readonly firstRow: number;
  readonly lastRow: number;
};

/** Columns from 1, both ends included. */
type ColumnRange = { readonly firstColumn: number; readonly lastColumn: number };

type FaultyCell = { readonly row: number; readonly column: number; readonly fault: Doubt };

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

const NO_CELLS: readonly string[] = [];
/** Last row of a spreadsheet; a higher number is malformed. */
const LAST_ROW = 1_048_576;

/**
 * Collects the contents of a sheet row by row. Struck cells are empty and reported, except in a row
 * that is struck through as a whole.
 */
export class SheetBuilder {
  readonly place: TablePlace;
  readonly contents = {
    rows: [] as (readonly string[])[],
    merged: [] as CellRange[],
    hiddenRows: [] as number[],
    hiddenColumns: [] as ColumnRange[],
    withoutValue: [] as FaultyCell[],
    shown: new Map<number, ShownCells>(),
    struckRows: [] as number[],
    comments: [] as string[],
    pictures: [] as string[],
  } satisfies SheetContents;
  #rowCount = 0;
  #cellCount = 0;
  #characterCount = 0;

  constructor(place: TablePlace) {
    this.place = place;
  }

  addHiddenColumns(columns: ColumnRange): void {
    this.contents.hiddenColumns.push(columns);
    assertTableSize(this.place.file, { columns: this.contents.hiddenColumns.length });
  }

  addMerged(range: CellRange): void {
    this.contents.merged.push(range);
    assertTableSize(this.place.file, { cells: this.contents.merged.length });
  }

  /** @throws FileError where rows or cells are not in their order, or too many */
  addRow(row: number, values: readonly CellAt[], isHidden: boolean): void {
    const { file } = this.place;
    const { rows, withoutValue } = this.contents;
    if (!(row > rows.length && row <= LAST_ROW)) throw makeDamagedSheetError(this.place);
    const cells: string[] = [];
    const shown = new Map<number, ShownCell>();
    const struck: number[] = [];
    for (const { column, text, fault, shown: shownHere, isStruck } of values) {
      if (!(column > cells.length)) throw makeDamagedSheetError(this.place);
      if (fault !== undefined) withoutValue.push({ row, column, fault });
      if (text === '') continue;
      assertTableSize(file, { columns: column });
      while (cells.length < column - 1) cells.push('');
      cells.push(text);
      this.#characterCount += text.length;
      if (isStruck === true) struck.push(column);
      else if (shownHere !== undefined) shown.set(column - 1, shownHere);
    }
    this.#rowCount += 1;
    this.#cellCount += cells.length;
    assertTableSize(file, {
      rows: this.#rowCount - 1,
      cells: this.#cellCount + withoutValue.length,
      characters: this.#characterCount,
    });
    if (struck.length > 0) this.#settleStruckCells(row, cells, struck);
    if (cells.length === 0) return;
    if (isHidden) this.contents.hiddenRows.push(row);
    if (shown.size > 0) this.contents.shown.set(row, shown);
    while (rows.length < row - 1) rows.push(NO_CELLS);
    rows.push(cells);
  }

  #settleStruckCells(row: number, cells: string[], struck: readonly number[]): void {
    if (struck.length === cells.filter((text) => text !== '').length) {
      this.contents.struckRows.push(row);
      return;
    }
    for (const column of struck) {
      this.contents.withoutValue.push({
        row,
        column,
        fault: makeStruckCellFault(cells[column - 1] ?? ''),
      });
      cells[column - 1] = '';
    }
    while (cells.at(-1) === '') cells.pop();
  }
}

export function makeDamagedSheetError({ file, sheet = '' }: TablePlace): FileError {
  return makeDamagedFileError(
    file,
    msg`${file}, sheet ${sheet}, has rows or cells that no spreadsheet program writes.`,
  );
}
