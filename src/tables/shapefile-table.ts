import { posix } from 'node:path';
import { FileError } from '../base/errors.ts';
import { type Issue, isReadable, makeWarningIssue, type Reading } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { type Message, msg, nmsg } from '../base/message.ts';
import { COLUMN_NAMES } from '../find/fields.ts';
import {
  type GeomSystem,
  makeDamagedPointFault,
  makePointCountFault,
  makeShapeFault,
  makeUnsupportedCrsError,
  type PointText,
} from '../place/geometry.ts';
import { parseNameOfPrj, parseSystemOfPrj } from '../place/read-prj.ts';
import { formatPlainNumber } from '../text/characters.ts';
import { type DbfField, type DbfValue, isReadType, parseDbf } from './dbf.ts';
import {
  assertTableSize,
  getTablePlace,
  listUnreadSheets,
  makeDamagedFileError,
  makeNoFeaturesIssue,
  makeTableOfRecords,
  type ReadRecord,
  type Table,
} from './table.ts';
import { chooseTextDecoder } from './text-encoding.ts';
import { assertNotNested, type ZipEntry } from './zip-entries.ts';

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
  if (dbf === undefined) {
    throw new FileError(
      file,
      msg`${file} has no table beside it (.dbf), which has the columns of a shapefile.`,
      {
        hint: msg`Copy all files of the shapefile: .shp, .dbf, .prj and .cpg.`,
      },
    );
  }
  const table = parseDbf(file, dbf);
  assertTableSize(file, { rows: table.count, columns: table.fields.length });
  const shapes = shp === undefined ? undefined : parseShapes(file, shp);
  if (shapes !== undefined) assertSameCount(file, shapes.count, table.count);
  const system = shapes?.hasPoints === true ? parseSystem(file, parts.get('.prj')) : undefined;
  const statedEncoding = encoding ?? parseCodePage(parts.get('.cpg')) ?? table.encoding;
  const { decode, issues: ofEncoding } = await chooseTextDecoder(file, table.texts, statedEncoding);
  const columns = table.fields.map((field) => makeColumn(field, decode));
  const place = { file, unit: 'feature' } as const;
  const records = function* (): Generator<ReadRecord> {
    for (let index = 0; index < table.count; index++) {
      const values = table.readRow(index, decode);
      if (values !== undefined) yield makeRecord(index, values);
    }
  };
  const makeRecord = (index: number, cells: Reading<readonly DbfValue[]>): ReadRecord => {
    const row = index + 1;
    if (!isReadable(cells)) return { row, ...cells };
    const point = shapes === undefined ? { value: undefined } : shapes.readPoint(index);
    if (!isReadable(point)) return { row, ...point };
    const values = new Map<string, string>();
    const shown = new Map<string, string>();
    for (const [at, { name, isRead }] of columns.entries()) {
      const cell = cells.value[at];
      if (isRead) values.set(name, cell?.text ?? '');
      if (isRead && cell?.shown !== undefined) shown.set(name, cell.shown);
    }
    return {
      row,
      values,
      shown,
      point:
        point.value === undefined || system === undefined ? undefined : { ...point.value, system },
    };
  };
  const issues = [...ofEncoding, ...checkColumns(file, columns)];
  const [firstFull] = table.full;
  if (firstFull !== undefined) {
    const count = table.full.length;
    const row = firstFull + 1;
    issues.push(makeWarningIssue('table-text-cut', makeFullMessage(count, row), { ...place, row }));
  }
  return makeTableOfRecords(
    place,
    { [Symbol.iterator]: records },
    { issues, none: makeNoFeaturesIssue(place) },
  );
}

/** @throws FileError where the table is another shapefile's */
function assertSameCount(file: string, count: number, rows: number): void {
  if (count === rows) return;
  throw new FileError(
    file,
    msg`${file} has ${count} shapes, but its table (.dbf) has ${rows} rows: they do not belong together.`,
    { hint: msg`Copy all files of the shapefile: .shp, .dbf, .prj and .cpg.` },
  );
}

function makeFullMessage(count: number, row: number): Message {
  return nmsg(
    msgid`${count} row has a text that fills its column (row ${row}): the rest was cut off. Compare it with its source, or save as GeoPackage.`,
    msgid`${count} rows have texts that fill their columns (the first is row ${row}): the rest was cut off. Compare them with their source, or save as GeoPackage.`,
    count,
  );
}

/**
 * Reads the named shapefile, the only one, or the first with points.
 * @throws FileError without one, as {@link parseShapefile}
 */
