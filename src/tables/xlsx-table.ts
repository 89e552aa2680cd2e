import { readSheet } from 'read-excel-file/universal';
import { FileError, messageOf } from '../base/errors.ts';
import { errorIssue, hasErrors, type Issue, warningIssue } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { msg, nmsg } from '../base/message.ts';
import { spreadsheetNumber } from '../text/plain-number.ts';
import { findHeader, firstRows, type HeaderRows } from './header-row.ts';
import { cellFaults } from './row-faults.ts';
import { placeOf, refuseTooLarge, type Table, type TablePlace, type TableRow } from './table.ts';
import { extentOf, hasValues, readMarks, type SheetExtent, type SheetMarks } from './xlsx-marks.ts';
import { type Sheet, sheetsOf } from './xlsx-workbook.ts';
import { readZip } from './zip-entries.ts';

type Cells = readonly string[];

/**
 * Reads a sheet of a workbook. Dates are read as days, numbers with the digits that the spreadsheet shows, formulas by the
 * result that was saved with them. A cell that is merged over several rows of one column counts in each of them; one that is
 * merged over several columns is an error of its rows. Hidden rows are read, hidden sheets only by name.
 *
 * @param named the sheet; otherwise the first visible one that holds something
 * @param headerRows the rows that hold the names of the columns; otherwise they are found
 * @throws FileError where the file is no workbook, or has no such sheet
 */
export async function readXlsx(file: string, bytes: Buffer, named?: string, headerRows?: HeaderRows): Promise<Table> {
  const sheet = chooseSheet(file, sheetsOf(file, await readZip(file, bytes)), named);
  const place = { file, sheet: sheet.name };
  const source = sheet.source();
  refuseOdd(place, extentOf(source));
  const marks = readMarks(source);
  const rows = await readCells(file, bytes, sheet.name);
  const numbered = rows.map((cells, index) => ({ row: index + 1, cells }));
  const found = findHeader(place, firstRows(numbered, headerRows), headerRows);
  const header = withoutEmptyEnd(found?.names ?? []);
  refuseTooLarge(file, { columns: header.length });
  if (header.length === 0) {
    return {
      ...place,
      header,
      rows: [],
      rowCount: 0,
      issues: [errorIssue('table-no-rows', msg`The sheet is empty. Nothing was read.`, place)],
    };
  }
  const headerRow = found?.last ?? 0;
  const faults = new Map<number, Issue[]>();
  const report = (row: number, issue: Issue): void => {
    faults.set(row, [...(faults.get(row) ?? []), issue]);
  };
  reportFaultyCells(place, marks, header, headerRow, report);
  const filled = fillMerged(place, rows, marks, { headerRow, width: header.length }, report);
  const issues = [...(found?.issues ?? []), ...hiddenWarning(place, marks, headerRow, filled.length)];
  const sound: TableRow[] = [];
  filled.forEach((cells, index) => {
    const row = index + 1;
    const wrong = faults.get(row) ?? [];
    // What a merged cell fills in makes no row of a blank one.
    const isBlank = (rows[index] ?? []).every((cell) => cell === '');
    if (row <= headerRow || (wrong.length === 0 && isBlank)) return;
    wrong.push(...widthFaults(place, cells, header, row));
    const own = header.map((_, column) => cells[column] ?? '');
    wrong.push(...cellFaults(own, header).map((fault) => ({ ...fault, ...place, row })));
    issues.push(...wrong);
    refuseTooLarge(file, { faults: issues.length });
    if (!hasErrors(wrong)) sound.push({ row, cells: own });
  });
  if (sound.length === 0 && !hasErrors(issues)) {
    issues.push(errorIssue('table-no-rows', msg`There are no rows below the header. Nothing was read.`, place));
  }
  return { ...place, header, headerRow, rows: sound, rowCount: sound.length, issues };
}

function chooseSheet(file: string, sheets: readonly Sheet[], named: string | undefined): Sheet {
  const names = sheets.map(({ name }) => name).join(', ');
  if (named !== undefined) {
    const sheet = sheets.find(({ name }) => name === named);
    if (sheet === undefined)
      throw new FileError(file, msg`${file} has no sheet "${named}".`, { hint: msg`Its sheets are: ${names}.` });
    return sheet;
  }
  const visible = sheets.filter(({ hidden }) => !hidden);
  const sheet = visible.find(({ source }) => hasValues(source()));
  if (sheet !== undefined) return sheet;
  const hint = names === '' ? {} : { hint: msg`Its sheets are: ${names}.` };
  throw new FileError(file, msg`All visible sheets of ${file} are empty.`, hint);
}

