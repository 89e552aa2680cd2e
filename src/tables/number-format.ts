import {
  addLocale,
  dateFromSerial,
  format,
  getFormatDateInfo,
  getFormatInfo,
  getLocale,
  isValidFormat,
} from 'numfmt';

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
 * Returns the day of a serial number, with the time unless it is midnight; undefined beyond the
 * calendar.
 */
export function formatSerialDay(days: number, isTimeShown: boolean): string | undefined {
  // A spreadsheet rounds to what it shows: less than a millisecond before midnight is the next day.
  const rounded = Math.round(days * DAY_MS) / DAY_MS;
  const shown = isTimeShown ? rounded : Math.floor(rounded);
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0] = dateFromSerial(shown);
  if (year < 1 || year > 9999) return undefined;
  const pad = (part: number, digits = 2): string => String(part).padStart(digits, '0');
  const date = [pad(year, 4), pad(month), pad(day)].join('-');
  const time = `${pad(hours)}:${pad(minutes)}`;
  return isTimeShown && time !== '00:00' ? `${date} ${time}` : date;
}

const DAY_MS = 86_400_000;

/** Returns a stored day or moment as a day, with its own time unless it is midnight. */
export function parseStoredDay(value: string): string {
  const [, day, hour = '00', minute = '00', second = '00'] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.exec(
      value,
    ) ?? [];
  if (day === undefined) return value;
  return [hour, minute, second].every((part) => part === '00') ? day : `${day} ${hour}:${minute}`;
}
