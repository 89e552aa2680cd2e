import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { FileError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import { isRepeatTable } from '../header-row.ts';
import { readInputFile } from '../input-file.ts';
import { makeTooLargeError, type Table } from '../table.ts';
import { parseCsvTable } from './csv-table.ts';
import { convertFormTable } from './form-return.ts';
import type { WorkbookParts } from './xlsx.ts';

/** Several times the photographs of a season. */
const MAX_FILES = 200_000;
const DEEPEST = 8;

/**
 * Lists the files below a folder, {@link DEEPEST} levels deep, by relative path with `/`. Links are
 * left out.
 * @throws FileError where there are more than {@link MAX_FILES}; the system's error for a folder
 * that cannot be listed
 */
function listFilesBelow(folder: string): string[] {
  const paths: string[] = [];
  const walk = (at: string, depth: number): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && depth < DEEPEST) walk(path, depth + 1);
      else if (entry.isFile()) paths.push(relative(folder, path).split(sep).join('/'));
      if (paths.length > MAX_FILES) throw makeTooLargeError(folder);
    }
  };
  walk(folder, 0);
  return paths;
}

/**
 * Reads the finds of filled forms from the unpacked export of a form server: from the one CSV or
 * XLSX file directly in the folder that has filled forms. Files that cannot be read as a table are
 * passed over. Undefined where no file has filled forms.
 * @param read called for each CSV and XLSX file, in the order of names; it returns a table with
 * `photoFolder` for filled forms, and any other table otherwise
 * @throws FileError where several files have filled forms; errors of `read` other than FileError;
 * the system's error for a folder that cannot be listed
 */
export async function readFormFolder(
  folder: string,
  read: (path: string) => Promise<Table>,
): Promise<Table | undefined> {
  const files = readdirSync(folder).filter((name) => /\.(csv|xlsx)$/i.test(name));
  const tables: Table[] = [];
  for (const name of files.sort()) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const table = await readForms(path, read);
    if (table !== undefined) tables.push(table);
  }
  const [table, another] = tables;
  if (another === undefined) return table;
  const names = tables.map(({ file }) => basename(file)).join(', ');
  throw new FileError(
    folder,
    msg`${folder} contains submissions of several forms: ${names}. Import one at a time.`,
  );
}

/** Reads the table of a file; undefined where it has no forms, or is not readable. */
async function readForms(
  path: string,
  read: (path: string) => Promise<Table>,
): Promise<Table | undefined> {
  try {
    const table = await read(path);
    return table.photoFolder === undefined ? undefined : table;
  } catch (thrown) {
    if (thrown instanceof FileError) return undefined;
    throw thrown;
  }
}

/**
 * Returns the finds of a CSV table of filled forms. Their repeated groups are read from the files
 * `FORM-GROUP.csv` in UTF-8 beside the table `FORM.csv`; the photographs are paths in
 * `photoFolder`, and are not read.
 * @param photoFolder by default the folder of the table
 * @throws FileError where a file of a group cannot be read, or a folder has too many files; the
 * system's error for a folder that cannot be listed
 */
export async function readCsvForms(
  table: Table,
  photoFolder = dirname(table.file),
): Promise<Table> {
  const folder = dirname(table.file);
  const start = `${basename(table.file, extname(table.file))}-`;
  const beside = readdirSync(folder).filter(
    (name) => name.startsWith(start) && extname(name).toLowerCase() === '.csv',
  );
  const repeats: Table[] = [];
  for (const name of beside.sort()) {
    const path = join(folder, name);
    const repeat = parseCsvTable(path, await readInputFile(path));
    if (isRepeatTable(repeat)) repeats.push(repeat);
  }
  return convertFormTable({ table, repeats, photoFolder, paths: listFilesBelow(photoFolder) });
}

/**
 * Returns the finds of a sheet of filled forms in a workbook of KoboToolbox. Their repeated groups
 * are read from the other sheets, and the warning that these were not read is removed; the
 * photographs are paths in `photoFolder`, and are not read.
 * @param parts of the same workbook
 * @param photoFolder by default the folder of the workbook
 * @throws FileError where a sheet is malformed, or the folder has too many files; the system's
 * error for a folder that cannot be listed
 */
export async function readWorkbookForms(
  table: Table,
  parts: WorkbookParts,
  photoFolder = dirname(table.file),
): Promise<Table> {
  const { parseXlsxSheets } = await import('./xlsx.ts');
  const repeats = parseXlsxSheets(table.file, parts).filter(isRepeatTable);
  const issues = table.issues.filter(
    ({ rule }) => rule !== 'table-other-sheets' || repeats.length === 0,
  );
  return convertFormTable({
    table: { ...table, issues },
    repeats,
    photoFolder,
    paths: listFilesBelow(photoFolder),
  });
}
