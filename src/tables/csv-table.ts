import { CsvError, parse } from 'csv-parse/sync';
import { FileError } from '../base/errors.ts';
import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { type Message, msg, nmsg } from '../base/message.ts';
import { withoutFormulaMark } from '../text/csv.ts';
import { findHeader, type HeaderRows, readFirstRows } from './header-row.ts';
import {
  assertTableSize,
  checkCells,
  makeNoRowsIssue,
  makeTable,
  type Table,
  type TableRow,
} from './table.ts';
import { requireUtf8, toUtf8 } from './text-encoding.ts';

/** In case of equal counts the first wins: a comma is the most likely to be part of a name. */
const DELIMITERS = [';', '\t', ','] as const;
const QUOTE = '"';

/** No cell comes near this size; it limits what an unclosed quote can consume. */
const MAX_RECORD_BYTES = 1024 * 1024;

/**
 * Maximum of rows with broken quotes; an unclosed quote counts tenfold, since the parser searches
 * far for its end.
 */
const MAX_BROKEN_ROWS = 100;
const UNCLOSED_COUNTS = 10;

/** A spreadsheet has half as many, most of which may be blank. */
const MAX_LINES = 2_000_000;

/** Size of the batches that are parsed and held at once: records with quotes, or bytes without. */
const RECORDS_AT_A_TIME = 1000;
const PLAIN_BYTES_AT_A_TIME = 16 * 1024;

/** Reads {@link parseTable} of text in any encoding, which is detected unless given. */
export async function parseTextTable(
  file: string,
  bytes: Buffer,
  encoding: string | undefined,
  named: HeaderRows | undefined,
): Promise<Table> {
  const { text, issues } = await toUtf8(file, bytes, encoding);
  const table = parseTable(file, text, named);
  return { ...table, issues: [...issues, ...table.issues] };
}

/**
 * Reads a text table: RFC 4180, with `,` `;` or tab between cells, any line ending, and with or
 * without a byte order mark. Rows are parsed again at each iteration. A formula mark before a cell
 * is removed.
 * @param file only for messages
 * @param named rows of the header; otherwise they are detected
 * @throws FileError where the bytes are empty or not UTF-8
 */
export function parseTable(file: string, bytes: Buffer, named?: HeaderRows): Table {
  const text = requireUtf8(file, bytes);
  const declared = findDeclaredDelimiter(text);
  const body = declared === undefined ? text : text.subarray(text.indexOf('\n') + 1);
  const delimiter = declared ?? detectDelimiter(body);
  const parseBody = (): Iterable<TableRow | Issue> =>
    parseRecords(file, body, delimiter, declared === undefined ? 1 : 2);

  const place = { file };
  const found = findHeader(place, readFirstRows(selectReadable(parseBody()), named), named);
  const header = found?.names ?? [];
  const headerRow = found?.last;
  assertTableSize(file, { columns: header.length });
  const rows = function* (): Generator<TableRow | Issue> {
    for (const record of parseBody())
      if (!('cells' in record) || (record.row > (headerRow ?? 0) && !isBlank(record))) yield record;
  };
  return makeTable({
    place,
    header,
    headerRow,
    rows: { [Symbol.iterator]: rows },
    check: (row) => checkRow(row, header, delimiter),
    issues: found?.issues ?? [],
    none:
      found === undefined
        ? new FileError(file, msg`${file} contains only blank lines.`)
        : makeNoRowsIssue(place),
  });
}

function* selectReadable(records: Iterable<TableRow | Issue>): Generator<TableRow> {
  for (const record of records) if ('cells' in record) yield record;
}

function isBlank({ cells }: TableRow): boolean {
  return cells.every((cell) => cell === '');
}

/**
 * Yields all records. A faulty quote affects only its own row: reading continues at the next line
 * of the file.
 */
function* parseRecords(
  file: string,
  bytes: Buffer,
  delimiter: string,
  firstLine: number,
): Generator<TableRow | Issue> {
  let row = 1;
  let line = firstLine;
  let brokenRows = 0;
  let start = 0;
  const makeBrokenRowIssue = (message: Message, row: number): Issue =>
    makeErrorIssue('table-quote', message, { file, row });
  while (start < bytes.length) {
    const rest = bytes.subarray(start);
    const plain = splitPlain(rest, delimiter);
    const { records, readBytes, isAll, error } = plain ?? splitSome(file, rest, delimiter);
    for (const cells of records) {
      if (line > MAX_LINES) throw makeTooManyLinesError(file);
      assertTableSize(file, { columns: cells.length });
      yield { row, line, cells };
      row += 1;
      line += 1 + (plain === undefined ? countLineBreaks(cells) : 0);
    }
    start += readBytes;
    if (error !== undefined) {
      const nextLine = bytes.indexOf('\n', start);
      const lineBytes = (nextLine === -1 ? bytes.length : nextLine) - start;
      yield makeBrokenRowIssue(makeBrokenRowMessage(error, line, lineBytes), row);
      row += 1;
      brokenRows += isUnclosed(error) ? UNCLOSED_COUNTS : 1;
      if (brokenRows >= MAX_BROKEN_ROWS) {
        const message = msg`Too many rows with broken quotes: nothing from here on was read.`;
        yield makeBrokenRowIssue(message, row);
        return;
      }
      if (nextLine === -1) return;
      start = nextLine + 1;
      line += 1;
    } else if (isAll) return;
  }
}

