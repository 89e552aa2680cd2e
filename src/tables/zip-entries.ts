import { createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, openPromise } from 'yauzl';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { MAX_INPUT_BYTES } from './input-file.ts';

/** All parts of one archive together, unpacked; one of them no more than a table may have. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
/** Workbooks pack to a tenth or a fiftieth; what packs to far less was made to burst. A small one may. */
const MAX_TIMES_PACKED = 200;
const ALWAYS_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Photographs of an archive together: they hardly pack, but for scans that are mostly blank. */
const MAX_TIMES_PACKED_PHOTOS = 20;
const ALWAYS_UNPACKED_PHOTO_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 65_535;

const [STORED, DEFLATED] = [0, 8];

export type ZipEntry = {
  readonly name: string;
  /** No spreadsheet writes a DTD; it is how entities come in. */
  readonly hasDoctype: boolean;
  /** The part's bytes; checked when the archive was read. */
  unpack(): Buffer;
};

/**
 * The parts of a ZIP archive, each of which was unpacked once: what the directory says of sizes and sums is true, and all
 * together are of a size that can be read. Encryption, symbolic links and names that lead out of the archive are refused.
 *
 * @throws FileError where the archive is damaged, encrypted, or unpacks to more than a table can have
 */
export async function readZip(file: string, bytes: Buffer): Promise<ReadonlyMap<string, ZipEntry>> {
  const entries = new Map<string, ZipEntry>();
  let total = 0;
  const mostBytes = Math.min(MAX_UNPACKED_BYTES, Math.max(ALWAYS_UNPACKED_BYTES, bytes.length * MAX_TIMES_PACKED));
  try {
    const archive = await fromBufferPromise(bytes);
    if (archive.entryCount > MAX_ENTRIES) throw damaged(file);
    for await (const entry of archive.eachEntry()) {
      if (entry.isEncrypted()) throw passwordProtected(file);
      if (isLink(entry)) throw leadsOut(file, entry.fileName);
      total += entry.uncompressedSize;
      if (total > mostBytes) throw tooLarge(file, mostBytes);
      if (entry.uncompressedSize > MAX_INPUT_BYTES) throw tooLarge(file, MAX_INPUT_BYTES);
      const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
      const packed = bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize);
      const content = unpack(packed, entry);
      if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw damaged(file);
      const name = entry.fileName;
      const hasDoctype = /\.(xml|rels)$/.test(name) && content.includes('<!DOCTYPE');
      entries.set(name, { name, hasDoctype, unpack: () => unpack(packed, entry) });
    }
  } catch (thrown) {
    throw asFileError(file, thrown);
  }
  return entries;
}

function asFileError(file: string, thrown: unknown): FileError {
  if (thrown instanceof FileError) return thrown;
  const climbing = thrown instanceof Error ? CLIMBING.exec(thrown.message)?.[1] : undefined;
  return climbing === undefined ? damaged(file, thrown) : leadsOut(file, climbing);
}

/** How the library refuses a name that starts at a root, or that climbs. */
const CLIMBING = /^(?:absolute path|invalid relative path|invalid characters in fileName): (.*)$/s;

/** The system's own kind of file stands in the upper half of the attributes where the archive was made on Unix. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

const ARCHIVE = /\.(?:zip|kmz|7z|rar|tar|t?gz|bz2|xz)$/i;

/** @throws FileError where an archive that people put together holds another, which may hold another */
export function refuseNested(file: string, paths: Iterable<string>): void {
  const nested = [...paths].find((name) => ARCHIVE.test(name));
  if (nested === undefined) return;
  throw new FileError(file, msg`${file} holds another archive, ${nested}, which is not read.`, {
    hint: msg`Unpack it, and import what is in it.`,
  });
}

/** An archive that stays on the disk. */
export type ZipFile = {
  readonly paths: readonly string[];
  /** @throws FileError where the part is damaged, encrypted, or larger than a table may be */
  read(path: string): Promise<Buffer>;
  /** Writes a part to a file that is not there yet. @throws FileError as {@link read}, and where it is larger than `mostBytes` */
  unpack(path: string, to: string, mostBytes: number): Promise<void>;
  close(): void;
};

