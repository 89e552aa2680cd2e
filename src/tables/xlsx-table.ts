import type { HeaderRows } from './header-row.ts';
import { tableOfSheets } from './sheet-table.ts';
import type { Table } from './table.ts';
import { sheetsOf } from './xlsx-workbook.ts';
import type { ZipEntry } from './zip-entries.ts';

/**
 * Reads a sheet of a workbook (XLSX). Dates are read as days, numbers with the digits that the spreadsheet shows.
 *
 * @param named the sheet; otherwise the first visible one that holds something
 * @param headerRows the rows that hold the names of the columns; otherwise they are found
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
