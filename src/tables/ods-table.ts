import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import type { TablePlace } from '../find/find.ts';
import { getAttribute, type XmlElement } from '../xml/element.ts';
import { walkXml, type XmlWalk } from '../xml/parse.ts';
import type { TextLook } from './cell-text.ts';
import type { HeaderRows } from './header-row.ts';
import { NO_STYLES, parseOdsValue, TABLE, type TextStyles } from './ods-values.ts';
import {
  type CellAt,
  formatCellName,
  makeDamagedSheetError,
  SheetContents,
} from './sheet-contents.ts';
import { makeTableOfSheets, parsePart, type Sheet } from './sheet-table.ts';
import { assertTableSize, makePasswordError, type Table } from './table.ts';
import type { ZipEntry } from './zip-entries.ts';

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
  const type = entries.get('mimetype')?.bytes.toString().trim() ?? SPREADSHEET;
  if (entries.get('META-INF/manifest.xml')?.bytes.includes('encryption-data'))
    throw makePasswordError(file);
  const content = entries.get('content.xml');
  if (content === undefined || !type.startsWith(SPREADSHEET)) throw makeNoSpreadsheetError(file);
  return parseContent(file, content, 'document-content', named, headerRows);
}

/** Reads a spreadsheet that is one XML file (`.fods`). */
export async function parseFlatOds(
  file: string,
  bytes: Buffer,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Promise<Table> {
  return parseContent(file, { name: file, bytes }, 'document', named, headerRows);
}

function parseContent(
  file: string,
  part: ZipEntry,
  root: string,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  return parsePart(file, part, (bytes) => {
    const document = walkXml(bytes, MAX_NODES);
    if (document.root.name !== root) throw makeNoSpreadsheetError(file);
    return makeTableOfSheets(file, listSheets(file, document), named, headerRows);
  });
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

/** @param start offset of the sheet's element */
function parseSheet(place: TablePlace, document: XmlWalk, start: number): SheetContents {
  const sheet = new SheetContents(place);
  const styles = new Map<string, TextLook>();
  let column = 0;
  let row = 0;
  for (const { element, around } of document.readParts(PARTS)) {
    if (element.name === 'style')
      styles.set(getAttribute(element, 'name', STYLE) ?? '', parseLook(element));
    if (findSheetPart(element, around)?.sheet.start !== start) continue;
    if (element.name === 'shapes') {
      for (const shape of element.children)
        if (isPicture(shape)) sheet.pictures.push(formatCellName(1, 1));
    } else if (element.name === 'table-column') {
      const first = column + 1;
      column += parseCount(place, element, 'number-columns-repeated');
      if (isHidden(element)) sheet.addHiddenColumns(first, column);
    } else {
      const values = parseCells(sheet, document, element, row + 1, styles);
      const next = row + parseCount(place, element, 'number-rows-repeated');
      // A blank row may be repeated to the end of the sheet.
      for (let at = row + 1; at <= next && values.length > 0; at++)
        sheet.addRow(at, values, isHidden(element));
      row = next;
    }
  }
  return sheet;
}

function isHidden(element: XmlElement): boolean {
  return ['collapse', 'filter'].includes(getAttribute(element, 'visibility', TABLE) ?? '');
}

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
 * Returns the cells of a row with a value or a fault, and adds what else they have to the sheet.
 * Blank cells may be repeated to the end of the sheet; the others are within the limits.
 */
function parseCells(
  sheet: SheetContents,
  document: XmlWalk,
  element: XmlElement,
  row: number,
  styles: TextStyles,
): CellAt[] {
  const { place } = sheet;
  const values: CellAt[] = [];
  let column = 1;
  for (const cell of listCells(element)) {
    const repeated = parseCount(place, cell, 'number-columns-repeated');
    const value = parseOdsValue(document, cell, styles);
    if (cell.children.some(({ name }) => name === 'annotation'))
      sheet.comments.push(formatCellName(column, row));
    if (cell.children.some(isPicture)) sheet.pictures.push(formatCellName(column, row));
    if (value.text !== '' || value.fault !== undefined) {
      assertTableSize(place.file, { columns: column + repeated - 1 });
      const lastColumn = column + parseCount(place, cell, 'number-columns-spanned') - 1;
      const lastRow = row + parseCount(place, cell, 'number-rows-spanned') - 1;
      if (lastColumn > column || lastRow > row)
        sheet.addMerged({ firstRow: row, lastRow, firstColumn: column, lastColumn });
      for (let times = 0; times < repeated; times++)
        values.push({ ...value, column: column + times });
    }
    column += repeated;
  }
  return values;
}

function parseCount(place: TablePlace, element: XmlElement, name: string): number {
  const text = getAttribute(element, name, TABLE) ?? '1';
  if (!/^[1-9]\d{0,8}$/.test(text)) throw makeDamagedSheetError(place);
  return Number(text);
}
