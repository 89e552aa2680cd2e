import { formatPlainNumber } from '../../base/characters.ts';
import type { FileError } from '../../base/errors.ts';
import { makeUnreadable, type Reading } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { assertTableSize, isOverlong, makeDamagedFileError, makeOverlongFault } from '../table.ts';

/**
 * Table of a shapefile: dBASE III and its successors, as far as columns hold texts, numbers, days
 * and truth values.
 */
type Dbf = {
  readonly fields: readonly DbfField[];
  /** Bytes of each row. */
  readonly rows: readonly Buffer[];
  /** Encoding by the language driver byte, used where there is no `.cpg`. */
  readonly encoding: string | undefined;
};

/** A number has the decimals of its column in `shown`, where the value differs. */
type DbfValue = { readonly text: string; readonly shown?: string };

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

/** @throws FileError where the bytes end early, the header is impossible, or it is too large */
export function parseDbf(file: string, bytes: Buffer): Dbf {
  if (bytes.length <= FIELD_BYTES) throw makeCutShortError(file);
  const count = bytes.readUInt32LE(4);
  const headerBytes = bytes.readUInt16LE(8);
  const rowBytes = bytes.readUInt16LE(10);
  const fields = parseFields(bytes.subarray(0, headerBytes));
  const { start = 1, width = 0 } = fields.at(-1) ?? {};
  if (headerBytes + count * rowBytes > bytes.length || (count > 0 && rowBytes < start + width))
    throw makeCutShortError(file);
  assertTableSize(file, { rows: count, columns: fields.length });
  const rows = Array.from({ length: count }, (_, index) => {
    const from = headerBytes + index * rowBytes;
    return bytes.subarray(from, from + rowBytes);
  });
  return { fields, rows, encoding: LANGUAGE_DRIVERS[bytes[29] ?? 0] };
}

function parseFields(header: Buffer): DbfField[] {
  const fields: DbfField[] = [];
  let start = 1;
  for (let at = FIELD_BYTES; at + FIELD_BYTES <= header.length; at += FIELD_BYTES) {
    if (header[at] === END_OF_FIELDS) break;
    const name = header.subarray(at, at + 11);
    const end = name.indexOf(0);
    const width = header[at + 16] ?? 0;
    const type = String.fromCharCode(header[at + 11] ?? 0);
    fields.push({ name: end === -1 ? name : name.subarray(0, end), type, width, start });
    start += width;
  }
  return fields;
}

const LINE_BREAK = Buffer.from('\n');

/** Collects names and texts, from which the encoding is detected. */
export function collectTexts({ fields, rows }: Dbf): Buffer {
  const textFields = fields.filter(({ type }) => type === 'C');
  const texts = rows
    .slice(0, SAMPLE_ROWS)
    .flatMap((row) => textFields.map((field) => getCell(row, field)));
  const names = fields.map(({ name }) => name);
  return Buffer.concat([...names, ...texts].flatMap((text) => [text, LINE_BREAK]));
}

export function isDeleted(row: Buffer): boolean {
  return row[0] === DELETED;
}

/** Tells if a text fills the widest possible column, and so may have been cut off. */
export function hasFullText(row: Buffer, field: DbfField): boolean {
  const last = getCell(row, field).at(-1);
  return field.type === 'C' && field.width >= WIDEST_BYTES && last !== 0x20 && last !== 0;
}

function getCell(row: Buffer, { start, width }: DbfField): Buffer {
  return row.subarray(start, start + width);
}

/**
 * Tells if values of this type are read; others are pictures, memos in a file of their own, or
 * types without an agreed form.
 */
export function isReadType({ type }: DbfField): boolean {
  return READ_TYPES.includes(type);
}

/** Returns the value of a column in a row. */
export function parseDbfValue(
  row: Buffer,
  field: DbfField,
  decode: (bytes: Buffer) => string,
): Reading<DbfValue> {
  const cell = getCell(row, field);
  if (field.type === 'C') return { value: { text: decodeText(cell, decode) } };
  const text = cell
    .toString('latin1')
    .replace(/(?<![\0 ])[\0 ]+$/, '')
    .trimStart();
  switch (field.type) {
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

function makeCutShortError(file: string): FileError {
  return makeDamagedFileError(file, msg`The table of ${file} (.dbf) is damaged or cut short.`);
}
