import { posix } from 'node:path';
import { formatPlainNumber } from '../../base/characters.ts';
import { FileError } from '../../base/errors.ts';
import { type Issue, isReadable, makeWarningIssue, type Reading } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { COLUMN_NAMES } from '../../finds/fields.ts';
import {
  type GeomSystem,
  makeDamagedPointFault,
  makePointCountFault,
  makeShapeFault,
  makeUnsupportedCrsError,
  type PointText,
} from '../../finds/place/geometry.ts';
import { parseNameOfPrj, parseSystemOfPrj } from '../../finds/place/wkb.ts';
import { chooseTextDecoder } from '../input-file.ts';
import {
  getTablePlace,
  listUnreadSheets,
  makeDamagedFileError,
  makeTableOfRecords,
  type ReadRecord,
  type Table,
} from '../table.ts';
import {
  collectTexts,
  type DbfField,
  hasFullText,
  isDeleted,
  isReadType,
  parseDbf,
  parseDbfValue,
} from './dbf.ts';
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
      { hint: COPY_ALL },
    );
  }
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
    collectTexts(table),
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
      if (!isDeleted(bytes)) yield makeRecord(bytes, index);
  };
  const issues = [...ofEncoding, ...checkColumns(file, columns), ...checkTexts(file, table)];
  return makeTableOfRecords(place, readRecords, issues);
}

const COPY_ALL = msg`Copy all files of the shapefile: .shp, .dbf, .prj and .cpg.`;

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
  return { name, ownName, field, isRead: isReadType(field) };
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
    const message = msg`Not read, because they contain no text, number or date: ${names}.`;
    issues.push(makeWarningIssue('table-not-read', message, { file }));
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
  const damaged = makeDamagedFileError(
    file,
    msg`${file} is a shapefile (.shp) that is damaged or cut short.`,
  );
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
