import { FileError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** The formats that finds are read from. */
type TableKind = 'csv' | 'xlsx' | 'geojson' | 'gpkg' | 'xml';

/** What a file of this name is expected to be. */
const KIND_OF_EXTENSION: Readonly<Record<string, TableKind>> = {
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
  geojson: 'geojson',
  json: 'geojson',
  gpkg: 'gpkg',
  gpx: 'xml',
  xml: 'xml',
};

/** First bytes of files that say what they are. */
const SIGNATURES: readonly (readonly [signature: string, kind: TableKind | 'ole'])[] = [
  ['PK\u0003\u0004', 'xlsx'],
  ['PK\u0005\u0006', 'xlsx'],
  ['SQLite format 3\u0000', 'gpkg'],
  ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', 'ole'],
];

/**
 * What a file is, by its first bytes. Its name is asked only where they fit more than one kind, and so that a file that is
 * not what it is called is not taken for a table with odd columns.
 *
 * @throws FileError where it is none that is read, or not what its name says
 */
export function kindOfTable(file: string, bytes: Buffer): TableKind {
  const named = KIND_OF_EXTENSION[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ''];
  const kind = kindOfBytes(file, bytes, named);
  if (kind === 'csv' && named !== undefined && named !== 'csv' && bytes.length > 0) throw notAsNamed(file, named);
  return kind;
}

function kindOfBytes(file: string, bytes: Buffer, named: TableKind | undefined): TableKind {
  const head = bytes.toString('latin1', 0, 16);
  const signed = SIGNATURES.find(([signature]) => head.startsWith(signature))?.[1];
  if (signed === 'ole') throw oldOrEncrypted(file, bytes);
  if (signed !== undefined) return signed;
  const start = textStart(bytes);
  // A table of text may begin with either character; then its name has the last word.
  if (named === 'csv' || start === undefined) return 'csv';
  if (start === '<') return 'xml';
  return start === '{' || (start === '[' && named === 'geojson') ? 'geojson' : 'csv';
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
