import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { COLUMN_NAMES, meaningOfColumn } from './columns.ts';
import { foldName, nearestNames } from './names.ts';
import type { Table, TableRow } from './table.ts';

/** What a table leaves out, such as the project of all its finds: column name and text. */
export type Constant = readonly [column: string, text: string];

/**
 * `stav=1` → a constant.
 *
 * @throws UsageError where it is not of this form, or the column is not known
 */
export function readConstant(setting: string): Constant {
  const at = setting.indexOf('=');
  const column = at === -1 ? setting : setting.slice(0, at).trim();
  if (at === -1) throw new UsageError(t`"${setting}" has no value. Write element=value, such as projekt=C-202400101.`);
  const meaning = meaningOfColumn(column);
  if (meaning !== undefined && meaning !== 'local_id' && meaning !== 'ident_cely') return [meaning, setting.slice(at + 1).trim()];
  const nearest = nearestNames(foldName(column), COLUMN_NAMES).join(', ');
  throw new UsageError(t`"${column}" cannot be set for all finds of a table.`, nearest === '' ? {} : { hint: nearest });
}

/** The same table with these texts in the columns that it does not have, and in the cells that it leaves empty. */
export function withConstants(table: Table, constants: readonly Constant[]): Table {
  if (constants.length === 0) return table;
  const header = [...table.header];
  const places = constants.map(([column, text]) => {
    const known = header.findIndex((name) => meaningOfColumn(name) === column);
    return [known === -1 ? header.push(column) - 1 : known, text] as const;
  });
  const filled = (row: TableRow): TableRow => {
    const cells = [...row.cells, ...Array.from({ length: header.length - row.cells.length }, () => '')];
    for (const [index, text] of places) cells[index] = (cells[index] ?? '').trim() === '' ? text : (cells[index] ?? '');
    return { ...row, cells };
  };
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) yield filled(row);
  };
  return { ...table, header, rows: { [Symbol.iterator]: rows } };
}
