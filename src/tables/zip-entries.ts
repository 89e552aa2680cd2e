import { inflateRawSync } from 'node:zlib';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';

/** All parts of one archive together, unpacked. A workbook of a hundred thousand finds has about a fifth. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
/** Workbooks pack to a tenth or a fiftieth; what packs to far less was made to burst. A small one may. */
const MAX_TIMES_PACKED = 200;
const ALWAYS_UNPACKED_BYTES = 16 * 1024 * 1024;

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const [STORED, DEFLATED] = [0, 8];

export type ZipEntry = {
  readonly name: string;
  /** The part's bytes; checked when the archive was read. */
  unpack(): Buffer;
};

/**
 * The parts of a ZIP archive, each of which was unpacked once: what the directory says of sizes and sums is true, and all
 * together are of a size that can be read. ZIP64 and encryption are refused.
 *
 * @throws FileError where the archive is damaged, encrypted, or unpacks to more than a table can have
 */
export function readZip(file: string, bytes: Buffer): ReadonlyMap<string, ZipEntry> {
  const entries = new Map<string, ZipEntry>();
  let total = 0;
  const mostBytes = Math.min(MAX_UNPACKED_BYTES, Math.max(ALWAYS_UNPACKED_BYTES, bytes.length * MAX_TIMES_PACKED));
  try {
    for (const entry of directoryOf(file, bytes)) {
      if ((entry.flags & 1) === 1) throw encrypted(file);
      total += entry.sizeBytes;
      if (total > mostBytes) throw tooLarge(file, mostBytes);
      const content = unpack(bytes, entry);
      if (content.length !== entry.sizeBytes || sumOf(content) !== entry.crc) throw damaged(file);
      entries.set(entry.name, { name: entry.name, unpack: () => unpack(bytes, entry) });
    }
  } catch (thrown) {
    throw thrown instanceof FileError ? thrown : damaged(file, thrown);
  }
  return entries;
}

type Entry = {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly headerAt: number;
};

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** CRC-32 of ZIP; Node's own came with 20.15 only. */
function sumOf(content: Buffer): number {
  let sum = 0xffffffff;
  for (let at = 0; at < content.length; at++) sum = (sum >>> 8) ^ (SUMS[(sum ^ (content[at] ?? 0)) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}

function* directoryOf(file: string, bytes: Buffer): Generator<Entry> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || bytes.readUInt32LE(end) !== END_OF_DIRECTORY) throw damaged(file);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw damaged(file);
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const nameEnd = at + 46 + (nameBytes ?? 0);
    yield {
      name: bytes.toString('utf8', at + 46, nameEnd),
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packedBytes: bytes.readUInt32LE(at + 20),
      sizeBytes: bytes.readUInt32LE(at + 24),
      headerAt: bytes.readUInt32LE(at + 42),
    };
    at = nameEnd + (extraBytes ?? 0) + (commentBytes ?? 0);
  }
}

/** @throws RangeError or zlib's error where the bytes are not what the directory says */
function unpack(bytes: Buffer, { method, packedBytes, sizeBytes, headerAt }: Entry): Buffer {
  const start = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const packed = bytes.subarray(start, start + packedBytes);
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new RangeError(`packed by method ${method}`);
  return sizeBytes === 0 ? Buffer.alloc(0) : inflateRawSync(packed, { maxOutputLength: sizeBytes });
}

function damaged(file: string, cause?: unknown): FileError {
  return new FileError(file, msg`${file} is damaged or cut short: it cannot be unpacked.`, {
    cause,
    hint: msg`Copy it again, or save it again in the spreadsheet.`,
  });
}

function encrypted(file: string): FileError {
  return new FileError(file, msg`${file} is protected by a password and cannot be read.`, {
    hint: msg`Open it in the spreadsheet and save it without the password.`,
  });
}

function tooLarge(file: string, mostBytes: number): FileError {
  return new FileError(file, msg`${file} unpacks to more than ${mostBytes} bytes; no table of finds has so much.`, {
    hint: msg`If it is a table of yours, split it or save it as CSV UTF-8.`,
  });
}
