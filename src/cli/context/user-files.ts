import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePrivateFile } from '../../base/disk/files.ts';
import { lockForChange } from '../../base/disk/lock-file.ts';
import { writeOutputFile, writeToStdout } from '../../base/disk/output-file.ts';
import { FileError, UsageError } from '../../base/errors.ts';
import { formatIssuePlace, makeErrorIssue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd, joinMessages, msg, quoteShellWord } from '../../base/message.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { parseCsvTable } from '../../tables/formats/csv-table.ts';
import { parseHeaderRows } from '../../tables/header-row.ts';
import { readAtMost, readInputFile, toUtf8 } from '../../tables/input-file.ts';
import {
  formatMapping,
  type MappedTerm,
  type Mapping,
  parseMapping,
} from '../../tables/own-terms/mapping.ts';
import { parseTableBytes, readTable } from '../../tables/readers.ts';
import type { Table } from '../../tables/table.ts';
import { mayReplace } from '../terminal.ts';
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
  return [t`standard input`, await readAtMost(t`standard input`, streams.stdin)];
}

/**
 * Writes a list of terms to a file of the user, or to stdout for `-`.
 * @throws UsageError where the file exists and may not be replaced
 */
export async function writeTermList(
  context: Context,
  file: string,
  pieces: Iterable<string>,
): Promise<void> {
  if (file === '-') {
    await writeToStdout(context.streams.stdout, pieces);
    return;
  }
  const overwrite = await mayReplace(context, file);
  // Terms are not confidential.
  await writeOutputFile(file, pieces, { overwrite, mode: 0o666 });
  context.terminal.note(t`Written to ${file}.`);
}

/**
 * Text of a find while it is edited. It stays in the data home until its find is changed, so that
 * no input is lost.
 */
type EditFile = {
  readonly path: string;
  /** Text of an unfinished edit; undefined where there is none. */
  readonly left: string | undefined;
  write(text: string): void;
  /**
   * Opens the editor and waits for it.
   * @throws UsageError when there is none, or it fails: the text stays
   */
  open(): string;
  remove(): void;
};

/**
 * Returns the access to the file in which a find is edited, with the text of an unfinished edit;
 * the editor is not started yet. See {@link EditFile}.
 */
export function openEditFile(context: Context, find: StoredFind): EditFile {
  const path = join(context.places.home, `edit-${find.uuid}.txt`);
  return {
    path,
    left: existsSync(path) ? readFileSync(path, 'utf8') : undefined,
    write: (text) => writePrivateFile(path, text),
    open: () => {
      runEditor(context, path);
      if (!existsSync(path))
        throw new FileError(path, t`The editor removed ${path}.`, {
          hint: t`Nothing was changed.`,
        });
      return readFileSync(path, 'utf8');
    },
    remove: () => rmSync(path, { force: true }),
  };
}

function runEditor({ environment, terminal }: Context, path: string): void {
  const chosen = environment['VISUAL'] || environment['EDITOR'];
  if (chosen === undefined && !terminal.interactive) {
    throw new UsageError(t`pas cannot open an editor without a terminal.`, {
      hint: t`Give the values with --set element=value, or name an editor in EDITOR.`,
    });
  }
  const editor = chosen ?? (process.platform === 'win32' ? 'notepad' : 'vi');
  // As in git, the editor may be a command with flags.
  const quoted = process.platform === 'win32' ? `"${path}"` : quoteShellWord(path);
  const { status, error } = spawnSync(`${editor} ${quoted}`, { shell: true, stdio: 'inherit' });
  if (error === undefined && status === 0) return;
  throw new UsageError(t`The editor ${editor} failed. Your text is in ${path}.`, {
    hint: t`Run the command again to continue with it, or set VISUAL or EDITOR to another editor.`,
  });
}
