/** The codec of AES encryption in a 7z header. */
const SEVEN_ZIP_AES = Buffer.from('06f10701', 'hex');
const RAR5_SIGNATURE = Buffer.from('526172211a070100', 'hex');
const RAR4_SIGNATURE_BYTES = 7;
const ZIP_END_SIGNATURE = Buffer.from('504b0506', 'hex');
const ZIP_ENTRY_SIGNATURE = 0x02014b50;
/** The end record with the longest comment. */
const MAX_ZIP_END_BYTES = 22 + 65_535;
const MAX_HEADER_BYTES = 1_048_576;
/** Each takes a read of its own. */
const MAX_RAR_BLOCKS = 1000;

/** Reads `length` bytes at `offset`; fewer at the end of the file. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** Tells if the headers of an archive of `sizeBytes` declare a password for any of its entries. */
export async function isEncryptedArchive(
  format: 'zip' | '7z' | 'rar',
  read: ReadAt,
  sizeBytes: number,
): Promise<boolean> {
  switch (format) {
    case 'zip':
      return isEncryptedZip(read, sizeBytes);
    case '7z':
      return isEncrypted7z(read);
    case 'rar':
      return (await read(0, RAR5_SIGNATURE.length)).equals(RAR5_SIGNATURE)
        ? isEncryptedRar5(read)
        : isEncryptedRar4(read);
    default:
      return format satisfies never;
  }
}

/**
 * Bit 0 of the flags, in the first local header or in the directory at the end: a folder, which
 * comes first, has no password.
 */
async function isEncryptedZip(read: ReadAt, sizeBytes: number): Promise<boolean> {
  const head = await read(0, 8);
  if (head.length === 8 && (head.readUInt16LE(6) & 1) === 1) return true;
  const tail = await read(Math.max(0, sizeBytes - MAX_ZIP_END_BYTES), MAX_ZIP_END_BYTES);
  const end = tail.lastIndexOf(ZIP_END_SIGNATURE);
  if (end < 0 || tail.length < end + 20) return false;
  const directory = await read(tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  for (
    let at = 0;
    at + 46 <= directory.length && directory.readUInt32LE(at) === ZIP_ENTRY_SIGNATURE;
  ) {
    if ((directory.readUInt16LE(at + 8) & 1) === 1) return true;
    at +=
      46 +
      directory.readUInt16LE(at + 28) +
      directory.readUInt16LE(at + 30) +
      directory.readUInt16LE(at + 32);
  }
  return false;
}

/**
 * The header stands at the end and names its codecs, unless it is itself compressed; then its own
 * codecs are named.
 */
async function isEncrypted7z(read: ReadAt): Promise<boolean> {
  const head = await read(0, 32);
  if (head.length < 32) return false;
  const offset = 32 + Number(head.readBigUInt64LE(12));
  const length = Math.min(Number(head.readBigUInt64LE(20)), MAX_HEADER_BYTES);
  return (await read(offset, length)).includes(SEVEN_ZIP_AES);
}

/** Headers are encrypted (main header), or a file is (file header). */
async function isEncryptedRar4(read: ReadAt): Promise<boolean> {
  let at = RAR4_SIGNATURE_BYTES;
  for (let blocks = 0; blocks < MAX_RAR_BLOCKS; blocks += 1) {
    const block = await read(at, 11);
    if (block.length < 7) return false;
    const type = block[2];
    const flags = block.readUInt16LE(3);
    const size = block.readUInt16LE(5);
    if ((type === 0x73 && (flags & 0x80) !== 0) || (type === 0x74 && (flags & 0x04) !== 0))
      return true;
    if (size < 7) return false;
    at += size + ((flags & 0x8000) !== 0 && block.length === 11 ? block.readUInt32LE(7) : 0);
  }
  return false;
}

/**
 * An encryption header comes first, or a file header carries an encryption record in its extra
 * area.
 */
async function isEncryptedRar5(read: ReadAt): Promise<boolean> {
  let at = RAR5_SIGNATURE.length;
  for (let blocks = 0; blocks < MAX_RAR_BLOCKS; blocks += 1) {
    const [size, start] = readVariableInteger(await read(at + 4, 5), 0);
    const header = await read(at + 4 + start, Math.min(size, MAX_HEADER_BYTES));
    if (size === 0 || header.length === 0) return false;
    const [type, afterType] = readVariableInteger(header, 0);
    if (type === 4) return true;
    const [flags, afterFlags] = readVariableInteger(header, afterType);
    const [extraSize, afterExtraSize] =
      (flags & 1) === 0 ? [0, afterFlags] : readVariableInteger(header, afterFlags);
    if (type === 2 && hasEncryptionRecord(header.subarray(Math.max(0, header.length - extraSize))))
      return true;
    const dataSize = (flags & 2) === 0 ? 0 : readVariableInteger(header, afterExtraSize)[0];
    at += 4 + start + size + dataSize;
  }
  return false;
}

function hasEncryptionRecord(extra: Buffer): boolean {
  for (let at = 0; at < extra.length; ) {
    const [size, start] = readVariableInteger(extra, at);
    if (size === 0) return false;
    if (readVariableInteger(extra, start)[0] === 1) return true;
    at = start + size;
  }
  return false;
}

/**
 * Reads an integer of seven bits a byte, least significant first; returns the value and its end.
 */
function readVariableInteger(bytes: Buffer, start: number): readonly [number, number] {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) return [value, start + index + 1];
  }
  return [value, start + 5];
}
