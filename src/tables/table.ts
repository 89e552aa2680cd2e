import { FileError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { PointInSystem } from '../place/geometry.ts';

/** What every reader of tables yields, whatever the file's format. */
export type Table = TablePlace & {
  /** Names of the columns. */
  readonly header: readonly string[];
  /** What a column map says that the columns are: a name that pas understands, or '' for one that is left out. */
  readonly names?: readonly string[];
  /** As a spreadsheet numbers it; absent where no row of the file holds the names. */
  readonly headerRow?: number;
  /**
   * Rows that could be read; those that could not are in `issues`. They may be walked more than once, and are made anew each
   * time where that keeps a large file out of memory.
   */
  readonly rows: Iterable<TableRow>;
  readonly rowCount: number;
  readonly issues: readonly Issue[];
  /** Photographs that came in the table's own archive. */
  readonly attachments?: Attachments;
  /** The folder beside the file whose photographs all belong to rows. */
  readonly photographsIn?: string;
  /** Where it is what a form for phones brought back: the rest of that. */
  readonly formExport?: FormExport;
};

/** What a server of forms gives out beside the table of what was filled in. */
type FormExport = {
  /** Tables of groups that were filled several times; each row says in which form. */
  readonly repeats: readonly Table[];
  readonly attachments: Attachments;
};

/** Files that came with a table. */
export type Attachments = {
  /** Relative, with slashes. */
  readonly paths: readonly string[];
  /** What the paths start from, where they are files. */
  readonly folder?: string;
  /** Where they are parts of an archive, which stays open once one of them was asked for. */
  readonly archive?: {
    /** Writes one of them to a file that is not there yet. @throws FileError, also where it has more than `mostBytes` */
    unpack(path: string, to: string, mostBytes: number): Promise<void>;
    close(): Promise<void>;
  };
};

/** Where a table stands, for messages. */
export type TablePlace = {
  /** The file as the user named it. */
  readonly file: string;
  /** The sheet of a workbook, or the layer of a GeoPackage or an archive. */
  readonly sheet?: string;
  /** What a row is, where it is no row of a spreadsheet: what `row` counts. */
  readonly unit?: RowUnit;
};

type RowUnit = 'feature' | 'waypoint' | 'find';

/** `cells` has exactly as many texts as the header has columns. */
export type TableRow = {
  /**
   * As a spreadsheet numbers it: the header is row 1, blank rows count, a line break inside quotes does not. Features,
   * waypoints and finds are counted from 1.
   */
  readonly row: number;
  /** Line of a text file where the row begins, from 1. */
  readonly line?: number;
  readonly cells: readonly string[];
  /** By the number of the column, from 0: cells that show another text than the value that they store, which is in `cells`. */
  readonly shown?: ShownCells;
  /** The point, where the format has a place of its own for it. */
  readonly point?: PointInSystem;
  /** The point was drawn on a map where columns say it as it was measured: both need to be near one another only. */
  readonly isDrawn?: true;
  /** Photographs, where the format has a place of its own for them; else they stand in the column `photos`. */
  readonly photos?: readonly string[];
};

/** What a cell shows by its number format, or as its column writes it. */
export type ShownCell = {
  readonly text: string;
  /** It stores a day: whatever was typed there, the spreadsheet took it for a date. */
  readonly isDate?: true;
};
export type ShownCells = ReadonlyMap<number, ShownCell>;

/** The text of a cell as a person sees it. */
export function shownText({ cells, shown }: Pick<TableRow, 'cells' | 'shown'>, column: number): string {
  return shown?.get(column)?.text ?? cells[column] ?? '';
}

/** Merged into the issues that are found about a row. */
export type RowPlace = TablePlace & { readonly row: number; readonly line?: number };

export function placeOf({ file, sheet, unit }: TablePlace): TablePlace {
  return { file, ...(sheet === undefined ? {} : { sheet }), ...(unit === undefined ? {} : { unit }) };
}

/** Of a spreadsheet the row says it all; of the others the line helps to find it. */
export function rowPlaceOf(table: TablePlace, { row, line }: Pick<TableRow, 'row' | 'line'>): RowPlace {
  return { ...placeOf(table), row, ...(table.unit === undefined || line === undefined ? {} : { line }) };
}

/** Where a column's name stands. */
export function headerPlaceOf(table: Table): TablePlace & { readonly row?: number } {
  const row = table.headerRow ?? (table.unit === undefined ? 1 : undefined);
  return { ...placeOf(table), ...(row === undefined ? {} : { row }) };
}

/** A season has some ten thousand finds of fifty columns; a table of far more is refused before its cells are made. */
const MAX_ROWS = 100_000;
const MAX_COLUMNS = 1000;
const MAX_CELLS = 3_000_000;
const MAX_TEXTS = 750_000;
/** Of the form alone, before any cell is understood. */
const MAX_FAULTS = 100_000;

/** @throws FileError where a table has more than is read */
export function refuseTooLarge(
  file: string,
  size: {
    readonly rows?: number;
    readonly columns?: number;
    readonly cells?: number;
    readonly texts?: number;
    readonly faults?: number;
  },
): void {
  const hint = msg`Split the table, or take away what is not part of it.`;
  const { rows = 0, columns = 0, cells = rows * columns, texts = 0, faults = 0 } = size;
  if (rows > MAX_ROWS) throw new FileError(file, msg`${file} has more than ${MAX_ROWS} rows, which are not read.`, { hint });
  if (columns > MAX_COLUMNS)
    throw new FileError(file, msg`${file} has more than ${MAX_COLUMNS} columns, which are not read.`, { hint });
  if (cells > MAX_CELLS) throw new FileError(file, msg`${file} has more than ${MAX_CELLS} cells, which are not read.`, { hint });
  if (texts > MAX_TEXTS)
    throw new FileError(file, msg`${file} has more than ${MAX_TEXTS} different texts, which are not read.`, { hint });
  if (faults > MAX_FAULTS)
    throw new FileError(file, msg`${file} has more than ${MAX_FAULTS} errors in its form, and is taken for no table.`, { hint });
}
