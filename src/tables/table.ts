import { formatCodePoint, makeIdKey } from '../base/characters.ts';
import { withoutFormulaMark } from '../base/csv.ts';
import { FileError } from '../base/errors.ts';
import {
  type Doubt,
  hasErrors,
  type Issue,
  makeErrorIssue,
  makeRuleProblem,
  makeWarningIssue,
  type RuleProblem,
  toIssue,
} from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
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

/** Returns where a row is; with its line for formats that are no spreadsheets. */
export function getRowPlace(table: TablePlace, { row, line }: RowNumber): RowPlace {
  const { file, sheet, unit } = table;
  return { file, sheet, unit, row, line: unit === undefined ? undefined : line };
}

/** A part of a file that is a table: a sheet, a layer. */
type Part = { readonly name: string };

/**
 * Returns the part that a person names, preferably as it is written, else in any letter case, or by
 * its number from 1.
 * @throws FileError where there is no such part
 */
export function getNamedPart<T extends Part>(file: string, parts: readonly T[], named: string): T {
  const part =
    parts.find(({ name }) => name === named) ??
    parts.find(({ name }) => makeIdKey(name) === makeIdKey(named)) ??
    (/^[1-9]\d*$/.test(named) ? parts[Number(named) - 1] : undefined);
  if (part !== undefined) return part;
  throw makeMissingPartError(file, parts, named);
}

/**
 * Makes the error of a file without the named part; without a name, of one in which no part has
 * content. Its hint names `parts`, if there are any.
 */
export function makeMissingPartError(
  file: string,
  parts: readonly Part[],
  named?: string,
): FileError {
  const names = parts.map(({ name }) => name).join(', ');
  const problem =
    named === undefined
      ? msg`${file} has no sheet or layer with content.`
      : msg`${file} has no sheet or layer "${named}".`;
  const hint = names === '' ? undefined : msg`It has: ${names}.`;
  return new FileError(file, problem, { hint });
}

/**
 * Returns a warning that names the parts with content that are not read, since none was chosen;
 * empty without any.
 */
export function makeUnreadPartsIssues(place: TablePlace, others: readonly Part[]): Issue[] {
  if (others.length === 0) return [];
  const names = others.map(({ name }) => name).join(', ');
  const message = msg`The file has other sheets or layers with content, which were not read: ${names}. To read one of them: --sheet NAME`;
  return [makeWarningIssue('table-other-sheets', message, getTablePlace(place))];
}

/** Returns where the header is, for issues of columns; without a row where the file has none. */
export function getHeaderPlace(table: Table): TablePlace & { readonly row?: number } {
  const row = table.headerRow ?? (table.unit === undefined ? 1 : undefined);
  return { ...getTablePlace(table), row };
}

/** Makes the error of a file that is damaged, or not of the format of its name. */
export function makeDamagedFileError(file: string, problem: Message, cause?: unknown): FileError {
  const hint = msg`Save it again in the program that it comes from, or copy it again.`;
  return new FileError(file, problem, { cause, hint });
}

/**
 * Makes the error of a file, or one of its parts, that ends too early or has other bytes, with the
 * advice to save or copy it again.
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
export function makeOtherFormatError(file: string): FileError {
  return new FileError(file, msg`${file} is in a format that pas does not read.`, {
    hint: msg`Save it as .xlsx or CSV UTF-8, a map as GeoPackage or GeoJSON; unpack an archive of submitted forms, and import the folder.`,
  });
}

/**
 * Makes the error of an encrypted workbook or archive, which advises to save it without a password.
 */
export function makePasswordError(file: string): FileError {
  return new FileError(file, msg`${file} is protected by a password and cannot be read.`, {
    hint: msg`Open it in the spreadsheet and save it without the password.`,
  });
}

/**
 * Maximum size of tables and documents: a season has a few MB, and parsing takes several times the
 * size.
 */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** Makes the error of a file that is beyond any limit of pas; its hint names those of a table. */
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
 * Checks counts of a table against the limits of pas; cells are computed from rows and columns
 * where they are not given.
 * @throws FileError where one is exceeded
 */
export function assertTableSize(file: string, counts: Counts): void {
  const { rows = 0, columns = 0 } = counts;
  const all: Counts = { cells: rows * columns, ...counts };
  for (const counted of COUNTED)
    if ((all[counted] ?? 0) > LIMITS[counted]) throw makeTooLargeError(file);
}

const COUNTED = Object.keys(LIMITS) as (keyof typeof LIMITS)[];

/** A row of a format with named values: a feature, a waypoint, a find. */
export type NamedValues = RowNumber &
  BesideColumns & {
    readonly values: ReadonlyMap<string, string>;
  };

/** A record, or the reason why it cannot be read; `find` names it. */
export type ReadRecord = NamedValues | (RowNumber & RuleProblem & { readonly find?: string });

/** Contents of a file as its reader gives them to {@link makeTable}. */
type TableContents = {
  readonly place: TablePlace;
  readonly header: readonly string[];
  readonly headerRow?: number;
  /** Yields rows, or issues in the place of unreadable ones; called more than once. */
  readRows(): Iterable<TableRow | Issue>;
  /** Returns the issues of a row; the place is added. */
  check(row: TableRow): readonly Issue[];
  /** Issues of the file. */
  readonly issues: readonly Issue[];
  /** Issue of a table that has neither rows nor errors. */
  readonly none: Issue | FileError;
};

