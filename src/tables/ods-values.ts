import { formatSpreadsheetNumber } from '../text/characters.ts';
import { withoutFormulaMark } from '../text/csv.ts';
import { getAttribute, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { walkMixedContent } from '../xml/source-text.ts';
import { makeTextValue, type TextLook, type TextPiece } from './cell-text.ts';
import { parseStoredDay } from './number-format.ts';
import {
  type CellValue,
  isOverlong,
  makeErrorResult,
  makeOverlongValue,
  UNSAVED_RESULT,
} from './table.ts';

const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
export const TABLE = 'urn:oasis:names:tc:opendocument:xmlns:table:1.0';
const TEXT = 'urn:oasis:names:tc:opendocument:xmlns:text:1.0';
/** LibreOffice's own value types: in the standard, errors are texts. */
const CALC_EXTENSION = 'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0';

/** Looks of texts by the name of their style. */
export type TextStyles = ReadonlyMap<string, TextLook>;

/** Returns the value of a cell. A cell that a merged one covers is empty, whatever it stores. */
export function parseOdsValue(
  document: XmlDocument,
  cell: XmlElement,
  styles: TextStyles,
): CellValue {
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
  const value = makeTextValue(listTextPieces(document, cell, styles), isStruck);
  // Programs store the result of a formula that is an error as an empty text, and show it.
  const stored = value.fault === undefined && getAttribute(cell, 'string-value', OFFICE)?.trim();
  const text = stored || value.text;
  const isError = getAttribute(cell, 'value-type', CALC_EXTENSION) === 'error';
  return isError
    ? { text: '', fault: makeErrorResult(text === '' ? '#' : text) }
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

export const NO_STYLES: TextStyles = new Map();

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
