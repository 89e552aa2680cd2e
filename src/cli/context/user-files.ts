import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lockForChange } from '../../base/disk/lock-file.ts';
import { writePrivateFile } from '../../base/disk/output-file.ts';
import { FileError, UsageError } from '../../base/errors.ts';
import { formatIssuePlace, makeErrorIssue } from '../../base/issue.ts';
import { cmd, joinMessages, msg, msgid, ngettext, t } from '../../base/message.ts';
import type { LookupTerm } from '../../finds/find.ts';
import type { ColumnMap } from '../../tables/columns/column-rule.ts';
import { parseCsvTable } from '../../tables/formats/csv-table.ts';
import { parseHeaderRows } from '../../tables/header-row.ts';
import { readInputFile, readPipe, toUtf8 } from '../../tables/input-file.ts';
import {
  formatMapping,
  type MappedTerm,
  type Mapping,
  parseMapping,
} from '../../tables/own-terms/mapping.ts';
import { parseTableBytes, readTable } from '../../tables/readers.ts';
import type { Table } from '../../tables/table.ts';
import { printIssues } from '../terminal.ts';
import type { Context } from './context.ts';

/**
 * Reads the museum's mapping; empty where there is no file. A file that is no table, and rows
 * that cannot be read, give issues.
 */
export async function readMappingFile({
  places: { mappingFile: file },
}: Context): Promise<Mapping> {
  if (!existsSync(file)) return { file, rows: [], issues: [] };
  try {
    const { text, issues } = await toUtf8(file, readFileSync(file));
    const mapping = parseMapping(parseCsvTable(file, text));
    return { ...mapping, issues: [...issues, ...mapping.issues] };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    const advice = msg`Save it as CSV in UTF-8, or move it away; until then, pas uses none of your own terms.`;
    return {
      file,
      rows: [],
      issues: [
        makeErrorIssue('mapping-file', joinMessages([thrown.message, advice], ' '), { file }),
      ],
    };
  }
}

/**
 * Changes the mapping on disk under a lock: `change` gets the current one, so that concurrent
 * commands do not overwrite each other's changes.
 * @param change returns the new rows, and further results, which are returned
 * @throws UsageError where the current file has an error: it would be lost
 */
export async function changeMappingFile<Change extends { readonly rows: readonly MappedTerm[] }>(
  context: Context,
  change: (mapping: Mapping) => Change,
): Promise<Change> {
  const { home, mappingFile } = context.places;
  const path = join(home, '.mapping.lock');
  const lock = lockForChange(
    path,
    context.clock,
    msg`${path}: another pas process is changing the mapping.`,
  );
  try {
    const before = await readMappingToChange(context);
    const changed = change(before);
    const text = formatMapping(changed.rows);
    if (text !== formatMapping(before.rows)) writePrivateFile(mappingFile, text);
    return changed;
  } finally {
    lock.release();
  }
}

/**
 * Reads the mapping for a change.
 * @throws UsageError where a row cannot be read, which would be lost
 */
async function readMappingToChange(context: Context): Promise<Mapping> {
  const mapping = await readMappingFile(context);
  const first = mapping.issues.find(({ severity }) => severity === 'error');
  if (first === undefined) return mapping;
  throw new UsageError(
    `${formatIssuePlace(first.with({ file: mapping.file }))}: ${first.message}`,
    {
      hint: t`Correct the file; \`${cmd`pas vocab map list`}\` lists all its errors.`,
    },
  );
}

/** Options that replace the detection of a table's form. */
export type TableOptions = {
  readonly sheet?: string;
  readonly encoding?: string;
  readonly headerRow?: string;
};

/**
 * Returns the flags, with their values or undefined, for a command that reads the same table
 * again.
 */
export function listReadingFlags({ sheet, encoding, headerRow }: TableOptions) {
  return [
    ['--sheet', sheet],
    ['--encoding', encoding],
    ['--header-row', headerRow],
  ] as const;
}

/**
 * Reads a table of a file, or of standard input for `-`.
 * @throws FileError where it cannot be read; UsageError for invalid rows of the header
 */
export async function readTableOrInput(
  context: Context,
  file: string,
  { sheet, encoding, headerRow, photos }: TableOptions & { readonly photos?: string } = {},
): Promise<Table> {
  const options = {
    sheet,
    encoding,
    photoFolder: photos === undefined ? undefined : resolve(photos),
    headerRows: headerRow === undefined ? undefined : parseHeaderRows(headerRow),
  };
  return file === '-'
    ? parseTableBytes(...(await readFileOrInput(context, file)), options)
    : readTable(file, options);
}

/**
 * Reads a file, or standard input for `-`, and returns it with its name in messages.
 * @throws FileError where it cannot be read or is too large
 */
export async function readFileOrInput(
  { streams }: Context,
  file: string,
): Promise<[name: string, bytes: Buffer]> {
  if (file !== '-') return [file, await readInputFile(file)];
  return [t`standard input`, await readPipe(t`standard input`, streams.stdin)];
}

/**
 * Reads a column map from a file or standard input (`-`), and checks it.
 * @throws UsageError where the map is invalid; its issues are printed before
 */
export async function readColumnMap(
  context: Context,
  mapFile: string,
  lookupTerm: LookupTerm,
): Promise<ColumnMap> {
  const [file, bytes] = await readFileOrInput(context, mapFile);
  const { map, issues } = (
    await import('../../tables/columns/column-map.ts')
  ).parseCheckedColumnMap(file, bytes, lookupTerm);
  if (map !== undefined) return map;
  printIssues(context.terminal, issues, context.terminal.warn);
  const faults = issues.length;
  throw new UsageError(
    ngettext(
      msgid`${file} has ${faults} error. Nothing was imported.`,
      `${file} has ${faults} errors. Nothing was imported.`,
      faults,
    ),
    { hint: t`Correct the file, or create it again: ${cmd`pas import`} TABLE --wizard` },
  );
}
