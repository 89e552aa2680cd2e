/** The codec of AES encryption in a 7z header. */
const SEVEN_ZIP_AES = Buffer.from('06f10701', 'hex');
const RAR5_SIGNATURE = Buffer.from('526172211a070100', 'hex');

/** Reads `length` bytes at `offset`; fewer at the end of the file. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** Tells if the headers of an archive declare a password. */
export async function isEncryptedArchive(format: 'zip' | '7z' | 'rar', read: ReadAt): Promise<boolean> {
  const head = await read(0, 4096);
  switch (format) {
    case 'zip':
      // Bit 0 of the general purpose flags in the first local header.
      return head.length >= 8 && (head.readUInt16LE(6) & 1) === 1;
    case '7z':
      return isEncrypted7z(head, read);
    case 'rar':
      return head.subarray(0, 8).equals(RAR5_SIGNATURE) ? isEncryptedRar5(head) : isEncryptedRar4(head);
    default:
      return format satisfies never;
  }
}

/** The header stands at the end and names its codecs, unless it is itself compressed; then its own codecs are named. */
async function isEncrypted7z(head: Buffer, read: ReadAt): Promise<boolean> {
  if (head.length < 32) return false;
  const offset = 32 + Number(head.readBigUInt64LE(12));
  const length = Math.min(Number(head.readBigUInt64LE(20)), 1_048_576);
  return (await read(offset, length)).includes(SEVEN_ZIP_AES);
}

/** Headers are encrypted (main header), or the first file is (file header). */
function isEncryptedRar4(head: Buffer): boolean {
  if (head.length < 14) return false;
  if ((head.readUInt16LE(10) & 0x80) !== 0) return true;
  const file = 7 + head.readUInt16LE(12);
  return head.length >= file + 5 && head[file + 2] === 0x74 && (head.readUInt16LE(file + 3) & 0x04) !== 0;
}

/** An encryption header comes first, or the first file header carries an encryption record in its extra area. */
function isEncryptedRar5(head: Buffer): boolean {
  let at = RAR5_SIGNATURE.length;
  while (at + 7 < head.length) {
    const [size, bodyStart] = readVariableInteger(head, at + 4);
    const [type, afterType] = readVariableInteger(head, bodyStart);
    if (type === 4) return true;
    const [flags, afterFlags] = readVariableInteger(head, afterType);
    if (type === 2) {
      if ((flags & 1) === 0) return false;
      const [extraSize] = readVariableInteger(head, afterFlags);
      const [, recordBody] = readVariableInteger(head, bodyStart + size - extraSize);
      return readVariableInteger(head, recordBody)[0] === 1;
    }
    at = bodyStart + size;
  }
  return false;
}

/** Reads an integer of seven bits a byte, least significant first; returns the value and its end. */
function readVariableInteger(bytes: Buffer, start: number): readonly [number, number] {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) return [value, start + index + 1];
  }
  return [value, start + 5];
}
