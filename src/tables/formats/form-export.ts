import { readdirSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { isRepeatedGroupTable } from '../header-row.ts';
import { readInputFile } from '../input-file.ts';
import { makeTooLargeError, type Table } from '../table.ts';
import { parseCsvTable } from './csv-table.ts';
import { convertFormTable } from './form-return.ts';
import type { WorkbookParts } from './xlsx.ts';

/** Several times the photographs of a season. */
const MAX_FILES = 200_000;

/**
 * Lists the files below a folder by relative path with `/`. Links are left out.
 * @throws FileError where there are more than {@link MAX_FILES}; the system's error for a folder
 * that cannot be listed
 */
function listFilesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  if (entries.length > MAX_FILES) throw makeTooLargeError(folder);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .map((path) => path.split(sep).join('/'));
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
    if (isRepeatedGroupTable(repeat)) repeats.push(repeat);
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
  const { parseXlsxTables } = await import('./xlsx.ts');
  const repeats = parseXlsxTables(table.file, parts).filter(isRepeatedGroupTable);
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
