import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { getAttribute, type XmlElement } from '../xml/element.ts';
import { walkXml, XmlSyntaxError, type XmlWalk } from '../xml/parse.ts';
import type { TextLook } from './cell-text.ts';
import type { HeaderRows } from './header-row.ts';
import { NO_STYLES, parseOdsValue, TABLE, type TextStyles } from './ods-values.ts';
import {
  type CellFaultAt,
  type CellRange,
  type ColumnRange,
  type FaultyCell,
  formatCellName,
  LAST_ROW,
  makeDamagedSheetError,
  makeTableOfSheets,
  type Sheet,
  type SheetContents,
  settleStruckCells,
} from './sheet-table.ts';
import {
  assertTableSize,
  type ShownCell,
  type ShownCells,
  type Table,
  type TablePlace,
} from './table.ts';
import { makePasswordError, type ZipEntry } from './zip-entries.ts';

const STYLE = 'urn:oasis:names:tc:opendocument:xmlns:style:1.0';
const SPREADSHEET = 'application/vnd.oasis.opendocument.spreadsheet';

/** Limit for the nodes of a row, or of the document around the rows. */
const MAX_NODES = 100_000;
const PARTS = new Set(['style', 'table-column', 'table-row', 'shapes']);

/**
 * Reads a sheet of an OpenDocument spreadsheet, as LibreOffice writes it. Numbers have 15 digits.
 * @param named sheet; otherwise the first visible one with content
 * @param headerRows rows of the header; otherwise they are detected
 * @throws FileError where the archive is no spreadsheet, or has no such sheet
 */
export function parseOds(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  const type = entries.get('mimetype')?.unpack().toString().trim() ?? SPREADSHEET;
  if (entries.get('META-INF/manifest.xml')?.unpack().includes('encryption-data'))
    throw makePasswordError(file);
  const content = entries.get('content.xml');
  if (content === undefined || !type.startsWith(SPREADSHEET)) throw makeNoSpreadsheetError(file);
  return parseContent(file, content.unpack(), 'document-content', named, headerRows, content.name);
}

