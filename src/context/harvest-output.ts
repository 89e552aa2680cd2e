import { lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { InterruptedError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Message, msg, quoteShellWord } from '../base/message.ts';
import {
  type AppendTarget,
  openAppendingFile,
  openAppendingStream,
} from '../flows/harvest/append-output.ts';
import { OUTPUT_FORMS, type OutputName } from '../flows/harvest/outputs.ts';
import type { OpenedOutput, Opening, RecordOutput } from '../flows/harvest/record-output.ts';
import { assertSubject, openLedger, type Subject } from '../ledger/ledger.ts';
import { toDatabaseError } from '../store/database.ts';
import { makeFolder } from '../store/folder.ts';
import type { Context } from './context.ts';

/** Subject of a harvest into an output of a known form. */
export type OutputSubject = Subject & { readonly form: OutputName };

/**
 * Opens the output with its ledger: beside a file, inside a folder or an SQLite file. Both are
 * closed with the context.
 * @throws UsageError where something else exists there; DatabaseError where it cannot be written,
 * or another process uses it
 */
export async function openOutput(
  context: Context,
  out: string,
  subject: OutputSubject,
  opening: Opening,
): Promise<OpenedOutput> {
  const place =
    out === '-'
      ? makeTemporaryPlace(context, subject)
      : makeLastingPlace(resolve(context.cwd, out), subject);
  const ledger = openLedger(place.ledger);
  let output: RecordOutput | undefined;
  context.onClose(async () => {
    try {
      await output?.close();
    } finally {
      ledger.close();
    }
  });
  ledger.change(() => assertSubject(ledger, subject, out));
  const { content } = place;
  const openTarget = (): Promise<AppendTarget> | AppendTarget =>
    content === undefined
      ? openAppendingStream(createWriter(context.streams.stdout))
      : openAppendingFile(content, ledger, opening);
  output = await OUTPUT_FORMS[subject.form].open({
    path: content ?? '',
    subject,
    ledger,
    opening,
    openTarget,
  });
  return { ledger, output };
}

/** Ledger in a folder; no record's file has this name. */
const LEDGER_NAME = '.harvest';

type Place = {
  readonly ledger: string;
  readonly content: string | undefined;
};

function makeTemporaryPlace(context: Context, { form }: OutputSubject): Place {
  if (OUTPUT_FORMS[form].ledger !== 'beside')
    throw new UsageError(t`--to ${form} needs a file or folder: add --out.`);
  const folder = mkdtempSync(join(tmpdir(), 'pas-harvest-'));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  return { ledger: join(folder, 'ledger.sqlite'), content: undefined };
}

function makeLastingPlace(content: string, { form }: OutputSubject): Place {
  const { ledger: where } = OUTPUT_FORMS[form];
  const folder = where === 'inside' ? content : dirname(content);
  try {
    assertOutputFits(content, form);
    makeFolder(folder);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    const words = UNFIT[String(code)];
    if (words === undefined) throw toDatabaseError(folder, thrown);
    throw new UsageError(`${content}: ${words}.`, { hint: t`Use another --out.`, cause: thrown });
  }
  if (where === 'itself') return { ledger: content, content };
  const ledger = where === 'inside' ? join(content, LEDGER_NAME) : `${content}.harvest`;
  // A killed run may have left only an empty ledger, with its journal.
  const hasOtherContent = (): boolean =>
    where === 'inside'
      ? readdirSync(content).some((name) => !name.startsWith(LEDGER_NAME))
      : getFileSize(content) > 0;
  if (getFileSize(ledger) === 0 && hasOtherContent()) throw makeForeignFileError(content);
  return { ledger, content };
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
function assertOutputFits(content: string, form: OutputName): void {
  const isFolder = OUTPUT_FORMS[form].ledger === 'inside';
  const hint = t`Use another --out.`;
  const stats = statSync(content, { throwIfNoEntry: false });
  if (isFolder && stats?.isDirectory() === false)
    throw new UsageError(t`${content} is a file, not a folder.`, { hint });
  if (!isFolder && stats?.isDirectory() === true) {
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
 * Waits until the content is read. @throws InterruptedError when the pipe is closed; DatabaseError
 * on a full disk
 */
function createWriter(stream: NodeJS.WriteStream): (content: string | Buffer) => Promise<void> {
  return (content) =>
    new Promise((done, fail) => {
      stream.write(content, (error) => {
        if (error == null) done();
        else if ('code' in error && error.code === 'EPIPE')
          fail(new InterruptedError(t`The program that reads the output closed it.`));
        else fail(toDatabaseError('stdout', error));
      });
    });
}
