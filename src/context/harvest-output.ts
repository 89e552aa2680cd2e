import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { InterruptedError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Growing, growingFile, growingStream } from '../flows/harvest/growing-output.ts';
import { OUTPUT_FORMS, type OutputName } from '../flows/harvest/outputs.ts';
import type { OpenedOutput, Opening, RecordOutput } from '../flows/harvest/record-output.ts';
import { openLedger } from '../ledger/ledger.ts';
import { type Subject, settleSubject } from '../ledger/subject.ts';
import { toDatabaseError } from '../store/database.ts';
import { makeFolder } from '../store/folder.ts';
import type { Context } from './context.ts';

/** What is harvested into one output, whose form is known. */
export type OutputSubject = Subject & { readonly form: OutputName };

/**
 * Opens the output with its ledger: beside a file, inside a folder or an SQLite file. Both are closed with the context.
 * @throws UsageError where something else stands there; DatabaseError where it cannot be written, or another process has it
 */
export async function openOutput(context: Context, out: string, subject: OutputSubject, opening: Opening): Promise<OpenedOutput> {
  const place = out === '-' ? temporaryPlace(context, subject) : lastingPlace(resolve(context.cwd, out), subject);
  const ledger = openLedger(place.ledger);
  let output: RecordOutput | undefined;
  context.onClose(async () => {
    try {
      await output?.close();
    } finally {
      ledger.close();
    }
  });
  ledger.change(() => settleSubject(ledger, subject, out));
  const { content } = place;
  const growing = (): Promise<Growing> | Growing =>
    content === undefined ? growingStream(writerTo(context.streams.stdout)) : growingFile(content, ledger, opening);
  output = await OUTPUT_FORMS[subject.form].open({ path: content ?? '', subject, ledger, opening, growing });
  return { ledger, output };
}

/** In a folder, which no record's file is called. */
const LEDGER_NAME = '.harvest';

type Place = {
  readonly ledger: string;
  /** Undefined: stdout. */
  readonly content: string | undefined;
};

function temporaryPlace(context: Context, { form }: OutputSubject): Place {
  if (OUTPUT_FORMS[form].ledger !== 'beside') throw new UsageError(t`--to ${form} needs a place: give --out.`);
  const folder = mkdtempSync(join(tmpdir(), 'pas-harvest-'));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  return { ledger: join(folder, 'ledger.sqlite'), content: undefined };
}

function lastingPlace(content: string, { form }: OutputSubject): Place {
  const { ledger: where } = OUTPUT_FORMS[form];
  const folder = where === 'inside' ? content : dirname(content);
  if (where === 'inside' && statSync(content, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError(t`${content} is a file, not a folder.`, { hint: t`Give another --out.` });
  }
  try {
    makeFolder(folder);
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
  if (where === 'itself') return { ledger: content, content };
  const ledger = where === 'inside' ? join(content, LEDGER_NAME) : `${content}.harvest`;
  // A run that was killed may have come no further than an empty ledger, with its journal.
  const holdsOthers = (): boolean =>
    where === 'inside' ? readdirSync(content).some((name) => !name.startsWith(LEDGER_NAME)) : sizeOf(content) > 0;
  if (sizeOf(ledger) === 0 && holdsOthers()) throw foreign(content);
  return { ledger, content };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function foreign(path: string): UsageError {
  return new UsageError(t`${path} is there already, and pas did not harvest into it.`, { hint: t`Give another --out.` });
}

/** Waits until the reader took the content. @throws InterruptedError when the reader is gone; DatabaseError when the disk refuses */
function writerTo(stream: NodeJS.WriteStream): (content: string | Buffer) => Promise<void> {
  return (content) =>
    new Promise((done, fail) => {
      stream.write(content, (error) => {
        if (error == null) done();
        else if ('code' in error && error.code === 'EPIPE') fail(new InterruptedError(t`Nobody reads the output any more.`));
        else fail(toDatabaseError('stdout', error));
      });
    });
}
