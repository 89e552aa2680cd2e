import { isUtf8 } from 'node:buffer';
import { FileError } from '../base/errors.ts';
import { joinMessages, type Message, msg } from '../base/message.ts';

const SAVE_AS_UTF8 = msg`Save the table as "CSV UTF-8" (Excel), or choose the character set Unicode (UTF-8) when saving (LibreOffice).`;

/**
 * Checks that bytes are UTF-8 text, and removes the byte order mark.
 * @throws FileError with the likely cause where they are not
 */
export function requireUtf8(file: string, bytes: Buffer): Buffer {
  if (bytes.length === 0) throw new FileError(file, msg`${file} is empty.`);
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])) {
    throw new FileError(file, msg`${file} is a spreadsheet or an archive (ZIP), not a text table.`, { hint: SAVE_AS_UTF8 });
  }
  const nulAt = bytes.indexOf(0);
  if (nulAt !== -1) {
    const [byte, line] = [nulAt + 1, lineAt(bytes, nulAt)];
    const message = msg`${file} contains a NUL byte (byte ${byte}, line ${line}): it is not a text table.`;
    throw new FileError(file, message, { hint: SAVE_AS_UTF8 });
  }
  if (!isUtf8(bytes)) {
    const { problem } = notUtf8(file, bytes);
    const cause = msg`The file is cut short, damaged, or combined from files in different encodings.`;
    throw new FileError(file, joinMessages([problem, cause], ' '), { hint: SAVE_AS_UTF8 });
  }
  return startsWith(bytes, [0xef, 0xbb, 0xbf]) ? bytes.subarray(3) : bytes;
}

/** Describes bytes that are not UTF-8, with the position of the first invalid one. */
export function notUtf8(file: string, bytes: Buffer): { readonly at: number; readonly problem: Message } {
  const at = firstInvalidByte(bytes);
  const value = `0x${(bytes[at] ?? 0).toString(16).toUpperCase()}`;
  const [byte, line] = [at + 1, lineAt(bytes, at)];
  return { at, problem: msg`${file} is not UTF-8: byte ${byte} (line ${line}, value ${value}) is not valid.` };
}

/** Finds the first invalid byte by bisection: a prefix is valid UTF-8 up to the sequence that this byte breaks. */
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

/** Returns the start of the UTF-8 sequence that a byte continues. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function lineAt(bytes: Buffer, at: number): number {
  let line = 1;
  for (let i = bytes.indexOf(0x0a); i !== -1 && i < at; i = bytes.indexOf(0x0a, i + 1)) line++;
  return line;
}

function startsWith(bytes: Buffer, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}
