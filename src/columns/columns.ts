import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import {
  COLUMN_NAMES,
  type ColumnName,
  type ElementName,
  FIELDS,
  type Field,
  findColumnMeant,
  isStoredColumn,
  POINT_COLUMNS,
} from '../find/fields.ts';
import { isDitto, isFiller } from '../find/parse-cell.ts';
import { findNumberDoubt } from '../find/value-rules.ts';
import { STATE_COLUMN } from '../tables/exported-find.ts';
import {
  getDisplayedText,
  getHeaderPlace,
  getTablePlace,
  type RowCells,
  type Table,
  type TablePlace,
} from '../tables/table.ts';
import { normalizeId, normalizeNumber, normalizeText } from '../text/characters.ts';
import { findNearestNames, foldName, joinAlternatives } from '../text/names.ts';

/** Parts of the record that the service makes; a table may contain them. */
const MADE_BY_SERVICE = ['okres', 'katastr', 'igsn', 'historie', 'soubor'];

/** Column in which pas writes the issues of a row into a copy of the table. */
const ISSUES_COLUMN = 'issues';

/** Tells if a column of pas's own exports is ignored on import. */
export function isWrittenByPas(header: string): boolean {
  return foldName(header) === ISSUES_COLUMN || header === STATE_COLUMN;
}

export type Columns = {
  readonly place: TablePlace;
  has(name: ColumnName): boolean;
  getHeader(name: ColumnName): string | undefined;
  /** Recognised columns in a fixed order, independent of the table's. */
  readonly names: readonly ColumnName[];
  /**
   * Normalised text of a row in a column; '' where the table lacks the column, and for a text that
   * stands for another value or for none.
   */
  getCell(row: RowCells, name: ColumnName): string;
  /**
   * Reason to doubt that a readable text was typed so.
   * @param above last value of the column in the rows above
   */
  findDoubt(row: RowCells, name: ColumnName, above: string | undefined): CellDoubt | undefined;
  readonly covered: ReadonlySet<ElementName>;
  /** Covered where the format has a point beside the columns. */
  readonly coveredWithPoint: ReadonlySet<ElementName>;
  /** A position with axes or signs in another order is read, with a warning. */
  readonly turnsPositions: boolean;
};

/**
 * Reads the header. With an error no row is read: a mistyped column would leave every find without
 * its element.
 */
export function parseColumns(table: Table): {
  readonly columns: Columns;
  readonly issues: readonly Issue[];
} {
  const issues: Issue[] = [];
  const positions = new Map<ColumnName, number>();
  const strange = makeUnknownColumnCheck(table);
  table.header.forEach((header, index) => {
    const called = table.names?.[index];
    if (called === '') return;
    const name = findColumnMeant(called ?? header);
    const where = { ...getHeaderPlace(table), column: header };
    if (name === undefined) issues.push(...strange(header, index));
    else if (positions.has(name))
      issues.push(
        makeErrorIssue('column-twice', makeDuplicateMessage(table, name, positions, header), where),
      );
    else positions.set(name, index);
  });
  const getHeader = (name: ColumnName): string | undefined =>
    table.header[positions.get(name) ?? -1];
  const names = new Set(positions.keys());
  const hasPoint = POINT_COLUMNS.some((name) => names.has(name));
  const columns: Columns = {
    place: getTablePlace(table),
    names: [...positions.keys()].sort(),
    has: (name) => positions.has(name),
    getHeader,
    getCell: (row, name) => {
      const index = positions.get(name);
      if (index === undefined) return '';
      const text = getTrimmedCell(row, index, name);
      return isFiller(text) || isDitto(text) ? '' : normalizeCell(name, text);
    },
    findDoubt: (row, name, above) =>
      findStandIn(row, positions.get(name) ?? -1, name, above) ??
      findCellDoubt(row, positions.get(name) ?? -1, name),
    covered: listCovered(names, hasPoint),
    coveredWithPoint: listCovered(names, true),
    turnsPositions: table.turnsPositions === true,
  };
  return { columns, issues };
}

/** Lists the elements with a column; the columns of a point cover its system and both points. */
function listCovered(names: ReadonlySet<ColumnName>, hasPoint: boolean): ReadonlySet<ElementName> {
  const isPoint = ({ kind }: Field): boolean => kind === 'point' || kind === 'geom-system';
  const covered = FIELDS.filter((field) => names.has(field.name) || (hasPoint && isPoint(field)));
  return new Set(covered.map(({ name }) => name));
}

