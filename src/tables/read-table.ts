import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { hasJournal, imageWithJournal, JOURNALS } from '../store/database-file.ts';
import { parseTable } from './csv-table.ts';
import { FORM_FILE } from './field-form.ts';
import type { HeaderRows } from './header-row.ts';
import { readInputFile, refuseTooManyBytes } from './input-file.ts';
import type { Table } from './table.ts';
import { kindOfTable } from './table-kind.ts';
import { inUtf8 } from './text-encoding.ts';

type ReadOptions = {
  /** The sheet of a workbook or the layer of a GeoPackage that is read; otherwise the first that holds something. */
  readonly sheet?: string;
  /** What the text of a CSV table is written in; otherwise that is recognised. */
  readonly encoding?: string;
  /** The rows that hold the names of the columns; otherwise they are found. */
  readonly headerRows?: HeaderRows;
  /** Where the photographs lie that a form names; otherwise with it. */
  readonly photoFolder?: string;
};

/**
 * A table of finds from a file of any format: CSV, XLSX, GeoJSON, GPX, GeoPackage or the service's XML, told apart by their
 * content; or from the folder of a form that came back from a phone. What reads a format is loaded only when a file is of it.
 *
 * @throws FileError where the file cannot be read as a whole
 */
export async function readTable(path: string, options: ReadOptions = {}): Promise<Table> {
  const { photoFolder } = options;
  if (isFolder(path)) return readFolder(path, options);
  if (/\.zip$/i.test(path)) {
    const table = await (await import('./form-export.ts')).readFormArchive(path, photoFolder);
    if (table !== undefined) return table;
  }
  const bytes = await readInputFile(path);
  const kind = kindOfTable(path, bytes);
  if (kind === 'gpkg' && hasJournal(path)) {
    for (const journal of JOURNALS.map((suffix) => `${path}${suffix}`))
      refuseTooManyBytes(journal, statSync(journal, { throwIfNoEntry: false })?.size ?? 0);
    return readTableBytes(path, imageWithJournal(path), options);
  }
  const table = await readTableBytes(path, bytes, options);
  if (kind !== 'csv' && kind !== 'xlsx') return table;
  const { isFormTable, withRepeatsBeside, withRepeatSheets } = await import('./form-export.ts');
  if (!isFormTable(table)) return table;
  return kind === 'csv' ? withRepeatsBeside(table, photoFolder) : withRepeatSheets(table, bytes, photoFolder);
}

/** What cannot even be looked at is said when it is opened. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** @throws FileError where nothing in the folder is what a program for phones gives out */
async function readFolder(folder: string, options: ReadOptions): Promise<Table> {
  const collected = geoPackageIn(folder);
  if (collected !== undefined) return readTable(collected, options);
  const { readFormFolder } = await import('./form-export.ts');
  const table = await readFormFolder(folder, options.photoFolder, (path) => readTable(path, options));
  if (table !== undefined) return table;
  throw new FileError(folder, msg`${folder} is a folder, and holds no table of forms that were filled in.`, {
    hint: msg`Name the file of the table itself, or the folder into which an export of ODK Central or KoboToolbox was unpacked.`,
  });
}

/** Of a folder that came back from a phone: the one that `pas field make` put there, else the only one. */
function geoPackageIn(folder: string): string | undefined {
  const files = readdirSync(folder).filter((name) => /\.gpkg$/i.test(name));
  const [only, another] = files.includes(FORM_FILE) ? [FORM_FILE] : files;
  return only === undefined || another !== undefined ? undefined : join(folder, only);
}

/**
 * The same for bytes that are at hand, for example from stdin. `file` is for messages, and for the kind where the bytes leave it open.
 *
 * @throws FileError where the bytes cannot be read as a table
 */
export async function readTableBytes(
  file: string,
  bytes: Buffer,
  { sheet, encoding, headerRows }: ReadOptions = {},
): Promise<Table> {
  const kind = kindOfTable(file, bytes);
  if (sheet !== undefined && kind !== 'xlsx' && kind !== 'gpkg') {
    throw new FileError(file, msg`${file} has no sheets and no layers to choose from.`, {
      hint: msg`Leave --sheet and --layer out.`,
    });
  }
  if (encoding !== undefined && kind !== 'csv') {
    throw new FileError(file, msg`${file} says itself in what it is written.`, { hint: msg`Leave --encoding out.` });
  }
  if (headerRows !== undefined && kind !== 'csv' && kind !== 'xlsx') {
    throw new FileError(file, msg`${file} has no row of names.`, { hint: msg`Leave --header-row out.` });
  }
  switch (kind) {
    case 'csv': {
      const { text, issues } = await inUtf8(file, bytes, encoding);
      const table = parseTable(file, text, headerRows);
      return { ...table, issues: [...issues, ...table.issues] };
    }
    case 'xlsx':
      return (await import('./xlsx-table.ts')).readXlsx(file, bytes, sheet, headerRows);
    case 'geojson':
      return (await import('./geojson-table.ts')).readGeoJson(file, bytes);
    case 'gpkg':
      return (await import('./gpkg-table.ts')).readGeoPackage(file, bytes, sheet);
    case 'xml':
      return (await import('./xml-table.ts')).readXmlTable(file, bytes);
  }
}
