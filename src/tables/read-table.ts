import { readdirSync, type Stats, statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { FileError } from '../base/errors.ts';
import { type Issue, warningIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { hasJournal, imageWithJournal, JOURNALS } from '../store/database-file.ts';
import { type HeaderRows, isFormTable } from './header-row.ts';
import { readInputFile } from './input-file.ts';
import { kindOfArchive, kindOfTable, TABLE_READERS } from './readers.ts';
import { assertInputSize, type Table } from './table.ts';
import type { ZipEntry } from './zip-entries.ts';

type ReadOptions = {
  /** Sheet of a workbook, or layer of a GeoPackage or an archive of shapefiles; otherwise the first with content. */
  readonly sheet?: string;
  /** Encoding of a CSV table or a shapefile; otherwise it is detected. */
  readonly encoding?: string;
  /** Rows of the header; otherwise they are detected. */
  readonly headerRows?: HeaderRows;
  /** Folder of the photographs that a form names; otherwise they are with the form. */
  readonly photoFolder?: string;
};

/**
 * Reads a table of finds from a file: CSV, XLSX, ODS, GeoJSON, KML, KMZ, GPX, GeoPackage, shapefile or the service's XML,
 * detected by content; or from the folder of a form that returned from a phone. The reader of a format is loaded on demand.
 * @throws FileError where the file cannot be read as a whole
 */
export async function readTable(path: string, options: ReadOptions = {}): Promise<Table> {
  if (statOf(path)?.isDirectory() === true) return readFolder(path, options);
  const table = await readFile(path, options);
  const copies = conflictCopies(path);
  return copies.length === 0 ? table : { ...table, issues: [...copies, ...table.issues] };
}

/** Marks of conflict copies in file names, as written by programs that synchronise folders. */
const CONFLICT = /conflict|konflikt|kolizn/i;

/** Warns of conflict copies: each copy may have finds that the other lacks. */
function conflictCopies(path: string): Issue[] {
  const { dir, base, name, ext } = parse(path);
  const warn = (message: Message): Issue => warningIssue('table-conflict-copy', message, { file: path });
  if (CONFLICT.test(base))
    return [
      warn(
        msg`${base} has the name of a conflict copy, made because a file changed on two computers. Compare it with the other.`,
      ),
    ];
  const isCopy = (other: string): boolean =>
    CONFLICT.test(other) && other.startsWith(name) && other.toLowerCase().endsWith(ext.toLowerCase());
  const copy = namesIn(dir === '' ? '.' : dir).find(isCopy);
  if (copy === undefined) return [];
  return [
    warn(
      msg`Beside ${base} is ${copy}, a conflict copy, made because the file changed on two computers. It is not read: compare both.`,
    ),
  ];
}

/** A folder may be readable file by file without being listable. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function readFile(path: string, options: ReadOptions): Promise<Table> {
  const { photoFolder } = options;
  const isRegular = statOf(path)?.isFile() === true;
  if (isRegular && /\.zip$/i.test(path)) {
    const table = await (await import('./form-export.ts')).readFormArchive(path, photoFolder);
    if (table !== undefined) return table;
  }
  if (isRegular && /\.kmz$/i.test(path)) return (await import('./xml-table.ts')).readKmzFile(path);
  const bytes = await readInputFile(path);
  const kind = kindOfTable(path, bytes);
  const beside = kind === 'shp' || kind === 'dbf' ? await readBeside(path) : new Map<string, Buffer>();
  const table = await readOf(path, kind === 'gpkg' ? withJournal(path, bytes) : bytes, beside, options);
  if (kind !== 'csv' && !(kind === 'archive' && isWorkbook(bytes))) return table;
  if (!isFormTable(table)) return table;
  const { withRepeatsBeside, withRepeatSheets } = await import('./form-export.ts');
  return kind === 'csv' ? withRepeatsBeside(table, photoFolder) : withRepeatSheets(table, bytes, photoFolder);
}

/** Detects a workbook by the name of its main part, in any case. */
function isWorkbook(bytes: Buffer): boolean {
  return /xl\/workbook\.xml/i.test(bytes.toString('latin1'));
}

/** A missing or unreadable path is reported when it is opened. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws FileError where the folder has no export of a known program for phones */
async function readFolder(folder: string, options: ReadOptions): Promise<Table> {
  const { geoPackageIn, readFormFolder } = await import('./form-export.ts');
  const collected = geoPackageIn(folder);
  if (collected !== undefined) return readTable(collected, options);
  const table = await readFormFolder(folder, options.photoFolder, (path) => readTable(path, options));
  if (table !== undefined) return table;
  throw new FileError(folder, msg`${folder} is a folder without a table of submitted forms.`, {
    hint: msg`Name the file of the table itself, or the folder into which an export of ODK Central or KoboToolbox was unpacked.`,
  });
}

/** Adds the uncommitted journal beside a GeoPackage that another program has open. */
function withJournal(path: string, bytes: Buffer): Buffer {
  if (!hasJournal(path)) return bytes;
  for (const journal of JOURNALS.map((suffix) => `${path}${suffix}`))
    assertInputSize(journal, statSync(journal, { throwIfNoEntry: false })?.size ?? 0);
  return imageWithJournal(path);
}

/** Reads the parts of a shapefile: files of one name, by extension in lower case. */
async function readBeside(path: string): Promise<ReadonlyMap<string, Buffer>> {
  const { dir, name } = parse(path);
  const found = new Map<string, Buffer>();
  for (const each of readdirSync(dir === '' ? '.' : dir)) {
    const other = parse(each);
    const ending = other.ext.toLowerCase();
    if (other.name === name && SHAPEFILE_PARTS.includes(ending)) found.set(ending, await readInputFile(join(dir, each)));
  }
  return found;
}

const SHAPEFILE_PARTS: readonly string[] = ['.shp', '.dbf', '.prj', '.cpg'];

/**
 * Reads a table from bytes, for example of stdin. `file` is used in messages, and for the format where the bytes leave it open.
 * @throws FileError where the bytes cannot be read as a table
 */
export async function readTableBytes(file: string, bytes: Buffer, options: ReadOptions = {}): Promise<Table> {
  return readOf(file, bytes, new Map(), options);
}

async function readOf(
  file: string,
  bytes: Buffer,
  beside: ReadonlyMap<string, Buffer>,
  { sheet, encoding, headerRows }: ReadOptions,
): Promise<Table> {
  const found = kindOfTable(file, bytes);
  const entries: ReadonlyMap<string, ZipEntry> =
    found === 'archive' ? await (await import('./zip-entries.ts')).readZip(file, bytes) : new Map();
  const { options, read } = TABLE_READERS[found === 'archive' ? kindOfArchive(file, [...entries.keys()]) : found];
  if (sheet !== undefined && !options.includes('sheet')) {
    throw new FileError(file, msg`${file} has no sheets and no layers to choose from.`, {
      hint: msg`Leave --sheet and --layer out.`,
    });
  }
  if (encoding !== undefined && !options.includes('encoding')) {
    throw new FileError(file, msg`${file} declares its own encoding.`, { hint: msg`Leave --encoding out.` });
  }
  if (headerRows !== undefined && !options.includes('header')) {
    throw new FileError(file, msg`${file} has no row of names.`, { hint: msg`Leave --header-row out.` });
  }
  return read({ file, bytes, entries, beside, sheet, encoding, headerRows });
}
