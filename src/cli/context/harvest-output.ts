import { lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { toDatabaseError } from '../../base/disk/database.ts';
import { writePrivateFile } from '../../base/disk/files.ts';
import { makeFolder } from '../../base/disk/folder.ts';
import { getErrorCode, getErrorMessage, InterruptedError, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { type Message, msg, quoteShellWord } from '../../base/message.ts';
import {
  openHarvestStore,
  type RecordHarvestSubject,
  storeOrCompareSubject,
} from '../../harvest/harvested-records.ts';
import {
  type OpenedOutput,
  type OutputOpenOptions,
  openFileOutput,
  openStreamOutput,
  type RecordOutput,
} from '../../harvest/outputs.ts';
import { MAX_KEPT_BYTES, MalformedAnswerError } from '../../harvest/protocol.ts';
import { createRedactor } from '../../service/http/redaction.ts';
import type { Context } from './context.ts';
import { getPassword } from './open-service.ts';

/**
 * Opens the output with its store beside it. Both are closed with the context.
 * @throws UsageError where something else exists there; DatabaseError where it cannot be written,
 * or another process uses it
 */
export async function openHarvestOutput(
  context: Context,
  out: string,
  subject: RecordHarvestSubject,
  opening: OutputOpenOptions,
): Promise<OpenedOutput> {
  const place =
    out === '-'
      ? makeTemporaryPlace(context)
      : makeLastingPlace(resolve(context.cwd, out), subject.form);
  const store = openHarvestStore(place.store);
  let output: RecordOutput | undefined;
  context.onClose(async () => {
    try {
      await output?.close();
    } finally {
      store.close();
    }
  });
  store.change(() => storeOrCompareSubject(store, subject, out));
  const { content } = place;
  output =
    content === undefined
      ? openStreamOutput(createWriter(context.streams.stdout), subject)
      : await openFileOutput(content, store, subject, opening);
  return { store, output };
}

type Place = {
  readonly store: string;
  readonly content: string | undefined;
};

function makeTemporaryPlace(context: Context): Place {
  const folder = mkdtempSync(join(tmpdir(), 'pas-harvest-'));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  return { store: join(folder, 'harvest.sqlite'), content: undefined };
}

function makeLastingPlace(content: string, form: RecordHarvestSubject['form']): Place {
  const folder = dirname(content);
  try {
    assertOutputFits(content, form);
    makeFolder(folder);
  } catch (thrown) {
    const words = UNFIT[getErrorCode(thrown)];
    if (words === undefined) throw toDatabaseError(folder, thrown);
    throw new UsageError(`${content}: ${words}.`, { hint: t`Use another --out.`, cause: thrown });
  }
  const store = `${content}.harvest`;
  // A killed run may have left only an empty store, with its journal.
  if (getFileSize(store) === 0 && getFileSize(content) > 0) throw makeForeignFileError(content);
  return { store, content };
}

/** Messages for error codes of a path at which no output can be. */
const UNFIT: Readonly<Record<string, Message>> = {
  ENOTDIR: msg`a part of the path is not a folder`,
  EEXIST: msg`a part of the path is not a folder`,
  ENAMETOOLONG: msg`the name is too long`,
  ELOOP: msg`its symbolic links form a loop`,
  EACCES: msg`permission denied`,
  EPERM: msg`permission denied`,
  EROFS: msg`the disk is read-only`,
};

/** SQLite and the drafts of files add to a name. */
const MAX_NAME_BYTES = 230;

/** @throws UsageError where something else stands in the place of the output */
function assertOutputFits(content: string, form: RecordHarvestSubject['form']): void {
  const hint = t`Use another --out.`;
  const stats = statSync(content, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    const inside = quoteShellWord(join(content, `NAME.${form}`));
    throw new UsageError(t`${content} is a folder.`, {
      hint: t`Specify a file in it: --out ${inside}.`,
    });
  }
  if (stats === undefined && lstatSync(content, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError(t`${content} is a symbolic link to something that does not exist.`, {
      hint,
    });
  if (Buffer.byteLength(basename(content)) > MAX_NAME_BYTES)
    throw new UsageError(t`The name of ${content} is longer than ${MAX_NAME_BYTES} bytes.`, {
      hint,
    });
}

function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function makeForeignFileError(path: string): UsageError {
  return new UsageError(t`${path} already exists and was not written by pas.`, {
    hint: t`Use another --out.`,
  });
}

/**
 * Waits until the content is read.
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

const MAX_KEPT_FILES = 20;
const MAX_MEBIBYTES = MAX_KEPT_BYTES / 1024 / 1024;
const NAME = /^malformed-answer-(\d+)\.xml$/;

/**
 * Saves the beginning of a malformed answer in the data home, for the operator, without the
 * password; only the newest are kept. Any other error is only thrown on.
 * @throws the given error, always
 */
export function saveMalformedAnswer(context: Context, thrown: unknown): never {
  const { places, clock, terminal, getProfile } = context;
  if (thrown instanceof MalformedAnswerError) {
    const path = join(places.home, `malformed-answer-${Math.floor(clock.now())}.xml`);
    const beginning = thrown.body.subarray(0, MAX_KEPT_BYTES);
    try {
      const password =
        getProfile().oaiAuth === 'none' ? undefined : getPassword(context, getProfile());
      const { body } = createRedactor(password === undefined ? [] : [password])({
        status: 200,
        headers: {},
        body: beginning,
      });
      if (body.length > 0) {
        writePrivateFile(path, body);
        removeOldest(places.home);
        terminal.warn(
          beginning.length === thrown.lengthBytes
            ? t`The original answer is saved in ${path}.`
            : t`The first ${MAX_MEBIBYTES} MiB of the original answer are saved in ${path}.`,
        );
      }
    } catch (unkept) {
      const why = getErrorMessage(unkept);
      terminal.warn(t`The original answer could not be saved. ${why}`);
    }
  }
  throw thrown;
}

function removeOldest(folder: string): void {
  const times = readdirSync(folder).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  const newestFirst = times.sort((a, b) => Number(b) - Number(a));
  for (const time of newestFirst.slice(MAX_KEPT_FILES))
    rmSync(join(folder, `malformed-answer-${time}.xml`), { force: true });
}
