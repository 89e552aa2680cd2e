import { FileError } from '../base/errors.ts';
import { addToGroup } from '../base/group-by.ts';
import { type Issue, makeErrorIssue, makeWarningIssue, toIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import type { TablePlace } from '../find/find.ts';
import { makeIdKey } from '../text/characters.ts';
import { XmlSyntaxError } from '../xml/parse.ts';
import { findHeader, type HeaderRows, readFirstRows } from './header-row.ts';
import { formatCellName, type SheetContents } from './sheet-builder.ts';
import {
  assertTableSize,
  checkCells,
  getTablePlace,
  listUnreadSheets,
  makeDamagedFileError,
  makeNoRowsIssue,
  makeTable,
  type ShownCells,
  type Table,
  type TableRow,
} from './table.ts';
import type { ZipEntry } from './zip-entries.ts';

type Cells = readonly string[];

/** A sheet of a workbook of any format. */
export type Sheet = {
  readonly name: string;
  readonly hidden: boolean;
  hasValues(): boolean;
  /** @throws FileError where it is too large, or malformed */
  read(): SheetContents;
};

/** @throws FileError where the part of a workbook is no well-formed XML */
export function parsePart<T>(file: string, entry: ZipEntry, read: (bytes: Buffer) => T): T {
  try {
    return read(entry.bytes);
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw makeDamagedFileError(
      file,
      msg`${file} is a damaged workbook: in ${entry.name}, ${thrown.says}.`,
      thrown,
    );
  }
}

/**
 * Makes the table of a sheet. Formulas have their saved result. A cell that is merged over several
 * rows of one column counts in each of them; one that is merged over several columns is an error of
 * its rows. Hidden rows are read, hidden sheets only by name.
 * @param named sheet, in any letter case, or its number; otherwise the first visible one with
 * content
 * @param headerRows rows of the header; otherwise they are detected
 * @throws FileError where there is no such sheet
 */
export function makeTableOfSheets(
  file: string,
  sheets: readonly Sheet[],
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  const { sheet, others } = chooseSheet(file, sheets, named);
  const place = { file, sheet: sheet.name };
  const unread = listUnreadSheets(place, others);
  const contents = sheet.read();
  const { rows } = contents;
  const foundHeader = findHeader(place, readFirstRows(padRows(rows), headerRows), headerRows);
  const header = withoutEmptyEnd(foundHeader?.names ?? []);
  assertTableSize(file, { columns: header.length });
  if (header.length === 0) {
    const message = msg`The sheet is empty. Nothing was read.`;
    const issues = [makeErrorIssue('table-no-rows', message, place), ...unread];
    return { ...place, header, rows: [], rowCount: 0, issues };
  }
  const headerRow = foundHeader?.last ?? 0;
  const faults = makeFaultList(file);
  reportFaultyCells(contents, header, headerRow, faults.report);
  const { rows: filled, shown } = fillMerged(
    place,
    rows,
    contents,
    { headerRow, width: header.length },
    faults.report,
  );
  // A value that a merged cell fills in does not make a blank row a find.
  const isBlank = (row: number): boolean => (rows[row - 1] ?? []).every((cell) => cell === '');
  const found = function* (): Generator<TableRow> {
    for (const [index, cells] of filled.entries()) {
      const row = index + 1;
      if (row <= headerRow || (isBlank(row) && !faults.byRow.has(row))) continue;
      const values = header.map((_, column) => cells[column] ?? '');
      yield { row, cells: values, shown: shown.get(row) };
    }
  };
  return makeTable({
    place,
    header,
    headerRow,
    rows: { [Symbol.iterator]: found },
    check: ({ row, cells }) => [
      ...(faults.byRow.get(row) ?? []),
      ...checkBeyond(filled[row - 1] ?? [], header.length),
      ...checkCells(cells, header),
    ],
    issues: [
      ...unread,
      ...(foundHeader?.issues ?? []),
      ...checkSheet(place, contents, { header, headerRow, lastRow: filled.length }),
    ],
    none: makeNoRowsIssue(place),
  });
}

/** Makes a list of the faults of each row, of limited length. */
function makeFaultList(file: string) {
  const byRow = new Map<number, Issue[]>();
  let count = 0;
  return {
    byRow,
    report: (row: number, issue: Issue): void => {
      addToGroup(byRow, row, issue);
      count += 1;
      assertTableSize(file, { faults: count });
    },
  };
}

/** @returns with the other visible sheets with content, where none is named */
function chooseSheet(
  file: string,
  sheets: readonly Sheet[],
  named: string | undefined,
): { readonly sheet: Sheet; readonly others: readonly string[] } {
  const names = sheets.map(({ name }) => name).join(', ');
  if (named !== undefined) {
    const sheet =
      sheets.find(({ name }) => name === named) ??
      sheets.find(({ name }) => makeIdKey(name) === makeIdKey(named)) ??
      (/^[1-9]\d*$/.test(named) ? sheets[Number(named) - 1] : undefined);
    if (sheet === undefined)
      throw new FileError(file, msg`${file} has no sheet "${named}".`, {
        hint: msg`Its sheets are: ${names}.`,
      });
    return { sheet, others: [] };
  }
  const [sheet, ...others] = sheets.filter((each) => !each.hidden && each.hasValues());
  if (sheet !== undefined) return { sheet, others: others.map(({ name }) => name) };
  throw new FileError(file, msg`All visible sheets of ${file} are empty.`, {
    hint: names === '' ? undefined : msg`Its sheets are: ${names}.`,
  });
}

function* padRows(rows: readonly Cells[]): Generator<TableRow> {
  const width = rows.reduce((widest, cells) => Math.max(widest, cells.length), 0);
  for (const [index, cells] of rows.entries()) {
    yield {
      row: index + 1,
      cells: Array.from({ length: width }, (_, column) => cells[column] ?? ''),
    };
  }
}

function withoutEmptyEnd(cells: Cells): Cells {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
}

type ReportCellFault = (row: number, issue: Issue) => void;

function reportFaultyCells(
  marks: SheetContents,
  header: Cells,
  headerRow: number,
  report: ReportCellFault,
): void {
  for (const { row, column, fault } of marks.withoutValue) {
    const name = header[column - 1];
    if (name === undefined || row <= headerRow) continue;
    report(row, toIssue(fault, { column: name }));
  }
}

type Frame = { readonly headerRow: number; readonly width: number };

/**
 * Fills vertically merged cells, which have one value for all rows; horizontally merged cells
 * belong to different columns.
 */
function fillMerged(
  place: TablePlace,
  rows: readonly Cells[],
  { merged, shown }: SheetContents,
  frame: Frame,
  report: ReportCellFault,
): { readonly rows: readonly Cells[]; readonly shown: ReadonlyMap<number, ShownCells> } {
  if (merged.length === 0) return { rows, shown };
  const filled = rows.map((cells) => [...cells]);
  const filledShown = new Map(shown);
  let mergedRows = 0;
  for (const { firstRow, lastRow, firstColumn, lastColumn } of merged) {
    const value = rows[firstRow - 1]?.[firstColumn - 1] ?? '';
    if (value === '' || firstRow <= frame.headerRow || firstColumn > frame.width) continue;
    mergedRows += Math.min(lastRow, rows.length) - firstRow;
    assertTableSize(place.file, { cells: mergedRows });
    for (let row = firstRow; row <= lastRow && (row <= rows.length || row === firstRow); row++) {
      const cells = filled[row - 1];
      if (firstColumn === lastColumn) {
        if (cells === undefined) continue;
        while (cells.length < firstColumn) cells.push('');
        cells[firstColumn - 1] = value;
        const first = shown.get(firstRow)?.get(firstColumn - 1);
        if (first !== undefined)
          filledShown.set(row, new Map(filledShown.get(row)).set(firstColumn - 1, first));
      } else {
        const name = `${formatCellName(firstColumn, firstRow)}:${formatCellName(lastColumn, lastRow)}`;
        const message = msg`The cells ${name} are merged over several columns. Split them: pas cannot tell which column the value belongs to.`;
        report(row, makeErrorIssue('table-merged', message));
      }
    }
  }
  return { rows: filled, shown: filledShown };
}

function checkBeyond(cells: Cells, width: number): Issue[] {
  const beyond = cells.findIndex((cell, index) => index >= width && cell !== '');
  if (beyond === -1) return [];
  const position = beyond + 1;
  const message = msg`Column ${position} has a value in this row, but no name in the header. Name it, or empty the cell.`;
  return [makeErrorIssue('table-cells', message)];
}

/** Warns of content that a person sees in the sheet and the table lacks. */
function checkSheet(
  place: TablePlace,
  contents: SheetContents,
  {
    header,
    headerRow,
    lastRow,
  }: { readonly header: Cells; readonly headerRow: number; readonly lastRow: number },
): Issue[] {
  const isBelow = (row: number): boolean => row > headerRow && row <= lastRow;
  const isHidden = (column: number): boolean =>
    contents.hiddenColumns.some(
      ({ firstColumn, lastColumn }) => column >= firstColumn && column <= lastColumn,
    );
  const hiddenNames = header.filter((name, index) => name !== '' && isHidden(index + 1));
  type Place = string | number;
  const warn = (
    rule: string,
    places: readonly Place[],
    makeMessage: (count: number, first: Place) => Message,
  ): Issue[] => {
    const [first] = places;
    if (first === undefined) return [];
    return [makeWarningIssue(rule, makeMessage(places.length, first), getTablePlace(place))];
  };
  return [
    ...warn(
      'table-hidden-rows',
      contents.hiddenRows.filter(isBelow),
      (count, first) =>
        msg`Hidden rows: ${count}, the first is row ${first}. They are read as well: delete those that do not belong there.`,
    ),
    ...warn(
      'table-hidden-columns',
      hiddenNames.length === 0 ? [] : [hiddenNames.join(', ')],
      (_, names) =>
        msg`Hidden columns: ${names}. They are read as well: delete those that do not belong there.`,
    ),
    ...warn(
      'table-struck-rows',
      contents.struckRows.filter(isBelow),
      (count, first) =>
        msg`Rows struck through: ${count}, the first is row ${first}. They are read as well: delete those that do not count.`,
    ),
    ...warn(
      'table-comments',
      contents.comments,
      (count, first) =>
        msg`Comments on cells: ${count}, the first is on ${first}. They are not read: write what belongs to the finds into a column.`,
    ),
    ...warn(
      'table-pictures',
      contents.pictures,
      (count, first) =>
        msg`Pictures in the sheet: ${count}, the first is at ${first}. They are not read: save them as files and name them in the column photos.`,
    ),
  ];
}