/**
 * An archive of any size, of which only what is asked for is unpacked. Paths that climb or are absolute are no paths of an archive.
 *
 * @throws FileError where its directory is damaged
 */
export async function openZip(file: string): Promise<ZipFile> {
  const entries = new Map<string, Entry>();
  const archive = await openPromise(file, { autoClose: false }).catch((thrown: unknown) => {
    throw damaged(file, thrown);
  });
  const failed = (thrown: unknown): FileError => asFileError(file, thrown);
  const mostUnpacked = Math.max(ALWAYS_UNPACKED_PHOTO_BYTES, statSync(file).size * MAX_TIMES_PACKED_PHOTOS);
  let unpackedBytes = 0;
  const stream = async (path: string, mostBytes: number) => {
    const entry = entries.get(path);
    if (entry === undefined) throw damaged(file);
    if (entry.isEncrypted()) throw passwordProtected(file);
    if (entry.uncompressedSize > mostBytes) throw tooLarge(file, mostBytes);
    return { entry, pieces: await archive.openReadStreamPromise(entry) };
  };
  try {
    if (archive.entryCount > MAX_ENTRIES) throw damaged(file);
    for await (const entry of archive.eachEntry()) {
      if (isLink(entry)) throw leadsOut(file, entry.fileName);
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    }
  } catch (thrown) {
    archive.close();
    throw failed(thrown);
  }
  return {
    paths: [...entries.keys()],
    async read(path) {
      try {
        const { entry, pieces } = await stream(path, MAX_INPUT_BYTES);
        const bytes = Buffer.concat(await pieces.toArray());
        if (crc32(bytes) !== entry.crc32) throw damaged(file);
        return bytes;
      } catch (thrown) {
        throw failed(thrown);
      }
    },
    async unpack(path, to, mostBytes) {
      const { entry, pieces } = await stream(path, mostBytes).catch((thrown: unknown) => {
        throw failed(thrown);
      });
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > mostUnpacked) throw burst(file, mostUnpacked);
      let sum = 0;
      const summed = async function* (): AsyncGenerator<Buffer> {
        try {
          for await (const piece of pieces as AsyncIterable<Buffer>) {
            sum = crc32(piece, sum);
            yield piece;
          }
        } catch (thrown) {
          throw failed(thrown);
        }
        if (sum !== entry.crc32) throw damaged(file);
      };
      await pipeline(summed, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
    },
    close: () => archive.close(),
  };
}

/** @throws RangeError or zlib's error where the bytes are not what the directory says */
function unpack(packed: Buffer, { compressionMethod, uncompressedSize }: Entry): Buffer {
  if (compressionMethod === STORED) return packed;
  if (compressionMethod !== DEFLATED) throw new RangeError(`packed by method ${compressionMethod}`);
  return uncompressedSize === 0 ? Buffer.alloc(0) : inflateRawSync(packed, { maxOutputLength: uncompressedSize });
}

function damaged(file: string, cause?: unknown): FileError {
  return new FileError(file, msg`${file} is damaged or cut short: it cannot be unpacked.`, {
    cause,
    hint: msg`Copy it again, or save it again in the program that it comes from.`,
  });
}

export function passwordProtected(file: string): FileError {
  return new FileError(file, msg`${file} is protected by a password and cannot be read.`, {
    hint: msg`Open it in the spreadsheet and save it without the password.`,
  });
}

function leadsOut(file: string, name: string): FileError {
  return new FileError(file, msg`${file} is not read: its part ${name} leads out of the archive.`, {
    hint: msg`No program writes such an archive by itself. Ask whoever gave it to you.`,
  });
}

function burst(file: string, mostBytes: number): FileError {
  return new FileError(file, msg`The photographs in ${file} unpack to more than ${mostBytes} bytes.`, {
    hint: msg`If they are yours, unpack the archive and import its folder.`,
  });
}

function tooLarge(file: string, mostBytes: number): FileError {
  return new FileError(file, msg`${file} unpacks to more than ${mostBytes} bytes; no table of finds has so much.`, {
    hint: msg`If it is a table of yours, split it or save it as CSV UTF-8.`,
  });
}
