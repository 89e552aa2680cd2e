import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { makeIdKey } from '../base/characters.ts';
import { FileError, getErrorCode, getErrorMessage } from '../base/errors.ts';
import { type Issue, makeWarningIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { assertInputSize } from './table.ts';

/**
 * Reads a file of the user as a whole.
 * @throws FileError where there is no such file or it cannot be read, where it is a folder, a pipe
 * or a device, or is larger than {@link MAX_INPUT_BYTES}
 */
export async function readInputFile(path: string): Promise<Buffer> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new FileError(path, msg`${path} is a folder, not a file.`);
    // Opening a pipe would block until a program writes to it, and so would the end of pas.
    if (!stats.isFile()) {
      const hint = msg`To read what another program writes, send it to standard input, and name it as -.`;
      throw new FileError(path, msg`${path} is not a regular file.`, { hint });
    }
    assertInputSize(path, stats.size);
    return await readFile(path);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(path, explainNotRead(path, error), { cause: error });
  }
}

function explainNotRead(path: string, error: unknown): Message {
  switch (getErrorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return msg`There is no file ${path}.`;
    case 'EACCES':
    case 'EPERM':
      return msg`${path} cannot be read: permission denied.`;
    default: {
      const problem = getErrorMessage(error);
      return msg`${path} cannot be read: ${problem}`;
    }
  }
}

/**
 * Reads a pipe to its end.
 * @param name of the pipe for messages
 * @throws FileError as soon as it gave more than {@link MAX_INPUT_BYTES}; errors of the pipe itself
 */