/** A row beyond those that a spreadsheet has, or one in another form, is not of a spreadsheet. */
const LAST_ROW = 1_048_576;

/** The library makes every cell up to the last, so what there is of them is looked at first. */
function refuseOdd({ file, sheet = '' }: TablePlace, extent: SheetExtent | undefined): void {
  if (extent === undefined || extent.lastRow > LAST_ROW) {
    throw new FileError(file, msg`${file}, sheet ${sheet}, has rows or cells in no form of a spreadsheet.`, {
      hint: msg`Save it again in the spreadsheet, or as CSV UTF-8.`,
    });
  }
  refuseTooLarge(file, { rows: extent.rows, cells: extent.cells });
}

async function readCells(file: string, bytes: Buffer, sheet: string): Promise<Cells[]> {
  const own = new Uint8Array(bytes);
  try {
    const rows = await readSheet<string>(own.buffer, sheet, { parseNumber: (text) => spreadsheetNumber(Number(text)) });
    return rows.map((cells) => cells.map(textOf));
  } catch (thrown) {
    const reason = messageOf(thrown);
    throw new FileError(file, msg`${file}, sheet ${sheet}, cannot be read: ${reason}.`, {
      cause: thrown,
      hint: msg`Save it again in the spreadsheet, or as CSV UTF-8.`,
    });
  }
}

/** The library gives a date as midnight or a time of UTC, whatever the clock of this computer. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return '';
  const [day = '', time = ''] = value.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 5)}`;
}

function withoutEmptyEnd(cells: Cells): Cells {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
}

type Report = (row: number, issue: Issue) => void;

function reportFaultyCells(place: TablePlace, marks: SheetMarks, header: Cells, headerRow: number, report: Report): void {
  for (const { row, column, fault } of marks.withoutValue) {
    const name = header[column - 1];
    if (name === undefined || row <= headerRow) continue;
    const message =
      fault === 'unsaved'
        ? msg`The result of the formula was not saved with the file. Open it in a spreadsheet and save it, or write the value.`
        : msg`The result of the formula is the error ${fault}. Correct it, or write the value.`;
    report(row, errorIssue('table-formula', message, { ...place, row, column: name }));
  }
}

type Frame = { readonly headerRow: number; readonly width: number };

/** One who merges cells below each other means the same for all of them; beside each other they are of different columns. */
function fillMerged(
  place: TablePlace,
  rows: readonly Cells[],
  { merged }: SheetMarks,
  frame: Frame,
  report: Report,
): readonly Cells[] {
  if (merged.length === 0) return rows;
  const filled = rows.map((cells) => [...cells]);
  let mergedRows = 0;
  for (const { name, firstRow, lastRow, firstColumn, lastColumn } of merged) {
    const value = rows[firstRow - 1]?.[firstColumn - 1] ?? '';
    if (value === '' || firstRow <= frame.headerRow || firstColumn > frame.width) continue;
    mergedRows += Math.min(lastRow, rows.length) - firstRow;
    refuseTooLarge(place.file, { cells: mergedRows });
    for (let row = firstRow; row <= lastRow && (row <= rows.length || row === firstRow); row++) {
      const cells = filled[row - 1];
      if (firstColumn === lastColumn) {
        if (cells === undefined) continue;
        while (cells.length < firstColumn) cells.push('');
        cells[firstColumn - 1] = value;
      } else {
        const message = msg`The cells ${name} are merged over several columns. Split them: it cannot be told which column the value belongs to.`;
        report(row, errorIssue('table-merged', message, { ...place, row }));
      }
    }
  }
  return filled;
}

function widthFaults(place: TablePlace, cells: Cells, header: Cells, row: number): Issue[] {
  const beyond = cells.findIndex((cell, index) => index >= header.length && cell !== '');
  if (beyond === -1) return [];
  const position = beyond + 1;
  const message = msg`Column ${position} has a value in this row, but no name in the header. Name it, or empty the cell.`;
  return [errorIssue('table-cells', message, { ...place, row })];
}

function hiddenWarning(place: TablePlace, { hiddenRows }: SheetMarks, headerRow: number, lastRow: number): Issue[] {
  const hidden = hiddenRows.filter((row) => row > headerRow && row <= lastRow);
  const count = hidden.length;
  if (count === 0) return [];
  const first = hidden[0] ?? 0;
  const message = nmsg(
    msgid`${count} row is hidden in the sheet (row ${first}) and is read as well. Delete it if it does not belong there.`,
    msgid`${count} rows are hidden in the sheet (the first is row ${first}) and are read as well. Delete those that do not belong there.`,
    count,
  );
  return [warningIssue('table-hidden-rows', message, placeOf(place))];
}
