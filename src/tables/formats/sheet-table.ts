import {
  addLocale,
  format,
  getFormatDateInfo,
  getFormatInfo,
  getLocale,
  isValidFormat,
} from 'numfmt';
import type { FileError } from '../../base/errors.ts';
import {
  type Doubt,
  type Issue,
  makeErrorIssue,
  makeWarningIssue,
  toIssue,
} from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import type { TablePlace } from '../../finds/find.ts';
import { findHeader, type HeaderRows } from '../header-row.ts';
import {
  assertTableSize,
  checkCells,
  makeCutShortError,
  makeNoRowsIssue,
  makeTableOfReadableRows,
  type ShownCell,
  type Table,
  type TableRow,
} from '../table.ts';

/** Rows and columns from 1, both ends included. */
export type CellRange = {
  /** As the sheet names it, such as `B3:B4`. */
  readonly name: string;
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
};

/** Stored text of a cell, and the displayed text where it differs. */
export type CellValue = {
  readonly text: string;
  readonly shown?: ShownCell;
  /** An error excludes the row; with a warning it is read, with `text` as the value. */
  readonly fault?: Doubt;
  /** All of it is struck through. */
  readonly isStruck?: boolean;
};

/** A value in a row, with its column from 1. */
export type PlacedCell = CellValue & { readonly column: number };

const NO_CELLS: readonly CellValue[] = [];
const NO_VALUE: CellValue = { text: '' };
/** Last row of a spreadsheet; a higher number is malformed. */
const LAST_ROW = 1_048_576;

/** Contents of a sheet, collected row by row. */
export class SheetContents {
  readonly place: TablePlace;
  /** Cells by row and column, from 0: each row up to its last value or fault. */
  readonly rows: (readonly CellValue[])[] = [];
  readonly merged: CellRange[] = [];
  /** Numbers, from 1, of rows that are hidden, or whose cells are all struck through. */
  readonly doubtfulRows: number[] = [];
  #rowCount = 0;
  #cellCount = 0;
  #characterCount = 0;

  constructor(place: TablePlace) {
    this.place = place;
  }

  /**
   * Adds a range of merged cells.
   * @throws FileError where the sheet has too many ranges
   */
  addMerged(range: CellRange): void {
    this.merged.push(range);
    assertTableSize(this.place.file, { cells: this.merged.length });
  }

  /**
   * Adds a row below the others. A cell that is struck through becomes empty, with a warning; in a
   * row that is struck through as a whole its text stays, and the row is doubtful.
   * @param row its number in the sheet, from 1; the rows between are blank
   * @param values in the order of their columns
   * @throws FileError where rows or cells are not in their order, or too many
   */
  addRow(row: number, values: readonly PlacedCell[], isHidden: boolean): void {
    const { rows, place } = this;
    if (!(row > rows.length && row <= LAST_ROW)) throw makeDamagedSheetError(place);
    const isStruck =
      values.some((cell) => cell.isStruck === true) &&
      values.every((cell) => cell.text === '' || cell.isStruck === true);
    const cells = this.#listCells(values, isStruck);
    this.#rowCount += 1;
    this.#cellCount += cells.length;
    assertTableSize(place.file, {
      rows: this.#rowCount - 1,
      cells: this.#cellCount,
      characters: this.#characterCount,
    });
    if (cells.length === 0) return;
    if (isStruck || isHidden) this.doubtfulRows.push(row);
    while (rows.length < row - 1) rows.push(NO_CELLS);
    rows.push(cells);
  }

