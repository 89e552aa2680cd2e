import type { Ledger, Subject } from '../../ledger/ledger.ts';
import { listRepeatedElements, type RepeatedElements } from '../../oai/record-json.ts';
import type { AppendTarget } from './append-output.ts';
import type { Opening, RecordOutput } from './record-output.ts';

type OutputSource = {
  /** The file or folder; empty for standard output. */
  readonly path: string;
  readonly subject: Subject;
  readonly ledger: Ledger;
  readonly opening: Opening;
  /** Opens the file, or standard output, to which text is appended. */
  openTarget(): Promise<AppendTarget> | AppendTarget;
};

type OutputForm = {
  /** Extensions of file names that select this form; none for a folder. */
  readonly extensions: readonly string[];
  /**
   * Place of the ledger: a file beside the output, in the folder, or the output itself. `beside`
   * also allows standard output.
   */
  readonly ledger: 'beside' | 'inside' | 'itself';
  /** The form can hold headers without metadata. */
  readonly takesIdentifiers: boolean;
  open(source: OutputSource): Promise<RecordOutput>;
};

/** Reads the service's schema only for records of its own format. */
function listRepeatedIn({ format, version }: Subject): RepeatedElements {
  return format === 'oai_dc' ? new Map() : listRepeatedElements(version);
}

/** A form of output is a file that writes it and a row here. */
const FORMS = {
  jsonl: {
    extensions: ['jsonl', 'ndjson'],
    ledger: 'beside',
    takesIdentifiers: true,
    open: async ({ openTarget, subject }) =>
      (await import('./append-output.ts')).openJsonlOutput(
        await openTarget(),
        listRepeatedIn(subject),
        subject.verb,
      ),
  },
  xml: {
    extensions: ['xml'],
    ledger: 'beside',
    takesIdentifiers: true,
    open: async ({ openTarget, subject: { verb } }) =>
      (await import('./xml-output.ts')).openXmlStreamOutput(await openTarget(), verb),
  },
  files: {
    extensions: [],
    ledger: 'inside',
    takesIdentifiers: false,
    open: async ({ path, subject: { oaiBase }, ledger, opening }) =>
      (await import('./folder-output.ts')).openFilesOutput(path, `${oaiBase}/id/`, ledger, opening),
  },
  sqlite: {
    extensions: ['sqlite', 'sqlite3', 'db'],
    ledger: 'itself',
    takesIdentifiers: true,
    open: async ({ subject, ledger, opening }) =>
      (await import('./sqlite-output.ts')).openSqliteOutput(
        ledger,
        listRepeatedIn(subject),
        opening,
      ),
  },
} as const satisfies Readonly<Record<string, OutputForm>>;

export type OutputName = keyof typeof FORMS;

export const OUTPUT_FORMS: Readonly<Record<OutputName, OutputForm>> = FORMS;
export const OUTPUT_NAMES = Object.keys(FORMS) as readonly OutputName[];
