import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import {
  deleteCheckpoint,
  type Ledger,
  listStoredFiles,
  readCheckpoint,
  requestAgain,
  resetOutput,
  type StoredFile,
  saveCheckpoint,
  saveFile,
} from '../../ledger/ledger.ts';
import { makeModifiedFileError } from '../../store/append-file.ts';
import {
  flushFiles,
  makeSafeFileName,
  readFileStanding,
  removeTemps,
  writeFiles,
} from '../../store/file-folder.ts';
import { formatGone, type Opening, type RecordOutput } from './record-output.ts';
import { makeRecordCutter } from './xml-output.ts';

const EXTENSION = '.xml';
const DECLARATION = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n');

/**
 * Opens an output with one file per record: its latest version, unchanged, in a `ListRecords` that
 * declares its namespaces. A file that was removed is requested again.
 * @param identifierPrefix common prefix of all identifiers of the service; the rest is the file
 * name
 * @throws FileError where another program changed or added a file
 */
export async function openFilesOutput(
  folder: string,
  identifierPrefix: string,
  ledger: Ledger,
  { verify, onNote }: Opening,
): Promise<RecordOutput> {
  const getFileName = (identifier: string): string => {
    // An identifier never begins with a space, so no other form of it gets the file name of an own
    // one.
    const isOwn = identifier.startsWith(identifierPrefix);
    return makeSafeFileName(
      isOwn ? identifier.slice(identifierPrefix.length) : ` ${identifier}`,
      EXTENSION,
    );
  };
  await removeTemps(folder);
  const hasCheckpoint = readCheckpoint(ledger) !== undefined;
  const fileCount = listStoredFiles(ledger).length;
  const { gone, changed, added } = await findDifferences(folder, ledger, hasCheckpoint);
  if (hasCheckpoint && added.length > 0) throw makeForeignFileError(folder, added);
  if (hasCheckpoint && !verify && changed.length > 0) throw makeEditedError(folder, changed);
  if (gone.length > 0 && gone.length === fileCount) {
    onNote(formatGone(folder, false));
    ledger.change(() => resetOutput(ledger));
  } else {
    if (hasCheckpoint && gone.length > 0) onNote(formatLostFiles(folder, gone.length));
    ledger.change(() => requestAgain(ledger, [...gone, ...changed]));
  }
  deleteCheckpoint(ledger);
  let waiting: readonly StoredFile[] = [];
  let isFlushed = hasCheckpoint;
  return {
    write: async ({ document, records }) => {
      isFlushed = isFlushed && records.length === 0;
      const cutRecords = makeRecordCutter(document);
      const files = records.map(({ header: { identifier }, element }) => {
        return {
          name: getFileName(identifier),
          identifier,
          content: Buffer.concat([DECLARATION, ...cutRecords([element])]),
        };
      });
      waiting = writeFiles(folder, files);
    },
    notePage: () => {
      for (const file of waiting) saveFile(ledger, file);
    },
    settle: async () => {
      const differences = await findDifferences(folder, ledger, true);
      const other = [...differences.gone, ...differences.changed];
      if (other.length > 0) throw makeEditedError(folder, other);
      if (differences.added.length > 0) throw makeForeignFileError(folder, differences.added);
      if (!isFlushed) await flushFiles(folder);
      ledger.change(() => saveCheckpoint(ledger, {}));
    },
    close: async () => {},
  };
}

type Differences = {
  readonly gone: readonly StoredFile[];
  readonly changed: readonly StoredFile[];
  /** Names of files that the harvest did not write. */
  readonly added: readonly string[];
};

/**
 * Compares the folder with the ledger.
 * @param wasFlushed true: the content of files with an unchanged size and time is not read; after a
 * power cut it may be lost
 */
async function findDifferences(
  folder: string,
  ledger: Ledger,
  wasFlushed: boolean,
): Promise<Differences> {
  const there = new Set((await readdir(folder)).filter((name) => name.endsWith(EXTENSION)));
  const [gone, changed, touched]: [StoredFile[], StoredFile[], StoredFile[]] = [[], [], []];
  for (const file of listStoredFiles(ledger)) {
    const standing = there.delete(file.name)
      ? readFileStanding(join(folder, file.name), wasFlushed ? file : undefined)
      : undefined;
    if (standing === undefined) gone.push(file);
    else if (standing.digest !== file.digest) changed.push(file);
    else if (standing.changedNs !== file.changedNs) touched.push({ ...file, ...standing });
  }
  ledger.change(() => {
    for (const file of touched) saveFile(ledger, file);
  });
  return { gone, changed, added: [...there] };
}

function formatLostFiles(folder: string, count: number): string {
  return ngettext(
    msgid`${folder}: ${count} file is missing, and is requested again.`,
    `${folder}: ${count} files are missing, and are requested again.`,
    count,
  );
}

function makeEditedError(folder: string, [first]: readonly { readonly name: string }[]): FileError {
  const name = first?.name ?? '';
  return makeModifiedFileError(folder, t`${folder} was modified: another program changed ${name}.`);
}

function makeForeignFileError(folder: string, [name]: readonly string[]): FileError {
  return new FileError(folder, t`${folder} was modified: ${name} is not one of its records.`, {
    hint: t`Move the file elsewhere, or use another --out.`,
  });
}