  /** Returns the cells of a row by column, up to the last one with a value or a fault. */
  #listCells(values: readonly PlacedCell[], isRowStruck: boolean): CellValue[] {
    const cells: CellValue[] = [];
    for (const { column, text, shown, fault, isStruck } of values) {
      if (!(column > cells.length)) throw makeDamagedSheetError(this.place);
      if (text === '' && fault === undefined) continue;
      assertTableSize(this.place.file, { columns: column });
      while (cells.length < column - 1) cells.push(NO_VALUE);
      if (isStruck === true && !isRowStruck)
        cells.push({ text: '', fault: makeStruckFault(text, '') });
      // A sheet may have millions of cells: most have nothing but their text.
      else if (shown === undefined && fault === undefined) cells.push({ text });
      else cells.push({ text, shown, fault });
      this.#characterCount += text.length;
    }
    return cells;
  }
}

/**
 * Makes the error of a sheet with malformed cells, or rows or cells that are not in their order.
 */
export function makeDamagedSheetError({ file, sheet = '' }: TablePlace): FileError {
  return makeCutShortError(`${file}, ${sheet}`);
}

type Cells = readonly CellValue[];

/**
 * Makes the table of a sheet. A cell that is merged over several rows of one column counts in each
 * of them; one that is merged over several columns is an error of its rows. Hidden rows are read,
 * with a warning.
 * @param headerRows rows of the header; undefined to detect them
 * @param unread warnings of sheets that are not read
 * @throws FileError where a named row of the header is empty, or the sheet is too large
 */
export function makeTableOfSheet(
  contents: SheetContents,
  headerRows?: HeaderRows,
  unread: readonly Issue[] = [],
): Table {
  const { place } = contents;
  const { file } = place;
  // Formulas that have no value yet may be filled in far below the finds.
  const rows = contents.rows.slice(0, contents.rows.findLastIndex(hasText) + 1);
  const foundHeader = findHeader(place, padRows(rows), headerRows);
  const names = foundHeader?.names ?? [];
  const header = names.slice(0, names.findLastIndex((name) => name !== '') + 1);
  const headerRow = foundHeader?.last ?? 0;
  const merged = contents.merged.filter(
    ({ firstRow, firstColumn }) => firstRow > headerRow && firstColumn <= header.length,
  );
  const { filled, across } = fillMerged(file, rows, merged);
  const checkStored = (row: number): Issue[] => [
    ...listFaults(rows[row - 1] ?? [], header),
    ...checkMerged(across.get(row)),
  ];
  const readRows = function* (): Generator<TableRow> {
    for (const [index, cells] of filled.entries()) {
      const row = index + 1;
      // A value that a merged cell fills in does not make a blank row a find.
      const isBlank = !hasText(rows[index] ?? []) && checkStored(row).length === 0;
      if (row > headerRow && !isBlank) yield makeTableRow(row, cells, header.length);
    }
  };
  return makeTableOfReadableRows({
    place,
    header,
    headerRow,
    readRows,
    check: ({ row, cells }) => [
      ...checkStored(row),
      ...checkBeyond(filled[row - 1] ?? [], header.length),
      ...checkCells(cells, header),
    ],
    issues: [
      ...unread,
      ...(foundHeader?.issues ?? []),
      ...checkSheet(contents, (row) => row > headerRow && row <= rows.length),
    ],
    none: makeNoRowsIssue(place),
  });
}

function hasText(cells: Cells): boolean {
  return cells.some(({ text }) => text !== '');
}

function makeTableRow(row: number, cells: Cells, width: number): TableRow {
  const texts = Array.from({ length: width }, (_, column) => cells[column]?.text ?? '');
  return { row, cells: texts, shown: collectShown(cells) };
}

function collectShown(cells: Cells): ReadonlyMap<number, ShownCell> | undefined {
  const shown = new Map<number, ShownCell>();
  for (const [column, cell] of cells.entries())
    if (cell.shown !== undefined) shown.set(column, cell.shown);
  return shown.size > 0 ? shown : undefined;
}

/** Lists the faults of the cells that have a column. */
function listFaults(cells: Cells, header: readonly string[]): Issue[] {
  const issues: Issue[] = [];
  for (const [index, column] of header.entries()) {
    const fault = cells[index]?.fault;
    if (fault !== undefined) issues.push(toIssue(fault, { column }));
  }
  return issues;
}

