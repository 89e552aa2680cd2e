import { posix } from 'node:path';
import { formatPlainNumber } from '../../base/characters.ts';
import { FileError } from '../../base/errors.ts';
import {
  type Issue,
  isReadable,
  makeUnreadable,
  makeWarningIssue,
  type Reading,
} from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { COLUMN_NAMES } from '../../finds/fields.ts';
import {
  type GeomSystem,
  makeDamagedPointFault,
  makePointCountFault,
  makeShapeFault,
  makeUnsupportedCrsError,
  type PointText,
  parseNameOfPrj,
  parseSystemOfPrj,
} from '../../finds/place/geometry.ts';
import { chooseTextDecoder } from '../input-file.ts';
import {
  assertTableSize,
  getNamedPart,
  getTablePlace,
  isOverlong,
  makeCutShortError,
  makeNotReadIssue,
  makeOverlongFault,
  makeTableOfRecords,
  makeUnreadPartsIssues,
  type ReadRecord,
  type Table,
} from '../table.ts';
import { assertNotNested, type ZipEntry } from './zip-entries.ts';

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

type DbfField = {
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

/**
 * Parses a dBASE table into its columns and raw rows, deleted ones included. `encoding` is
 * undefined where the file names none.
 * @throws FileError where the bytes end early, the header is impossible, or it is too large
 */
function parseDbf(file: string, bytes: Buffer): Dbf {
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

/**
 * Returns the names of the columns and the texts of the first {@link SAMPLE_ROWS} rows as raw
 * bytes, from which the encoding is detected.
 */
function collectDbfTexts({ fields, rows }: Dbf): Buffer {
  const textFields = fields.filter(({ type }) => type === 'C');
  const texts = rows
    .slice(0, SAMPLE_ROWS)
    .flatMap((row) => textFields.map((field) => getCell(row, field)));
  const names = fields.map(({ name }) => name);
  return Buffer.concat([...names, ...texts].flatMap((text) => [text, LINE_BREAK]));
}

/** Tells if a row is marked as deleted; the file keeps it until it is packed. */
function isDeletedDbfRow(row: Buffer): boolean {
  return row[0] === DELETED;
}

/** Tells if a text fills the widest possible column, and so may have been cut off. */
function hasFullText(row: Buffer, field: DbfField): boolean {
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
function isSupportedDbfType({ type }: DbfField): boolean {
  return READ_TYPES.includes(type);
}

/**
 * Returns the value of a column in a row: numbers without zeros at the end (`shown` has them),
 * days as YYYY-MM-DD, truth values as `true` or `false`; empty where the cell is blank. Types
 * that are not read are empty, too. Unreadable is a number that is damaged or lost digits.
 */
function parseDbfValue(
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
    msg`"${text}" is not a number. It did not fit into its column, or is damaged.`,
  );
}

/** Bytes by extension: `.shp`, `.dbf`, `.prj`, `.cpg`. */
type Parts = ReadonlyMap<string, Buffer>;

/**
 * Reads a shapefile: a shape is a row, the columns are those of its table (`.dbf`), the point is in
 * the system that its `.prj` names. Heights and measures are not read. A table without shapes is
 * read as one.
 * @param encoding given by the user; otherwise the `.cpg`, the table itself or its texts determine
 * it
 * @throws FileError where a part is missing, damaged, does not belong to the others, or is in
 * another coordinate system
 */
export async function parseShapefile(
  file: string,
  parts: Parts,
  encoding?: string,
): Promise<Table> {
  const shp = parts.get('.shp');
  const dbf = parts.get('.dbf');
  if (dbf === undefined) throw makeMissingPartError(file, '.dbf');
  const table = parseDbf(file, dbf);
  const shapes = shp === undefined ? undefined : parseShapes(file, shp);
  const count = shapes?.length ?? 0;
  const rows = table.rows.length;
  if (shapes !== undefined && count !== rows)
    throw new FileError(
      file,
      msg`${file} has ${count} shapes, but its table (.dbf) has ${rows} rows: they do not belong together.`,
      { hint: COPY_ALL },
    );
  const system =
    shapes?.some((shape) => shape.readUInt32LE(0) !== NOTHING) === true
      ? parseSystem(file, parts.get('.prj'))
      : undefined;
  const { decode, issues: ofEncoding } = await chooseTextDecoder(
    file,
    collectDbfTexts(table),
    encoding ?? parseCodePage(parts.get('.cpg')) ?? table.encoding,
  );
  const columns = table.fields.map((field) => makeColumn(field, decode));
  const place = { file, unit: 'feature' } as const;
  const makeRecord = (bytes: Buffer, index: number): ReadRecord => {
    const row = index + 1;
    const values = new Map<string, string>();
    const shown = new Map<string, string>();
    for (const { name, field } of columns.filter(({ isRead }) => isRead)) {
      const cell = parseDbfValue(bytes, field, decode);
      if (!isReadable(cell)) return { row, ...cell };
      values.set(name, cell.value.text);
      if (cell.value.shown !== undefined) shown.set(name, cell.value.shown);
    }
    const shape = shapes?.[index];
    const point = shape === undefined ? { value: undefined } : parseShapePoint(shape);
    if (!isReadable(point)) return { row, ...point };
    const isPlaced = point.value !== undefined && system !== undefined;
    return { row, values, shown, point: isPlaced ? { ...point.value, system } : undefined };
  };
  const readRecords = function* (): Generator<ReadRecord> {
    for (const [index, bytes] of table.rows.entries())
      if (!isDeletedDbfRow(bytes)) yield makeRecord(bytes, index);
  };
  const issues = [...ofEncoding, ...checkColumns(file, columns), ...checkTexts(file, table)];
  return makeTableOfRecords(place, readRecords, issues);
}

const COPY_ALL = msg`Copy all files of the shapefile: .shp, .dbf, .prj and .cpg.`;

function makeMissingPartError(file: string, ending: string): FileError {
  return new FileError(file, msg`${file} has no ${ending} beside it.`, { hint: COPY_ALL });
}

/** Warns of texts that were cut off. */
function checkTexts(file: string, { fields, rows }: ReturnType<typeof parseDbf>): Issue[] {
  const full = [...rows.keys()].filter((index) =>
    fields.some((field) => hasFullText(rows[index] ?? Buffer.alloc(0), field)),
  );
  const [first] = full;
  if (first === undefined) return [];
  const count = full.length;
  const row = first + 1;
  const message = msg`Rows with a text that fills its column: ${count}, the first is row ${row}. The rest was cut off: compare them with their source, or save as GeoPackage.`;
  return [makeWarningIssue('table-text-cut', message, { file, unit: 'feature', row })];
}

/**
 * Reads the named shapefile of an archive, else the first with points, else the first. Undefined
 * where there is none. Without a name, other shapefiles with points give a warning.
 * @throws FileError where the named one is missing, and as {@link parseShapefile}
 */
export async function parseShapefileArchive(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  encoding: string | undefined,
): Promise<Table | undefined> {
  assertNotNested(file, entries.keys());
  const layers = new Map<string, Map<string, Buffer>>();
  for (const { name, bytes } of entries.values()) {
    const [, base = '', ending = ''] = /^(.*)(\.[a-z]+)$/i.exec(name) ?? [];
    if (!PARTS.includes(ending.toLowerCase()) || /(?:^|\/)(?:\.|__MACOSX\/)/.test(name)) continue;
    const parts = layers.get(base) ?? new Map<string, Buffer>();
    layers.set(base, parts.set(ending.toLowerCase(), bytes));
  }
  const shapefiles = [...layers]
    .filter(([, parts]) => parts.has('.shp') || parts.has('.dbf'))
    .map(([base, parts]) => ({ name: posix.basename(base), parts }));
  const withPoints = shapefiles.filter(({ parts }) =>
    POINT_TYPES.includes(parts.get('.shp')?.[32] ?? 0),
  );
  const chosen =
    named === undefined ? (withPoints[0] ?? shapefiles[0]) : getNamedPart(file, shapefiles, named);
  if (chosen === undefined) return undefined;
  const table = await parseShapefile(file, chosen.parts, encoding);
  if (shapefiles.length === 1) return table;
  const place = { ...getTablePlace(table), sheet: chosen.name };
  const others = named === undefined ? withPoints.filter((each) => each !== chosen) : [];
  return { ...table, ...place, issues: [...makeUnreadPartsIssues(place, others), ...table.issues] };
}

const PARTS: readonly string[] = ['.shp', '.dbf', '.prj', '.cpg'];
/** Shape types of points and groups of points, with or without heights and measures. */
const POINT_TYPES = [1, 11, 21, 8, 18, 28];

/** @throws FileError where there is no `.prj`, or one of another system */
function parseSystem(file: string, prj: Buffer | undefined): GeomSystem {
  const text =
    prj
      ?.toString('latin1')
      .replace(/^\u00ef\u00bb\u00bf/, '')
      .trim() ?? '';
  if (text === '') throw makeMissingPartError(file, '.prj');
  const system = parseSystemOfPrj(text);
  if (system === undefined) throw makeUnsupportedCrsError(file, parseNameOfPrj(text));
  return system;
}

/** Returns the encoding in a `.cpg`, such as `1250`, `ANSI 1250` or `UTF-8`. */
function parseCodePage(cpg: Buffer | undefined): string | undefined {
  return cpg?.toString('latin1').replace(/[^\x21-\x7e]/g, '') || undefined;
}

type Column = {
  readonly name: string;
  readonly ownName: string;
  readonly field: DbfField;
  readonly isRead: boolean;
};

/** A shapefile truncates names to ten bytes: a prefix of exactly one known name is that name. */
const NAME_BYTES = 10;

function makeColumn(field: DbfField, decode: (bytes: Buffer) => string): Column {
  const ownName = decode(field.name).trim();
  const begun = COLUMN_NAMES.filter(
    (name) => name.length > NAME_BYTES && name.startsWith(ownName.toLowerCase()),
  );
  const [only, another] = begun;
  const name =
    ownName.length === NAME_BYTES && only !== undefined && another === undefined ? only : ownName;
  return { name, ownName, field, isRead: isSupportedDbfType(field) };
}

function checkColumns(file: string, columns: readonly Column[]): Issue[] {
  const lengthened = columns.filter(({ name, ownName, isRead }) => isRead && name !== ownName);
  const unread = columns.filter(({ isRead }) => !isRead);
  const issues: Issue[] = [];
  if (lengthened.length > 0) {
    const names = lengthened.map(({ ownName, name }) => `${ownName} = ${name}`).join(', ');
    const message = msg`A shapefile stores only ten letters of a name. The names are: ${names}.`;
    issues.push(makeWarningIssue('table-short-names', message, { file }));
  }
  if (unread.length > 0) {
    const names = unread.map(({ ownName, field }) => `${ownName} (${field.type})`).join(', ');
    issues.push(makeNotReadIssue(file, names));
  }
  return issues;
}

const HEADER_BYTES = 100;
const FILE_CODE = 9994;
const NOTHING = 0;
const POINT = 1;
const MULTI_POINT = 8;
/** Names by the last digit of a shape's type; the tens encode heights and measures. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'Point',
  3: 'LineString',
  5: 'Polygon',
  8: 'MultiPoint',
  31: 'MultiPatch',
};
/** Smaller numbers mean no data. */
const NO_DATA = -1e38;

/**
 * Splits a shapefile (ESRI, July 1998) into its shapes.
 * @throws FileError where the file is no shapefile, or ends within a shape
 */
function parseShapes(file: string, bytes: Buffer): Buffer[] {
  const damaged = makeCutShortError(file);
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== FILE_CODE) throw damaged;
  const shapes: Buffer[] = [];
  // Lengths are in 16-bit words.
  const end = bytes.readUInt32BE(24) * 2;
  if (end > bytes.length || end < HEADER_BYTES) throw damaged;
  for (let at = HEADER_BYTES; at < end; ) {
    const next = at + 12 > end ? Infinity : at + 8 + bytes.readUInt32BE(at + 4) * 2;
    if (next > end || next < at + 12) throw damaged;
    shapes.push(bytes.subarray(at + 8, next));
    at = next;
  }
  return shapes;
}

/**
 * Returns a shape as a point; undefined for an empty one. A MultiPoint of one counts; heights and
 * measures are dropped.
 */
function parseShapePoint(shape: Buffer): Reading<PointText | undefined> {
  const type = shape.readUInt32LE(0);
  if (type === NOTHING) return { value: undefined };
  const kind = type === 31 ? type : type % 10;
  if (kind === POINT) return parseCoordinatesAt(shape, 4);
  if (kind === MULTI_POINT && shape.length >= 40) {
    const count = shape.readUInt32LE(36);
    if (count === 1) return parseCoordinatesAt(shape, 40);
    return count === 0 ? { value: undefined } : makePointCountFault(count);
  }
  return makeShapeFault(NAMES[kind] ?? `#${type}`);
}

function parseCoordinatesAt(shape: Buffer, at: number): Reading<PointText | undefined> {
  if (shape.length < at + 16) return makeDamagedPointFault();
  const x = shape.readDoubleLE(at);
  const y = shape.readDoubleLE(at + 8);
  if (Number.isNaN(x) || Number.isNaN(y) || x < NO_DATA || y < NO_DATA) return { value: undefined };
  if (!Number.isFinite(x) || !Number.isFinite(y)) return makeDamagedPointFault();
  return { value: { x: formatPlainNumber(x), y: formatPlainNumber(y) } };
}
