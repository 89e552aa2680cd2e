import { formatCodePoint, makeIdKey } from '../base/characters.ts';
import { removeFormulaMark } from '../base/csv.ts';
import { FileError } from '../base/errors.ts';
import {
  hasErrors,
  type Issue,
  makeErrorIssue,
  makeRuleProblem,
  makeWarningIssue,
  type RuleProblem,
  toIssue,
} from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import type { RowNumber, RowPlace, TablePlace } from '../finds/find.ts';
import type { PointInSystem } from '../finds/place/geometry.ts';

/** Result of every table reader, whatever the format. */
export type Table = TablePlace & {
  readonly header: readonly string[];
  /** Row of the header, the last of two, from 1; absent where the format has none. */
  readonly headerRow?: number;
  /**
   * Readable rows; they may be iterated more than once, and may be made again each time, to save
   * memory.
   */
  readonly rows: Iterable<TableRow>;
  /** Number of `rows`, without the unreadable ones. */
  readonly rowCount: number;
  /** Those of the file, of rows that could not be read, and warnings of those that could. */
  readonly issues: readonly Issue[];
  /** Folder of the photographs that came with forms; only a table of forms has one. */
  readonly photoFolder?: string;
};

/** A row; `cells` has one text per column of the header. */
export type TableRow = RowNumber & RowCells & BesideColumns;

/** The cells of a row, as stored and as displayed. */
export type RowCells = {
  readonly cells: readonly string[];
  /** Displayed texts by column, from 0, where they differ from the stored values in `cells`. */
  readonly shown?: ShownCells;
};

/** Point of a format that has it beside its columns. */
type BesideColumns = { readonly point?: PointInSystem };

/** Text of a cell by its number format. */
export type ShownCell = {
  readonly text: string;
  /** The spreadsheet stores a date, whatever was typed. */
  readonly isDate?: true;
};
type ShownCells = ReadonlyMap<number, ShownCell>;

/** Returns a cell as the spreadsheet displays it, else as stored; '' where the row is shorter. */
export function getDisplayedText({ cells, shown }: RowCells, column: number): string {
  return shown?.get(column)?.text ?? cells[column] ?? '';
}

/** Returns where a table is: its file, sheet and unit, without its other properties. */
export function getTablePlace({ file, sheet, unit }: TablePlace): TablePlace {
  return {
    file,
    sheet,
    unit,
  };
}

/** Returns where a row is; its line only for a feature, a waypoint or a find of a document. */
export function getRowPlace(table: TablePlace, { row, line }: RowNumber): RowPlace {
  const { file, sheet, unit } = table;
  return { file, sheet, unit, row, line: unit === undefined ? undefined : line };
}

/** A sheet of a workbook, or a layer of a GeoPackage. */
type Sheet = { readonly name: string };

/**
 * Returns the sheet or layer that the user named: by its name in any letter case, else by its
 * number in the file, from 1.
 * @param sheets all of the file, in its order
 * @throws FileError where none has this name or number
 */
export function getSheetOrLayer<T extends Sheet>(
  file: string,
  sheets: readonly T[],
  named: string,
): T {
  const sheet =
    sheets.find(({ name }) => makeIdKey(name) === makeIdKey(named)) ??
    (/^[1-9]\d*$/.test(named) ? sheets[Number(named) - 1] : undefined);
  if (sheet !== undefined) return sheet;
  throw makeMissingSheetError(file, sheets, named);
}

/**
 * Makes the error of a file that lacks the sheet or layer `named`; without a name, that of a file
 * in which none has rows that can be read. The hint lists `sheets`, those that the file has.
 */
export function makeMissingSheetError(
  file: string,
  sheets: readonly Sheet[],
  named?: string,
): FileError {
  const names = sheets.map(({ name }) => name).join(', ');
  const problem =
    named === undefined
      ? msg`${file} has no sheet or layer with content.`
      : msg`${file} has no sheet or layer "${named}".`;
  const hint = names === '' ? undefined : msg`It has: ${names}.`;
  return new FileError(file, problem, { hint });
}

/**
 * Returns one warning that names the other sheets or layers with content, which are not read since
 * the user named none; empty where there are no others.
 */
export function makeUnreadSheetsIssues(place: TablePlace, others: readonly Sheet[]): Issue[] {
  if (others.length === 0) return [];
  const names = others.map(({ name }) => name).join(', ');
  const message = msg`The file has other sheets or layers with content, which were not read: ${names}. To read one of them: --sheet NAME`;
  return [makeWarningIssue('table-other-sheets', message, getTablePlace(place))];
}