export async function parseShapefileArchive(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  encoding: string | undefined,
): Promise<Table> {
  assertNotNested(file, entries.keys());
  const layers = new Map<string, Map<string, Buffer>>();
  for (const { name, bytes } of entries.values()) {
    const [, base = '', ending = ''] = /^(.*)(\.[a-z]+)$/i.exec(name) ?? [];
    if (!PARTS.includes(ending.toLowerCase()) || /(?:^|\/)(?:\.|__MACOSX\/)/.test(name)) continue;
    const parts = layers.get(base) ?? new Map<string, Buffer>();
    layers.set(base, parts.set(ending.toLowerCase(), bytes));
  }
  const shapefiles = [...layers].filter(([, parts]) => parts.has('.shp') || parts.has('.dbf'));
  const names = shapefiles.map(([base]) => posix.basename(base)).join(', ');
  const [withPoints, ...otherPoints] = shapefiles.filter(([, parts]) =>
    POINT_TYPES.includes(parts.get('.shp')?.[32] ?? 0),
  );
  const chosen =
    named === undefined
      ? (withPoints ?? shapefiles[0])
      : shapefiles.find(([base]) => [base, posix.basename(base)].includes(named));
  if (chosen === undefined) {
    const missing = named ?? '';
    throw new FileError(file, msg`${file} has no layer "${missing}".`, {
      hint: msg`Its layers are: ${names}.`,
    });
  }
  const table = await parseShapefile(file, chosen[1], encoding);
  if (shapefiles.length === 1) return table;
  const place = { ...getTablePlace(table), sheet: posix.basename(chosen[0]) };
  const others = named === undefined ? otherPoints.map(([base]) => posix.basename(base)) : [];
  return { ...table, ...place, issues: [...listUnreadSheets(place, others), ...table.issues] };
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
  if (text === '') {
    throw new FileError(
      file,
      msg`${file} has no .prj beside it, so the coordinate system of its points is unknown.`,
      {
        hint: msg`Copy the .prj as well, or save the layer again in WGS 84 (EPSG:4326) or S-JTSK (EPSG:5514).`,
      },
    );
  }
  const system = parseSystemOfPrj(text);
  if (system === undefined) throw makeUnsupportedCrsError(file, parseNameOfPrj(text));
  return system;
}

/** Normalises the encoding in a `.cpg`: `1250`, `ANSI 1250`, `CP852`, `88592`, `UTF-8`, `65001`. */
function parseCodePage(cpg: Buffer | undefined): string | undefined {
  const text = cpg?.toString('latin1').replace(/[^\x21-\x7e]/g, '') ?? '';
  if (text === '') return undefined;
  const plain = text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const [, number] = /^(?:cp|ansi|oem|windows|win|ibm|ms)?(\d{3,5})$/.exec(plain) ?? [];
  if (number === '65001') return 'utf8';
  if (number === undefined) return text;
  return number.startsWith('8859') && number.length === 5 ? `iso${number}` : `cp${number}`;
}

type Column = {
  readonly name: string;
  readonly ownName: string;
  readonly type: string;
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
  return { name, ownName, type: field.type, isRead: isReadType(field) };
}

function checkColumns(file: string, columns: readonly Column[]): Issue[] {
  const lengthened = columns.filter(({ name, ownName, isRead }) => isRead && name !== ownName);
  const unread = columns.filter(({ isRead }) => !isRead);
  const list = (all: readonly Column[], getColumnText: (column: Column) => string): string =>
    all.map(getColumnText).join(', ');
  const issues: Issue[] = [];
  if (lengthened.length > 0) {
    const names = list(lengthened, ({ ownName, name }) => `${ownName} = ${name}`);
    issues.push(
      makeWarningIssue(
        'table-short-names',
        msg`A shapefile stores only ten letters of a name. The names are: ${names}.`,
        {
          file,
        },
      ),
    );
  }
  if (unread.length > 0) {
    const names = list(unread, ({ ownName, type }) => `${ownName} (${type})`);
    issues.push(
      makeWarningIssue(
        'table-not-read',
        msg`Not read, because they contain no text, number or date: ${names}.`,
        { file },
      ),
    );
  }
  return issues;
}

/** Shapes of a shapefile (ESRI, July 1998), parsed on demand. */
type Shapes = {
  readonly count: number;
  /** Tells if any shape is a point, so that the coordinate system matters. */
  readonly hasPoints: boolean;
  /**
   * Returns a shape as a point; undefined for an empty one. A MultiPoint of one counts; heights and
   * measures are dropped.
   */
  readPoint(index: number): Reading<PointText | undefined>;
};

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

/** @throws FileError where the file is no shapefile, or ends within a shape */
function parseShapes(file: string, bytes: Buffer): Shapes {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== FILE_CODE)
    throw makeDamagedError(file, 0);
  const starts: number[] = [];
  let hasPoints = false;
  // The stated length, in 16-bit words, is not trusted beyond the end of the file.
  const end = bytes.readUInt32BE(24) * 2;
  if (end > bytes.length || end < HEADER_BYTES) throw makeDamagedError(file, 0);
  for (let at = HEADER_BYTES; at < end; ) {
    const number = starts.length + 1;
    if (at + 12 > end) throw makeDamagedError(file, number);
    const content = bytes.readUInt32BE(at + 4) * 2;
    if (content < 4 || at + 8 + content > end) throw makeDamagedError(file, number);
    starts.push(at + 8);
    hasPoints ||= bytes.readUInt32LE(at + 8) !== NOTHING;
    at += 8 + content;
  }
  const getEnd = (index: number): number => (starts[index + 1] ?? end + 8) - 8;
  return {
    count: starts.length,
    hasPoints,
    readPoint: (index) => {
      const start = starts[index] ?? end;
      return parseShapePoint(bytes.subarray(start, getEnd(index)));
    },
  };
}

function parseShapePoint(shape: Buffer): Reading<PointText | undefined> {
  const type = shape.length < 4 ? -1 : shape.readUInt32LE(0);
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

function makeDamagedError(file: string, shape: number): FileError {
  const message =
    shape === 0
      ? msg`${file} is a shapefile (.shp) that is damaged or cut short.`
      : msg`${file} is a shapefile (.shp) that is damaged or cut short at shape ${shape}.`;
  return makeDamagedFileError(file, message);
}
