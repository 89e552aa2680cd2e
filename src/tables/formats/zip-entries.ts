import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { FileError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import {
  assertInputSize,
  makeCutShortError,
  makePasswordError,
  makeTooLargeError,
} from '../table.ts';

/** Limit for all parts of one archive; a single part may have no more than a table. */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
/**
 * Maximum compression: workbooks pack to a tenth or a fiftieth, decompression bombs far more. Small
 * parts are exempt.
 */
const MAX_TIMES_PACKED = 200;
const ALWAYS_UNPACKED_BYTES = 16 * 1024 * 1024;
const MAX_ENTRIES = 65_535;

/** An unpacked part of an archive; `name` is its path in it. */
export type ZipEntry = { readonly name: string; readonly bytes: Buffer };

/**
 * Unpacks all parts of an archive (ZIP), by their paths. Symbolic links and paths that leave it are
 * refused.
 * @param file its name in errors
 * @throws FileError where it is damaged or encrypted, or its parts are more, larger or more
 * compressed than those of a workbook
 */
export async function readZip(file: string, bytes: Buffer): Promise<ReadonlyMap<string, ZipEntry>> {
  const mostBytes = Math.min(
    MAX_UNPACKED_BYTES,
    Math.max(ALWAYS_UNPACKED_BYTES, bytes.length * MAX_TIMES_PACKED),
  );
  const parts = new Map<string, ZipEntry>();
  let sumBytes = 0;
  try {
    const archive = await fromBufferPromise(bytes);
    if (archive.entryCount > MAX_ENTRIES) throw makeTooLargeError(file);
    for await (const entry of archive.eachEntry()) {
      const { fileName: name, uncompressedSize: sizeBytes } = entry;
      if (isLink(entry)) throw makeLeadsOutError(file, name);
      if (name.endsWith('/')) continue;
      if (entry.isEncrypted()) throw makePasswordError(file);
      sumBytes += sizeBytes;
      assertInputSize(file, sizeBytes);
      assertInputSize(file, sumBytes, mostBytes);
      const stream = await archive.openReadStreamPromise(entry);
      const part = Buffer.concat(await stream.toArray());
      if (crc32(part) !== entry.crc32) throw makeCutShortError(file);
      parts.set(name, { name, bytes: part });
    }
  } catch (thrown) {
    throw asFileError(file, thrown);
  }
  return parts;
}

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

function makeLeadsOutError(file: string, name: string): FileError {
  return new FileError(
    file,
    msg`${file} is not read: its part ${name} points outside the archive. Ask the sender about it.`,
  );
}
