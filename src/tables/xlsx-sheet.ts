import { attributeOf, type XmlElement } from '../xml/element.ts';
import { walkXml } from '../xml/parse.ts';
import type { CellFault } from './cell-faults.ts';
import { type CellRange, damagedSheetError, type FaultyCell, LAST_ROW, type SheetContents } from './sheet-table.ts';
import { assertTableSize, type ShownCell, type ShownCells, type TablePlace } from './table.ts';
import { type BookValues, cellValueOf, styleNumber } from './xlsx-values.ts';

/** Limit for the nodes of a row. */
const MAX_NODES = 100_000;
const PARTS = new Set(['row', 'mergeCell']);
const NO_CELLS: readonly string[] = [];

/** @throws FileError where the sheet is too large or malformed; XmlSyntaxError */
export function readSheet(place: TablePlace, bytes: Buffer, values: BookValues): Omit<SheetContents, 'comments' | 'pictures'> {
  const { file } = place;
  const rows: (readonly string[])[] = [];
  const [merged, hiddenRows, withoutValue]: [CellRange[], number[], FaultyCell[]] = [[], [], []];
  const [shown, struckRows]: [Map<number, ShownCells>, number[]] = [new Map(), []];
  let [row, rowCount, cellCount] = [0, 0, 0];
  for (const { element } of walkXml(bytes, MAX_NODES).parts(PARTS)) {
    if (element.name === 'mergeCell') {
      const range = rangeOf(element);
      if (range !== undefined) merged.push(range);
      assertTableSize(file, { cells: merged.length });
      continue;
    }
    const next = rowNumber(element) ?? row + 1;
    if (!(next > row && next <= LAST_ROW)) throw damagedSheetError(place);
    row = next;
    assertTableSize(file, { rows: rowCount });
    rowCount += 1;
    if (/^(?:1|true)$/.test(attributeOf(element, 'hidden') ?? '')) hiddenRows.push(row);
    const {
      cells,
      shown: ofRow,
      isStruck,
    } = cellsOf(place, element, values, (column, fault) => withoutValue.push({ row, column, fault }));
    if (ofRow !== undefined) shown.set(row, ofRow);
    if (isStruck) struckRows.push(row);
    cellCount += cells.length;
    assertTableSize(file, { cells: cellCount + withoutValue.length });
    if (cells.length === 0) continue;
    while (rows.length < row - 1) rows.push(NO_CELLS);
    rows.push(cells);
  }
  return { rows, merged, hiddenRows, withoutValue, shown, struckRows };
}

type RowCells = { readonly cells: readonly string[]; readonly shown: ShownCells | undefined; readonly isStruck: boolean };

/** Reads the cells of a row; addresses are optional, and cells without a value may be missing. */
function cellsOf(
  place: TablePlace,
  row: XmlElement,
  values: BookValues,
  report: (column: number, fault: CellFault) => void,
): RowCells {
  const cells: string[] = [];
  let shown: Map<number, ShownCell> | undefined;
  let isStruck = true;
  let column = 0;
  for (const cell of row.children) {
    if (cell.name !== 'c') continue;
    const address = attributeOf(cell, 'r');
    const next = address === undefined ? column + 1 : columnNumber(/^([A-Z]{1,3})\d+$/.exec(address)?.[1] ?? '');
    const value = cellValueOf(cell, values);
    if (next <= column || value === undefined) throw damagedSheetError(place);
    column = next;
    if (value.fault !== undefined) report(column, value.fault);
    if (value.text === '') continue;
    assertTableSize(place.file, { columns: column });
    while (cells.length < column - 1) cells.push('');
    cells.push(value.text);
    isStruck &&= values.styles[styleNumber(cell)]?.isStruck === true;
    if (value.shown !== undefined) shown = (shown ?? new Map()).set(column - 1, value.shown);
  }
  return { cells, shown, isStruck: isStruck && cells.length > 0 };
}

/** Returns the number of a row, from its own attribute or its first cell's. */
function rowNumber(row: XmlElement): number | undefined {
  const own = attributeOf(row, 'r');
  const [first] = row.children;
  const text = own ?? /(?<!\d)\d+$/.exec((first && attributeOf(first, 'r')) ?? '')?.[0];
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function rangeOf(mergeCell: XmlElement): CellRange | undefined {
  const [name, from = '', top, to = '', bottom] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(attributeOf(mergeCell, 'ref') ?? '') ?? [];
  if (name === undefined) return undefined;
  return {
    name,
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: columnNumber(from),
    lastColumn: columnNumber(to),
  };
}

/** Converts letters of a column: `A` is 1, `AA` is 27. */
function columnNumber(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + (letter.codePointAt(0) ?? 0) - 64;
  return number;
}
