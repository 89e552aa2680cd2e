import type { FileError } from '../base/errors.ts';
import { isReadable, makeUnreadable, type Reading } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { formatPlainNumber } from '../text/characters.ts';
import { isOverlong, makeDamagedFileError, makeOverlongFault } from './table.ts';

/**
 * Table of a shapefile: dBASE III and its successors, as far as columns hold texts, numbers, days
 * and truth values.
 */
type Dbf = {
  readonly fields: readonly DbfField[];
  /** Number of rows, including deleted ones. */
  readonly count: number;
  /** Encoding by the language driver byte, used where there is no `.cpg`. */
  readonly encoding: string | undefined;
  /** Names and texts, from which the encoding is detected. */
  readonly texts: Buffer;
  /**
   * Indexes, from 0, of rows with a text that fills the widest possible column, and so may have
   * been cut off.
   */
  readonly full: readonly number[];
  /** Values of a row, in the order of the fields; undefined where it is deleted. */
  readRow(
    index: number,
    decode: (bytes: Buffer) => string,
  ): Reading<readonly DbfValue[]> | undefined;
};

/** A number has the decimals of its column in `shown`, where the value differs. */
export type DbfValue = { readonly text: string; readonly shown?: string };

export type DbfField = {
  readonly name: Buffer;
  readonly type: string;
  readonly width: number;
  readonly start: number;
};

/**
 * Language driver bytes that mean one encoding only; 0x57 is the setting of the Windows machine.
 */
const LANGUAGE_DRIVERS: Readonly<Record<number, string>> = {
  1: 'cp437',
  2: 'cp850',
  3: 'cp1252',
  100: 'cp852',
  151: 'maccenteuro',
  200: 'cp1250',
};

const FIELD_BYTES = 32;
/** Maximum width of a text column. */
const WIDEST_BYTES = 254;
/**
 * Columns with more decimals are as wide as a number can be, so the width does not show how it was
 * written.
 */
const MAX_DECIMALS = 9;
const END_OF_FIELDS = 0x0d;
const DELETED = 0x2a;
const READ_TYPES = 'CNFDL';
/** Texts that are sampled for the encoding. */
const SAMPLE_ROWS = 5000;

/** @throws FileError where the bytes end early, or the header is impossible */
export function parseDbf(file: string, bytes: Buffer): Dbf {
  if (bytes.length < FIELD_BYTES + 1) throw cutShort(file);
  const count = bytes.readUInt32LE(4);
  const headerBytes = bytes.readUInt16LE(8);
  const rowBytes = bytes.readUInt16LE(10);
  if (
    headerBytes > bytes.length ||
    count * rowBytes > bytes.length - headerBytes ||
    (rowBytes === 0 && count > 0)
  ) {
    throw cutShort(file);
  }
  const fields: DbfField[] = [];
  let start = 1;
  for (
    let at = FIELD_BYTES;
    at + FIELD_BYTES <= headerBytes && bytes[at] !== END_OF_FIELDS;
    at += FIELD_BYTES
  ) {
    const name = bytes.subarray(at, at + 11);
    const end = name.indexOf(0);
    const width = bytes[at + 16] ?? 0;
    const type = String.fromCharCode(bytes[at + 11] ?? 0);
    fields.push({ name: end === -1 ? name : name.subarray(0, end), type, width, start });
    start += width;
  }
  if (start > rowBytes && count > 0) throw cutShort(file);
  const getRowBytes = (index: number): Buffer =>
    bytes.subarray(headerBytes + index * rowBytes, headerBytes + (index + 1) * rowBytes);
  const getCell = (row: Buffer, field: DbfField): Buffer =>
    row.subarray(field.start, field.start + field.width);
  const textFields = fields.filter(({ type }) => type === 'C');
  const samples = Array.from({ length: Math.min(count, SAMPLE_ROWS) }, (_, index) =>
    getRowBytes(index),
  ).flatMap((row) => textFields.flatMap((field) => [getCell(row, field), LINE_BREAK]));
  const widest = textFields.filter(({ width }) => width >= WIDEST_BYTES);
  const isFull = (row: Buffer): boolean =>
    widest.some((field) => getCell(row, field).at(-1) !== 0x20 && getCell(row, field).at(-1) !== 0);
  return {
    fields,
    count,
    full:
      widest.length === 0
        ? []
        : Array.from({ length: count }, (_, index) => index).filter((index) =>
            isFull(getRowBytes(index)),
          ),
    encoding: LANGUAGE_DRIVERS[bytes[29] ?? 0],
    texts: Buffer.concat([...fields.flatMap(({ name }) => [name, LINE_BREAK]), ...samples]),
    readRow: (index, decode) => {
      const row = getRowBytes(index);
      if (row[0] === DELETED) return undefined;
      const values: DbfValue[] = [];
      for (const field of fields) {
        const reading = parseCellValue(getCell(row, field), field.type, decode);
        if (!isReadable(reading)) return reading;
        values.push(reading.value);
      }
      return { value: values };
    },
  };
}