function* padRows(rows: readonly Cells[]): Generator<TableRow> {
  const width = rows.reduce((widest, cells) => Math.max(widest, cells.length), 0);
  for (const [index, cells] of rows.entries()) {
    yield makeTableRow(index + 1, cells, width);
  }
}

/**
 * Fills vertically merged cells, which have one value for all rows; horizontally merged cells
 * belong to different columns, and are returned by row.
 * @throws FileError where they are too many
 */
function fillMerged(file: string, rows: readonly Cells[], merged: readonly CellRange[]) {
  const filled = merged.length === 0 ? rows : rows.map((cells) => [...cells]);
  const across = new Map<number, CellRange>();
  let mergedRows = 0;
  for (const range of merged) {
    const { firstRow, firstColumn } = range;
    const { text = '', shown } = rows[firstRow - 1]?.[firstColumn - 1] ?? {};
    if (text === '') continue;
    const lastRow = Math.min(range.lastRow, rows.length);
    mergedRows += lastRow - firstRow;
    assertTableSize(file, { cells: mergedRows });
    for (let row = firstRow; row <= lastRow; row++) {
      const cells = filled[row - 1];
      if (firstColumn !== range.lastColumn) across.set(row, range);
      else if (row > firstRow && Array.isArray(cells)) {
        while (cells.length < firstColumn) cells.push({ text: '' });
        cells[firstColumn - 1] = { text, shown };
      }
    }
  }
  return { filled, across };
}

function checkMerged(range: CellRange | undefined): Issue[] {
  if (range === undefined) return [];
  const { name } = range;
  const message = msg`The cells ${name} are merged over several columns. Split them: pas cannot tell which column the value belongs to.`;
  return [makeErrorIssue('table-merged', message)];
}

function checkBeyond(cells: Cells, width: number): Issue[] {
  const beyond = cells.findIndex(({ text }, index) => index >= width && text !== '');
  if (beyond === -1) return [];
  const position = beyond + 1;
  const message = msg`Column ${position} has a value in this row, but no name in the header. Name it, or empty the cell.`;
  return [makeErrorIssue('table-cells', message)];
}

/** Warns of rows that are read although they may not count. */
function checkSheet(contents: SheetContents, isOfFinds: (row: number) => boolean): Issue[] {
  const rows = contents.doubtfulRows.filter(isOfFinds);
  const [first] = rows;
  if (first === undefined) return [];
  const count = rows.length;
  const message = msg`Rows hidden or struck through: ${count}, the first is row ${first}. They are read as well: delete those that do not count.`;
  return [makeWarningIssue('table-hidden-rows', message, contents.place)];
}

// Values of cells, as a spreadsheet displays them.

/** Display of a number by a number format of a workbook. */
export type CellFormat = {
  /** The format shows years, months or days. */
  readonly isDate: boolean;
  /** The format shows day, month and year, so the text means one day. */
  readonly isWholeDay: boolean;
  /**
   * Returns the displayed text; undefined for a number as it is stored. Digits are not grouped and
   * the decimal separator is a point: both are settings of the computer, not of the workbook.
   */
  show(value: number): string | undefined;
};

const PLAIN: CellFormat = {
  isDate: false,
  isWholeDay: false,
  show: () => undefined,
};

/** Language of months and days where the format names none. */
const LANGUAGE = 'cs';
addLocale({ ...getLocale(LANGUAGE), group: '', decimal: '.' }, LANGUAGE);

/** Limit of spreadsheet programs for a number format. */
const MAX_FORMAT_CHARACTERS = 255;

/**
 * Built-in number formats, which files do not contain, of numbers, days and times. 14 is the
 * computer's short date.
 */
export const KNOWN_FORMATS: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  14: 'd.m.yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm" "AM/PM',
  19: 'h:mm:ss" "AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'd.m.yyyy h:mm',
};

