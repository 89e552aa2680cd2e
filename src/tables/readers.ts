import { FileError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import type { HeaderRows } from './header-row.ts';
import type { Table } from './table.ts';
import type { ZipEntry } from './zip-entries.ts';

/** A file to be read as a table, with the parts that its format may need. */
type TableSource = {
  readonly file: string;
  readonly bytes: Buffer;
  /** Parts of an archive, by name. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Files of the same name beside it, by extension. */
  readonly beside: ReadonlyMap<string, Buffer>;
  readonly sheet: string | undefined;
  readonly encoding: string | undefined;
  readonly headerRows: HeaderRows | undefined;
};

type TableReader = {
  /** Extensions, the usual one first. */
  readonly extensions: readonly string[];
  /** Name in messages; absent for a text table, the fallback. */
  readonly called?: Message;
  /** First bytes as Latin-1. */
  readonly signature?: string;
  /** Part that identifies an archive (ZIP) of this format. */
  readonly part?: RegExp;
  /** Text at the beginning of an XML document of this format. */
  readonly root?: RegExp;
  /** Options that apply to the format. */
  readonly options: readonly ('sheet' | 'encoding' | 'header')[];
  /** Loads the reader on demand and reads the table. */
  read(source: TableSource): Promise<Table>;
};

/** Formats by name: a new one is a file that reads it, and a row here. The first match wins. */
const READERS = {
  csv: {
    extensions: ['csv', 'tsv', 'txt'],
    options: ['encoding', 'header'],
    read: async ({ file, bytes, encoding, headerRows }) =>
      (await import('./csv-table.ts')).readTextTable(file, bytes, encoding, headerRows),
  },
  xlsx: {
    extensions: ['xlsx', 'xlsm'],
    called: msg`a workbook (XLSX)`,
    part: /^xl\/workbook\.xml$/i,
    options: ['sheet', 'header'],
    read: async ({ file, entries, sheet, headerRows }) =>
      (await import('./xlsx-workbook.ts')).readXlsx(file, entries, sheet, headerRows),
  },
  ods: {
    extensions: ['ods'],
    called: msg`a workbook (ODS)`,
    part: /^content\.xml$/,
    options: ['sheet', 'header'],
    read: async ({ file, entries, sheet, headerRows }) =>
      (await import('./ods-table.ts')).readOds(file, entries, sheet, headerRows),
  },
  fods: {
    extensions: ['fods'],
    called: msg`a flat workbook (FODS)`,
    root: /<office:document\s/,
    options: ['sheet', 'header'],
    read: async ({ file, bytes, sheet, headerRows }) =>
      (await import('./ods-table.ts')).readFlatOds(file, bytes, sheet, headerRows),
  },
  geojson: {
    extensions: ['geojson', 'geojsonl', 'geojsons', 'geojsonseq', 'ndjson', 'json'],
    called: 'GeoJSON',
    options: [],
    read: async ({ file, bytes }) => (await import('./geojson-table.ts')).parseGeoJson(file, bytes),
  },
  gpkg: {
    extensions: ['gpkg'],
    called: msg`a GeoPackage (an SQLite database)`,
    signature: 'SQLite format 3\u0000',
    options: ['sheet'],
    read: async ({ file, bytes, sheet }) => (await import('./gpkg-table.ts')).readGeoPackage(file, bytes, sheet),
  },
  shp: {
    extensions: ['shp'],
    called: msg`a shapefile`,
    signature: '\u0000\u0000\u0027\u000a',
    options: ['encoding'],
    read: async ({ file, bytes, beside, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefile(file, new Map([...beside, ['.shp', bytes]]), encoding),
  },
  dbf: {
    extensions: ['dbf'],
    called: msg`a table of a shapefile (DBF)`,
    options: ['encoding'],
    read: async ({ file, bytes, beside, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefile(file, new Map([...beside, ['.dbf', bytes]]), encoding),
  },
  kmz: {
    extensions: ['kmz'],
    called: msg`an archive of KML (KMZ)`,
    part: /\.kml$/i,
    options: [],
    read: async ({ file, entries }) => (await import('./xml-table.ts')).readKmz(file, entries),
  },
  shapefile: {
    extensions: [],
    called: msg`a shapefile`,
    part: /\.(?:shp|dbf)$/i,
    options: ['sheet', 'encoding'],
    read: async ({ file, entries, sheet, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefileArchive(file, entries, sheet, encoding),
  },
  xml: {
    extensions: ['xml', 'gpx', 'kml'],
    called: 'XML',
    options: [],
    read: async ({ file, bytes }) => (await import('./xml-table.ts')).readXmlTable(file, bytes),
  },
} as const satisfies Readonly<Record<string, TableReader>>;

/** Formats from which finds are read. KML and GPX are `xml`; a `dbf` may be part of a shapefile. */
type TableKind = keyof typeof READERS;

export const TABLE_READERS: Readonly<Record<TableKind, TableReader>> = READERS;
const TABLE_KINDS = Object.keys(READERS) as readonly TableKind[];

type Found = TableKind | 'archive';

/**
 * Detects the format of an archive by the names of its parts.
 * @throws FileError where no format fits
 */
export function kindOfArchive(file: string, parts: readonly string[]): TableKind {
  const kind = TABLE_KINDS.find((each) => parts.some((name) => TABLE_READERS[each].part?.test(name)));
  if (kind !== undefined) return kind;
  throw new FileError(file, msg`${file} is an archive (ZIP), but not a workbook, and contains no KML or shapefile.`, {
    hint: msg`Save the table as .xlsx or CSV UTF-8, or unpack the archive and import what is in it.`,
  });
}

/**
 * Detects the format of a file by its first bytes. The extension decides only between several that fit, and reveals a file of
 * another format than its name, which would otherwise be read as a table with odd columns.
 * @throws FileError where no format fits, or the extension is of another one
 */
export function kindOfTable(file: string, bytes: Buffer): Found {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  const named = TABLE_KINDS.find((kind) => TABLE_READERS[kind].extensions.includes(ending));
  const kind = kindOfBytes(file, bytes, named);
  if (kind === 'csv' && named !== undefined && named !== 'csv' && bytes.length > 0) throw notAsNamed(file, named);
  return kind;
}

/** First bytes of containers of several formats. */
const ARCHIVES: readonly string[] = ['PK\u0003\u0004', 'PK\u0005\u0006'];
const OLE = '\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1';

function kindOfBytes(file: string, bytes: Buffer, named: TableKind | undefined): Found {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  if (head.startsWith(OLE)) throw oldOrEncrypted(file, bytes);
  if (ARCHIVES.some((signature) => head.startsWith(signature))) return 'archive';
  const signed = TABLE_KINDS.find((kind) => {
    const { signature } = TABLE_READERS[kind];
    return signature !== undefined && head.startsWith(signature);
  });
  if (signed !== undefined) return signed;
  if (named === 'dbf' && isDbf(bytes)) return 'dbf';
  const start = textStart(bytes);
  // A text table may begin with either character, so its extension decides.
  if (named === 'csv' || start === undefined) return 'csv';
  if (start === '<') {
    if (isTableOfPage(bytes.toString('latin1', 0, PAGE_BYTES))) throw webPage(file);
    return TABLE_KINDS.find((kind) => TABLE_READERS[kind].root?.test(head)) ?? 'xml';
  }
  const isJson = start === '{' || start === RECORD_SEPARATOR || (start === '[' && named === 'geojson');
  return isJson ? 'geojson' : 'csv';
}

const HEAD_BYTES = 4096;
/** Styles may precede the table of a page. */
const PAGE_BYTES = 64 * 1024;

function isTableOfPage(head: string): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype\s+html|html|head|body|table)\b/i.test(head) && /<table\b/i.test(head);
}

function webPage(file: string): FileError {
  return new FileError(file, msg`${file} is a table saved as a web page (HTML), which pas does not read.`, {
    hint: msg`Save it as .xlsx, .ods or CSV UTF-8.`,
  });
}

/** First character of each text in a sequence (RFC 8142). */
const RECORD_SEPARATOR = '\u001e';

/** Tells if bytes look like dBASE: version, day, and complete field descriptions. This signature is the weakest one. */
function isDbf(bytes: Buffer): boolean {
  const [version = 0, , month = 0, day = 0] = bytes;
  return bytes.length > 32 && [0x02, 0x03, 0x30, 0x31, 0x32, 0x83, 0x8b, 0xf5].includes(version) && month <= 12 && day <= 31;
}

/** Returns the first character that is no blank, in UTF-8 or UTF-16. */
function textStart(bytes: Buffer): string | undefined {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const head = bytes.toString('latin1', 0, 1024);
  const text = utf16 ? head.slice(2).replaceAll('\u0000', '') : head.replace(/^\u00ef\u00bb\u00bf/, '');
  return /[^\s]/.exec(text)?.[0];
}

/** Excel wraps an encrypted workbook in the container of its old format. */
function oldOrEncrypted(file: string, bytes: Buffer): FileError {
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
    return new FileError(file, msg`${file} is protected by a password and cannot be read.`, {
      hint: msg`Open it in the spreadsheet and save it without the password.`,
    });
  }
  return new FileError(file, msg`${file} is a workbook in the old Excel format (.xls), which pas does not read.`, {
    hint: msg`Save it as .xlsx or as CSV UTF-8.`,
  });
}

function notAsNamed(file: string, named: TableKind): FileError {
  const words = TABLE_READERS[named].called ?? '';
  return new FileError(file, msg`${file} is not ${words}, although its name says so: its first bytes differ.`, {
    hint: msg`The file may be damaged, or only renamed. Save it again from the program that it comes from.`,
  });
}
