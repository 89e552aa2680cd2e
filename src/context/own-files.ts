import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { placeText } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { type Mapping, type MappingRow, mappingText, readMapping } from '../columns/mapping.ts';
import { writePrivateFile } from '../store/files.ts';
import { writeOutputFile, writeToReader } from '../store/output-file.ts';
import { parseTable } from '../tables/csv-table.ts';
import { readHeaderRows } from '../tables/header-row.ts';
import { readAtMost, readInputFile } from '../tables/input-file.ts';
import { readTable, readTableBytes } from '../tables/read-table.ts';
import type { Table } from '../tables/table.ts';
import type { Context } from './context.ts';

/**
 * The museum's own terms; none where there is no file yet.
 * @throws FileError where the file is no table
 */
export function readMappingFile({ places: { mappingFile } }: Context): Mapping {
  if (!existsSync(mappingFile)) return { file: mappingFile, rows: [], issues: [] };
  return readMapping(parseTable(mappingFile, readFileSync(mappingFile)));
}

/**
 * The same for changing: what cannot be read would be lost when the file is written anew.
 * @throws UsageError where a row cannot be read
 */
export function readMappingToChange(context: Context): Mapping {
  const mapping = readMappingFile(context);
  const [first] = mapping.issues;
  if (first === undefined) return mapping;
  throw new UsageError(`${placeText(first.with({ file: mapping.file }))}: ${first.message}`, {
    hint: t`Mend the file; \`${cmd`pas vocab map check`}\` lists all that is wrong with it.`,
  });
}

export function writeMappingFile({ places }: Context, rows: readonly Omit<MappingRow, 'row'>[]): void {
  writePrivateFile(places.mappingFile, mappingText(rows));
}

/** The same rows into another file, or to stdout. */
export function writeMappingTo(context: Context, to: OutputOptions, rows: readonly MappingRow[]): Promise<void> {
  return writeResult(context, to, [mappingText(rows)]);
}

/** How a table is read, where that is not left to what is found. */
export type TableOptions = {
  readonly sheet?: string;
  readonly layer?: string;
  readonly encoding?: string;
  readonly headerRow?: string;
};

/** A table of a file, or of standard input where it is called `-`. */
export async function readTableOrInput(
  context: Context,
  file: string,
  { sheet, layer = sheet, encoding, headerRow, photos }: TableOptions & { readonly photos?: string } = {},
): Promise<Table> {
  const options = {
    ...(layer === undefined ? {} : { sheet: layer }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(photos === undefined ? {} : { photoFolder: resolve(photos) }),
    ...(headerRow === undefined ? {} : { headerRows: readHeaderRows(headerRow) }),
  };
  return file === '-' ? readTableBytes(...(await readFileOrInput(context, file)), options) : readTable(file, options);
}

/** Any other file, or standard input, with what it is called in messages. */
export async function readFileOrInput({ streams }: Context, file: string): Promise<[name: string, bytes: Buffer]> {
  if (file !== '-') return [file, await readInputFile(file)];
  return [t`standard input`, await readAtMost(t`standard input`, streams.stdin)];
}

type OutputOptions = { readonly out?: string; readonly force?: boolean };

/** Writes a result to a file that the user named, or to stdout. @throws UsageError where the file is there already and not to be replaced */
export async function writeResult(
  { streams, terminal }: Context,
  { out, force }: OutputOptions,
  pieces: Iterable<string>,
): Promise<void> {
  if (out === undefined || out === '-') {
    await writeToReader(streams.stdout, pieces);
    return;
  }
  // Terms are no secret.
  await writeOutputFile(out, pieces, { overwrite: force === true, mode: 0o666 });
  terminal.note(t`Written to ${out}.`);
}