/** Makes the issue of an unknown column. */
function makeUnknownColumnCheck(table: Table): (header: string, index: number) => Issue[] {
  return (header, index) => {
    const where = { ...getHeaderPlace(table), column: header };
    const folded = foldName(header);
    if (isWrittenByPas(header)) return [];
    if (MADE_BY_SERVICE.includes(folded)) {
      return [
        makeWarningIssue(
          'column-not-sent',
          msg`The service fills in ${folded} itself, so the column is ignored.`,
          where,
        ),
      ];
    }
    if (header === '') {
      if (isEmptyColumn(table, index)) return [];
      const position = index + 1;
      return [
        makeErrorIssue(
          'column-without-name',
          msg`Column ${position} has values but no name in the header. Give it a name.`,
          where,
        ),
      ];
    }
    const nearest = joinAlternatives(findNearestNames(folded, COLUMN_NAMES));
    const choice = msg`Rename it, remove it, or let pas propose an element: ${cmd`pas import`} FILE --wizard`;
    const rename = nearest === '' ? choice : msg`Did you mean ${nearest}?`;
    const advice =
      table.names === undefined
        ? rename
        : msg`Assign it in the column map to an element or to "ignore".`;
    return [
      makeErrorIssue(
        'column-unknown',
        msg`There is no element for the column "${header}". ${advice}`,
        where,
      ),
    ];
  };
}

function isEmptyColumn({ rows }: Table, index: number): boolean {
  for (const { cells } of rows) if (cells[index] !== '') return false;
  return true;
}

function makeDuplicateMessage(
  table: Table,
  name: ColumnName,
  positions: ReadonlyMap<ColumnName, number>,
  header: string,
): Message {
  const first = table.header[positions.get(name) ?? -1] ?? '';
  const both =
    first === header
      ? msg`The column "${header}" appears twice in the header.`
      : msg`"${first}" and "${header}" both mean ${name}.`;
  return msg`${both} Keep one.`;
}

/** Columns that differ for each find. */
export const OF_ONE_FIND: readonly string[] = ['local_id', 'ident_cely'];

/** Normalises the text of a cell for storage; file names keep the form of the file system. */
export function normalizeCell(name: ColumnName, text: string): string {
  if (name === 'photos') return text.trim();
  if (name === 'evidencni_cislo') return normalizeNumber(text);
  return OF_ONE_FIND.includes(name) ? normalizeId(text) : normalizeText(text);
}

/**
 * Returns the trimmed text of a cell for a column. Numbers, coordinates, days and truth values are
 * read as stored; texts, terms and names as displayed, such as `00012` or `12.10`.
 */
export function getTrimmedCell(row: RowCells, index: number, name: ColumnName): string {
  return (isStoredColumn(name) ? (row.cells[index] ?? '') : getDisplayedText(row, index)).trim();
}

/** Indication that a text was not typed so. */
type CellDoubt = {
  readonly severity: 'error' | 'warning';
  readonly rule: string;
  readonly problem: Message;
};

/** Detects a text in the place of a value: a mark for the value above, or a word for none. */
function findStandIn(
  row: RowCells,
  index: number,
  name: ColumnName,
  above: string | undefined,
): CellDoubt | undefined {
  const text = getTrimmedCell(row, index, name);
  if (isFiller(text)) {
    const problem = msg`"${text}" is read as an empty cell.`;
    return { severity: 'warning', rule: 'cell-filler', problem };
  }
  if (!isDitto(text)) return undefined;
  const problem =
    above === undefined
      ? msg`"${text}" stands for the value above, and there is none. Write the value.`
      : msg`"${text}" stands for the value above. If it is "${above}", write that.`;
  return { severity: 'error', rule: 'cell-ditto', problem };
}

