import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, constants, fstatSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toDatabaseError } from '../base/disk/database.ts';
import { flushFolder } from '../base/disk/files.ts';
import { FileError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { buildXml } from '../base/xml/build.ts';
import {
  getChild,
  getSourceBytes,
  getSourceText,
  type XmlDocument,
  type XmlElement,
} from '../base/xml/element.ts';
import { parseXml } from '../base/xml/parse.ts';
import {
  type HarvestPass,
  type ReadPage,
  type RecordPage,
  type RecordStore,
  storePage,
  UNLISTED,
} from './harvest-state.ts';
import {
  assertSameFile,
  type CommittedPart,
  getCommittedPart,
  type HarvestStore,
  makeModifiedFileError,
  type RecordHarvestSubject,
  resetOutputState,
  storeCommittedPart,
} from './harvest-store.ts';
import {
  formatDatestampRoundedUp,
  type Granularity,
  OAI_NAMESPACE,
  parseOaiRecord,
} from './protocol.ts';
import { type RepeatedElements, readRepeatedElements, toRecordJson } from './record-json.ts';

/** How an existing output is treated. */
export type OutputOpenOptions = {
  /**
   * Repairs changes by another program; false: they are an error where the output has content.
   */
  readonly verify: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote: (text: string) => void;
};

/** An output file or stream of a harvest. */
export type RecordOutput = Required<Pick<RecordStore, 'write' | 'commit'>> & {
  /**
   * Flushes the committed pages to disk, and saves the length of the file; runs in {@link
   * HarvestStore.commitGroup}.
   */
  flush(): Promise<void>;
  /**
   * Removes what was not committed, writes the end of the format, and closes the output, also after
   * a failure. A second call does nothing.
   * @throws FileError where another program changed the output meanwhile
   */
  close(): Promise<void>;
};

/** An output with the store of its state. */
export type OpenedOutput = { readonly store: HarvestStore; readonly output: RecordOutput };

/**
 * Opens or creates the file of a harvest. What a killed process left after the committed part is
 * cut off. A file that is missing, empty or, with `verify`, changed by another program is begun
 * anew, and its store emptied, so that all is harvested again.
 * @throws FileError where another program changed the file, without `verify`; DatabaseError where
 * the disk fails
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
  let isClosed = false;
  return {
    write: async (page) => {
      if (page.records.length === 0) return;
      const head = getHead();
      if (head !== '') file.append(Buffer.from(head));
      for (const piece of form.render(page)) file.append(piece);
    },
    commit: () => {
      file.markEnd();
      return [];
    },
    flush: async () => {
      const committed = await file.flush();
      store.change(() => storeCommittedPart(store, committed));
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      const closed = await file.close(getCommittedPart(store), getHead() + form.tail);
      store.change(() => storeCommittedPart(store, closed));
    },
  };
}

/**
 * Opens the file, and begins it anew where it is missing, empty, or, with `verify`, changed.
 * @throws FileError where it was changed, without `verify`
 */
async function openContent(
  path: string,
  store: HarvestStore,
  { verify, onNote }: OutputOpenOptions,
): Promise<AppendFile> {
  // From now on, output that the store lacks counts as written by pas, even after a power cut.
  const storeAsOpen = (committed: CommittedPart): void => {
    store.change(() => storeCommittedPart(store, { ...committed, closedBytes: null }));
    store.flush();
  };
  const open = (): Promise<AppendFile> => {
    const committed = getCommittedPart(store);
    return openAppendFile(path, committed, () => storeAsOpen(committed));
  };
  const startAnew = (): Promise<AppendFile> => {
    onNote(
      verify
        ? t`${path} was changed by another program, and is written again.`
        : t`${path} is missing or empty, and is written again.`,
    );
    store.change(() => resetOutputState(store));
    return open();
  };
  const isGone =
    getCommittedPart(store).lengthBytes > 0 &&
    (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (isGone) return startAnew();
  return open().catch((thrown: unknown) => {
    if (verify && thrown instanceof FileError) return startAnew();
    throw thrown;
  });
}

/**
 * Opens an output of lines of JSON that are passed to `write` at once: nothing is flushed, and
 * nothing can be cut off.
 * @param write called with each piece, and awaited; its errors are those of the output
 */
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
    commit: () => [],
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
  const list = getChild(root, 'ListRecords') ?? root;
  const declarations = renderNamespaceDeclarations(document, [root, list]);
  const prefix = /^<([^\s:>/]+:)?/.exec(getStartTag(document, list))?.[1] ?? '';
  return {
    open: `<${prefix}ListRecords${declarations}>\n`,
    close: `</${prefix}ListRecords>\n`,
  };
}

/**
 * Returns the source of the namespace declarations that are in scope in the last element of `path`,
 * each behind a blank: a record that is cut out of its list needs them to be parsed.
 * @param path elements of the document, each the parent of the next
 */
export function renderNamespaceDeclarations(
  document: XmlDocument,
  path: readonly XmlElement[],
): string {
  const declarations = new Map<string, string>();
  for (const element of path) {
    const tag = getStartTag(document, element);
    for (const [text, name = ''] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)) {
      if (/^xmlns(?::|$)/.test(name)) declarations.set(name, ` ${text.trim()}`);
    }
  }
  return [...declarations.values()].join('');
}