const LINE_BREAK = Buffer.from('\n');

/**
 * Tells if values of this type are read; others are pictures, memos in a file of their own, or
 * types without an agreed form.
 */
export function isReadType({ type }: DbfField): boolean {
  return READ_TYPES.includes(type);
}

function parseCellValue(
  cell: Buffer,
  type: string,
  decode: (bytes: Buffer) => string,
): Reading<DbfValue> {
  if (type === 'C') return { value: { text: decodeText(cell, decode) } };
  const text = cell
    .toString('latin1')
    .replace(/(?<![\0 ])[\0 ]+$/, '')
    .trimStart();
  switch (type) {
    case 'N':
    case 'F':
      return parseDbfNumber(text);
    case 'D':
      return {
        value: {
          text: /^0*$/.test(text) ? '' : text.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'),
        },
      };
    case 'L':
      if (/^[TtYy]$/.test(text)) return { value: { text: 'true' } };
      return { value: { text: /^[FfNn]$/.test(text) ? 'false' : '' } };
    default:
      return { value: { text: '' } };
  }
}

/** A text that fills its column may end within a multi-byte letter. */
function decodeText(cell: Buffer, decode: (bytes: Buffer) => string): string {
  let end = cell.length;
  while (end > 0 && (cell[end - 1] === 0x20 || cell[end - 1] === 0)) end -= 1;
  if (end === 0) return '';
  const text = decode(cell.subarray(0, end));
  return end === cell.length ? text.replace(/(?<!\uFFFD)\uFFFD+$/, '') : text;
}

/** Parses a number without trailing zeros; asterisks mean no number. */
function parseDbfNumber(text: string): Reading<DbfValue> {
  if (/^\**$/.test(text)) return { value: { text: '' } };
  if (/^-?\d+$/.test(text)) return { value: { text } };
  if (/^-?\d*\.\d*$/.test(text) && /\d/.test(text)) {
    const shown = text.replace(/^(-?)\./, '$10.').replace(/\.$/, '');
    const plain = shown.includes('.') ? shown.replace(/(?:\.|(?<!0))0+$/, '') : shown;
    const isWritten = plain !== shown && shown.length - shown.indexOf('.') - 1 <= MAX_DECIMALS;
    return { value: isWritten ? { text: plain, shown } : { text: plain } };
  }
  const number = Number(text);
  if (/e/i.test(text) && isOverlong(number)) return makeOverlongFault(text);
  if (/e/i.test(text) && Number.isFinite(number))
    return { value: { text: formatPlainNumber(number) } };
  return makeUnreadable(
    'table-number',
    msg`"${text}" is not a number, where one is expected. It did not fit into its column, or is damaged.`,
  );
}

function cutShort(file: string): FileError {
  const what: Message = msg`The table of ${file} (.dbf) is damaged or cut short.`;
  return makeDamagedFileError(file, what);
}
