import { formatSpreadsheetNumber } from '../../base/characters.ts';
import { withoutFormulaMark } from '../../base/csv.ts';
import { getAttribute, type XmlDocument, type XmlElement } from '../../base/xml/element.ts';
import { walkXml, type XmlWalk } from '../../base/xml/parse.ts';
import { walkMixedContent } from '../../base/xml/source-text.ts';
import type { TablePlace } from '../../finds/find.ts';
import type { HeaderRows } from '../header-row.ts';
import {
  assertTableSize,
  type CellValue,
  isOverlong,
  makeFormulaFault,
  makeOtherFormatError,
  makeOverlongValue,
  makePasswordError,
  type Table,
  UNSAVED_RESULT,
} from '../table.ts';
import { joinTextPieces, parseStoredDay, type TextLook, type TextPiece } from './number-format.ts';
import {
  formatCellName,
  makeDamagedSheetError,
  makeTableOfSheet,
  type PlacedCell,
  readWorkbookPart,
  type Sheet,
  SheetContents,
} from './sheet-table.ts';
import type { ZipEntry } from './zip-entries.ts';

const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
export const TABLE = 'urn:oasis:names:tc:opendocument:xmlns:table:1.0';
const TEXT = 'urn:oasis:names:tc:opendocument:xmlns:text:1.0';
/** LibreOffice's own value types: in the standard, errors are texts. */
const CALC_EXTENSION = 'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0';

/** Looks of texts by the name of their style. */
type TextStyles = ReadonlyMap<string, TextLook>;

/**
 * Returns the value of a cell of an OpenDocument sheet: its stored value, else its text without
 * what is struck through. A cell that a merged one covers is empty, whatever it stores.
 */
function parseOdsValue(document: XmlDocument, cell: XmlElement, styles: TextStyles): CellValue {
  if (cell.name === 'covered-table-cell') return { text: '' };
  const isStruck = styles.get(getAttribute(cell, 'style-name', TABLE) ?? '')?.isStruck === true;
  const value = parseStoredValue(document, cell);
  return value === undefined
    ? parseTextValue(document, cell, styles, isStruck)
    : { ...value, isStruck };
}

/** Returns the value of a cell that stores no text; undefined for a text. */
function parseStoredValue(document: XmlDocument, cell: XmlElement): CellValue | undefined {
  const type = getAttribute(cell, 'value-type', OFFICE);
  const hasFormula = getAttribute(cell, 'formula', TABLE) !== undefined;
  if (type === undefined && hasFormula) return { text: '', fault: UNSAVED_RESULT };
  const getStored = (name: string): string => getAttribute(cell, name, OFFICE)?.trim() ?? '';
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage':
      return parseNumberValue(getStored('value'), getShownText(document, cell));
    case 'date':
      return parseDateValue(getStored('date-value'), getShownText(document, cell));
    case 'boolean':
      return {
        text: getStored('boolean-value'),
        shown: {
          text: getShownText(document, cell) ?? getStored('boolean-value').toUpperCase(),
        },
      };
    default:
      return undefined;
  }
}

function parseTextValue(
  document: XmlDocument,
  cell: XmlElement,
  styles: TextStyles,
  isStruck: boolean,
): CellValue {
  const value = joinTextPieces(listTextPieces(document, cell, styles), isStruck);
  // Programs store the result of a formula that is an error as an empty text, and show it.
  const stored = value.fault === undefined && getAttribute(cell, 'string-value', OFFICE)?.trim();
  const text = stored || value.text;
  const isError = getAttribute(cell, 'value-type', CALC_EXTENSION) === 'error';
  return isError
    ? { text: '', fault: makeFormulaFault(text === '' ? '#' : text) }
    : { ...value, text: withoutFormulaMark(text) };
}

/** Returns the displayed text; undefined where the file lacks it, or its column was too narrow. */
function getShownText(document: XmlDocument, cell: XmlElement): string | undefined {
  const pieces = listTextPieces(document, cell, NO_STYLES);
  const text = pieces
    .map((piece) => piece.text)
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' || /^#+$/.test(text) ? undefined : text;
}

function parseNumberValue(stored: string, shown: string | undefined): CellValue {
  if (isOverlong(Number(stored))) return makeOverlongValue(stored);
  const text = normalizeNumberText(stored);
  const plain = shown === undefined ? text : withoutGroups(shown, text);
  return plain === text ? { text } : { text, shown: { text: plain } };
}

