import { UsageError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { meaningOfColumn } from '../find/column-names.ts';
import type { Table, TableRow } from '../tables/table.ts';
import { type Setting, settingsOrRefusal } from './settings.ts';

/** Columns that differ for each find. */
const OF_ONE_FIND: readonly string[] = ['local_id', 'ident_cely'];

/**
 * Parses values for all finds of a table, such as `stav=1`.
 * @throws UsageError where a text does not have this form, or names a column that differs for each find
 */
export function parseConstants(texts: readonly string[]): readonly Setting[] {
  const constants = settingsOrRefusal(texts);
  const own = constants.find(({ name }) => OF_ONE_FIND.includes(name));
  if (own !== undefined) throw new UsageError(msg`"${own.given}" cannot be set for all finds of a table.`);
  return constants;
}

/** Returns the table with these texts in missing columns and empty cells. */
export function withConstants(table: Table, constants: readonly Setting[]): Table {
  if (constants.length === 0) return table;
  const header = [...table.header];
  const names = [...(table.names ?? header)];
  const places = constants.map(({ name, value }) => {
    const known = names.findIndex((column) => meaningOfColumn(column) === name);
    if (known !== -1) return [known, value] as const;
    names.push(name);
    return [header.push(name) - 1, value] as const;
  });
  const filled = (row: TableRow): TableRow => {
    const cells = [...row.cells, ...Array.from({ length: header.length - row.cells.length }, () => '')];
    for (const [index, text] of places) cells[index] = (cells[index] ?? '').trim() === '' ? text : (cells[index] ?? '');
    return { ...row, cells };
  };
  const rows = function* (): Generator<TableRow> {
    for (const row of table.rows) yield filled(row);
  };
  return { ...table, header, ...(table.names === undefined ? {} : { names }), rows: { [Symbol.iterator]: rows } };
}
