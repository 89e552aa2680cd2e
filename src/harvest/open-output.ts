import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { toDatabaseError } from '../base/disk/database.ts';
import { createFolder } from '../base/disk/files.ts';
import { assertMayWrite, toOutputError } from '../base/disk/output-file.ts';
import { getErrorCode, InterruptedError, UsageError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import {
  openHarvestStore,
  type RecordHarvestSubject,
  storeOrAssertSubject,
} from './harvest-store.ts';
import {
  type OpenedOutput,
  type OutputOpenOptions,
  openFileOutput,
  openStreamOutput,
  type RecordOutput,
} from './outputs.ts';

/** Where the records of a harvest go, and what closes it again. */
type OutputPlace = {
  /** A file, or `-` for stdout. */
  readonly out: string;
  /** Folder of a relative `out`. */
  readonly cwd: string;
  readonly stdout: NodeJS.WriteStream;
  onClose(close: () => void | Promise<void>): void;
};

/**
 * Opens an output and its store; what is missing is created, also their folder. The store is beside
 * the file, or for stdout in a temporary folder. `onClose` gets the functions that close both.
 * @throws UsageError where a file of another program, or the output of another harvest, is there;
 * DatabaseError where the disk fails, or another process uses the output; FileError where the place
 * cannot be written, or another program changed the output
 */
export async function openHarvestOutput(
  { out, cwd, stdout, onClose }: OutputPlace,
  subject: RecordHarvestSubject,
  opening: OutputOpenOptions,
): Promise<OpenedOutput> {
  const place = out === '-' ? makeTemporaryPlace(onClose) : makeLastingPlace(resolve(cwd, out));
  const store = openHarvestStore(place.store);
  let output: RecordOutput | undefined;
  onClose(async () => {
    try {
      await output?.close();
    } finally {
      store.close();
    }
  });
  store.change(() => storeOrAssertSubject(store, subject, out));
  const { content } = place;
  output =
    content === undefined
      ? openStreamOutput(createWriter(stdout), subject)
      : await openFileOutput(content, store, subject, opening);
  return { store, output };
}

type Place = {
  readonly store: string;
  readonly content: string | undefined;
};

function makeTemporaryPlace(onClose: OutputPlace['onClose']): Place {
  const folder = mkdtempSync(join(tmpdir(), 'pas-harvest-'));
  onClose(() => rmSync(folder, { recursive: true, force: true }));
  return { store: join(folder, 'harvest.sqlite'), content: undefined };
}

/**
 * Makes the folder of an output; the files themselves need not exist.
 * @throws FileError, DatabaseError where no file can be written there; UsageError where a file of
 * another program exists
 */
function makeLastingPlace(content: string): Place {
  try {
    createFolder(dirname(content));
    assertMayWrite(content, true);
  } catch (thrown) {
    throw toOutputError(content, thrown);
  }
  const store = `${content}.harvest`;
  // A killed run may have left only an empty store, with its journal.
  if (getFileSize(store) === 0 && getFileSize(content) > 0)
    throw new UsageError(t`${content} already exists and was not written by pas.`, {
      hint: t`Use another --out.`,
    });
  return { store, content };
}

function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Makes the function that writes to a stream, and waits until the stream has passed the content on.
 * @throws InterruptedError when the pipe is closed; DatabaseError on a full disk
 */
function createWriter(stream: NodeJS.WriteStream): (content: Buffer) => Promise<void> {
  return (content) =>
    new Promise((done, fail) => {
      stream.write(content, (error) => {
        if (error == null) done();
        else if (getErrorCode(error) === 'EPIPE')
          fail(new InterruptedError(t`The program that reads the output closed it.`));
        else fail(toDatabaseError('stdout', error));
      });
    });
}
