import { FileError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { PointInSystem } from '../place/geometry.ts';

/** Result of every table reader, whatever the format. */
export type Table = TablePlace & {
  /** Names of the columns. */
  readonly header: readonly string[];
  /** Meanings that a column map gives to the columns: a name that pas knows, or '' for one that is left out. */
  readonly names?: readonly string[];
  /** Row number of the header in the spreadsheet; absent where the file has none. */
  readonly headerRow?: number;
  /** Readable rows; they may be iterated more than once, and may be made anew each time, to save memory. */
  readonly rows: Iterable<TableRow>;
  readonly rowCount: number;
  readonly issues: readonly Issue[];
  /** Photographs in the table's own archive. */
  readonly attachments?: Attachments;
  /** Folder beside the file whose photographs all belong to rows. */
  readonly photographsIn?: string;
  /** Rest of the export, where the table came from a form for phones. */
  readonly formExport?: FormExport;
};

/** Further data of a form server beside the table of filled forms. */
type FormExport = {
  /** Tables of repeated groups; each row names its form. */
  readonly repeats: readonly Table[];
  readonly attachments: Attachments;
};

/** Files that came with a table. */
export type Attachments = {
  /** Relative, with slashes. */
  readonly paths: readonly string[];
  /** Folder of the paths, where they are files. */
  readonly folder?: string;
  /** Archive of the paths, where they are its parts; it stays open after the first access. */
  readonly archive?: {
    /** Unpacks a part to a new file. @throws FileError, also where it has more than `maxBytes` */
    unpack(path: string, to: string, maxBytes: number): Promise<void>;
    close(): Promise<void>;
  };
};

/** Position of a table, for messages. */
export type TablePlace = {
  /** File as the user named it. */
  readonly file: string;
  /** Sheet of a workbook, or layer of a GeoPackage or an archive. */
  readonly sheet?: string;
  /** Unit that `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: RowUnit;
};

type RowUnit = 'feature' | 'waypoint' | 'find';

/** A row; `cells` has one text per column of the header. */
export type TableRow = {
  /**
   * Row number as in a spreadsheet: the header is row 1, blank rows count, a line break inside quotes does not. Features,
   * waypoints and finds are counted from 1.
   */
  readonly row: number;
  /** Line of a text file where the row begins, from 1. */
  readonly line?: number;
  readonly cells: readonly string[];
  /** Displayed texts by column, from 0, where they differ from the stored values in `cells`. */
  readonly shown?: ShownCells;
  /** The point, where the format has a geometry. */
  readonly point?: PointInSystem;
  /** The point was drawn on a map, while columns have the measured one: they need only be near each other. */
  readonly isDrawn?: true;
  /** Photographs, where the format lists them; else they are in the column `photos`. */
  readonly photos?: readonly string[];
};

/** Text of a cell by its number format, or by the decimals of its column. */
export type ShownCell = {
  readonly text: string;
  /** The spreadsheet stores a date, whatever was typed. */
  readonly isDate?: true;
};
export type ShownCells = ReadonlyMap<number, ShownCell>;

/** Returns the displayed text of a cell. */
export function shownText({ cells, shown }: Pick<TableRow, 'cells' | 'shown'>, column: number): string {
  return shown?.get(column)?.text ?? cells[column] ?? '';
}

/** Position that is merged into the issues of a row. */
export type RowPlace = TablePlace & { readonly row: number; readonly line?: number };

export function placeOf({ file, sheet, unit }: TablePlace): TablePlace {
  return { file, ...(sheet === undefined ? {} : { sheet }), ...(unit === undefined ? {} : { unit }) };
}

/** Returns the position of a row; the line is added for formats that are no spreadsheets. */
export function rowPlaceOf(table: TablePlace, { row, line }: Pick<TableRow, 'row' | 'line'>): RowPlace {
  return { ...placeOf(table), row, ...(table.unit === undefined || line === undefined ? {} : { line }) };
}

export function headerPlaceOf(table: Table): TablePlace & { readonly row?: number } {
  const row = table.headerRow ?? (table.unit === undefined ? 1 : undefined);
  return { ...placeOf(table), ...(row === undefined ? {} : { row }) };
}

/** Limits: a season has some ten thousand finds of fifty columns; a far larger table is refused before its cells are read. */
const MAX_ROWS = 100_000;
const MAX_COLUMNS = 1000;
const MAX_CELLS = 3_000_000;
const MAX_TEXTS = 750_000;
/** Limit for issues of the format, before any cell is interpreted. */
const MAX_FAULTS = 100_000;

/** @throws FileError where a table exceeds the limits */
export function assertTableSize(
  file: string,
  size: {
    readonly rows?: number;
    readonly columns?: number;
    readonly cells?: number;
    readonly texts?: number;
    readonly faults?: number;
  },
): void {
  const hint = msg`Split the table, or remove what is not part of it.`;
  const { rows = 0, columns = 0, cells = rows * columns, texts = 0, faults = 0 } = size;
  if (rows > MAX_ROWS)
    throw new FileError(file, msg`${file} has more than ${MAX_ROWS} rows, which is too many to read.`, { hint });
  if (columns > MAX_COLUMNS)
    throw new FileError(file, msg`${file} has more than ${MAX_COLUMNS} columns, which is too many to read.`, { hint });
  if (cells > MAX_CELLS)
    throw new FileError(file, msg`${file} has more than ${MAX_CELLS} cells, which is too many to read.`, { hint });
  if (texts > MAX_TEXTS)
    throw new FileError(file, msg`${file} has more than ${MAX_TEXTS} different texts, which is too many to read.`, { hint });
  if (faults > MAX_FAULTS)
    throw new FileError(file, msg`${file} has more than ${MAX_FAULTS} syntax errors, so it is not a table.`, { hint });
}