/**
 * Returns where the header is, for issues of columns: row 1 where a CSV has none, 0 for a blank
 * sheet that was named; without a row where its format has none.
 */
export function getHeaderPlace(table: Table): TablePlace & { readonly row?: number } {
  const row = table.headerRow ?? (table.unit === undefined ? 1 : undefined);
  return { ...getTablePlace(table), row };
}

/**
 * Makes the error of a file that is damaged, or not of the format of its name, with the advice to
 * save or copy it again.
 */
export function makeDamagedFileError(file: string, problem: Message, cause?: unknown): FileError {
  const hint = msg`Save it again in the program that it comes from, or copy it again.`;
  return new FileError(file, problem, { cause, hint });
}

/**
 * Makes the error of a file, or a part of one, whose bytes were lost or changed, with the advice of
 * {@link makeDamagedFileError}.
 */
export function makeCutShortError(file: string, cause?: unknown): FileError {
  return makeDamagedFileError(file, msg`${file} is damaged or cut short.`, cause);
}

/**
 * Makes the error of a text that does not follow its format.
 * @param problem what is wrong, for the end of a sentence
 */
export function makeSyntaxError(
  file: string,
  format: 'XML' | 'JSON',
  problem: Message,
  cause: unknown,
): FileError {
  return makeDamagedFileError(file, msg`${file} is not valid ${format}: ${problem}.`, cause);
}

/** Makes the error of a format that pas does not read, which advises one that it does. */
export function makeUnsupportedFormatError(file: string): FileError {
  return new FileError(file, msg`${file} is in a format that pas does not read.`, {
    hint: msg`Save it as .xlsx or CSV UTF-8, a map as GeoPackage or GeoJSON; unpack an archive of submitted forms, and import the folder; for records of pas harvest, use \`${cmd`pas pull`}\` and \`${cmd`pas export`}\`.`,
  });
}

/**
 * Makes the error of an encrypted workbook or archive, which advises to save it without a password.
 */
export function makeEncryptedFileError(file: string): FileError {
  return new FileError(file, msg`${file} is protected by a password and cannot be read.`, {
    hint: msg`Open it in the spreadsheet and save it without the password.`,
  });
}

/**
 * Maximum size of tables and documents: a season has a few MB, and parsing takes several times the
 * size.
 */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** Makes the error of a file that exceeds a limit of pas; its hint names those of a table. */
export function makeTooLargeError(file: string): FileError {
  const { rows, columns, cells } = LIMITS;
  return new FileError(file, msg`${file} is larger than pas reads.`, {
    hint: msg`A table may have ${rows} rows, ${columns} columns and ${cells} cells. Split it, or remove what is not part of it.`,
  });
}

/**
 * Refuses an input before it is read, since parsing takes several times its size.
 * @param file its name in the error
 * @throws FileError where it has more than `maxBytes`
 */
export function assertInputSize(file: string, sizeBytes: number, maxBytes = MAX_INPUT_BYTES): void {
  if (sizeBytes > maxBytes) throw makeTooLargeError(file);
}

/**
 * Limits: a season has some ten thousand finds of fifty columns; a far larger table is refused
 * before its cells are read. A workbook stores a text once, and may use it in every cell.
 */
const LIMITS = {
  rows: 100_000,
  // A spreadsheet has half as many, most of which may be blank.
  lines: 2_000_000,
  columns: 1000,
  cells: 3_000_000,
  texts: 750_000,
  characters: 30_000_000,
  faults: 100_000,
};
type Counts = Readonly<Partial<Record<keyof typeof LIMITS, number>>>;

/**
 * Asserts that the counts of a table are within {@link LIMITS}. Those not given are not checked;
 * only `cells` is computed then, from rows and columns.
 * @throws FileError where a count is larger
 */
export function assertTableSize(file: string, counts: Counts): void {
  const { rows = 0, columns = 0 } = counts;
  const all: Counts = { cells: rows * columns, ...counts };
  for (const counted of COUNTED)
    if ((all[counted] ?? 0) > LIMITS[counted]) throw makeTooLargeError(file);
}

const COUNTED = Object.keys(LIMITS) as (keyof typeof LIMITS)[];

/** A row of a format with named values: a feature, a waypoint, a find. */
type NamedValues = RowNumber &
  BesideColumns & {
    readonly values: ReadonlyMap<string, string>;
  };

/** A record, or the reason why it cannot be read; `find` names it. */
export type ReadRecord = NamedValues | (RowNumber & RuleProblem & { readonly find?: string });

