import { spreadsheetNumber } from '../text/plain-number.ts';
import { attributeOf, type XmlElement } from '../xml/element.ts';

/** What the cells of a workbook refer to. */
export type BookValues = {
  readonly sharedTexts: readonly string[];
  /** By number, whether a style shows a number as a date. */
  readonly dateStyles: readonly boolean[];
  /** Days are counted from 1904 and not from 1900. */
  readonly from1904: boolean;
};

type CellValue = {
  readonly text: string;
  /** The error that a formula gave, such as `#DIV/0!`, or that its result was not saved. */
  readonly fault?: 'unsaved' | string;
};

/** @returns undefined where the cell is in no form of a spreadsheet */
export function cellValueOf(cell: XmlElement, { sharedTexts, dateStyles, from1904 }: BookValues): CellValue | undefined {
  const raw = named(cell, 'v')?.text ?? '';
  if (raw === '' && named(cell, 'f') !== undefined && named(cell, 'v') === undefined) return { text: '', fault: 'unsaved' };
  switch (attributeOf(cell, 't') ?? 'n') {
    case 's': {
      const shared = raw === '' ? '' : sharedTexts[Number(raw)];
      return shared === undefined ? undefined : { text: shared };
    }
    case 'inlineStr':
      return { text: richTextOf(named(cell, 'is')) };
    case 'str':
      return { text: unescaped(raw).trim() };
    case 'b':
      return raw === '' ? { text: '' } : { text: String(raw === '1') };
    case 'e':
      return { text: '', fault: raw === '' ? '#' : raw };
    case 'd':
      return { text: dayOf(new Date(raw)) ?? raw };
    case 'n': {
      if (raw === '') return { text: '' };
      const number = Number(raw);
      if (Number.isNaN(number)) return undefined;
      const isDate = dateStyles[Number(attributeOf(cell, 's') ?? -1)] === true;
      const days = number + (from1904 ? DAYS_BEFORE_1904 : 0) - DAYS_BEFORE_1970;
      const day = isDate ? dayOf(new Date(Math.floor(days * DAY_MS))) : undefined;
      return { text: day ?? spreadsheetNumber(number) };
    }
    default:
      return undefined;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Counted as spreadsheets do, which take 1900 for a leap year. */
const DAYS_BEFORE_1904 = 1462;
const DAYS_BEFORE_1970 = 25_569;

/** A day, or a day and a time, whatever the clock of this computer; undefined where the calendar has none. */
function dayOf(moment: Date): string | undefined {
  if (Number.isNaN(moment.getTime())) return undefined;
  const [day = '', time = ''] = moment.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 5)}`;
}

/** The text of `<si>` or `<is>`: one piece, or a row of pieces that look different. How it is spoken is no part of it. */
export function richTextOf(element: XmlElement | undefined): string {
  const pieces = (element?.children ?? []).flatMap((child) => (child.name === 'r' ? child.children : [child]));
  const texts = pieces.filter(({ name }) => name === 't').map(({ text }) => text);
  return unescaped(texts.join('')).trim();
}

function unescaped(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Formats of dates that are known by number alone, the last included; those of Asia among them. */
const DATE_FORMATS = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
  [71, 81],
] as const;
const FIRST_OWN_FORMAT = 100;

/** @param root of the part that lists the styles */
export function dateStylesOf(root: XmlElement): readonly boolean[] {
  const formats = new Map(
    (named(root, 'numFmts')?.children ?? []).map((format) => [
      Number(attributeOf(format, 'numFmtId')),
      attributeOf(format, 'formatCode') ?? '',
    ]),
  );
  const formatOf = (style: XmlElement | undefined): number | undefined => {
    const id = style === undefined ? undefined : attributeOf(style, 'numFmtId');
    return id === undefined ? undefined : Number(id);
  };
  // The first is what a cell without a style has anyway.
  const namedStyles = [undefined, ...(named(root, 'cellStyleXfs')?.children.slice(1) ?? [])];
  return (named(root, 'cellXfs')?.children ?? []).map((style) => {
    const format = formatOf(style) ?? formatOf(namedStyles[Number(attributeOf(style, 'xfId') ?? 0)]) ?? 0;
    if (DATE_FORMATS.some(([first, last]) => format >= first && format <= last)) return true;
    return format >= FIRST_OWN_FORMAT && isDatePattern(formats.get(format) ?? '');
  });
}

const DATE_LETTERS = /^(?:s{1,2}|m{1,5}|h{1,2}|d{1,4}|a{3,5}|y{1,2}|yyyy|e{1,3}|am|pm|a|p)$/;

/** Whether one of the forms that a pattern has for positive and other numbers is made of letters of a date alone. */
function isDatePattern(pattern: string): boolean {
  const forms = pattern.toLowerCase().replace(/;@$/, '').replace(/\\./g, ' ').split(';');
  return forms.some((form) => {
    const letters = form
      .replace(/"[^"]*"/g, ' ')
      .replace(/(\[?[smhd]{1,2}\]?)[.,]00?0?/g, '$1')
      .replace(/\[([smhd]{1,2})\]/g, '$1')
      .replace(/\[[^\]]*\]/g, '')
      .split(/[^a-z0#?%]+/)
      .filter((word) => word !== '');
    return letters.length > 0 && letters.every((word) => DATE_LETTERS.test(word));
  });
}

function named({ children }: XmlElement, name: string): XmlElement | undefined {
  return children.find((child) => child.name === name);
}
