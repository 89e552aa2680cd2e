import { isUtf8 } from 'node:buffer';
import { FileError } from '../base/errors.ts';
import { joined, type Message, msg } from '../base/message.ts';

const SAVE_AS_UTF8 = msg`Save the table as "CSV UTF-8" (Excel), or choose the character set Unicode (UTF-8) when saving (LibreOffice).`;

/**
 * Checks that bytes are a table's text in UTF-8, and takes the byte order mark away.
 *
 * @throws FileError that names the encoding where they are something else
 */
export function requireUtf8(file: string, bytes: Buffer): Buffer {
  if (bytes.length === 0) throw new FileError(file, msg`${file} is empty.`);
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) {
    throw new FileError(file, msg`${file} is written in UTF-16, not in UTF-8.`, { hint: SAVE_AS_UTF8 });
  }
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])) {
    throw new FileError(file, msg`${file} is a spreadsheet or an archive (ZIP), not a text table.`, { hint: SAVE_AS_UTF8 });
  }
  const nulAt = bytes.indexOf(0);
  if (nulAt !== -1) {
    const [byte, line] = [nulAt + 1, lineAt(bytes, nulAt)];
    const message = msg`${file} holds a NUL byte (byte ${byte}, line ${line}): it is UTF-16 or not a text table.`;
    throw new FileError(file, message, { hint: SAVE_AS_UTF8 });
  }
  if (!isUtf8(bytes)) refuseEncoding(file, bytes);
  return startsWith(bytes, [0xef, 0xbb, 0xbf]) ? bytes.subarray(3) : bytes;
}

/** What is said of bytes that are not UTF-8, with the first of them that is wrong. */
export function notUtf8(file: string, bytes: Buffer): { readonly at: number; readonly problem: Message } {
  const at = firstInvalidByte(bytes);
  const value = `0x${(bytes[at] ?? 0).toString(16).toUpperCase()}`;
  const [byte, line] = [at + 1, lineAt(bytes, at)];
  return { at, problem: msg`${file} is not UTF-8: byte ${byte} (line ${line}, value ${value}) is not valid.` };
}

function refuseEncoding(file: string, bytes: Buffer): never {
  const { at, problem } = notUtf8(file, bytes);
  if (bytes.subarray(0, at).some((byte) => byte >= 0x80)) {
    const cause = msg`What stands before it is UTF-8: the file is cut short, damaged, or put together from files in different encodings.`;
    throw new FileError(file, joined([problem, cause], ' '), { hint: SAVE_AS_UTF8 });
  }
  const encoding = likelyEncoding(bytes);
  const context = contextOf(bytes, at, encoding);
  const reading = msg`It is probably ${encoding}, where that text reads "${context}".`;
  throw new FileError(file, joined([problem, reading], ' '), { hint: msg`${SAVE_AS_UTF8} Or: iconv -f ${encoding} -t UTF-8` });
}

/**
 * The eight-bit encodings of Czech texts differ in Š Ť Ž š ť ž: Windows-1250 has them at 0x80–0x9F, where ISO-8859-2 has
 * control characters only.
 */
function likelyEncoding(bytes: Buffer): 'WINDOWS-1250' | 'ISO-8859-2' {
  const hasWindowsLetters = bytes.some((byte) => byte >= 0x80 && byte <= 0x9f);
  const hasIsoLetters = bytes.some((byte) => [0xa9, 0xab, 0xae, 0xb9, 0xbb, 0xbe].includes(byte));
  return hasIsoLetters && !hasWindowsLetters ? 'ISO-8859-2' : 'WINDOWS-1250';
}

/** Halving: a prefix is valid UTF-8 up to the sequence that the first invalid byte breaks. */
function firstInvalidByte(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isUtf8(bytes.subarray(0, characterStart(bytes, middle)))) valid = middle;
    else invalid = middle;
  }
  return valid;
}

/** The start of the UTF-8 sequence that a byte continues. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

/** A few letters to both sides, on the same line. */
function contextOf(bytes: Buffer, at: number, encoding: string): string {
  const from = Math.max(at - 12, bytes.subarray(0, at).lastIndexOf(0x0a) + 1);
  const lineEnd = bytes.indexOf(0x0a, at);
  const to = Math.min(at + 12, lineEnd === -1 ? bytes.length : lineEnd);
  return new TextDecoder(encoding).decode(bytes.subarray(from, to)).trim();
}

function lineAt(bytes: Buffer, at: number): number {
  let line = 1;
  for (let i = bytes.indexOf(0x0a); i !== -1 && i < at; i = bytes.indexOf(0x0a, i + 1)) line++;
  return line;
}

function startsWith(bytes: Buffer, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}
