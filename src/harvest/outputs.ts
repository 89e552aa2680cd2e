import { statSync } from 'node:fs';
import { type AppendFile, openAppendFile } from '../base/disk/append-file.ts';
import { FileError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { buildXml, getChild, getSourceBytes, type XmlDocument } from '../base/xml/element.ts';
import { parseXml } from '../base/xml/parse.ts';
import { getStartTag, renderNamespaceDeclarations } from '../base/xml/source-text.ts';
import type { HarvestState } from './harvest-state.ts';
import {
  deleteClosedBytes,
  type HarvestStore,
  type RecordHarvestSubject,
  readClosedBytes,
  readExtent,
  resetOutput,
  saveClosedBytes,
  saveExtent,
} from './harvested-records.ts';
import type { HarvestPass } from './pass.ts';
import {
  formatDatestampRoundedUp,
  type Granularity,
  OAI_NAMESPACE,
  type OaiRecord,
  parseRecord,
} from './protocol.ts';
import { type RepeatedElements, readRepeatedElements, toRecordJson } from './record-json.ts';
import { type RecordPage, type RecordSink, storePage } from './store-page.ts';

export type OutputOpenOptions = {
  /**
   * Repairs changes by another program; false: they are an error, unless the output is missing or
   * empty.
   */
  readonly verify: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote: (text: string) => void;
};

/** An output file or stream of a harvest. */
export type RecordOutput = Required<RecordSink> & {
  /**
   * Flushes the committed pages to disk, and saves the length of the file; runs after {@link
   * HarvestStore.beginGroup}.
   */
  flush(): Promise<void>;
  /**
   * Removes what was not committed, and closes the output, also after a failure. A second call does
   * nothing.
   * @throws FileError where another program changed the output meanwhile
   */
  close(): Promise<void>;
};

export type OpenedOutput = { readonly store: HarvestStore; readonly output: RecordOutput };

/**
 * Opens a file whose committed length and digest are in the store: text that a killed process left
 * after them is truncated, and changes by another program are detected.
 * @throws FileError where the file differs from its stored length or digest
 */
export async function openFileOutput(
  path: string,
  store: HarvestStore,
  subject: RecordHarvestSubject,
  opening: OutputOpenOptions,
): Promise<RecordOutput> {
  const form = subject.form === 'xml' ? XML_FORM : makeJsonlForm(subject);
  const file = await openContent(path, store, opening);
  const getHead = (): string => (file.isEmpty() ? form.head : '');
  const flush = async (): Promise<void> => {
    const extent = await file.flush();
    store.change(() => saveExtent(store, extent));
  };
  await flush();
  deleteClosedBytes(store);
  let isClosed = false;
  return {
    write: async (page) => {
      if (page.records.length === 0) return;
      const head = getHead();
      if (head !== '') file.append(Buffer.from(head));
      for (const piece of form.render(page)) file.append(piece);
    },
    notePage: () => file.markEnd(),
    flush,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      const closedBytes = await file.close(readExtent(store), getHead() + form.tail);
      store.change(() => saveClosedBytes(store, closedBytes));
    },
  };
}

