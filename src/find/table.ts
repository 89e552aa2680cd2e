import { CsvError, parse } from 'csv-parse/sync';
import { FileError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { readInputFile } from './input-file.ts';
import { requireUtf8 } from './table-text.ts';

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

/** Where two are equally frequent the first wins: a comma is the likeliest to be part of a name. */
const DELIMITERS = [';', '\t', ','] as const;
const QUOTE = '"';

/** No cell, however long its note, comes near; it bounds what an unclosed quote can swallow. */
const MAX_RECORD_BYTES = 1024 * 1024;

/** After so many rows with broken quotes the file is taken for something else than a table. */
const MAX_BROKEN_ROWS = 100;

/** Control characters that neither XML nor a text needs: C0 but tab and line breaks, DEL, C1, and the non-characters. */
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

/**
 * Reads a text table: RFC 4180, with `,` `;` or tab between cells, any line ending, and with or without a byte order mark.
 *
 * @throws FileError where the file cannot be read, is empty, or is not UTF-8
 */
export async function readTable(path: string): Promise<Table> {
  return parseTable(path, await readInputFile(path));
}

/**
 * The same for bytes that are at hand, for example from stdin. `file` is only for messages.
 *
 * @throws FileError where the bytes are empty or not UTF-8
 */
export function parseTable(file: string, bytes: Buffer): Table {
  const text = requireUtf8(file, bytes);
  const declared = declaredDelimiter(text);
  const body = declared === undefined ? text : text.subarray(text.indexOf('\n') + 1);
  const delimiter = declared ?? detectDelimiter(body);

  const issues: Issue[] = [];
  const rows: TableRow[] = [];
  let header: readonly string[] | undefined;
  for (const record of readRecords(body, delimiter, declared === undefined ? 1 : 2)) {
    if ('broken' in record) issues.push(errorIssue('table-quote', record.broken, { file, row: record.row }));
    else if (record.cells.every((cell) => cell === '')) continue;
    else if (header === undefined) header = record.cells;
    else {
      const faults = rowFaults(record, header, delimiter);
      if (faults.length === 0) rows.push(record);
      for (const fault of faults) issues.push({ ...fault, file, row: record.row });
    }
  }
  if (header === undefined && issues.length === 0) throw new FileError(file, t`${file} holds nothing but blank lines.`);
  if (rows.length === 0 && issues.length === 0) {
    issues.push(errorIssue('table-no-rows', t`There are no rows below the header. Nothing was read.`, { file }));
  }
  return { file, header: header ?? [], rows, issues };
}

type BrokenRow = { readonly row: number; readonly broken: string };

/**
 * All records, one after another. A quote that never closes, or that closes in the middle of a cell, spoils only its own
 * row: reading goes on at the next line of the file.
 */
function readRecords(bytes: Buffer, delimiter: string, firstLine: number): (TableRow | BrokenRow)[] {
  const records: (TableRow | BrokenRow)[] = [];
  let line = firstLine;
  let brokenRows = 0;
  let start = 0;
  while (start < bytes.length) {
    let read = 0;
    try {
      parse(bytes.subarray(start), {
        delimiter,
        quote: QUOTE,
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
        relax_quotes: true,
        trim: true,
        max_record_size: MAX_RECORD_BYTES,
        on_record: (cells: string[], { bytes: bytesRead }) => {
          records.push({ row: records.length + 1, line, cells });
          line += 1 + lineBreaksIn(cells);
          read = bytesRead;
          return null;
        },
      });
      break;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      records.push({ row: records.length + 1, broken: brokenQuoteMessage(error, line) });
      if (++brokenRows === MAX_BROKEN_ROWS) {
        records.push({ row: records.length + 1, broken: t`Too many rows with broken quotes: nothing from here on was read.` });
        break;
      }
      const nextLine = bytes.indexOf('\n', start + read);
      if (nextLine === -1) break;
      start = nextLine + 1;
      line += 1;
    }
  }
  return records;
}

function brokenQuoteMessage(error: CsvError, line: number): string {
  return error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE'
    ? t`The row that begins at line ${line} of the file opens a quote (") that never closes. Close it, or write a quote that belongs to the text twice ("").`
    : t`The row that begins at line ${line} of the file closes a quote (") in the middle of a cell. Write a quote that belongs to the text twice ("").`;
}

function rowFaults(record: TableRow, header: readonly string[], delimiter: string): Issue[] {
  const found = record.cells.length;
  if (found > header.length) {
    const [count, separator] = [cellCount(found), nameOf(delimiter)];
    const message = t`The row has ${count}, the header only ${header.length}. If a text contains ${separator}, put it in quotes.`;
    return [errorIssue('table-cells', message)];
  }
  if (found < header.length) {
    const count = cellCount(found);
    const message = t`The row has only ${count}, the header has ${header.length}. If a text contains a line break, put it in quotes; leave no cell out, even an empty one.`;
    return [errorIssue('table-cells', message)];
  }
  return record.cells.flatMap((cell, index) => {
    const character = CONTROL_CHARACTER.exec(cell)?.[0];
    if (character === undefined) return [];
    const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    const message = t`The cell holds the control character ${code}. Remove it; it came with copying or a wrong character set.`;
    return [errorIssue('table-control-character', message, { column: header[index] ?? '' })];
  });
}

/** Excel's own first line, `sep=;`, is not a row of the table. */
function declaredDelimiter(bytes: Buffer): string | undefined {
  const match = /^sep=([;,\t])\r?\n/i.exec(bytes.toString('utf8', 0, 8));
  return match?.[1];
}

/** The delimiter that stands most often outside quotes in the first line that is not blank. */
function detectDelimiter(bytes: Buffer): string {
  const start = bytes.findIndex((byte) => byte > 0x20);
  const headerLine =
    /^(?:"[^"]*"|[^"\r\n])*/.exec(bytes.toString('utf8', Math.max(0, start), start + MAX_RECORD_BYTES))?.[0] ?? '';
  const unquoted = headerLine.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function nameOf(delimiter: string): string {
  return delimiter === '\t' ? t`a tab` : `"${delimiter}"`;
}

function cellCount(count: number): string {
  return ngettext(msgid`${count} cell`, `${count} cells`, count);
}

function lineBreaksIn(cells: readonly string[]): number {
  let breaks = 0;
  for (const cell of cells) if (cell.includes('\n') || cell.includes('\r')) breaks += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
  return breaks;
}
