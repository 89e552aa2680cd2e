import { removeFormulaMark } from '../../base/csv.ts';
import { FileError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue } from '../../base/issue.ts';
import { isMessage, type Message, msg } from '../../base/message.ts';
import { findHeader, type HeaderRows } from '../header-row.ts';
import { convertToUtf8, decodeUtf8 } from '../input-file.ts';
import {
  assertTableSize,
  checkCells,
  makeNoRowsIssue,
  makeTableOfReadableRows,
  type Table,
  type TableRow,
} from '../table.ts';

/** In case of equal counts the first wins: a comma is the most likely to be part of a name. */
const DELIMITERS = [';', '\t', ','] as const;
type Delimiter = (typeof DELIMITERS)[number];
const QUOTE = '"';

/** No record comes near this size; it limits what an unclosed quote can consume. */
const MAX_RECORD_CHARACTERS = 1024 * 1024;

/** Each may search the whole of that for the end of a quote. */
const MAX_BROKEN_ROWS = 100;

/**
 * Decodes a text table and parses it as {@link parseCsvTable} does. A detected encoding other than
 * UTF-8 gives a warning.
 * @param file its name for messages
 * @param encoding of the bytes; undefined to detect it
 * @param named rows of the header; undefined to detect them
 * @throws FileError as {@link parseCsvTable}, and where the given encoding is unknown or does not
 * fit
 */
export async function decodeCsvTable(
  file: string,
  bytes: Buffer,
  encoding?: string,
  named?: HeaderRows,
): Promise<Table> {
  const { text, issues } = await convertToUtf8(file, bytes, encoding);
  const table = parseCsvTable(file, text, named);
  return { ...table, issues: [...issues, ...table.issues] };
}

/**
 * Parses a text table in UTF-8 (RFC 4180), with `,` `;` or tab between cells, any line ending, and
 * with or without a byte order mark. Rows are parsed again at each iteration. Marks that protect
 * texts from being formulas are removed. A row with a faulty quote, or with more or fewer cells
 * than the header, is an issue.
 * @param file its name for messages
 * @param named rows of the header; undefined to detect them
 * @throws FileError where the bytes are empty or not UTF-8, a named row is empty, or the table is
 * too large
 */
export function parseCsvTable(file: string, bytes: Buffer, named?: HeaderRows): Table {
  const text = decodeUtf8(file, bytes);
  const delimiter = detectDelimiter(text);
  const parseBody = (): Iterable<TableRow | Issue> => parseRecords(file, text, delimiter);
  const place = { file };
  const found = findHeader(place, selectReadable(parseBody()), named);
  const header = found?.names ?? [];
  const headerRow = found?.last;
  const readRows = function* (): Generator<TableRow | Issue> {
    for (const record of parseBody())
      if (!('cells' in record) || (record.row > (headerRow ?? 0) && hasText(record))) yield record;
  };
  const none =
    found === undefined ? new FileError(file, msg`${file} is empty.`) : makeNoRowsIssue(place);
  return makeTableOfReadableRows({
    place,
    header,
    headerRow,
    readRows,
    check: (row) => checkRow(row, header),
    issues: found?.issues ?? [],
    none,
  });
}

function* selectReadable(records: Iterable<TableRow | Issue>): Generator<TableRow> {
  for (const record of records) if ('cells' in record) yield record;
}

function hasText({ cells }: TableRow): boolean {
  return cells.some((cell) => cell !== '');
}

/**
 * Yields the records, and an issue for each that is broken. A faulty quote affects only its own
 * row: reading continues at the next line of the file. It ends, with an issue, after
 * {@link MAX_BROKEN_ROWS} of them.
 * @throws FileError where there are too many lines or columns
 */