/** Groups of three digits with the same mark between them, and decimals behind another one. */
const GROUPED = /^\d{1,3}([.,'])\d{3}(?:\1\d{3})*(?:[.,]\d*)?$/;

/**
 * Removes the group separators of the computer's locale: a blank, or the one of point and comma
 * that is not decimal.
 */
function withoutGroups(shown: string, stored: string): string {
  const blanks = shown.replace(/(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))/g, '');
  const [, before = '', digits = '', after = ''] = /^(\D*)(\d[\d.,']*)(.*)$/s.exec(blanks) ?? [];
  const [, mark] = GROUPED.exec(digits) ?? [];
  if (mark === undefined) return blanks;
  const plain = digits.replaceAll(mark, '');
  const value = Math.abs(Number(stored)) * (after.includes('%') ? 100 : 1);
  const measureDistance = (text: string): number =>
    Math.abs(Number(text.replace(',', '.')) - value);
  return measureDistance(digits) <= measureDistance(plain) ? blanks : `${before}${plain}${after}`;
}

/**
 * Returns the stored day if the cell shows a whole day; else the displayed text, marked as a date.
 */
function parseDateValue(stored: string, shown: string | undefined): CellValue {
  const text = parseStoredDay(stored);
  if (shown === undefined) return { text, shown: { text, isDate: true } };
  const day = /\d:\d/.test(shown) ? text : text.slice(0, 'YYYY-MM-DD'.length);
  return {
    text: isWholeDayShown(stored, shown) ? day : shown,
    shown: { text: shown, isDate: true },
  };
}

/** Tells if a text has year, month and day of this date; a month may be a word. */
function isWholeDayShown(stored: string, shown: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d+)-(\d\d)-(\d\d)/.exec(stored) ?? [];
  const shortYear = year.slice(-2);
  const date = shown.replace(/\d{1,2}:\d.*$/s, '').trim();
  const numbers: readonly string[] = date.match(/\d+/g) ?? [];
  const partCount = numbers.length + (/\p{L}/u.test(date) ? 1 : 0);
  return (
    (partCount > 2 && (numbers.includes(year) || numbers.includes(shortYear))) ||
    [year + month + day, day + month + year, day + month + shortYear].includes(date)
  );
}

/** Normalises a number: whole ones keep all digits, decimals are cut to those of a number. */
function normalizeNumberText(value: string): string {
  if (/^-?\d+$/.test(value)) return value;
  const number = Number(value);
  return value === '' || Number.isNaN(number) ? value : formatSpreadsheetNumber(number);
}

/** Limit of a text: repeated blanks are counted, and may expand without limit. */
const MAX_CHARACTERS = 40_000;

const NO_STYLES: TextStyles = new Map();

/** Lists the texts of a cell, without its comment. */
function listTextPieces(document: XmlDocument, cell: XmlElement, styles: TextStyles): TextPiece[] {
  const pieces: TextPiece[] = [];
  let length = 0;
  const add = (text: string, look?: TextLook): void => {
    if (length > MAX_CHARACTERS) return;
    pieces.push({ text, ...look });
    length += text.length;
  };
  const walk = (element: XmlElement, look?: TextLook): void => {
    for (const part of walkMixedContent(document, element)) {
      if (typeof part === 'string') add(part, look);
      else if (part.namespace === TEXT) addInline(part, look);
    }
  };
  const addInline = (part: XmlElement, look?: TextLook): void => {
    switch (part.name) {
      case 's':
        add(' '.repeat(expandBlanks(part)), look);
        break;
      case 'tab':
        add('\t', look);
        break;
      case 'line-break':
        add('\n', look);
        break;
      case 'note':
      case 'ruby-text':
        break;
      default: {
        const own = styles.get(getAttribute(part, 'style-name', TEXT) ?? '');
        walk(part, {
          isStruck: own?.isStruck ?? look?.isStruck,
          position: own?.position ?? look?.position,
        });
      }
    }
  };
  const paragraphs = cell.children.filter(
    ({ name, namespace }) => namespace === TEXT && (name === 'p' || name === 'h'),
  );
  for (const [index, paragraph] of paragraphs.entries()) {
    if (index > 0) add('\n');
    walk(paragraph);
  }
  return pieces;
}

function expandBlanks(blanks: XmlElement): number {
  const count = getAttribute(blanks, 'c', TEXT) ?? '1';
  return /^\d+$/.test(count) ? Math.min(Number(count), MAX_CHARACTERS) : 1;
}

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
  if (content === undefined || !type.startsWith(SPREADSHEET))
    throw makeOtherFormatError(file, { called: 'OpenDocument', isMap: false });
  return parseContent(file, content, 'document-content', named, headerRows);
}

/** Reads a sheet of a spreadsheet that is one XML file (`.fods`), as {@link parseOds}. */
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
  return readWorkbookPart(file, part, (bytes) => {
    const document = walkXml(bytes, MAX_NODES);
    if (document.root.name !== root)
      throw makeOtherFormatError(file, { called: 'OpenDocument', isMap: false });
    return makeTableOfSheet(file, listSheets(file, document), named, headerRows);
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
): PlacedCell[] {
  const { place } = sheet;
  const values: PlacedCell[] = [];
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
