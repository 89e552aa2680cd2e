import type { HarvestStore, Subject } from '../../harvested/harvested-records.ts';
import type { OaiRecord } from '../../oai/protocol.ts';
import {
  listRepeatedElements,
  type RepeatedElements,
  toHeaderJson,
  toRecordJson,
} from '../../oai/record-json.ts';
import type { RecordSink } from '../../oai/store-page.ts';
import type { AppendTarget, OutputForm } from './append-output.ts';
import { makeXmlForm } from './xml-output.ts';

/** An output file or stream of a harvest. */
export type RecordOutput = Required<RecordSink> & {
  /** Flushes written pages to disk, after {@link HarvestStore.beginGroup}. */
  flush(): Promise<void>;
  /**
   * Removes what was not committed, and closes the output, also after a failure. A second call does
   * nothing.
   * @throws FileError where another program changed the output meanwhile
   */
  close(): Promise<void>;
};

export type OpenedOutput = { readonly store: HarvestStore; readonly output: RecordOutput };

/** Extensions of file names that select a form of output. */
const EXTENSIONS = { jsonl: ['jsonl', 'ndjson'], xml: ['xml'] };

export type OutputName = keyof typeof EXTENSIONS;

export const OUTPUT_NAMES = Object.keys(EXTENSIONS) as readonly OutputName[];

/** Subject of a harvest into an output of a known form. */
export type OutputSubject = Subject & { readonly form: OutputName };

export function findOutputOfExtension(extension: string): OutputName | undefined {
  return OUTPUT_NAMES.find((name) => EXTENSIONS[name].includes(extension));
}

export function openRecordOutput(target: AppendTarget, subject: OutputSubject): RecordOutput {
  const form = subject.form === 'xml' ? makeXmlForm(subject.verb) : makeJsonlForm(subject);
  const getHead = (): string => (target.isEmpty() ? form.head : '');
  return {
    write: async (page) => {
      if (page.records.length === 0) return;
      const head = getHead();
      if (head !== '') await target.append(head);
      for (const piece of form.render(page)) await target.append(piece);
    },
    notePage: () => target.markEnd(),
    flush: () => target.flush(),
    close: () => target.close(getHead() + form.tail),
  };
}

/** A page of large records is written in pieces, which take less memory. */
const MAX_PIECE_BYTES = 1024 * 1024;

/** One JSON object a line. */
function makeJsonlForm({ verb, format, version }: Subject): OutputForm {
  // The service's schema describes only records of its own format.
  const repeated: RepeatedElements =
    format === 'oai_dc' ? new Map() : listRepeatedElements(version);
  const toJson = (record: OaiRecord) =>
    verb === 'ListRecords' ? toRecordJson(record, repeated) : toHeaderJson(record);
  return {
    head: '',
    tail: '',
    *render({ records }) {
      let lines: Buffer[] = [];
      let lengthBytes = 0;
      for (const record of records) {
        // A text of many lines takes three times as long to encode.
        const line = Buffer.from(`${JSON.stringify(toJson(record))}\n`);
        lines.push(line);
        lengthBytes += line.length;
        if (lengthBytes < MAX_PIECE_BYTES) continue;
        yield Buffer.concat(lines);
        lines = [];
        lengthBytes = 0;
      }
      yield Buffer.concat(lines);
    },
  };
}
