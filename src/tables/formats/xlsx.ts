import { posix } from 'node:path';
import { crc32 } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { formatSpreadsheetNumber } from '../../base/characters.ts';
import { memoize } from '../../base/collections.ts';
import { removeFormulaMark } from '../../base/csv.ts';
import { FileError } from '../../base/errors.ts';
import { makeRuleProblem, type RuleProblem } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  walkDescendants,
  type XmlElement,
} from '../../base/xml/element.ts';
import { parseXml, walkXml, XmlSyntaxError } from '../../base/xml/parse.ts';
import type { TablePlace } from '../../finds/find.ts';
import type { HeaderRows } from '../header-row.ts';
import {
  assertInputSize,
  assertTableSize,
  getSheetOrLayer,
  isBeyondSafeIntegers,
  makeCutShortError,
  makeEncryptedFileError,
  makeFormulaFault,
  makeMissingSheetError,
  makeOverlongNumberFault,
  makeSyntaxError,
  makeTooLargeError,
  makeUnreadSheetsIssues,
  makeUnsupportedFormatError,
  type Table,
} from '../table.ts';
import {
  type CellFormat,
  type CellRange,
  type CellValue,
  formatSerialDay,
  joinTextPieces,
  KNOWN_FORMATS,
  makeDamagedSheetError,
  makeTableOfSheet,
  type PlacedCell,
  parseNumberFormat,
  SheetContents,
  type TextLook,
  type TextPiece,
} from './sheet-table.ts';

/** Limit for all parts of one archive; a single part may have no more than a table. */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
const MAX_ENTRIES = 65_535;

/**
 * Unpacks all parts of a workbook, which is a ZIP archive, into memory; nothing is written to disk.
 * @param file its name for errors
 * @throws FileError where the archive is damaged or encrypted, or its parts are more or larger than
 * those of any workbook
 */
export async function unpackWorkbook(file: string, bytes: Buffer): Promise<WorkbookParts> {
  const parts = new Map<string, WorkbookPart>();
  let sumBytes = 0;
  try {
    const archive = await fromBufferPromise(bytes);
    if (archive.entryCount > MAX_ENTRIES) throw makeTooLargeError(file);
    for await (const entry of archive.eachEntry()) {
      const { fileName: name, uncompressedSize: sizeBytes } = entry;
      if (name.endsWith('/')) continue;
      if (entry.isEncrypted()) throw makeEncryptedFileError(file);
      sumBytes += sizeBytes;
      assertInputSize(file, sizeBytes);
      assertInputSize(file, sumBytes, MAX_UNPACKED_BYTES);
      const stream = await archive.openReadStreamPromise(entry);
      const part = Buffer.concat(await stream.toArray());
      if (crc32(part) !== entry.crc32) throw makeCutShortError(file);
      parts.set(name.toLowerCase(), { name, bytes: part });
    }
  } catch (thrown) {
    throw thrown instanceof FileError ? thrown : makeCutShortError(file, thrown);
  }
  return parts;
}

/** An unpacked part of a workbook; `name` is its path in the archive. */
type WorkbookPart = { readonly name: string; readonly bytes: Buffer };

/** Parts by name in lower case: some programs write references in another case. */
export type WorkbookParts = ReadonlyMap<string, WorkbookPart>;

/** Limit for the nodes of a row. */
const MAX_NODES = 100_000;
const PARTS = ['row', 'mergeCell'];

/**
 * Adds the rows and merged ranges of a sheet's XML to `sheet`.
 * @throws FileError where the sheet is too large or malformed
 */
function readSheetPart(part: WorkbookPart, values: BookValues, sheet: SheetContents): void {
  const { place } = sheet;
  let row = 0;
  for (const element of readElements(place.file, part, PARTS)) {
    if (element.name === 'mergeCell') {
      const range = parseRange(element);
      if (range !== undefined) sheet.addMerged(range);
    } else {
      row = Number(getAttribute(element, 'r') ?? row + 1);
      sheet.addRow(row, parseCells(place, element, values), isTrue(element, 'hidden'));
    }
  }
}

function isTrue(element: XmlElement, attribute: string, absent = '0'): boolean {
  return /^(?:1|true)$/.test(getAttribute(element, attribute) ?? absent);
}

/** Reads the cells of a row; addresses are optional, and cells without a value may be missing. */
function parseCells(place: TablePlace, row: XmlElement, values: BookValues): PlacedCell[] {
  const cells: PlacedCell[] = [];
  let column = 0;
  for (const cell of row.children) {
    if (cell.name !== 'c') continue;
    const address = getAttribute(cell, 'r');
    column =
      address === undefined
        ? column + 1
        : parseColumnLetters(/^([A-Z]{1,3})\d+$/.exec(address)?.[1] ?? '');
    const value = parseCellValue(cell, values);
    if (value === undefined) throw makeDamagedSheetError(place);
    cells.push({ ...value, column });
  }
  return cells;
}

