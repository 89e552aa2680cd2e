import { FileError } from '../base/errors.ts';
import { errorIssue, hasErrors, type Issue, warningIssue } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { msg, nmsg } from '../base/message.ts';
import { findHeader, firstRows, type HeaderRows } from './header-row.ts';
import { cellFaults } from './row-faults.ts';
import { placeOf, refuseTooLarge, type Table, type TablePlace, type TableRow } from './table.ts';
import type { SheetContents } from './xlsx-sheet.ts';
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
  const contents = sheet.read();
  const { rows } = contents;
  const found = findHeader(place, firstRows(wholeRows(rows), headerRows), headerRows);
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
  let faultCount = 0;
  const report = (row: number, issue: Issue): void => {
    const before = faults.get(row);
    if (before === undefined) faults.set(row, [issue]);
    else before.push(issue);
    refuseTooLarge(file, { faults: ++faultCount });
  };
  reportFaultyCells(place, contents, header, headerRow, report);
  const filled = fillMerged(place, rows, contents, { headerRow, width: header.length }, report);
  const issues = [...(found?.issues ?? []), ...hiddenWarning(place, contents, headerRow, filled.length)];
  const left = new Set<number>();
  let rowCount = 0;
  filled.forEach((cells, index) => {
    const row = index + 1;
    const wrong = faults.get(row) ?? [];
    // What a merged cell fills in makes no row of a blank one.
    const isBlank = (rows[index] ?? []).every((cell) => cell === '');
    if (row <= headerRow || (wrong.length === 0 && isBlank)) {
      left.add(row);
      return;
    }
    wrong.push(...widthFaults(place, cells, header, row));
    wrong.push(...cellFaults(cells.slice(0, header.length), header).map((fault) => fault.with({ ...place, row })));
    issues.push(...wrong);
    refuseTooLarge(file, { faults: issues.length });
    if (hasErrors(wrong)) left.add(row);
    else rowCount += 1;
  });
  if (rowCount === 0 && !hasErrors(issues)) {
    issues.push(errorIssue('table-no-rows', msg`There are no rows below the header. Nothing was read.`, place));
  }
  const sound = function* (): Generator<TableRow> {
    for (const [index, cells] of filled.entries()) {
      const row = index + 1;
      if (!left.has(row)) yield { row, cells: header.map((_, column) => cells[column] ?? '') };
    }
  };
  return { ...place, header, headerRow, rows: { [Symbol.iterator]: sound }, rowCount, issues };
}

/** All visible sheets that hold something, with the names of the columns in the first row. @throws FileError as {@link readXlsx} */
export async function readXlsxSheets(file: string, bytes: Buffer): Promise<Table[]> {
  const sheets = sheetsOf(file, await readZip(file, bytes)).filter((sheet) => !sheet.hidden && sheet.hasValues());
  const tables: Table[] = [];
  for (const { name } of sheets) tables.push(await readXlsx(file, bytes, name, { first: 1, last: 1 }));
  return tables;
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
  const sheet = visible.find((each) => each.hasValues());
  if (sheet !== undefined) return sheet;
  const hint = names === '' ? {} : { hint: msg`Its sheets are: ${names}.` };
  throw new FileError(file, msg`All visible sheets of ${file} are empty.`, hint);
}

/** Each as wide as the widest. */
function* wholeRows(rows: readonly Cells[]): Generator<TableRow> {
  const width = rows.reduce((widest, cells) => Math.max(widest, cells.length), 0);
  for (const [index, cells] of rows.entries()) {
    yield { row: index + 1, cells: Array.from({ length: width }, (_, column) => cells[column] ?? '') };
  }
}

function withoutEmptyEnd(cells: Cells): Cells {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
}

type Report = (row: number, issue: Issue) => void;

function reportFaultyCells(place: TablePlace, marks: SheetContents, header: Cells, headerRow: number, report: Report): void {
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
  { merged }: SheetContents,
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

function hiddenWarning(place: TablePlace, { hiddenRows }: SheetContents, headerRow: number, lastRow: number): Issue[] {
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
