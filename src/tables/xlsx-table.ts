import type { HeaderRows } from './header-row.ts';
import { tableOfSheets } from './sheet-table.ts';
import type { Table } from './table.ts';
import { sheetsOf } from './xlsx-workbook.ts';
import { readZip, type ZipEntry } from './zip-entries.ts';

/**
 * Reads a sheet of a workbook (XLSX). Dates are read as days, numbers with the digits that the spreadsheet shows.
 * @param named sheet; otherwise the first visible one with content
 * @param headerRows rows of the header; otherwise they are detected
 * @throws FileError where the archive is no workbook, or has no such sheet
 */
export function readXlsx(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  return tableOfSheets(file, sheetsOf(file, entries), named, headerRows);
}

/** Reads all visible sheets with content, with the header in the first row. @throws FileError as {@link readXlsx} */
export async function readXlsxSheets(file: string, bytes: Buffer): Promise<Table[]> {
  const sheets = sheetsOf(file, await readZip(file, bytes));
  const filled = sheets.filter((sheet) => !sheet.hidden && sheet.hasValues());
  return filled.map(({ name }) => tableOfSheets(file, sheets, name, { first: 1, last: 1 }));
}