/**
 * Parses a number format of XLSX, whose code is the English one in any language of the spreadsheet.
 * A format that is general, for texts, or invalid shows numbers as they are stored.
 */
export function parseNumberFormat(code: string): CellFormat {
  if (/^(?:general|@)?$/i.test(code) || code.length > MAX_FORMAT_CHARACTERS || !isValidFormat(code))
    return PLAIN;
  const { type } = getFormatInfo(code);
  const isDate = type === 'date' || type === 'datetime';
  const { year, month, day } = getFormatDateInfo(code);
  // The language of a number decides its separators only.
  const shownCode = isDate ? code : code.replace(/\[\$([^[\]-]*)-[^[\]]*\]/g, '[$$$1]');
  return {
    isDate,
    isWholeDay: isDate && year && month && day,
    show: (value) => format(shownCode, value, { locale: LANGUAGE }).replace(/\s+/g, ' ').trim(),
  };
}

/**
 * Formats the serial number of a day in a spreadsheet as YYYY-MM-DD; undefined outside the years
 * 1900 to 9999, for which spreadsheets have no days.
 * @param days day 1 is 1900-01-01; the fraction is the time of the day, which is dropped
 */
export function formatSerialDay(days: number): string | undefined {
  // A spreadsheet rounds to what it shows: less than a millisecond before midnight is the next day.
  const rounded = Math.round(days * DAY_MS) / DAY_MS;
  if (!(rounded >= 1 && rounded < AFTER_LAST_DAY)) return undefined;
  return format('yyyy-mm-dd', rounded, { locale: LANGUAGE });
}

/** First day of the year 10000. */
const AFTER_LAST_DAY = 2_958_466;
const DAY_MS = 86_400_000;

/** Looks of a text that change its meaning; an undefined `isStruck` is that of the whole cell. */
export type TextLook = {
  readonly isStruck?: boolean;
  readonly position?: 'superscript' | 'subscript';
};

/** A part of a cell's text with one look. */
export type TextPiece = TextLook & { readonly text: string };

const RAISING_MARKS = { superscript: '^', subscript: '_' } as const;

/**
 * Joins the pieces of a cell's text, without those that are struck through, and with `^` before a
 * superscript or `_` before a subscript; a warning says either. A text that is struck through as a
 * whole stays, with `isStruck`, since its row decides if it counts.
 * @param isCellStruck the cell is struck through, which holds for pieces without a look of their
 * own
 */
export function joinTextPieces(pieces: readonly TextPiece[], isCellStruck: boolean): CellValue {
  const filled = pieces.filter(({ text }) => text !== '');
  const isStruck = (piece: TextPiece): boolean => piece.isStruck ?? isCellStruck;
  const kept = filled.filter((piece) => !isStruck(piece));
  const keptText = joinPieces(kept);
  if (keptText === '') return { text: joinPieces(filled), isStruck: filled.some(isStruck) };
  if (kept.length < filled.length)
    return {
      text: keptText,
      fault: makeStruckFault(joinPieces(filled.filter(isStruck)), keptText),
    };
  return kept.some(({ position }) => position !== undefined)
    ? { text: keptText, fault: makeRaisedFault(keptText) }
    : { text: keptText };
}

function joinPieces(pieces: readonly TextPiece[]): string {
  return pieces
    .map(({ text, position }) => (position === undefined ? text : RAISING_MARKS[position] + text))
    .join('')
    .trim();
}

/**
 * Makes the warning that a struck text does not count.
 * @param kept text of the cell without it
 */
function makeStruckFault(struck: string, kept: string): Doubt {
  const problem = msg`"${struck}" is struck through and does not count. The cell is read as "${kept}".`;
  return { severity: 'warning', rule: 'cell-struck', problem };
}

function makeRaisedFault(text: string): Doubt {
  const problem = msg`The cell has a superscript or subscript and is read as "${text}". If that is a remark, remove it.`;
  return { severity: 'warning', rule: 'cell-raised', problem };
}