/** Detects what a spreadsheet changed in a typed text, or in a displayed number. */
export function findCellDoubt(
  row: RowCells,
  index: number,
  name: ColumnName,
): CellDoubt | undefined {
  const text = getTrimmedCell(row, index, name);
  if (text === '' || name === 'datum_nalezu') return undefined;
  if (row.shown?.get(index)?.isDate === true)
    return makeDateCellDoubt(row, index, isStoredColumn(name));
  if (isStoredColumn(name)) return undefined;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/.test(text)) {
    const problem = msg`"${text}" is a number that a spreadsheet shortened. Format the column as text, and write all digits.`;
    return { severity: 'warning', rule: 'cell-shortened', problem };
  }
  const isOfFind = NAMES_OF_FINDS.includes(name);
  if (FORMULA.test(text)) {
    const problem = msg`"${text}" is a formula instead of its result. Save the table with the results, or write the value.`;
    return { severity: isOfFind ? 'error' : 'warning', rule: 'cell-formula', problem };
  }
  if (!isOfFind) return undefined;
  const lookalike = name === 'evidencni_cislo' ? findNumberDoubt(text) : undefined;
  if (lookalike !== undefined) return { severity: 'warning', ...lookalike };
  if (/^['’`´]\d/.test(text)) {
    const problem = msg`"${text}" begins with an apostrophe, by which spreadsheets mark a text. It is kept: remove it if it is only that mark.`;
    return { severity: 'warning', rule: 'cell-apostrophe', problem };
  }
  if (!isDateOfSpreadsheet(text)) return undefined;
  const problem = msg`"${text}" looks like a date that a spreadsheet made from a number. If so, format the column as text, and write the number again.`;
  return { severity: 'warning', rule: 'cell-date', problem };
}

export function makeMissingColumnIssue(table: Table, rule: string, ...names: string[]): Issue {
  const missing = joinAlternatives(names);
  const header = table.header.join(', ');
  const message = msg`There is no column ${missing}. The columns are: ${header}.`;
  return makeErrorIssue(rule, message, getHeaderPlace(table));
}

/** Returns the cells of a row, as many as the header has. */
export function padCells({ cells }: RowCells, { length }: readonly string[]): string[] {
  return Array.from({ length: Math.max(length, cells.length) }, (_, index) => cells[index] ?? '');
}

/** Formula with a cell or a function: `=B2&"x"`, `=CONCAT(A1;"-")`. */
const FORMULA = /^=[-+(]*(?:\$?[A-Z]{1,3}\$?\d|\p{Lu}[\p{Lu}\d.]*\()/u;

const NAMES_OF_FINDS: readonly ColumnName[] = ['local_id', 'evidencni_cislo', 'ident_cely'];

function makeDateCellDoubt(row: RowCells, index: number, isNumber: boolean): CellDoubt {
  const stored = row.cells[index] ?? '';
  const shown = getDisplayedText(row, index);
  const value = stored === shown ? msg`"${shown}"` : msg`"${shown}" (the day ${stored})`;
  const problem = isNumber
    ? msg`The cell contains a date, ${value}, where a number belongs: the spreadsheet changed what was typed. Format the column as a number, and write it again.`
    : msg`The cell contains a date, ${value}, where a text belongs: the spreadsheet changed what was typed. Format the column as text, and write it again.`;
  return { severity: 'error', rule: 'cell-date', problem };
}

/** Short month names of spreadsheets in Czech, English and German, folded. */
const SHORT_MONTHS =
  'led|uno|bre|dub|kve|cvn|cvc|srp|zar|rij|lis|pro|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez';
const DAY_OR_YEAR_AND_MONTH = new RegExp(
  `^(?:\\d{1,2}_(?:${SHORT_MONTHS})(?:_\\d{2,4})?|(?:${SHORT_MONTHS})_\\d{2,4})$`,
);

/**
 * Tells if a text looks like a converted date: `2.led`, `čvn-24`, `1-Feb`, `01.05.2024`; a number
 * such as 12/2024 does not.
 */
function isDateOfSpreadsheet(text: string): boolean {
  return DAY_OR_YEAR_AND_MONTH.test(foldName(text)) || /^\d{1,2}\. ?\d{1,2}\. ?\d{4}$/.test(text);
}

/**
 * Returns the keys of columns in a map: the header; `name #2` for the second of a name; `#5` for
 * the fifth without one.
 */
export function makeColumnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(normalizeKey(key)) ?? 0) + 1;
    seen.set(normalizeKey(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/** Normalises a key: case and white space do not count. */
export function normalizeKey(key: string): string {
  return key.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}