async function openContent(
  path: string,
  store: HarvestStore,
  { verify, onNote }: OutputOpenOptions,
): Promise<AppendFile> {
  const open = (): Promise<AppendFile> =>
    openAppendFile(path, readExtent(store), readClosedBytes(store));
  const startAnew = (): Promise<AppendFile> => {
    onNote(
      verify
        ? t`${path} was changed by another program, and is written again.`
        : t`${path} is missing or empty, and is written again.`,
    );
    store.change(() => resetOutput(store));
    return open();
  };
  const isGone =
    readExtent(store).lengthBytes > 0 &&
    (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (isGone) return startAnew();
  return open().catch((thrown: unknown) => {
    if (verify && thrown instanceof FileError) return startAnew();
    throw thrown;
  });
}

/** Opens standard output for lines: it cannot be truncated. */
export function openStreamOutput(
  write: (content: Buffer) => Promise<void>,
  subject: RecordHarvestSubject,
): RecordOutput {
  const { render } = makeJsonlForm(subject);
  return {
    write: async (page) => {
      if (page.records.length === 0) return;
      for (const piece of render(page)) await write(piece);
    },
    notePage: () => {},
    flush: async () => {},
    close: async () => {},
  };
}

/** How records are written. A changed record occurs once per version: the last one counts. */
type OutputForm = {
  /** Yields the pieces of a page. */
  render(page: RecordPage): Iterable<Buffer>;
  /** Precedes the first page, and the tail of an output without pages. */
  readonly head: string;
  readonly tail: string;
};

/** A page of large records is written in pieces, which take less memory. */
const MAX_PIECE_BYTES = 1024 * 1024;

/** One JSON object a line. */
function makeJsonlForm({ format, version }: RecordHarvestSubject): OutputForm {
  // The service's schema describes only records of its own format.
  const repeated: RepeatedElements =
    format === 'oai_dc' ? new Map() : readRepeatedElements(version);
  return {
    head: '',
    tail: '',
    *render({ records }) {
      let lines: Buffer[] = [];
      let lengthBytes = 0;
      for (const record of records) {
        // A text of many lines takes three times as long to encode.
        const line = Buffer.from(`${JSON.stringify(toRecordJson(record, repeated))}\n`);
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
 * One document with the unchanged records, one per line. Each page is in a list that declares the
 * namespaces of its records.
 */
const XML_FORM: OutputForm = {
  head: '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n',
  tail: '</harvest>\n',
  render: ({ document, records }) => {
    const { open, close } = renderListTags(document);
    const lines = records.flatMap(({ element }) => [getSourceBytes(document, element), LINE_FEED]);
    return [Buffer.concat([Buffer.from(open), ...lines, Buffer.from(close)])];
  },
};

function renderListTags(document: XmlDocument) {
  const { root } = document;
  const list = getChild(root, 'ListRecords') ?? getChild(root, 'GetRecord');
  const path = list === undefined ? [root] : [root, list];
  const declarations = renderNamespaceDeclarations(document, path);
  const prefix = /^<([^\s:>/]+:)?/.exec(getStartTag(document, list ?? root))?.[1] ?? '';
  return {
    open: `<${prefix}ListRecords${declarations}>\n`,
    close: `</${prefix}ListRecords>\n`,
  };
}

type TombstoneOptions = {
  readonly state: HarvestState;
  readonly sink: RecordSink;
  readonly setSpec: string;
  readonly granularity: Granularity;
};

/** Scan of records with a tombstone: no later pass marks them again, and one that returns is new. */
const NO_SCAN = 0;
const RECORDS_AT_ONCE = 100;

/** Writes that records are deleted, page by page, in the form of the service. */
export async function writeTombstones(
  options: TombstoneOptions,
  pass: HarvestPass,
  identifiers: readonly string[],
): Promise<void> {
  for (let first = 0; first < identifiers.length; first += RECORDS_AT_ONCE) {
    const page = makePage(options, pass, identifiers.slice(first, first + RECORDS_AT_ONCE));
    await storePage(options, { ...pass, scan: NO_SCAN }, page, () => pass);
  }
}

function makePage(
  { state, setSpec, granularity }: TombstoneOptions,
  { beganMs }: HarvestPass,
  identifiers: readonly string[],
): { readonly document: XmlDocument; readonly items: readonly OaiRecord[] } {
  const content = identifiers.map((identifier) => {
    // Not before the record's own last change, or the tombstone would look older than the record.
    const goneAtMs = Math.max(beganMs, state.findSeen(identifier)?.datestampMs ?? 0);
    const header = [
      { name: 'identifier', content: identifier },
      { name: 'datestamp', content: formatDatestampRoundedUp(goneAtMs, granularity) },
    ];
    if (setSpec !== '') header.push({ name: 'setSpec', content: setSpec });
    const attributes = { status: 'deleted' };
    return { name: 'record', content: [{ name: 'header', attributes, content: header }] };
  });
  const attributes = { xmlns: OAI_NAMESPACE };
  const list = { name: 'ListRecords', content };
  const document = parseXml(buildXml({ name: 'OAI-PMH', attributes, content: [list] }));
  const records = getChild(document.root, 'ListRecords')?.children ?? [];
  return { document, items: records.flatMap((element) => parseRecord(element) ?? []) };
}