export async function readPipe(name: string, pipe: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of pipe) {
    const bytes = Buffer.from(chunk as Buffer);
    size += bytes.length;
    assertInputSize(name, size);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

const UTF_8 = 'UTF-8';
const WINDOWS_1250 = 'Windows-1250';
const MAC_CE = 'Mac-CE';
/** Encodings of Czech tables; where a text fits several, the first wins. */
const ENCODINGS: readonly string[] = [WINDOWS_1250, 'ISO 8859-2', MAC_CE, 'CP852', UTF_8];

/**
 * Returns the name of an encoding in the decoding library, which has most names in any spelling.
 */
function getCodec(encoding: string): string {
  return makeIdKey(encoding) === makeIdKey(MAC_CE) ? 'maccenteuro' : encoding;
}

/** A letter of Czech, a capital only where a word may have one. */
const CZECH = /[áčďéěíňóřšťúůýž]|(?<!\p{Ll})[ÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ]/gu;
const OUTSIDE_ASCII = /[^\0-\x7f]/g;

const SAMPLE_BYTES = 256 * 1024;
const WORDS_SHOWN = 2;

/**
 * Converts the bytes of a text to UTF-8; a byte order mark stays. Without `stated` the encoding is
 * detected: UTF-8 or UTF-16 if the bytes are valid in it, else the one in which their beginning is
 * the most plausible Czech. If that is UTF-8, as for bytes that are no text, they are returned
 * unchanged, although invalid. Any other detected encoding gives a warning with up to two words of
 * the text, since only a person can notice wrong letters.
 * @param stated encoding that the user named; undefined to detect it
 * @throws FileError where the stated encoding is unknown, or does not fit the bytes
 */
export async function convertToUtf8(
  file: string,
  bytes: Buffer,
  stated?: string,
): Promise<{ readonly text: Buffer; readonly issues: readonly Issue[] }> {
  const unicode = detectUtf16(bytes) ?? (isUtf8(bytes) ? UTF_8 : undefined);
  if (stated === undefined && unicode === UTF_8) return { text: bytes, issues: [] };
  const { default: iconv } = await import('iconv-lite');
  const decode = (encoded: Buffer, encoding: string): string =>
    iconv.decode(encoded, getCodec(encoding), { stripBOM: false });
  if (stated === undefined) {
    const sample = bytes.subarray(0, SAMPLE_BYTES);
    const encoding = unicode ?? findMostCzech((each) => decode(sample, each));
    if (encoding === UTF_8) return { text: bytes, issues: [] };
    const issue = makeEncodingIssue(file, encoding, decode(sample, encoding));
    return { text: Buffer.from(decode(bytes, encoding)), issues: [issue] };
  }
  const text = iconv.encodingExists(getCodec(stated)) ? decode(bytes, stated) : LOST;
  if (!text.includes(LOST)) return { text: Buffer.from(text), issues: [] };
  throw new FileError(
    file,
    msg`${file} is not in ${stated}: that is no encoding, or some of the bytes are no letters in it.`,
    { hint: NAME_ENCODING },
  );
}

/** Replaces bytes that are no character of an encoding. */
const LOST = '\uFFFD';

function findMostCzech(decode: (encoding: string) => string): string {
  const scores = ENCODINGS.map((encoding) => scoreAsCzech(decode(encoding)));
  return ENCODINGS[scores.indexOf(Math.max(...scores))] ?? WINDOWS_1250;
}

const NAME_ENCODING = msg`Leave --encoding out to have it recognised, or name it: --encoding windows-1250, cp852 or utf-8.`;

/**
 * Detects UTF-16 by its byte order mark, or by a NUL in each of the first two characters; undefined
 * for other bytes, or an odd number of them.
 */
function detectUtf16(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  const isLittle =
    (first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && bytes[3] === 0);
  const isBig =
    (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && bytes[2] === 0);
  if (bytes.length < 4 || bytes.length % 2 !== 0 || !(isLittle || isBig)) return undefined;
  return isLittle ? 'UTF-16LE' : 'UTF-16BE';
}

/**
 * Scores how plausible a text is as Czech: its letters count for it, all else outside ASCII against
 * it.
 */
function scoreAsCzech(text: string): number {
  const czech = text.match(CZECH)?.length ?? 0;
  const all = text.match(OUTSIDE_ASCII)?.length ?? 0;
  return czech - 3 * (all - czech);
}

const WORD = /(?<!\p{L})\p{L}{3,40}(?!\p{L})/gu;

function makeEncodingIssue(file: string, encoding: string, sample: string): Issue {
  const words = (sample.match(WORD) ?? []).filter((word) => /[^\0-\x7f]/.test(word));
  const shown = [...new Set(words)].slice(0, WORDS_SHOWN).join(', ');
  const says =
    shown === ''
      ? msg`${file} is read as ${encoding}.`
      : msg`${file} is read as ${encoding}, with words such as ${shown}. If they are wrong, save it as UTF-8; pas import has --encoding for it.`;
  return makeWarningIssue('table-encoding', says, { file });
}

const SAVE_AS_UTF8 = msg`Save it in UTF-8: as "CSV UTF-8" in Excel, or with the character set Unicode (UTF-8) in LibreOffice, a GIS or an editor.`;

/**
 * Decodes bytes in UTF-8 as a text without a byte order mark.
 * @param file its name for messages
 * @throws FileError where the bytes are empty, have a NUL byte, or are not UTF-8
 */
export function decodeUtf8(file: string, bytes: Buffer): string {
  if (bytes.length === 0) throw new FileError(file, msg`${file} is empty.`);
  if (bytes.includes(0) || !isUtf8(bytes))
    throw new FileError(file, describeInvalidUtf8(file, bytes), { hint: SAVE_AS_UTF8 });
  return bytes.toString('utf8').replace(BYTE_ORDER_MARK, '');
}

/**
 * Describes the fault of bytes that are no text in UTF-8, with the line of the first byte that is
 * invalid or NUL.
 * @param file its name for the message
 * @param bytes must have an invalid or NUL byte
 */
function describeInvalidUtf8(file: string, bytes: Buffer): Message {
  // An invalid byte decodes as a replacement character, which no text has.
  const [valid = ''] = bytes.toString('utf8').split(/[\0\uFFFD]/, 1);
  const line = valid.split('\n').length;
  return msg`${file} is not a text in UTF-8: line ${line} has a byte that is not valid.`;
}

const BYTE_ORDER_MARK = /^\ufeff/;
