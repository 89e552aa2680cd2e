import { createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, openPromise } from 'yauzl';
import { memoize } from '../../base/collections.ts';
import { FileError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import {
  type Attachments,
  assertInputSize,
  MAX_INPUT_BYTES,
  makeCutShortError,
  makePasswordError,
  makeTooLargeError,
} from '../table.ts';

/** Limit for all parts read of one archive; a single part may have no more than a table. */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
/**
 * Maximum compression: workbooks pack to a tenth or a fiftieth, decompression bombs far more. Small
 * parts are exempt.
 */
const MAX_TIMES_PACKED = 200;
const ALWAYS_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Maximum compression of photographs: only scans that are mostly blank pack. */
const MAX_TIMES_PACKED_PHOTOS = 20;
const ALWAYS_UNPACKED_PHOTO_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 65_535;

/** An unpacked part of an archive; `name` is its path in it. */
export type ZipEntry = { readonly name: string; readonly bytes: Buffer };

function asFileError(file: string, thrown: unknown): FileError {
  if (thrown instanceof FileError) return thrown;
  const climbing = thrown instanceof Error ? CLIMBING.exec(thrown.message)?.[1] : undefined;
  return climbing === undefined
    ? makeCutShortError(file, thrown)
    : makeLeadsOutError(file, climbing);
}

/** Message of the library for an absolute path, or one with `..`. */
const CLIMBING = /^(?:absolute path|invalid relative path|invalid characters in fileName): (.*)$/s;

/** Archives made on Unix have the file mode in the upper half of the attributes. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

/** An archive whose parts are unpacked on demand. */
type ZipFile = {
  readonly paths: readonly string[];
  /**
   * Reads a part, once.
   * @throws FileError where the part is damaged, encrypted, or larger than a table may be, or all
   * parts read so far are too large together
   */
  read(path: string): Promise<Buffer>;
  /**
   * Reads all parts.
   * @throws FileError as {@link read}, or where the archive is larger than a table may be
   */
  readAll(): Promise<ReadonlyMap<string, ZipEntry>>;
  /**
   * Unpacks a part to a new file.
   * @throws FileError as {@link read}, and where it is larger than `maxBytes`
   */
  unpack(path: string, to: string, maxBytes: number): Promise<void>;
  close(): void;
};

/** An archive to be read as a table. */
export type ArchiveSource = {
  readonly file: string;
  readonly archive: ZipFile;
  /** Its bytes, where it is not on disk. */
  readonly bytes?: Buffer;
  /** Folder of the photographs that a form names; otherwise they are in the archive. */
  readonly photoFolder?: string;
};

/**
 * Opens an archive, which stays open until `close`. Symbolic links and paths that leave it are
 * refused. Parts are checked when they are read: size, sum of all sizes against bombs, password,
 * checksum.
 * @param bytes its bytes; otherwise it stays on disk
 * @throws FileError for a damaged directory, or too many parts; also when a part is read
 */
export async function openZip(file: string, bytes?: Buffer): Promise<ZipFile> {
  const opening =
    bytes === undefined ? openPromise(file, { autoClose: false }) : fromBufferPromise(bytes);
  const archive = await opening.catch((thrown: unknown) => {
    throw makeCutShortError(file, thrown);
  });
  const entries = await listEntries(file, archive);
  const readPieces = makePieceReader(file, archive, entries);
  const packedBytes = bytes?.length ?? statSync(file).size;
  const countRead = makeQuota(
    file,
    Math.min(MAX_UNPACKED_BYTES, Math.max(ALWAYS_UNPACKED_BYTES, packedBytes * MAX_TIMES_PACKED)),
  );
  const countUnpacked = makeQuota(
    file,
    Math.max(ALWAYS_UNPACKED_PHOTO_BYTES, packedBytes * MAX_TIMES_PACKED_PHOTOS),
  );
  const read = memoize(async (path: string): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    for await (const piece of readPieces(path, MAX_INPUT_BYTES, countRead)) pieces.push(piece);
    return Buffer.concat(pieces);
  });
  return {
    paths: [...entries.keys()],
    read,
    async readAll() {
      assertInputSize(file, packedBytes);
      const parts = new Map<string, ZipEntry>();
      for (const name of entries.keys()) parts.set(name, { name, bytes: await read(name) });
      return parts;
    },
    async unpack(path, to, maxBytes) {
      const pieces = readPieces(path, maxBytes, countUnpacked);
      await pipeline(pieces, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
    },
    close: () => archive.close(),
  };
}

type Archive = Awaited<ReturnType<typeof openPromise>>;

/** Lists the parts of an archive by their paths, and closes it where one is refused. */
async function listEntries(file: string, archive: Archive): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    if (archive.entryCount > MAX_ENTRIES) throw makeTooLargeError(file);
    for await (const entry of archive.eachEntry()) {
      if (isLink(entry)) throw makeLeadsOutError(file, entry.fileName);
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    }
  } catch (thrown) {
    archive.close();
    throw asFileError(file, thrown);
  }
  return entries;
}

/** Makes a function that yields the content of a part; it counts the size that the part states. */
function makePieceReader(file: string, archive: Archive, entries: ReadonlyMap<string, Entry>) {
  return async function* (path: string, maxBytes: number, count: Quota): AsyncGenerator<Buffer> {
    try {
      const entry = entries.get(path);
      if (entry === undefined) throw makeCutShortError(file);
      if (entry.isEncrypted()) throw makePasswordError(file);
      assertInputSize(file, entry.uncompressedSize, maxBytes);
      count(entry.uncompressedSize);
      const pieces: AsyncIterable<Buffer> = await archive.openReadStreamPromise(entry);
      let sum = 0;
      for await (const piece of pieces) {
        sum = crc32(piece, sum);
        yield piece;
      }
      if (sum !== entry.crc32) throw makeCutShortError(file);
    } catch (thrown) {
      throw asFileError(file, thrown);
    }
  };
}

/** Adds a size to those before. */
type Quota = (sizeBytes: number) => void;

/** Makes a quota of bytes, which throws a FileError where they are more. */
function makeQuota(file: string, mostBytes: number): Quota {
  let sumBytes = 0;
  return (sizeBytes) => {
    sumBytes += sizeBytes;
    assertInputSize(file, sumBytes, mostBytes);
  };
}

function makeLeadsOutError(file: string, name: string): FileError {
  return new FileError(
    file,
    msg`${file} is not read: its part ${name} points outside the archive. Ask the sender about it.`,
  );
}

/**
 * Makes the attachments of an archive, which is opened when the first is unpacked, and then until
 * `close`. A missing or damaged archive is a FileError when it is opened.
 * @param paths of the attachments in the archive
 * @param bytes of the archive; otherwise `file` is opened
 */
export function openAttachments(
  file: string,
  paths: readonly string[],
  bytes?: Buffer,
): Attachments {
  let opened: Promise<ZipFile> | undefined;
  return {
    paths,
    archive: {
      async unpack(path, to, maxBytes) {
        opened ??= openZip(file, bytes);
        await (await opened).unpack(path, to, maxBytes);
      },
      async close() {
        // The error of an opening that failed was thrown to who unpacked.
        const zip = await opened?.catch(() => undefined);
        zip?.close();
        opened = undefined;
      },
    },
  };
}
