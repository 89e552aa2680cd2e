import { crc32 } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { FileError } from '../../base/errors.ts';
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
 * Unpacks all parts of an archive (ZIP), by their paths, into memory: a part whose path leaves the
 * archive overwrites nothing.
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
    throw thrown instanceof FileError ? thrown : makeCutShortError(file, thrown);
  }
  return parts;
}
