import type { Issue } from '../base/issue.ts';
import type { Find } from './find.ts';
import type { MapContext } from './map-row.ts';
import type { Table } from './table.ts';

export type MappedTable = {
  readonly finds: readonly Find[];
  /** The table's own issues, those of its header and those of the rows that were left out. */
  readonly issues: readonly Issue[];
};

/** All rows of a table as finds; rows that cannot be read are left out and reported. */
export declare function mapTable(table: Table, context: MapContext): MappedTable;
