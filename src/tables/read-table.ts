import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { hasJournal, imageWithJournal } from '../store/database-file.ts';
import { parseTable } from './csv-table.ts';
import { FORM_FILE } from './field-form.ts';
import type { HeaderRows } from './header-row.ts';
import { readInputFile } from './input-file.ts';
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
};

/**
 * A table of finds from a file of any format: CSV, XLSX, GeoJSON, GPX, GeoPackage or the service's XML, told apart by their
 * content; or from the folder of a form that came back from a phone. What reads a format is loaded only when a file is of it.
 *
 * @throws FileError where the file cannot be read as a whole
 */
export async function readTable(path: string, options: ReadOptions = {}): Promise<Table> {
  const file = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? formIn(path) : path;
  const bytes = await readInputFile(file);
  const isDatabase = kindOfTable(file, bytes) === 'gpkg' && hasJournal(file);
  return readTableBytes(file, isDatabase ? imageWithJournal(file) : bytes, options);
}

/** The GeoPackage of a folder that came back from a phone: the one that `pas field make` put there, else the only one. */
function formIn(folder: string): string {
  const files = readdirSync(folder).filter((name) => /\.gpkg$/i.test(name));
  const [only, another] = files.includes(FORM_FILE) ? [FORM_FILE] : files;
  if (only !== undefined && another === undefined) return join(folder, only);
  throw new FileError(folder, msg`${folder} is a folder with no ${FORM_FILE}, which \`pas field make\` puts there.`, {
    hint: msg`Name the file with the finds.`,
  });
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