/** Reads a spreadsheet that is one XML file (`.fods`). */
export async function parseFlatOds(
  file: string,
  bytes: Buffer,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Promise<Table> {
  return parseContent(file, bytes, 'document', named, headerRows, file);
}

function parseContent(
  file: string,
  bytes: Buffer,
  root: string,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
  part: string,
): Table {
  try {
    const document = walkXml(bytes, MAX_NODES);
    if (document.root.name !== root) throw makeNoSpreadsheetError(file);
    return makeTableOfSheets(file, listSheets(file, document), named, headerRows);
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw new FileError(file, msg`${file} is a damaged workbook: in ${part}, ${thrown.says}.`, {
      cause: thrown,
      hint: msg`Save it again in the spreadsheet.`,
    });
  }
}

function makeNoSpreadsheetError(file: string): FileError {
  return new FileError(file, msg`${file} is an OpenDocument file, but not a spreadsheet.`, {
    hint: msg`Save the table as .ods, .xlsx or CSV UTF-8.`,
  });
}

type SheetPart = { readonly sheet: XmlElement; readonly element: XmlElement };

/**
 * Returns rows and pictures of the document's own sheets; tables also occur in drawings, tracked
 * changes and links.
 */
function findSheetPart(element: XmlElement, around: readonly XmlElement[]): SheetPart | undefined {
  const [, body, spreadsheet, sheet] = around;
  const isOwn =
    body?.name === 'body' && spreadsheet?.name === 'spreadsheet' && sheet?.namespace === TABLE;
  return isOwn && sheet.name === 'table' && element.namespace === TABLE
    ? { sheet, element }
    : undefined;
}

function listSheets(file: string, document: XmlWalk): readonly Sheet[] {
  const hiddenStyles = new Set<string>();
  const sheetsByIndex = new Map<number, { name: string; hidden: boolean; hasValues: boolean }>();
  for (const { element, around } of document.readParts(PARTS)) {
    if (element.name === 'style') {
      const properties = element.children.find(({ name }) => name === 'table-properties');
      const isHidden =
        properties !== undefined && getAttribute(properties, 'display', TABLE) === 'false';
      if (isHidden) hiddenStyles.add(getAttribute(element, 'name', STYLE) ?? '');
      continue;
    }
    const row = findSheetPart(element, around);
    if (row === undefined || element.name !== 'table-row') continue;
    const name = getAttribute(row.sheet, 'name', TABLE) ?? '';
    const style = getAttribute(row.sheet, 'style-name', TABLE) ?? '';
    const sheet = sheetsByIndex.get(row.sheet.start) ?? {
      name,
      hidden: hiddenStyles.has(style),
      hasValues: false,
    };
    sheet.hasValues ||= listCells(element).some(
      (cell) => parseOdsValue(document, cell, NO_STYLES).text !== '',
    );
    sheetsByIndex.set(row.sheet.start, sheet);
    assertTableSize(file, { columns: sheetsByIndex.size });
  }
  return [...sheetsByIndex].map(([start, { name, hidden, hasValues }]) => ({
    name,
    hidden,
    hasValues: () => hasValues,
    read: () => parseSheet({ file, sheet: name }, document, start),
  }));
}

function listCells(row: XmlElement): readonly XmlElement[] {
  return row.children.filter(
    ({ name, namespace }) =>
      namespace === TABLE && (name === 'table-cell' || name === 'covered-table-cell'),
  );
}

const NO_CELLS: readonly string[] = [];

/** Contents of a sheet so far. */
type GrowingSheet = {
  readonly rows: (readonly string[])[];
  readonly merged: CellRange[];
  readonly hiddenRows: number[];
  readonly hiddenColumns: ColumnRange[];
  readonly withoutValue: FaultyCell[];
  readonly shown: Map<number, ShownCells>;
  readonly struckRows: number[];
  readonly comments: string[];
  readonly pictures: string[];
  /** Number of the last row, with empty ones. */
  row: number;
  rowCount: number;
  cellCount: number;
  columnCount: number;
};

/** @param start offset of the sheet's element */
function parseSheet(place: TablePlace, document: XmlWalk, start: number): SheetContents {
  const sheet: GrowingSheet = {
    rows: [],
    merged: [],
    hiddenRows: [],
    hiddenColumns: [],
    withoutValue: [],
    shown: new Map(),
    struckRows: [],
    comments: [],
    pictures: [],
    row: 0,
    rowCount: 0,
    cellCount: 0,
    columnCount: 0,
  };
  const styles = new Map<string, TextLook>();
  for (const { element, around } of document.readParts(PARTS)) {
    if (element.name === 'style')
      styles.set(getAttribute(element, 'name', STYLE) ?? '', parseLook(element));
    if (findSheetPart(element, around)?.sheet.start !== start) continue;
    if (element.name === 'shapes')
      sheet.pictures.push(...element.children.filter(isPicture).map(() => formatCellName(1, 1)));
    if (element.name === 'table-column') addColumns(place, sheet, element);
    if (element.name === 'table-row')
      addRows(place, sheet, element, parseCells(place, document, element, styles));
  }
  return sheet;
}

function isHidden(element: XmlElement): boolean {
  return ['collapse', 'filter'].includes(getAttribute(element, 'visibility', TABLE) ?? '');
}

function addColumns(place: TablePlace, sheet: GrowingSheet, element: XmlElement): void {
  const firstColumn = sheet.columnCount + 1;
  sheet.columnCount += parseCount(place, element, 'number-columns-repeated');
  if (isHidden(element)) sheet.hiddenColumns.push({ firstColumn, lastColumn: sheet.columnCount });
  assertTableSize(place.file, { columns: sheet.hiddenColumns.length });
}

/** Adds a row as often as it is repeated. */
function addRows(place: TablePlace, sheet: GrowingSheet, element: XmlElement, read: Cells): void {
  const { file } = place;
  const repeated = parseCount(place, element, 'number-rows-repeated');
  for (const column of read.comments) sheet.comments.push(formatCellName(column, sheet.row + 1));
  for (const column of read.pictures) sheet.pictures.push(formatCellName(column, sheet.row + 1));
  if (read.cells.length === 0 && read.faults.length === 0) {
    sheet.row += repeated;
    return;
  }
  if (sheet.row + repeated > LAST_ROW) throw makeDamagedSheetError(place);
  sheet.rowCount += repeated;
  assertTableSize(file, { rows: sheet.rowCount - 1 });
  sheet.cellCount += repeated * (read.cells.length + read.faults.length);
  assertTableSize(file, { cells: sheet.cellCount });
  while (sheet.rows.length < sheet.row) sheet.rows.push(NO_CELLS);
  for (const { columns, height, column } of read.spans) {
    const lastColumn = column + columns - 1;
    sheet.merged.push(makeRange(sheet.row + 1, sheet.row + height, column, lastColumn));
    assertTableSize(file, { cells: sheet.merged.length });
  }
  const isHiddenRow = isHidden(element);
  for (let times = 0; times < repeated; times++) {
    sheet.row += 1;
    const { row } = sheet;
    sheet.rows.push(read.cells);
    if (isHiddenRow) sheet.hiddenRows.push(row);
    if (read.isStruck) sheet.struckRows.push(row);
    if (read.shown !== undefined) sheet.shown.set(row, read.shown);
    for (const { column, fault } of read.faults) sheet.withoutValue.push({ row, column, fault });
  }
}

type Cells = {
  /** Cells up to the last with a value. */
  readonly cells: readonly string[];
  readonly faults: readonly CellFaultAt[];
  readonly spans: readonly {
    readonly column: number;
    readonly columns: number;
    readonly height: number;
  }[];
  readonly shown: ShownCells | undefined;
  readonly isStruck: boolean;
  /** Columns from 1. */
  readonly comments: readonly number[];
  readonly pictures: readonly number[];
};

/** Parses how a style shows its text, as far as that changes the meaning. */
function parseLook(style: XmlElement): TextLook {
  const properties = style.children.find(({ name }) => name === 'text-properties');
  const line = properties && getAttribute(properties, 'text-line-through-style', STYLE);
  const [raised = '0'] =
    (properties && getAttribute(properties, 'text-position', STYLE))?.split(' ') ?? [];
  return {
    isStruck: line === undefined ? undefined : line !== 'none',
    position: parseTextPosition(raised),
  };
}

/** Parses `super`, `33%`, `sub` or `-33%`. */
function parseTextPosition(raised: string): TextLook['position'] {
  if (raised === 'sub' || raised.startsWith('-')) return 'subscript';
  return /^0/.test(raised) ? undefined : 'superscript';
}

function isPicture({ name, children }: XmlElement): boolean {
  return name === 'frame' && children.some((child) => child.name === 'image');
}

/**
 * Reads the cells of a row. Blank cells may be repeated to the end of the sheet; the others are
 * within the limits.
 */
function parseCells(
  place: TablePlace,
  document: XmlWalk,
  row: XmlElement,
  styles: TextStyles,
): Cells {
  const cells: string[] = [];
  const faults: CellFaultAt[] = [];
  const spans: { column: number; columns: number; height: number }[] = [];
  const comments: number[] = [];
  const pictures: number[] = [];
  let shown: Map<number, ShownCell> | undefined;
  let column = 0;
  const struck: number[] = [];
  for (const cell of listCells(row)) {
    const repeated = parseCount(place, cell, 'number-columns-repeated');
    const value = parseOdsValue(document, cell, styles);
    const { text, shown: shownHere, fault } = value;
    if (cell.children.some(({ name }) => name === 'annotation')) comments.push(column + 1);
    if (cell.children.some(isPicture)) pictures.push(column + 1);
    if (text !== '' || fault !== undefined) {
      assertTableSize(place.file, { columns: column + repeated });
      const columns = parseCount(place, cell, 'number-columns-spanned');
      const height = parseCount(place, cell, 'number-rows-spanned');
      if (columns > 1 || height > 1) spans.push({ column: column + 1, columns, height });
      while (cells.length < column) cells.push('');
      for (let times = 0; times < repeated; times++) {
        if (shownHere !== undefined) shown = (shown ?? new Map()).set(cells.length, shownHere);
        cells.push(text);
        if (value.isStruck === true && text !== '') struck.push(cells.length);
        if (fault !== undefined) faults.push({ column: cells.length, fault });
      }
    }
    column += repeated;
  }
  for (const column of struck) shown?.delete(column - 1);
  return {
    isStruck: settleStruckCells(cells, struck, (column, fault) => faults.push({ column, fault })),
    cells,
    faults,
    spans,
    shown,
    comments,
    pictures,
  };
}

function parseCount(place: TablePlace, element: XmlElement, name: string): number {
  const text = getAttribute(element, name, TABLE) ?? '1';
  if (!/^[1-9]\d{0,8}$/.test(text)) throw makeDamagedSheetError(place);
  return Number(text);
}

function makeRange(
  firstRow: number,
  lastRow: number,
  firstColumn: number,
  lastColumn: number,
): CellRange {
  const name = `${formatCellName(firstColumn, firstRow)}:${formatCellName(lastColumn, lastRow)}`;
  return { name, firstRow, lastRow, firstColumn, lastColumn };
}
