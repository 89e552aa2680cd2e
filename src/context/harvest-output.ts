import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { InterruptedError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { filesOutput } from '../flows/harvest/folder-output.ts';
import { type Growing, growingFile, growingStream } from '../flows/harvest/growing-output.ts';
import { jsonlOutput } from '../flows/harvest/jsonl-output.ts';
import type { OpenedOutput, Opening, RecordOutput } from '../flows/harvest/record-output.ts';
import { sqliteOutput } from '../flows/harvest/sqlite-output.ts';
import { xmlStreamOutput } from '../flows/harvest/xml-output.ts';
import { type Ledger, openLedger } from '../ledger/ledger.ts';
import { type Subject, settleSubject } from '../ledger/subject.ts';
import { repeatedElementsOf } from '../oai/repeated-elements.ts';
import { toDatabaseError } from '../store/database.ts';
import { makeFolder } from '../store/folder.ts';
import type { Context } from './context.ts';

/**
 * Opens the output with its ledger: beside a file, inside a folder or an SQLite file. Both are closed with the context.
 * @throws UsageError where something else exists there; DatabaseError where it cannot be written, or another process uses it
 */
export async function openOutput(context: Context, out: string, subject: Subject, opening: Opening): Promise<OpenedOutput> {
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
  output = await outputOf(context, place.content, subject, ledger, opening);
  return { ledger, output };
}

/** Ledger in a folder; no record's file has this name. */
const LEDGER_NAME = '.harvest';

type Place = {
  readonly ledger: string;
  /** Undefined: stdout. */
  readonly content: string | undefined;
};

function temporaryPlace(context: Context, { form }: Subject): Place {
  if (form !== 'jsonl' && form !== 'xml') throw new UsageError(t`--to ${form} needs a file or folder: give --out.`);
  const folder = mkdtempSync(join(tmpdir(), 'pas-harvest-'));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  return { ledger: join(folder, 'ledger.sqlite'), content: undefined };
}

function lastingPlace(content: string, { form }: Subject): Place {
  const folder = form === 'files' ? content : dirname(content);
  if (form === 'files' && statSync(content, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError(t`${content} is a file, not a folder.`, { hint: t`Give another --out.` });
  }
  try {
    makeFolder(folder);
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
  switch (form) {
    case 'sqlite':
      return { ledger: content, content };
    case 'files': {
      const ledger = join(content, LEDGER_NAME);
      // A killed run may have left only an empty ledger, with its journal.
      const others = readdirSync(content).filter((name) => !name.startsWith(LEDGER_NAME));
      if (sizeOf(ledger) === 0 && others.length > 0) throw foreign(content);
      return { ledger, content };
    }
    case 'jsonl':
    case 'xml': {
      const ledger = `${content}.harvest`;
      if (sizeOf(ledger) === 0 && sizeOf(content) > 0) throw foreign(content);
      return { ledger, content };
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function foreign(path: string): UsageError {
  return new UsageError(t`${path} already exists and was not written by pas.`, { hint: t`Give another --out.` });
}

async function outputOf(
  context: Context,
  content: string | undefined,
  { form, version, oaiBase, verb }: Subject,
  ledger: Ledger,
  opening: Opening,
): Promise<RecordOutput> {
  const growing = (): Promise<Growing> | Growing =>
    content === undefined ? growingStream(writerTo(context.streams.stdout)) : growingFile(content, ledger, opening);
  switch (form) {
    case 'jsonl':
      return jsonlOutput(await growing(), repeatedElementsOf(version), verb);
    case 'xml':
      return xmlStreamOutput(await growing(), verb);
    case 'files':
      return filesOutput(content ?? '', `${oaiBase}/id/`, ledger, opening);
    case 'sqlite':
      return sqliteOutput(ledger, repeatedElementsOf(version), opening);
  }
}

/** Waits until the reader took the content. @throws InterruptedError when the pipe is closed; DatabaseError on a full disk */
function writerTo(stream: NodeJS.WriteStream): (content: string | Buffer) => Promise<void> {
  return (content) =>
    new Promise((done, fail) => {
      stream.write(content, (error) => {
        if (error == null) done();
        else if ('code' in error && error.code === 'EPIPE')
          fail(new InterruptedError(t`The output was closed by the program that reads it.`));
        else fail(toDatabaseError('stdout', error));
      });
    });
}
