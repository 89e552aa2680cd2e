import { FileError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** The formats that finds are read from. KML and GPX are `xml`; a `dbf` may be part of a shapefile. */
export type TableKind = FileKind | ArchiveKind;
type FileKind = 'csv' | 'geojson' | 'gpkg' | 'xml' | 'shp' | 'dbf';
type ArchiveKind = 'xlsx' | 'ods' | 'kmz' | 'shapefile';

/** What a file of this name is expected to be. */
const KIND_OF_EXTENSION: Readonly<Record<string, TableKind>> = {
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
  ods: 'ods',
  geojson: 'geojson',
  geojsonl: 'geojson',
  geojsons: 'geojson',
  geojsonseq: 'geojson',
  ndjson: 'geojson',
  json: 'geojson',
  gpkg: 'gpkg',
  gpx: 'xml',
  kml: 'xml',
  kmz: 'kmz',
  shp: 'shp',
  dbf: 'dbf',
  xml: 'xml',
};

/** First bytes of files that say what they are. */
const SIGNATURES: readonly (readonly [signature: string, kind: FileKind | 'archive' | 'ole'])[] = [
  ['PK\u0003\u0004', 'archive'],
  ['PK\u0005\u0006', 'archive'],
  ['\u0000\u0000\u0027\u000a', 'shp'],
  ['SQLite format 3\u0000', 'gpkg'],
  ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', 'ole'],
];

/** What tells an archive (ZIP) by the names of its parts. */
const ARCHIVES: readonly (readonly [part: RegExp, kind: ArchiveKind])[] = [
  [/^xl\/workbook\.xml$/i, 'xlsx'],
  [/^content\.xml$/, 'ods'],
  [/\.kml$/i, 'kmz'],
  [/\.(?:shp|dbf)$/i, 'shapefile'],
];

/**
 * What is in an archive, by the names of its parts.
 *
 * @throws FileError where it is nothing that is read
 */
export function kindOfArchive(file: string, parts: readonly string[]): ArchiveKind {
  const kind = ARCHIVES.find(([part]) => parts.some((name) => part.test(name)))?.[1];
  if (kind !== undefined) return kind;
  throw new FileError(file, msg`${file} is an archive (ZIP), but not a workbook, and holds no KML and no shapefile.`, {
    hint: msg`Save the table as .xlsx or CSV UTF-8, or unpack the archive and import what is in it.`,
  });
}

/**
 * What a file is, by its first bytes. Its name is asked only where they fit more than one kind, and so that a file that is
 * not what it is called is not taken for a table with odd columns.
 *
 * @throws FileError where it is none that is read, or not what its name says
 */
export function kindOfTable(file: string, bytes: Buffer): FileKind | 'archive' {
  const named = KIND_OF_EXTENSION[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ''];
  const kind = kindOfBytes(file, bytes, named);
  if (kind === 'csv' && named !== undefined && named !== 'csv' && bytes.length > 0) throw notAsNamed(file, named);
  return kind;
}

function kindOfBytes(file: string, bytes: Buffer, named: TableKind | undefined): FileKind | 'archive' {
  const head = bytes.toString('latin1', 0, 16);
  const signed = SIGNATURES.find(([signature]) => head.startsWith(signature))?.[1];
  if (signed === 'ole') throw oldOrEncrypted(file, bytes);
  if (signed !== undefined) return signed;
  if (named === 'dbf' && isDbf(bytes)) return 'dbf';
  const start = textStart(bytes);
  // A table of text may begin with either character; then its name has the last word.
  if (named === 'csv' || start === undefined) return 'csv';
  if (start === '<') return 'xml';
  const isJson = start === '{' || start === RECORD_SEPARATOR || (start === '[' && named === 'geojson');
  return isJson ? 'geojson' : 'csv';
}

/** What each text of a sequence begins with (RFC 8142). */
const RECORD_SEPARATOR = '\u001e';

/** The version, a day, and a header of whole descriptions of fields. No signature is weaker, so the name is asked first. */
function isDbf(bytes: Buffer): boolean {
  const [version = 0, , month = 0, day = 0] = bytes;
  return bytes.length > 32 && [0x02, 0x03, 0x30, 0x31, 0x32, 0x83, 0x8b, 0xf5].includes(version) && month <= 12 && day <= 31;
}

/** The first character that is no blank, in UTF-8 or UTF-16. */
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
  return new FileError(file, msg`${file} is a workbook in the old format of Excel (.xls), which is not read.`, {
    hint: msg`Save it as .xlsx or as CSV UTF-8.`,
  });
}

const WORDS: Readonly<Record<Exclude<TableKind, 'csv'>, Message>> = {
  xlsx: msg`a workbook (XLSX)`,
  ods: msg`a workbook (ODS)`,
  kmz: msg`an archive of KML (KMZ)`,
  shapefile: msg`a shapefile`,
  shp: msg`a shapefile`,
  dbf: msg`a table of a shapefile (DBF)`,
  geojson: 'GeoJSON',
  gpkg: msg`a GeoPackage (an SQLite database)`,
  xml: 'XML',
};

function notAsNamed(file: string, named: Exclude<TableKind, 'csv'>): FileError {
  const words = WORDS[named];
  return new FileError(file, msg`${file} is not ${words}, although its name says so: its first bytes are something else.`, {
    hint: msg`The file may be damaged, or only its name was changed. Save it again from the program that it comes from.`,
  });
}
