import { spreadsheetNumber } from '../text/plain-number.ts';
import { attributeOf, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { mixedContentOf } from '../xml/mixed-content.ts';
import type { FaultyCell } from './sheet-table.ts';

const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
export const TABLE = 'urn:oasis:names:tc:opendocument:xmlns:table:1.0';
const TEXT = 'urn:oasis:names:tc:opendocument:xmlns:text:1.0';
/** LibreOffice's own kinds of values: errors are texts in the standard. */
const CALC_EXTENSION = 'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0';

type OdsValue = { readonly text: string; readonly fault?: FaultyCell['fault'] };

/** What a cell holds. A cell that is covered by a merged one is empty, whatever it held before. */
export function odsValueOf(document: XmlDocument, cell: XmlElement): OdsValue {
  if (cell.name === 'covered-table-cell') return { text: '' };
  const type = attributeOf(cell, 'value-type', OFFICE);
  const hasFormula = attributeOf(cell, 'formula', TABLE) !== undefined;
  if (type === undefined && hasFormula) return { text: '', fault: 'unsaved' };
  const stored = (name: string): string => attributeOf(cell, name, OFFICE)?.trim() ?? '';
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage':
      return { text: numberText(stored('value')) };
    case 'date':
      return { text: dayOf(stored('date-value')) };
    case 'boolean':
      return { text: stored('boolean-value') };
    default: {
      const text = attributeOf(cell, 'string-value', OFFICE) ?? shownText(document, cell);
      const isError =
        attributeOf(cell, 'value-type', CALC_EXTENSION) === 'error' || (hasFormula && /^(?:#\S+[!?]|#N\/A|Err:\d+)$/.test(text));
      return isError ? { text: '', fault: text === '' ? '#' : text } : { text: text.trim() };
    }
  }
}

/** A whole number keeps all its digits; some programs write more of the others than a number has. */
function numberText(value: string): string {
  if (/^-?\d+$/.test(value)) return value;
  const number = Number(value);
  return value === '' || Number.isNaN(number) ? value : spreadsheetNumber(number);
}

/** A day, or a day and a time. */
function dayOf(value: string): string {
  const [, day, hour = '00', minute = '00', second = '00'] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?Z?)?$/.exec(value) ?? [];
  if (day === undefined) return value;
  return [hour, minute, second].every((part) => part === '00') ? day : `${day} ${hour}:${minute}`;
}

/** More than this is an error of the cell anyway; blanks may be counted, and so be more than a document has room for. */
const MOST_CHARACTERS = 40_000;

/** Paragraphs one below the other; a comment on the cell is no part of it. */
function shownText(document: XmlDocument, cell: XmlElement): string {
  const pieces: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    if (length > MOST_CHARACTERS) return;
    pieces.push(text);
    length += text.length;
  };
  const walk = (element: XmlElement): void => {
    for (const part of mixedContentOf(document, element)) {
      if (typeof part === 'string') add(part);
      else if (part.namespace === TEXT) addInline(part);
    }
  };
  const addInline = (part: XmlElement): void => {
    switch (part.name) {
      case 's':
        add(' '.repeat(blanksOf(part)));
        break;
      case 'tab':
        add('\t');
        break;
      case 'line-break':
        add('\n');
        break;
      case 'note':
      case 'ruby-text':
        break;
      default:
        walk(part);
    }
  };
  const paragraphs = cell.children.filter(({ name, namespace }) => namespace === TEXT && (name === 'p' || name === 'h'));
  for (const [index, paragraph] of paragraphs.entries()) {
    if (index > 0) add('\n');
    walk(paragraph);
  }
  return pieces.join('');
}

function blanksOf(blanks: XmlElement): number {
  const count = attributeOf(blanks, 'c', TEXT) ?? '1';
  return /^\d+$/.test(count) ? Math.min(Number(count), MOST_CHARACTERS) : 1;
}