/** Contents of a file as its reader gives them to {@link makeTableOfReadableRows}. */
type TableContents = {
  readonly place: TablePlace;
  readonly header: readonly string[];
  readonly headerRow?: number;
  /** Yields rows, or issues in the place of unreadable ones; called more than once. */
  readonly readRows: () => Iterable<TableRow | Issue>;
  /** Returns the issues of a row; the place is added. */
  readonly check: (row: TableRow) => readonly Issue[];
  /** Issues of the file. */
  readonly issues: readonly Issue[];
  /** Issue of a table that has neither rows nor errors. */
  readonly none: Issue | FileError;
};

/**
 * Makes a table of the rows without errors. Its issues are those of the file and of all rows, also
 * of those that are left out. Rows are not held in memory: `readRows` is called now, and again for
 * each iteration of the table.
 * @throws FileError where the table exceeds the limits; where there is neither a row nor an error,
 * `none`, if that is a FileError
 */
export function makeTableOfReadableRows(contents: TableContents): Table {
  const { place, header, headerRow, none } = contents;
  const { unreadable, rowCount, issues } = checkRows(contents);
  if (rowCount === 0 && !hasErrors(issues)) {
    if (none instanceof FileError) throw none;
    issues.push(none);
  }
  const readable = function* (): Generator<TableRow> {
    for (const row of contents.readRows())
      if ('cells' in row && !unreadable.has(row.row)) yield row;
  };
  return { ...place, header, headerRow, rows: { [Symbol.iterator]: readable }, rowCount, issues };
}

/**
 * Returns the numbers of the rows with errors, the count of the others, and all issues of the file.
 * @throws FileError where the table exceeds the limits
 */
function checkRows({ place, header, readRows, check, issues: ofFile }: TableContents) {
  const issues = [...ofFile];
  const unreadable = new Set<number>();
  let rowCount = 0;
  let count = 0;
  for (const row of readRows()) {
    count += 1;
    if (!('cells' in row)) issues.push(row);
    else {
      const faults = check(row);
      for (const fault of faults) issues.push(fault.with(getRowPlace(place, row)));
      if (hasErrors(faults)) unreadable.add(row.row);
      else rowCount += 1;
    }
    assertTableSize(place.file, { rows: count, columns: header.length, faults: issues.length });
  }
  return { unreadable, rowCount, issues };
}

/**
 * Makes a table with a column for each name of a value in the records, in order of first
 * occurrence. Marks that protect texts from being formulas are removed, except in documents of the
 * service, which have none. Records that cannot be read become issues.
 * @param readRecords called now, and again for each iteration of the rows
 * @param none for a file without records: an issue of the table, or an error that is thrown
 * @throws FileError where the table exceeds the limits; `none`, if that is an error, where there is
 * no record
 */
export function makeTableOfRecords(
  place: TablePlace,
  readRecords: () => Iterable<ReadRecord>,
  none: Issue | FileError = makeNoRowsIssue(place),
): Table {
  // Complete when `makeTableOfReadableRows` returns, since it reads all records.
  const header: string[] = [];
  const known = new Set<string>();
  const getCellText = place.unit === 'find' ? (text: string) => text : removeFormulaMark;
  const readRows = function* (): Generator<TableRow | Issue> {
    for (const record of readRecords()) {
      if (!('values' in record)) {
        yield toIssue(record, { ...getRowPlace(place, record), find: record.find });
        continue;
      }
      const { values, ...where } = record;
      for (const name of values.keys())
        if (!known.has(name)) {
          known.add(name);
          header.push(name);
        }
      yield { ...where, cells: header.map((name) => getCellText(values.get(name) ?? '')) };
    }
  };
  return makeTableOfReadableRows({
    place,
    header,
    readRows,
    check: ({ cells }) => checkCells(cells, header),
    issues: [],
    none,
  });
}

/**
 * Returns the table with a warning that lists the names of what was not read, at most
 * {@link MAX_NAMES}; the table itself where `unread` is empty.
 */
export function withUnreadNamesWarning(table: Table, unread: ReadonlySet<string>): Table {
  if (unread.size === 0) return table;
  const names = [...unread].slice(0, MAX_NAMES).join(', ');
  const message = msg`Not read: ${names}. What belongs to the finds must be in fields of their own, with texts, numbers or days.`;
  const issue = makeWarningIssue('table-not-read', message, { file: table.file });
  return { ...table, issues: [...table.issues, issue] };
}

/** Limit of the names that one warning lists. */
const MAX_NAMES = 100;

