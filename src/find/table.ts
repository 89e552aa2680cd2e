import type { Issue } from '../base/issue.ts';

/** One row below the header. `cells` has exactly as many texts as the header has columns. */
export type TableRow = {
  /** As a spreadsheet numbers it: the header is row 1, blank rows count, a line break inside quotes does not. */
  readonly row: number;
  /** Line of the file where the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
};

/** What every reader of tables yields, whatever the file's format. */
export type Table = {
  /** The file as the user named it, for messages. */
  readonly file: string;
  readonly header: readonly string[];
  /** Rows that could be read; those that could not are in `issues`. */
  readonly rows: readonly TableRow[];
  readonly issues: readonly Issue[];
};

export declare function readTable(path: string): Promise<Table>;
export declare function parseTable(file: string, bytes: Buffer): Table;
