import {
  addLocale,
  dateFromSerial,
  format,
  getFormatDateInfo,
  getFormatInfo,
  getLocale,
  isValidFormat,
} from 'numfmt';
import type { Doubt } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import type { CellValue } from '../table.ts';

/** Display of a number by a number format of a workbook. */
export type CellFormat = {
  /** The format shows years, months or days. */
  readonly isDate: boolean;
  /** The format shows hours, minutes or seconds. */
  readonly isTime: boolean;
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
  isTime: false,
  isWholeDay: false,
  show: () => undefined,
};

/** Language of months and days where the format names none. */
const LANGUAGE = 'cs';
addLocale({ ...getLocale(LANGUAGE), group: '', decimal: '.' }, LANGUAGE);

/** Limit of spreadsheet programs. */
const MAX_CHARACTERS = 255;

/** Built-in number formats, which files do not contain. 14 is the computer's short date. */
export const KNOWN_FORMATS: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'd.m.yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm" "AM/PM',
  19: 'h:mm:ss" "AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'd.m.yyyy h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
};

/** Parses a number format of XLSX, which is stored as in English, whatever the computer shows. */
export function parseNumberFormat(code: string): CellFormat {
  if (/^(?:general|@)?$/i.test(code) || code.length > MAX_CHARACTERS || !isValidFormat(code))
    return PLAIN;
  const { type } = getFormatInfo(code);
  const isDate = type === 'date' || type === 'datetime';
  const isTime = type === 'time' || type === 'datetime';
  const { year, month, day } = getFormatDateInfo(code);
  // The language of a number decides its separators only.
  const shownCode = isDate ? code : code.replace(/\[\$([^[\]-]*)-[^[\]]*\]/g, '[$$$1]');
  return {
    isDate,
    isTime,
    isWholeDay: isDate && year && month && day,
    show: (value) => format(shownCode, value, { locale: LANGUAGE }).replace(/\s+/g, ' ').trim(),
  };
}

/**
 * Formats the serial number of a day as YYYY-MM-DD, with `hh:mm` unless it is midnight. Undefined
 * before the first day of 1900 and behind the year 9999, as spreadsheets show none.
 * @param days since the spreadsheet's day zero; the fraction is the time
 */
export function formatSerialDay(days: number, isTimeShown: boolean): string | undefined {
  // A spreadsheet rounds to what it shows: less than a millisecond before midnight is the next day.
  const rounded = Math.round(days * DAY_MS) / DAY_MS;
  if (rounded < 1) return undefined;
  const shown = isTimeShown ? rounded : Math.floor(rounded);
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0] = dateFromSerial(shown);
  if (year > 9999) return undefined;
  const pad = (part: number, digits = 2): string => String(part).padStart(digits, '0');
  const date = [pad(year, 4), pad(month), pad(day)].join('-');
  const time = `${pad(hours)}:${pad(minutes)}`;
  return isTimeShown && time !== '00:00' ? `${date} ${time}` : date;
}

const DAY_MS = 86_400_000;

/**
 * Returns an ISO 8601 day or moment as `YYYY-MM-DD`, with `hh:mm` unless it is midnight; the
 * offset is dropped. Any other text stays as it is.
 */
export function parseStoredDay(value: string): string {
  const [, day, hour = '00', minute = '00', second = '00'] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.exec(
      value,
    ) ?? [];
  if (day === undefined) return value;
  return [hour, minute, second].every((part) => part === '00') ? day : `${day} ${hour}:${minute}`;
}

/** Looks of a text that change its meaning; an undefined `isStruck` is that of the whole cell. */
export type TextLook = {
  readonly isStruck?: boolean;
  readonly position?: 'superscript' | 'subscript';
};

/** A part of a cell's text with one look. */
export type TextPiece = TextLook & { readonly text: string };

const NOT_RAISED = '0123456789+-=()';
const RAISED = {
  superscript: [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾'],
  subscript: [...'₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};

/**
 * Joins the pieces of a cell: without what is struck through, raised digits as characters of their
 * own. A warning says so. A text that is struck through as a whole stays, for the row to decide.
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
    .map(({ text, position }) => (position === undefined ? text : raise(text, position)))
    .join('')
    .trim();
}

function raise(text: string, position: 'superscript' | 'subscript'): string {
  return Array.from(text, (letter) => RAISED[position][NOT_RAISED.indexOf(letter)] ?? letter).join(
    '',
  );
}

/**
 * Makes the warning that a struck text does not count.
 * @param kept text of the cell without it
 */
export function makeStruckFault(struck: string, kept: string): Doubt {
  const problem = msg`"${struck}" is struck through and does not count. The cell is read as "${kept}".`;
  return { severity: 'warning', rule: 'cell-struck', problem };
}

function makeRaisedFault(text: string): Doubt {
  const problem = msg`The cell has a superscript or subscript and is read as "${text}". If that is a remark, remove it.`;
  return { severity: 'warning', rule: 'cell-raised', problem };
}