function* parseRecords(
  file: string,
  text: string,
  delimiter: Delimiter,
): Generator<TableRow | Issue> {
  let line = 1;
  let brokenRows = 0;
  for (let row = 1, at = 0; at < text.length; row++) {
    const lineEnd = findEnd(LINE_END, text, at);
    const record = splitRecord(text, at, lineEnd, delimiter, line);
    const end = isMessage(record) ? lineEnd : record.end;
    if (isMessage(record)) {
      yield makeErrorIssue('table-quote', record, { file, row });
      brokenRows += 1;
    } else {
      const { cells } = record;
      assertTableSize(file, { lines: line, columns: cells.length });
      yield { row, line, cells };
    }
    if (brokenRows === MAX_BROKEN_ROWS) {
      const message = msg`Too many rows with broken quotes: nothing from here on was read.`;
      yield makeErrorIssue('table-quote', message, { file, row: row + 1 });
      return;
    }
    line += end === lineEnd ? 1 : text.slice(at, end).split(/\r\n|\n|\r/).length;
    at = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
}

const LINE_END = /\r|\n|$/g;
const CELL_ENDS = { ';': /[;\r\n]|$/g, '\t': /[\t\r\n]|$/g, ',': /[,\r\n]|$/g };

/** Returns the first match from a position on, the end of the text at the latest. */
function findEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/**
 * Splits the record that begins with this line into trimmed cells without formula marks, or returns
 * its fault. It ends with the line, unless a quoted cell has line breaks.
 * @param start position of its first character
 * @param line number of the line, for problems
 */
function splitRecord(
  text: string,
  start: number,
  lineEnd: number,
  delimiter: Delimiter,
  line: number,
): Message | { readonly cells: readonly string[]; readonly end: number } {
  const length = lineEnd - start;
  if (length > MAX_RECORD_CHARACTERS)
    return msg`Line ${line} of the file has ${length} characters, which is too much for one find. Check if the line breaks were lost.`;
  const plain = text.slice(start, lineEnd);
  if (!plain.includes(QUOTE)) {
    const cells = plain.split(delimiter).map((cell) => removeFormulaMark(cell.trim()));
    return { cells, end: lineEnd };
  }
  const cells: string[] = [];
  for (let at = start; ; at += 1) {
    let end = findEnd(CELL_ENDS[delimiter], text, at);
    const cell = text.slice(at, end).trim();
    if (cell.startsWith(QUOTE)) {
      const opened = text.indexOf(QUOTE, at) + 1;
      const closed = findClosingQuote(text, opened, start + MAX_RECORD_CHARACTERS);
      end = closed === undefined ? end : findEnd(CELL_ENDS[delimiter], text, closed);
      if (closed === undefined || text.slice(closed + 1, end).trim() !== '')
        return msg`The row that begins at line ${line} of the file has a quote (") that never closes, or closes in the middle of a cell. Double a quote that belongs to the text ("").`;
      cells.push(parseCellText(text.slice(opened, closed).replaceAll('""', QUOTE)));
    } else cells.push(parseCellText(cell));
    if (text[end] !== delimiter) return { cells, end };
    at = end;
  }
}

/** Finds the quote that is not doubled; undefined where there is none before the limit. */
function findClosingQuote(text: string, from: number, limit: number): number | undefined {
  let at = text.indexOf(QUOTE, from);
  while (at !== -1 && at < limit && text[at + 1] === QUOTE) at = text.indexOf(QUOTE, at + 2);
  return at === -1 || at >= limit ? undefined : at;
}

function parseCellText(text: string): string {
  const [, constant] = CONSTANT_FORMULA.exec(text) ?? [];
  return constant === undefined ? removeFormulaMark(text) : constant.replaceAll('""', QUOTE);
}

/**
 * Form in which programs write digits that a spreadsheet must not take for a number: `="00124"`.
 */
const CONSTANT_FORMULA = /^="((?:[^"]|"")*)"$/;

function checkRow({ cells }: TableRow, header: readonly string[]): Issue[] {
  const count = cells.length;
  const wanted = header.length;
  if (count === wanted) return checkCells(cells, header);
  const message = msg`The row has another number of cells (${count}) than the header (${wanted}). Write every cell, even an empty one, and put a text with a separator or a line break in quotes.`;
  return [makeErrorIssue('table-cells', message)];
}

/** Lines that are sampled for the delimiter: a title above the table has none, or others. */
const LINES_LOOKED_AT = 30;

/**
 * Detects the delimiter: the most frequent one in the first line that has as many as the next; else
 * in the first line.
 */
function detectDelimiter(text: string): Delimiter {
  const lines = text
    .slice(0, MAX_RECORD_CHARACTERS)
    .trimStart()
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]+/, LINES_LOOKED_AT)
    .map((line) => DELIMITERS.map((mark) => line.split(mark).length));
  const [first = []] = lines;
  const line = lines.find((counts, index) => {
    const most = Math.max(...counts);
    return most > 1 && lines[index + 1]?.[counts.indexOf(most)] === most;
  });
  const counts = line ?? first;
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