function parseRange(mergeCell: XmlElement): CellRange | undefined {
  const [name, from = '', top, to = '', bottom] =
    /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(getAttribute(mergeCell, 'ref') ?? '') ?? [];
  if (name === undefined) return undefined;
  return {
    name,
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: parseColumnLetters(from),
    lastColumn: parseColumnLetters(to),
  };
}

/** Converts letters of a column: `A` is 1, `AA` is 27. */
function parseColumnLetters(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + (letter.codePointAt(0) ?? 0) - 64;
  return number;
}

/** Shared data to which the cells of a workbook refer. */
type BookValues = {
  readonly sharedTexts: readonly (readonly TextPiece[])[];
  readonly styles: readonly CellStyle[];
  /** The serial numbers count from 1904 instead of 1900. */
  readonly from1904: boolean;
};

type CellStyle = { readonly format: CellFormat; readonly isStruck: boolean };

/** @returns undefined where the cell is malformed */
function parseCellValue(cell: XmlElement, values: BookValues): CellValue | undefined {
  const type = getAttribute(cell, 't') ?? 'n';
  const raw = getChild(cell, 'v')?.text ?? '';
  const { format = GENERAL, isStruck = false } = values.styles[parseNumberOf(cell, 's')] ?? {};
  if (type === 'inlineStr') return parseTextValue(parseRichText(getChild(cell, 'is')), isStruck);
  if (type === 's' && raw !== '') {
    const pieces = values.sharedTexts[Number(raw)];
    return pieces && parseTextValue(pieces, isStruck);
  }
  const value = parsePlainValue(cell, type, raw, format, values.from1904);
  return isStruck && value !== undefined ? { ...value, isStruck } : value;
}

function parseTextValue(pieces: readonly TextPiece[], isStruck: boolean): CellValue {
  const value = joinTextPieces(pieces, isStruck);
  return { ...value, text: removeFormulaMark(value.text) };
}

/** @returns undefined where the cell is malformed */
function parsePlainValue(
  cell: XmlElement,
  type: string,
  raw: string,
  format: CellFormat,
  from1904: boolean,
): CellValue | undefined {
  if (raw === '' && isUnsaved(cell, type)) return { text: '', fault: UNSAVED_RESULT };
  if (type === 'e') return { text: '', fault: makeFormulaFault(raw === '' ? '#' : raw) };
  if (raw === '') return ['s', 'str', 'b', 'd', 'n'].includes(type) ? { text: '' } : undefined;
  switch (type) {
    case 'str':
      return { text: removeFormulaMark(unescapeText(raw).trim()) };
    case 'b':
      return makeTruthValue(raw === '1');
    case 'd':
      return { text: raw, shown: { text: raw, isDate: true } };
    case 'n':
      return parseNumberValue(raw, format, from1904);
    default:
      return undefined;
  }
}

/** Fault of a formula whose result is not in the file. */
const UNSAVED_RESULT: RuleProblem = makeRuleProblem(
  'table-formula',
  msg`The result of the formula was not saved with the file. Open it in a spreadsheet and save it, or write the value.`,
);

/** Tells if an empty cell is a formula without a saved result; that of a text may be empty. */
function isUnsaved(cell: XmlElement, type: string): boolean {
  return getChild(cell, 'f') !== undefined && (type !== 'str' || getChild(cell, 'v') === undefined);
}

/** Parses an attribute that is a number; 0 where it is absent. */
function parseNumberOf(element: XmlElement, attribute: string): number {
  return Number(getAttribute(element, attribute) ?? 0);
}

function makeTruthValue(isTrue: boolean): CellValue {
  const text = String(isTrue);
  return { text, shown: { text: text.toUpperCase() } };
}

function parseNumberValue(
  raw: string,
  format: CellFormat,
  from1904: boolean,
): CellValue | undefined {
  const number = Number(raw);
  if (Number.isNaN(number)) return undefined;
  if (isBeyondSafeIntegers(number)) return makeOverlongNumberValue(raw);
  const days = format.isDate && from1904 ? number + DAYS_BEFORE_1904 : number;
  const shown = format.show(days);
  const stored = formatSpreadsheetNumber(number);
  if (shown === undefined || !format.isDate) return makeShownValue(stored, shown);
  const day = format.isWholeDay ? (formatSerialDay(days) ?? stored) : shown;
  return { text: day, shown: { text: shown, isDate: true } };
}