/** Makes the error issue of a file, layer or sheet that could be read, but has no rows. */
export function makeNoRowsIssue(place: TablePlace): Issue {
  const message = msg`There are no rows or features. Nothing was read.`;
  return makeErrorIssue('table-no-rows', message, place);
}

/**
 * Control characters that neither XML nor a text needs: C0 except tab and line breaks, DEL, C1, and
 * the non-characters.
 */
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

/** Maximum of a spreadsheet cell. */
const MAX_CELL_CHARACTERS = 32_767;

/**
 * Error values of spreadsheets in any language, displayed, exported or pasted: `#DIV/0!`,
 * `#HODNOTA!`, `#NV`, `Err:502`.
 */
const ERROR_RESULT =
  /^(?:#[\p{Lu}\d/_ ]*[\p{Lu}\d][!?]|#N\/[AD]|#NV|#NENÍ_K_DISPOZICI|#NEDOSTUPNÝ|#GETTING_DATA|#N\/A N\/A[!?]?|(?:Err|Chyba|Fehler|Error) ?: ?\d{3})$/u;
const TOO_NARROW = /^#{3,}$/;
/** A lost letter inside a word; addresses of pages also have a `?` there. */
const LOST_LETTER = /\p{L}\uFFFD+\p{L}|\p{Ll}{2}\uFFFD|\p{Ll}\?\p{Ll}/u;

/** Characters of which each pattern above requires one: most cells have none. */
const MAY_BE_FAULTY = /[\u0000-\u0008\u000b\u000c\u000e-\u001f#:?\u007f-\u009f\ufffd-\uffff]/;

/**
 * Checks cells for what their author did not write: error values of spreadsheets, `###` of narrow
 * columns, control characters, too long texts, and lost letters, which are warnings, all else
 * errors. Each issue, at most one per cell, has the column; the caller adds the row.
 */
export function checkCells(cells: readonly string[], header: readonly string[]): Issue[] {
  const issues: Issue[] = [];
  for (const [index, cell] of cells.entries()) {
    // Most cells of a wide table are empty, and a pattern takes longer than this.
    if (cell === '') continue;
    const mayBeFaulty = cell.length > MAX_CELL_CHARACTERS || MAY_BE_FAULTY.test(cell);
    const issue = mayBeFaulty ? checkCell(cell) : undefined;
    if (issue !== undefined) issues.push(issue.with({ column: header[index] ?? '' }));
  }
  return issues;
}

function checkCell(cell: string): Issue | undefined {
  const { length } = cell;
  if (length > MAX_CELL_CHARACTERS) {
    const message = msg`The cell has ${length} characters; pas reads at most ${MAX_CELL_CHARACTERS}. Shorten it.`;
    return makeErrorIssue('table-cell-length', message);
  }
  const character = CONTROL_CHARACTER.exec(cell)?.[0];
  if (character !== undefined) {
    const code = formatCodePoint(character);
    const message = msg`The cell contains the control character ${code}. Remove it; it came from copying or a wrong character set.`;
    return makeErrorIssue('table-control-character', message);
  }
  if (ERROR_RESULT.test(cell)) return toIssue(makeFormulaFault(cell));
  if (TOO_NARROW.test(cell)) {
    const message = msg`"${cell}" appears because a column was too narrow for its value. Widen the column in the spreadsheet and save the table again, or write the value.`;
    return makeErrorIssue('table-too-narrow', message);
  }
  if (!LOST_LETTER.test(cell) || /:\/\/|\?\p{L}+=/u.test(cell)) return undefined;
  const shown = length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN)}…` : cell;
  return makeWarningIssue(
    'table-lost-letter',
    msg`"${shown}" seems to have lost a letter; a ? or � replaces it. Save the table as CSV UTF-8 from its source, or write the letter.`,
  );
}

const MAX_SHOWN = 60;

/**
 * Makes the fault of a cell whose formula has an error as its result.
 * @param fault the error as the spreadsheet shows it, such as `#REF!`
 */
export function makeFormulaFault(fault: string): RuleProblem {
  return makeRuleProblem(
    'table-formula',
    msg`The result of the formula is the error ${fault}. Correct it, or write the value.`,
  );
}

/** Tells if a whole number is beyond ±(2^53 − 1), where numbers no longer keep all digits. */
export function isBeyondSafeIntegers(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/**
 * Makes the fault of a whole number for which {@link isBeyondSafeIntegers} is true.
 * @param shown the number for the message
 */
export function makeOverlongNumberFault(shown: string): RuleProblem {
  return makeRuleProblem(
    'table-number',
    msg`${shown} has more digits than programs store in a number, so the last ones may be wrong. Store it as a text with all its digits.`,
  );
}
