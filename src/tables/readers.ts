import { readdirSync, type Stats, statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { hasJournal, JOURNALS, readImageWithJournal } from '../base/disk/database-file.ts';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { type HeaderRows, isFormTable } from './header-row.ts';
import { readInputFile } from './input-file.ts';
import {
  assertInputSize,
  makeDamagedFileError,
  makeEncryptedFileError,
  makeUnsupportedFormatError,
  type Table,
} from './table.ts';

type ReadOptions = {
  /** Sheet or layer, by name or number; otherwise the first with content. Others ignore it. */
  readonly sheet?: string;
  /** Encoding of a CSV table, otherwise detected; other formats ignore it. */
  readonly encoding?: string;
  /** Rows of the header of CSV or XLSX, otherwise detected; other formats ignore it. */
  readonly headerRows?: HeaderRows;
  /** Folder of the photographs that a form names; otherwise they are with the form. */
  readonly photoFolder?: string;
};

/** A file to be read as a table. */
type FileSource = ReadOptions & {
  readonly file: string;
  readonly bytes: Buffer;
  /** The file is on disk, with others beside it; otherwise its bytes came from elsewhere. */
  readonly isOnDisk: boolean;
};

type TableReader = {
  /** Extensions, the usual one first. */
  readonly extensions: readonly string[];
  /** Name in messages; absent for a text table, the fallback. */
  readonly called?: string;
  /** First bytes as Latin-1, one of which the file has. */
  readonly signatures?: readonly string[];
  /** Loads the reader on demand and reads the table. */
  read(source: FileSource): Promise<Table>;
};

/** A new format is a file that reads it, and a row here. */
const READERS = {
  csv: {
    extensions: ['csv', 'tsv', 'txt'],
    read: async ({ file, bytes, encoding, headerRows, isOnDisk, photoFolder }) => {
      const { decodeCsvTable } = await import('./formats/csv-table.ts');
      const table = await decodeCsvTable(file, bytes, encoding, headerRows);
      return isOnDisk && isFormTable(table)
        ? (await import('./formats/form-export.ts')).readCsvForms(table, photoFolder)
        : table;
    },
  },
  geojson: {
    extensions: ['geojson', 'json'],
    called: 'GeoJSON',
    read: async ({ file, bytes }) =>
      (await import('./formats/geojson-table.ts')).parseGeoJsonTable(file, bytes),
  },
  gpkg: {
    extensions: ['gpkg'],
    called: 'GeoPackage',
    signatures: ['SQLite format 3\u0000'],
    read: async ({ file, bytes, sheet, isOnDisk }) => {
      const content = isOnDisk ? withJournal(file, bytes) : bytes;
      return (await import('./formats/gpkg-table.ts')).readGeoPackageTable(file, content, sheet);
    },
  },
  xml: {
    extensions: ['xml', 'gpx'],
    called: 'XML',
    read: async ({ file, bytes }) =>
      (await import('./formats/xml-table.ts')).parseXmlTable(file, bytes),
  },
  xlsx: {
    extensions: ['xlsx', 'xlsm'],
    called: 'XLSX',
    // Any archive (ZIP), also an empty one: the reader refuses one that is no workbook.
    signatures: ['PK\u0003\u0004', 'PK\u0005\u0006'],
    read: async ({ file, bytes, sheet, headerRows, isOnDisk, photoFolder }) => {
      const { parseXlsxTable, unpackWorkbook } = await import('./formats/xlsx.ts');
      const parts = await unpackWorkbook(file, bytes);
      const table = parseXlsxTable(file, parts, sheet, headerRows);
      return isOnDisk && isFormTable(table)
        ? (await import('./formats/form-export.ts')).readWorkbookForms(table, parts, photoFolder)
        : table;
    },
  },
} as const satisfies Readonly<Record<string, TableReader>>;

/** GeoPackage of finds in the folder of a form for QField. */
export const FORM_FILE = 'finds.gpkg';

const ALL_READERS: readonly TableReader[] = Object.values(READERS);

/** Extensions of formats that are not read, whose content may look like a text or XML. */
const OTHER_FORMATS = /\.(?:xls|f?ods|html?|jsonl|shp|dbf|km[lz])$/i;
/** Container of the old format of Excel, which also holds encrypted workbooks. */
const OLD_WORKBOOK = '\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1';

/** @throws FileError where the name or the first bytes are of a format that is not read */
function assertFormatRead(file: string, bytes: Buffer, head: string): void {
  if (!head.startsWith(OLD_WORKBOOK) && !OTHER_FORMATS.test(file)) return;
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    throw makeEncryptedFileError(file);
  throw makeUnsupportedFormatError(file);
}

const HEAD_BYTES = 64;

/**
 * Detects the format of a file by its first bytes. The extension decides only between several that
 * fit, and reveals a file of another format than its name, which would otherwise be read as a table
 * with odd columns.
 * @throws FileError where no format fits, or the extension is that of another one
 */
function detectReader(file: string, bytes: Buffer): TableReader {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const signed = ALL_READERS.find(({ signatures = [] }) =>
    signatures.some((signature) => head.startsWith(signature)),
  );
  if (signed !== undefined) return signed;
  assertFormatRead(file, bytes, head);
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  const named = ALL_READERS.find(({ extensions }) => extensions.includes(extension));
  const start = findTextStart(bytes);
  // A text table may begin with any character, so its extension decides.
  if (named !== READERS.csv && start === '<') return READERS.xml;
  if (named !== READERS.csv && start === '{') return READERS.geojson;
  if (named?.called === undefined || bytes.length === 0) return READERS.csv;
  throw makeDamagedFileError(
    file,
    msg`${file} has the name of another format (${named.called}), but its content differs.`,
  );
}

/**
 * Returns the first character that is no blank among the first 1024 bytes of a text in UTF-8 or
 * UTF-16, after its mark; undefined where all are blank.
 */
function findTextStart(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 1024).replaceAll('\u0000', '');
  return /\S/.exec(head.replace(/^(?:\u00ff\u00fe|\u00fe\u00ff|\u00ef\u00bb\u00bf)/, ''))?.[0];
}