/**
 * Makes the value of a cell whose number has too many digits: its digits, with a warning, where the
 * file has them all; else an empty text with an error, since an exponent replaces the last digits.
 * @param raw the number as the file has it
 */
function makeOverlongNumberValue(raw: string): CellValue {
  const fault = makeOverlongNumberFault(raw);
  return /^-?\d+$/.test(raw)
    ? { text: raw, fault: { ...fault, severity: 'warning' } }
    : { text: '', fault };
}

function makeShownValue(text: string, shown: string | undefined): CellValue {
  return shown === undefined || shown === text ? { text } : { text, shown: { text: shown } };
}

/** Serial numbers take 1900 for a leap year. */
const DAYS_BEFORE_1904 = 1462;

/**
 * Parses `<si>` or `<is>`: one piece, or a sequence of formatted pieces, without phonetic hints. A
 * piece without properties looks like its cell.
 */
function parseRichText(element: XmlElement | undefined): readonly TextPiece[] {
  return (element?.children ?? []).flatMap((child) => {
    if (child.name === 't') return [{ text: unescapeText(child.text) }];
    const text = child.name === 'r' ? getChild(child, 't') : undefined;
    if (text === undefined) return [];
    const properties = getChild(child, 'rPr');
    return [{ text: unescapeText(text.text), ...(properties && parseLook(properties)) }];
  });
}

function parseLook(properties: XmlElement): TextLook {
  const align = getChild(properties, 'vertAlign');
  const position = align && getAttribute(align, 'val');
  return {
    isStruck: isStruckFont(properties),
    position: position === 'superscript' || position === 'subscript' ? position : undefined,
  };
}

/** Tells if a font, or the properties of a text, strike it through. */
function isStruckFont(font: XmlElement): boolean {
  const strike = getChild(font, 'strike');
  return strike !== undefined && isTrue(strike, 'val', '1');
}

function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const GENERAL = parseNumberFormat('General');
/**
 * Returns the number format of each cell style, by its number in the cells, and if its font is
 * struck through.
 * @param root of the part that lists the styles
 */
function parseCellStyles(root: XmlElement): readonly CellStyle[] {
  const codes = { ...KNOWN_FORMATS };
  for (const format of getChild(root, 'numFmts')?.children ?? [])
    codes[Number(getAttribute(format, 'numFmtId'))] = getAttribute(format, 'formatCode') ?? '';
  const getFormat = memoize((id: number) => parseNumberFormat(codes[id] ?? 'General'));
  const struckFonts = (getChild(root, 'fonts')?.children ?? []).map(isStruckFont);
  return (getChild(root, 'cellXfs')?.children ?? []).map((style) => ({
    format: getFormat(parseNumberOf(style, 'numFmtId')),
    isStruck: struckFonts[parseNumberOf(style, 'fontId')] === true,
  }));
}

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_RELATIONS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';

/** A workbook as the archive of its parts. */
type Workbook = {
  readonly file: string;
  readonly root: XmlElement;
  /** Parts to which the workbook refers. */
  readonly relations: readonly Relation[];
};

type Relation = {
  readonly id: string | undefined;
  readonly type: string;
  readonly part: WorkbookPart | undefined;
};

type Sheet = { readonly name: string; readonly isHidden: boolean; readonly part: WorkbookPart };

/** @throws FileError where the archive has no workbook, or its lists are malformed */
function openWorkbook(file: string, parts: WorkbookParts): Workbook {
  const workbook = parts.get('xl/workbook.xml');
  if (workbook === undefined) throw makeUnsupportedFormatError(file);
  const relations = parseRelations(file, workbook, parts);
  return { file, relations, root: parseRoot(file, workbook) };
}