/**
 * Makes a table without the rows that have errors, which become issues, as do the warnings of the
 * others. The rows themselves are not held in memory, only the numbers of those that are left out:
 * `readRows` is called now, and again for each iteration.
 * @throws FileError where the table exceeds the limits; `none`, if that is an error, where there
 * is no row and no other error
 */
export function makeTable(contents: TableContents): Table {
  const { place, header, headerRow, none } = contents;
  const issues = [...contents.issues];
  const left = new Set<number>();
  let rowCount = 0;
  let count = 0;
  for (const row of contents.readRows()) {
    count += 1;
    if (!('cells' in row)) issues.push(row);
    else {
      const faults = contents.check(row);
      for (const fault of faults) issues.push(fault.with(getRowPlace(place, row)));
      if (hasErrors(faults)) left.add(row.row);
      else rowCount += 1;
    }
    assertTableSize(place.file, { rows: count, columns: header.length, faults: issues.length });
  }
  if (rowCount === 0 && !hasErrors(issues)) {
    if (none instanceof FileError) throw none;
    issues.push(none);
  }
  const sound = function* (): Generator<TableRow> {
    for (const row of contents.readRows()) if ('cells' in row && !left.has(row.row)) yield row;
  };
  return { ...place, header, headerRow, rows: { [Symbol.iterator]: sound }, rowCount, issues };
}

/**
 * Makes a table with a column for every name in the records, in order of first occurrence. The mark
 * that protects a text from being a formula is removed, except in documents of the service.
 * @param readRecords called now, and again for each iteration of the rows
 * @param issues of the file
 * @param none what a file without records gets: an issue, or an error that is thrown
 * @throws FileError where the table exceeds the limits, and `none`
 */
export function makeTableOfRecords(
  place: TablePlace,
  readRecords: () => Iterable<ReadRecord>,
  issues: readonly Issue[] = [],
  none: Issue | FileError = makeNoRowsIssue(place),
): Table {
  // Complete once the records were read, which `makeTable` does before it returns.
  const header: string[] = [];
  const known = new Set<string>();
  // Documents of the service have no formula marks.
  const getCellText = place.unit === 'find' ? (text: string) => text : withoutFormulaMark;
  const readRows = function* (): Generator<TableRow | Issue> {
    for (const record of readRecords()) {
      if (!('values' in record)) {
        const { find } = record;
        yield toIssue(record, { ...getRowPlace(place, record), find });
        continue;
      }
      const { values, ...where } = record;
      for (const name of values.keys()) if (!known.has(name)) header.push(name);
      for (const name of values.keys()) known.add(name);
      yield { ...where, cells: header.map((name) => getCellText(values.get(name) ?? '')) };
    }
  };
  return makeTable({
    place,
    header,
    readRows,
    check: ({ cells }) => checkCells(cells, header),
    issues,
    none,
  });
}

/**
 * Returns the table with a warning that lists what was not read, at most {@link MAX_NAMES} names;
 * the table itself where nothing is named.
 */
export function withUnreadNames(table: Table, unread: ReadonlySet<string>): Table {
  if (unread.size === 0) return table;
  const names = [...unread].slice(0, MAX_NAMES).join(', ');
  const message = msg`Not read: ${names}. What belongs to the finds must be in fields of their own, with texts, numbers or days.`;
  const issue = makeWarningIssue('table-not-read', message, { file: table.file });
  return { ...table, issues: [...table.issues, issue] };
}

/** Limit of the names that one warning lists. */
const MAX_NAMES = 100;

/** Makes the error of a table, layer or sheet without rows; the file itself could be read. */
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
/** A lost letter inside a word; addresses of pages have a `?` there, too. */
const LOST_LETTER = /\p{L}\uFFFD+\p{L}|\p{Ll}{2}\uFFFD|\p{Ll}\?\p{Ll}/u;

/** Characters of which each pattern above requires one: most cells have none. */
const MAY_BE_FAULTY = /[\u0000-\u0008\u000b\u000c\u000e-\u001f#:?\u007f-\u009f\ufffd-\uffff]/;

/**
 * Returns at most one issue for each cell that differs from what its author saw, or is too long; a
 * lost letter is a warning, all else an error. It has the column; the caller adds the row.
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

/** Fault of a formula whose result is not in the file. */
export const UNSAVED_RESULT: RuleProblem = makeRuleProblem(
  'table-formula',
  msg`The result of the formula was not saved with the file. Open it in a spreadsheet and save it, or write the value.`,
);

/**
 * Makes the fault of a cell whose formula has an error.
 * @param fault as the spreadsheet shows it, such as `#REF!`
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
 * Makes the fault of a number whose last digits may be wrong.
 * @param shown the number as it is in the file
 */
export function makeOverlongFault(shown: string): RuleProblem {
  return makeRuleProblem(
    'table-number',
    msg`${shown} has more digits than programs store in a number, so the last ones may be wrong. Store it as a text with all its digits.`,
  );
}

/** Stored text of a cell, and the displayed text where it differs. */
export type CellValue = {
  readonly text: string;
  readonly shown?: ShownCell;
  /** An error excludes the row; with a warning it is read, with `text` as the value. */
  readonly fault?: Doubt;
  /** All of it is struck through. */
  readonly isStruck?: boolean;
};

/**
 * Makes the value of a number with too many digits: with a warning where all digits are in the
 * file, else empty with an error, since digits behind an exponent are lost.
 * @param raw as it is in the file
 */
export function makeOverlongValue(raw: string): CellValue {
  const fault = makeOverlongFault(raw);
  return /^-?\d+$/.test(raw)
    ? { text: raw, fault: { ...fault, severity: 'warning' } }
    : { text: '', fault };
}