/** Returns the source of an element's start tag, from `<` to `>`, with its prefixes. */
function getStartTag(document: XmlDocument, { start, end, children }: XmlElement): string {
  const beginning = getSourceText(document, { start, end: children[0]?.start ?? end });
  return /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(beginning)?.[0] ?? '';
}

type TombstoneOptions = {
  readonly store: RecordStore;
  readonly setSpec: string;
  readonly granularity: Granularity;
};

const RECORDS_AT_ONCE = 100;

/**
 * Stores that records are deleted, by pages of up to 100 deleted records, as the service would send
 * them, with the time at which the pass began, or the record's last change where that is later.
 * @throws errors of the store
 */
export async function storeTombstones(
  options: TombstoneOptions,
  pass: HarvestPass,
  identifiers: readonly string[],
): Promise<void> {
  for (let first = 0; first < identifiers.length; first += RECORDS_AT_ONCE) {
    const few = identifiers.slice(first, first + RECORDS_AT_ONCE);
    const tombstones = makeTombstones(options, pass.beganMs, few);
    await storePage(options.store, tombstones, () => pass);
  }
}

/** Makes a page of deleted records, as the service would send it, by parsing one that it writes. */
function makeTombstones(
  { store: { state }, setSpec, granularity }: TombstoneOptions,
  beganMs: number,
  identifiers: readonly string[],
): ReadPage {
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
  const elements = getChild(document.root, 'ListRecords')?.children ?? [];
  const items = elements.flatMap((element) => parseOaiRecord(element) ?? []);
  return { document, items, scan: UNLISTED, untilMs: null };
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Opens or creates a file, compares it with its committed part, and cuts off what a killed process
 * left after that.
 * @param onSound called before the file is changed
 * @throws FileError where the file differs from the committed part, or the path is no file;
 * DatabaseError where the disk fails
 */
export async function openAppendFile(
  path: string,
  committed: CommittedPart,
  onSound: () => void = () => {},
): Promise<AppendFile> {
  const file = await asDiskError(path, () =>
    open(path, constants.O_RDWR | constants.O_CREAT, 0o600),
  );
  try {
    return await asDiskError(path, async () => {
      const stat = statFile(file);
      if (!stat.isFile())
        throw new FileError(path, t`${path} is not a file.`, { hint: t`Use another --out.` });
      assertSize(path, stat, committed.lengthBytes, committed.closedBytes);
      const content = await hashContent(file, committed);
      if (content === undefined) throw makeModifiedFileError(path);
      onSound();
      await file.truncate(committed.lengthBytes);
      flushFolder(dirname(path));
      return new AppendFile(path, file, content, committed.lengthBytes);
    });
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** An append-only file; the caller stores the committed part. */
class AppendFile {
  readonly #path: string;
  readonly #file: FileHandle;
  /** Checksums of all appended bytes, and of those up to the mark. */
  readonly #content: Hash;
  #marked: Hash;
  #lengthBytes: number;
  #markedBytes: number;
  /** Bytes of a failed write may follow the appended ones. */
  #isRagged = false;

  constructor(path: string, file: FileHandle, content: Hash, lengthBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#content = content;
    this.#marked = content.copy();
    this.#lengthBytes = this.#markedBytes = lengthBytes;
  }

  isEmpty(): boolean {
    return this.#lengthBytes === 0;
  }

  /**
   * Passes bytes to the operating system.
   * @throws DatabaseError when the disk fails, as do `flush` and `close`
   */
  append(bytes: Buffer): void {
    try {
      this.#assertSize();
      this.#isRagged = true;
      writeAll(this.#file, bytes, this.#lengthBytes);
      this.#isRagged = false;
      this.#lengthBytes += bytes.length;
      this.#content.update(bytes);
    } catch (thrown) {
      throw toDatabaseError(this.#path, thrown);
    }
  }

  markEnd(): void {
    this.#markedBytes = this.#lengthBytes;
    this.#marked = this.#content.copy();
  }

  /** Resolves to the committed part once it is on disk. */
  flush(): Promise<CommittedPart> {
    return asDiskError(this.#path, async () => {
      await this.#file.datasync();
      const digest = getDigest(this.#marked);
      return { lengthBytes: this.#markedBytes, digest, closedBytes: null };
    });
  }

  /**
   * Truncates the file to the committed part, appends `tail`, and closes it.
   * @returns the committed part with the size of the closed file
   * @throws FileError where another program changed the file meanwhile, which is then left
   * unchanged
   */
  close(committed: CommittedPart, tail: string): Promise<CommittedPart> {
    const path = this.#path;
    const file = this.#file;
    return asDiskError(path, async () => {
      try {
        this.#assertSize();
        // Another program may have changed it without changing its size.
        if ((await hashContent(file, committed)) === undefined) throw makeModifiedFileError(path);
        await file.truncate(committed.lengthBytes);
        writeAll(file, Buffer.from(tail), committed.lengthBytes);
        await file.datasync();
        const closed = statFile(file);
        assertSameFile(path, closed);
        return { ...committed, closedBytes: Number(closed.size) };
      } finally {
        await file.close();
      }
    });
  }

  #assertSize(): void {
    const exactly = this.#isRagged ? null : this.#lengthBytes;
    assertSize(this.#path, statFile(this.#file), this.#lengthBytes, exactly);
  }
}

/** Synchronous: the thread pool takes many times as long. */
function statFile({ fd }: FileHandle): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

function writeAll({ fd }: FileHandle, bytes: Buffer, position: number): void {
  for (let doneCount = 0; doneCount < bytes.length; )
    doneCount += writeSync(fd, bytes, doneCount, bytes.length - doneCount, position + doneCount);
}

/** Returns the hash of the committed bytes; undefined where they differ from the digest. */
async function hashContent(
  file: FileHandle,
  { lengthBytes, digest }: CommittedPart,
): Promise<Hash | undefined> {
  const content = createHash('sha256');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < lengthBytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, lengthBytes - at), at);
    if (bytesRead === 0) return undefined;
    content.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return digest === null || digest === getDigest(content) ? content : undefined;
}

/** Returns the digest so far; the hash can be continued. */
function getDigest(content: Hash): string {
  return content.copy().digest('base64');
}

function assertSize(
  path: string,
  { size }: BigIntStats,
  atLeast: number,
  exactly: number | null,
): void {
  const isOther = exactly !== null && size !== BigInt(exactly);
  if (size < atLeast || isOther) throw makeModifiedFileError(path);
}

async function asDiskError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