/** Lists the sheets in their order. */
function listSheets({ root, relations }: Workbook): readonly Sheet[] {
  return [...walkDescendants(root, 'sheet', root.namespace)].flatMap((sheet) => {
    const name = getAttribute(sheet, 'name');
    const id = getAttribute(sheet, 'id', RELATIONS) ?? getAttribute(sheet, 'id', STRICT_RELATIONS);
    const part = relations.find((relation) => relation.id === id)?.part;
    // A sheet may also be a chart, which is another kind of part.
    if (name === undefined || part === undefined || !/\/worksheets\//i.test(part.name)) return [];
    return [{ name, part, isHidden: (getAttribute(sheet, 'state') ?? 'visible') !== 'visible' }];
  });
}

/** Lists the visible sheets with content. */
function listFilledSheets(workbook: Workbook): readonly Sheet[] {
  return listSheets(workbook).filter(
    ({ isHidden, part }) =>
      !isHidden && ['<v>', '<is>', ':v>', ':is>'].some((tag) => part.bytes.includes(tag)),
  );
}

function readSheet(workbook: Workbook, { name, part }: Sheet): SheetContents {
  const contents = new SheetContents({ file: workbook.file, sheet: name });
  readSheetPart(part, readBookValues(workbook), contents);
  return contents;
}

function readBookValues({ file, root, relations }: Workbook): BookValues {
  const findPart = (kind: string) => relations.find(({ type }) => type.endsWith(`/${kind}`))?.part;
  const texts = findPart('sharedStrings');
  const styles = findPart('styles');
  const properties = getChild(root, 'workbookPr');
  return {
    sharedTexts: texts === undefined ? [] : parseSharedTexts(file, texts),
    styles: styles === undefined ? [] : parseCellStyles(parseRoot(file, styles)),
    from1904: properties !== undefined && isTrue(properties, 'date1904'),
  };
}

function parseSharedTexts(file: string, part: WorkbookPart): BookValues['sharedTexts'] {
  const texts: ReturnType<typeof parseRichText>[] = [];
  for (const element of readElements(file, part, ['si'])) {
    texts.push(parseRichText(element));
    assertTableSize(file, { texts: texts.length });
  }
  return texts;
}

function parseRelations(
  file: string,
  { name }: WorkbookPart,
  parts: WorkbookParts,
): readonly Relation[] {
  const folder = posix.dirname(name);
  const list = parts.get(`${folder}/_rels/${posix.basename(name)}.rels`.toLowerCase());
  const related = list === undefined ? [] : getChildren(parseRoot(file, list), 'Relationship');
  return related.map((relation) => {
    const target = getAttribute(relation, 'Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
    return {
      id: getAttribute(relation, 'Id'),
      type: getAttribute(relation, 'Type') ?? '',
      part: parts.get(path.toLowerCase()),
    };
  });
}

/**
 * Yields the elements of these names in a part of a workbook, one at a time.
 * @throws FileError where the part is no well-formed XML
 */
function* readElements(
  file: string,
  { name, bytes }: WorkbookPart,
  names: readonly string[],
): Generator<XmlElement> {
  try {
    for (const { element } of walkXml(bytes, MAX_NODES).readParts(new Set(names))) yield element;
  } catch (thrown) {
    throw toPartError(file, name, thrown);
  }
}

/** @throws FileError where the part is no well-formed XML */
function parseRoot(file: string, { name, bytes }: WorkbookPart): XmlElement {
  try {
    return parseXml(bytes, MAX_NODES).root;
  } catch (thrown) {
    throw toPartError(file, name, thrown);
  }
}

function toPartError(file: string, part: string, thrown: unknown): unknown {
  return thrown instanceof XmlSyntaxError
    ? makeSyntaxError(`${file}, ${part}`, 'XML', thrown.says, thrown)
    : thrown;
}

/**
 * Reads a sheet of a workbook (XLSX) as a table. A cell has its stored and its displayed value:
 * dates are days, formulas their saved results.
 * @param file its name for messages
 * @param parts from {@link unpackWorkbook}
 * @param named name of the sheet, or its number from 1; undefined for the first visible one with
 * content
 * @param headerRows rows of the header; undefined to detect them
 * @throws FileError where the parts are no workbook, there is no such sheet, a named row is empty,
 * or the sheet is malformed or too large
 */
export function parseXlsxTable(
  file: string,
  parts: WorkbookParts,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  const workbook = openWorkbook(file, parts);
  const sheets = listSheets(workbook);
  const [sheet, ...others] =
    named === undefined ? listFilledSheets(workbook) : [getSheetOrLayer(file, sheets, named)];
  if (sheet === undefined) throw makeMissingSheetError(file, sheets);
  const unread = makeUnreadSheetsIssues({ file, sheet: sheet.name }, others);
  return makeTableOfSheet(readSheet(workbook, sheet), headerRows, unread);
}

/**
 * Reads all visible sheets of a workbook with content as tables, in their order; empty where there
 * are none.
 * @param file its name for messages
 * @param parts from {@link unpackWorkbook}
 * @throws FileError where the parts are no workbook, or a sheet is malformed or too large
 */
export function parseXlsxTables(file: string, parts: WorkbookParts): Table[] {
  const workbook = openWorkbook(file, parts);
  return listFilledSheets(workbook).map((sheet) => makeTableOfSheet(readSheet(workbook, sheet)));
}