function makeTooManyLinesError(file: string): FileError {
  return new FileError(
    file,
    msg`${file} has more than ${MAX_LINES} lines, which is too many to read.`,
    {
      hint: msg`Delete the blank rows below the table, and save it again.`,
    },
  );
}

type SomeRecords = {
  readonly records: readonly (readonly string[])[];
  /** Bytes of these records; a broken one starts behind them. */
  readonly readBytes: number;
  readonly isAll: boolean;
  readonly error?: CsvError;
};

/**
 * Splits the lines before the first quote; undefined where that is in the next line, or no line
 * ends within the batch. Rows without quotes need no parser, which takes ten times as long.
 */
function splitPlain(bytes: Buffer, delimiter: string): SomeRecords | undefined {
  const piece = bytes.subarray(0, PLAIN_BYTES_AT_A_TIME);
  const quoteAt = piece.indexOf(QUOTE);
  const plain = quoteAt === -1 ? piece : piece.subarray(0, quoteAt);
  const isAll = plain.length === bytes.length;
  const readBytes = isAll ? plain.length : plain.lastIndexOf('\n') + 1;
  if (readBytes === 0) return undefined;
  const text = plain.toString('utf8', 0, readBytes);
  const lines = text.split(text.includes('\r') ? /\r\n|\n|\r/ : '\n');
  if (lines.at(-1) === '') lines.pop();
  const readCell = text.includes("'") ? parseCellText : trimCell;
  return { records: lines.map((line) => line.split(delimiter).map(readCell)), readBytes, isAll };
}

function parseCellText(text: string): string {
  return withoutFormulaMark(text.trim());
}

function parseQuotedText(text: string): string {
  const [, constant] = CONSTANT_FORMULA.exec(text) ?? [];
  return constant === undefined ? withoutFormulaMark(text) : constant.replaceAll('""', '"');
}

/**
 * Form in which programs write digits that a spreadsheet must not take for a number: `="00124"`.
 */
const CONSTANT_FORMULA = /^="((?:[^"]|"")*)"$/;

function trimCell(text: string): string {
  return text.trim();
}

function splitSome(file: string, bytes: Buffer, delimiter: string): SomeRecords {
  const records: string[][] = [];
  let readBytes = 0;
  try {
    parse(bytes, {
      delimiter,
      quote: QUOTE,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
      max_record_size: MAX_RECORD_BYTES,
      to: RECORDS_AT_A_TIME,
      on_record: (cells: string[], { bytes: bytesRead }) => {
        assertTableSize(file, { columns: cells.length });
        records.push(cells.map(parseQuotedText));
        readBytes = bytesRead;
        return null;
      },
    });
    return { records, readBytes, isAll: records.length < RECORDS_AT_A_TIME };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { records, readBytes, isAll: false, error };
  }
}

function isUnclosed({ code }: CsvError): boolean {
  return code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE';
}

function makeBrokenRowMessage(error: CsvError, line: number, lineBytes: number): Message {
  if (lineBytes > MAX_RECORD_BYTES)
    return msg`Line ${line} of the file has ${lineBytes} bytes, which is too much for one find. Check if the line breaks were lost.`;
  return isUnclosed(error)
    ? msg`The row that begins at line ${line} of the file opens a quote (") that never closes. Close it, or double a quote that belongs to the text ("").`
    : msg`The row that begins at line ${line} of the file closes a quote (") in the middle of a cell. Double a quote that belongs to the text ("").`;
}

function checkRow({ cells }: TableRow, header: readonly string[], delimiter: string): Issue[] {
  return cells.length === header.length
    ? checkCells(cells, header)
    : [makeErrorIssue('table-cells', makeCellsMessage(cells.length, header.length, delimiter))];
}

function makeCellsMessage(actualCount: number, wanted: number, delimiter: string): Message {
  const count = formatCellCount(actualCount);
  const separator = formatDelimiter(delimiter);
  return actualCount > wanted
    ? msg`The row has ${count}, but the header has only ${wanted}. If a text contains ${separator}, put it in quotes.`
    : msg`The row has only ${count}, but the header has ${wanted}. If a text contains a line break, put it in quotes; write every cell, even an empty one.`;
}

/** Returns the delimiter of Excel's line `sep=;`, which is no row of the table. */
function findDeclaredDelimiter(bytes: Buffer): string | undefined {
  const match = /^sep=([;,\t])\r?\n/i.exec(bytes.toString('utf8', 0, 8));
  return match?.[1];
}

/** Lines that are sampled for the delimiter: a title above the table has none, or others. */
const LINES_LOOKED_AT = 30;

/**
 * Detects the delimiter: the most frequent one in the first line that has as many as the next; else
 * in the first line.
 */
function detectDelimiter(bytes: Buffer): string {
  const start = bytes.findIndex((byte) => byte > 0x20);
  const sample = bytes
    .toString('utf8', Math.max(0, start), start + MAX_RECORD_BYTES)
    .replace(/"[^"]*"/g, '');
  const lines = sample
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

function formatDelimiter(delimiter: string): Message {
  return delimiter === '\t' ? msg`a tab` : msg`"${delimiter}"`;
}

function formatCellCount(count: number): Message {
  return nmsg(msgid`${count} cell`, msgid`${count} cells`, count);
}

function countLineBreaks(cells: readonly string[]): number {
  let breaks = 0;
  for (const cell of cells)
    if (cell.includes('\n') || cell.includes('\r'))
      breaks += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
  return breaks;
}