/**
 * Reads a table of finds from a file: CSV, XLSX, GeoJSON, GPX, GeoPackage or XML of the service or
 * of `pas export`, detected by content, and by the extension where several fit; or from a folder
 * with one table, such as that of forms which returned from a phone, with their repeated groups and
 * photographs. With a GeoPackage the journal that another program has not committed is read. Rows
 * that cannot be read are issues of the table.
 * @throws FileError where the file cannot be read as a whole, for a .zip, and where the folder has
 * not one table; DatabaseError where a GeoPackage cannot be copied or opened, or changes during
 * each attempt; the system's error for a folder that cannot be listed
 */
export async function readTable(path: string, options: ReadOptions = {}): Promise<Table> {
  const stats = statOrNothing(path);
  if (stats?.isDirectory() === true) return readFolder(path, options);
  // An archive of forms with photographs is larger than a table may be.
  if (stats?.isFile() === true && /\.zip$/i.test(path)) throw makeUnsupportedFormatError(path);
  const bytes = await readInputFile(path);
  return detectReader(path, bytes).read({ ...options, isOnDisk: true, file: path, bytes });
}

/** Returns undefined for a missing or unreachable path, which is reported when it is opened. */
function statOrNothing(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Reads the one table of a folder: the GeoPackage of a form of pas, else a CSV or XLSX file. Files
 * of Excel's own (`~$finds.xlsx`) and those of repeated groups (`FORM-GROUP.csv`) do not count.
 * @throws FileError where the folder has none, or several
 */
async function readFolder(folder: string, options: ReadOptions): Promise<Table> {
  const names = readdirSync(folder).sort();
  if (names.includes(FORM_FILE)) return readTable(join(folder, FORM_FILE), options);
  const tables = names.filter((name) => /^[^~].*\.(?:csv|xlsx)$/i.test(name));
  const isGroup = (name: string): boolean =>
    tables.some((form) => name.startsWith(`${parse(form).name}-`));
  const [table, ...others] = tables.filter((name) => !isGroup(name));
  if (table !== undefined && others.length === 0) return readTable(join(folder, table), options);
  const all = tables.join(', ');
  throw new FileError(
    folder,
    table === undefined
      ? msg`${folder} is a folder without a CSV or XLSX.`
      : msg`${folder} is a folder with these tables: ${all}. Name the one to import.`,
  );
}

/**
 * Returns the bytes with the uncommitted journal beside a GeoPackage that another program has open;
 * `bytes` themselves where there is none.
 * @throws FileError where the journal is too large; DatabaseError as {@link readImageWithJournal}
 */
function withJournal(path: string, bytes: Buffer): Buffer {
  if (!hasJournal(path)) return bytes;
  for (const journal of JOURNALS.map((suffix) => `${path}${suffix}`))
    assertInputSize(journal, statSync(journal, { throwIfNoEntry: false })?.size ?? 0);
  return readImageWithJournal(path);
}

/**
 * Reads a table from bytes, for example of standard input. No other file is read: neither a journal
 * nor the repeated groups and photographs of forms. Rows that cannot be read are issues of the
 * table.
 * @param file its name for messages, and for the format where the bytes leave it open
 * @throws FileError where the bytes cannot be read as a table
 */
export async function parseTableBytes(
  file: string,
  bytes: Buffer,
  options: ReadOptions = {},
): Promise<Table> {
  return detectReader(file, bytes).read({ ...options, isOnDisk: false, file, bytes });
}
