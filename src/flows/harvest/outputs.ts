import type { HarvestStore, Subject } from '../../harvested/harvested-records.ts';
import { type OaiRecord, parseHeaderAlone } from '../../oai/protocol.ts';
import {
  listRepeatedElements,
  type RepeatedElements,
  toHeaderJson,
  toRecordJson,
} from '../../oai/record-json.ts';
import type { RecordPage, RecordSink } from '../../oai/store-page.ts';
import { getChild, getSourceBytes, type XmlDocument } from '../../xml/element.ts';
import { getStartTag, renderNamespaceDeclarations } from '../../xml/source-text.ts';
import type { AppendTarget } from './append-output.ts';

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

/** How records are written. A changed record occurs once per version: the last one counts. */
type OutputForm = {
  /** Yields the pieces of a page. */
  render(page: RecordPage): Iterable<Buffer>;
  /** Precedes the first page, and the tail of an output without pages. */
  readonly head: string;
  readonly tail: string;
};

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

const LINE_FEED = Buffer.from('\n');

/**
 * Makes the form of one document with the unchanged records, or their headers, one per line. Each
 * page is in a list that declares the namespaces of its records.
 */
function makeXmlForm(verb: Subject['verb']): OutputForm {
  return {
    head: '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n',
    tail: '</harvest>\n',
    render: ({ document, records }) => {
      const { open, close } = renderListTags(document, verb);
      const lines = records.flatMap((record) => {
        const header = verb === 'ListRecords' ? undefined : parseHeaderAlone(record.element);
        const { element } = header ?? record;
        return [getSourceBytes(document, element), LINE_FEED];
      });
      return [Buffer.concat([Buffer.from(open), ...lines, Buffer.from(close)])];
    },
  };
}

function renderListTags(document: XmlDocument, name: Subject['verb']) {
  const { root } = document;
  const list = getChild(root, name) ?? getChild(root, 'GetRecord');
  const path = list === undefined ? [root] : [root, list];
  const declarations = renderNamespaceDeclarations(document, path);
  const prefix = /^<([^\s:>/]+:)?/.exec(getStartTag(document, list ?? root))?.[1] ?? '';
  return { open: `<${prefix}${name}${declarations}>\n`, close: `</${prefix}${name}>\n` };
}
