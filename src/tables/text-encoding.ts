import { isUtf8 } from 'node:buffer';
import { FileError, UsageError } from '../base/errors.ts';
import { type Issue, makeWarningIssue } from '../base/issue.ts';
import { joinMessages, type Message, msg } from '../base/message.ts';

/** Name of an encoding for people, and its name in the decoding library. */
type Encoding = { readonly name: string; readonly codec: string };

const UTF_8: Encoding = { name: 'UTF-8', codec: 'utf8' };
const WINDOWS_1250: Encoding = { name: 'Windows-1250', codec: 'win1250' };
const WINDOWS_1252: Encoding = { name: 'Windows-1252', codec: 'win1252' };
/** Encodings of Czech tables besides Unicode; where a text fits several, the first wins. */
const EIGHT_BIT: readonly Encoding[] = [
  WINDOWS_1250,
  { name: 'ISO 8859-2', codec: 'iso88592' },
  { name: 'Mac-CE', codec: 'maccenteuro' },
  WINDOWS_1252,
];
/** Encoding of DOS, for old databases. */
const CP_852: Encoding = { name: 'CP852', codec: 'cp852' };
/** Aliases that the library does not know. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  macce: 'maccenteuro',
  xmacce: 'maccenteuro',
  maccentraleurope: 'maccenteuro',
};

/** Frequency of non-English letters per thousand letters of Czech text. */
const FREQUENCY: ReadonlyMap<string, number> = new Map([
  // Letters of foreign names.
  ...[...'àèêñøåìòùûæõ'].map((letter) => [letter, 0.02] as const),
  ...[...'íáěéřčžýšůúóťďňäöüôľß'].map(
    (letter, index) =>
      [
        letter,
        [
          33, 22, 16, 13, 12, 10, 10, 10, 8, 7, 1, 0.3, 0.4, 0.2, 0.1, 0.05, 0.05, 0.05, 0.03, 0.03,
          0.02,
        ][index] ?? 0,
      ] as const,
  ),
]);

/**
 * Letter pairs that no Czech word has: `ě` behind most letters, a long vowel beside another (except
 * `linií`, `neúplný`).
 */
const ODD_BEHIND = /^(?:[^bdfmnptv]?ě|[aeouyáéěíóúůýä][áéěíóůýä]|[iuyáéěíóúůýä]ú)$/;
const ODD_BEFORE = /^[áéěíóúůýä][aeiouyáéěíóúůýä]$/;

const SAMPLE_BYTES = 256 * 1024;
const PIECE_BYTES = 4 * 1024 * 1024;
const WORDS_SHOWN = 2;
const MAX_WORD_CHARACTERS = 40;

/**
 * Converts a text to UTF-8. Other bytes are read in the encoding that gives the most plausible
 * Czech, and a warning shows two of its words, since only a person can notice wrong letters. Bytes
 * that are no text of any encoding stay unchanged.
 * @param encoding given by the user
 * @throws UsageError for an unknown encoding; FileError where the bytes do not fit it
 */
export async function toUtf8(
  file: string,
  bytes: Buffer,
  encoding?: string,
): Promise<{ readonly text: Buffer; readonly issues: readonly Issue[] }> {
  const unicode = encoding === undefined ? detectUtf16(bytes) : undefined;
  if (encoding === undefined && unicode === undefined && isUtf8(bytes))
    return { text: bytes, issues: [] };
  const { default: iconv } = await import('iconv-lite');
  const decode = (codec: string, from = bytes): Buffer => {
    const decoder = iconv.getDecoder(codec);
    const pieces: Buffer[] = [];
    for (let at = 0; at < from.length; at += PIECE_BYTES)
      pieces.push(Buffer.from(decoder.write(from.subarray(at, at + PIECE_BYTES))));
    return Buffer.concat([...pieces, Buffer.from(decoder.end() ?? '')]);
  };
  if (encoding !== undefined) {
    const plain = encoding.toLowerCase().replace(/[^a-z0-9]/g, '');
    const codec = ALSO_CALLED[plain] ?? encoding;
    if (!iconv.encodingExists(codec)) {
      throw new UsageError(msg`"${encoding}" is not a known encoding.`, {
        hint: msg`Give one such as utf-8, utf-16, windows-1250, iso-8859-2, mac-ce or cp852.`,
      });
    }
    const text = decode(codec);
    if (!text.includes('\uFFFD')) return { text, issues: [] };
    throw new FileError(
      file,
      msg`${file} is not in ${encoding}: some of its bytes are not letters in that encoding.`,
      {
        hint: msg`Leave --encoding out to have it recognised.`,
      },
    );
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const likely =
    unicode ??
    chooseBest([...EIGHT_BIT, UTF_8], ({ codec }) =>
      scoreAsCzech(decode(codec, sample).toString()),
    );
  // The bytes are damaged or mixed: no other encoding gives a more plausible text.
  if (likely === UTF_8) return { text: bytes, issues: [] };
  const text = decode(likely.codec);
  return { text, issues: [makeEncodingIssue(file, likely.name, text)] };
}

/**
 * Chooses one decoder for many short texts: the given encoding, else UTF-8 where all of them are
 * valid, else the most plausible one.
 * @param texts all or many of them
 * @param statedEncoding encoding given by the user or by the file
 * @throws FileError where the given encoding is unknown, or does not fit
 */
export async function chooseTextDecoder(
  file: string,
  texts: Buffer,
  statedEncoding: string | undefined,
): Promise<{ readonly decode: (bytes: Buffer) => string; readonly issues: readonly Issue[] }> {
  const { default: iconv } = await import('iconv-lite');
  const decodeAs = (codec: string) => (bytes: Buffer) =>
    iconv.decode(bytes, codec, { stripBOM: false });
  if (statedEncoding === undefined) {
    if (isUtf8(texts)) return { decode: decodeAs(UTF_8.codec), issues: [] };
    const sample = texts.subarray(0, SAMPLE_BYTES);
    const likely = chooseBest([...EIGHT_BIT, CP_852], ({ codec }) =>
      scoreAsCzech(iconv.decode(sample, codec)),
    );
    const decode = decodeAs(likely.codec);
    return { decode, issues: [makeEncodingIssue(file, likely.name, Buffer.from(decode(sample)))] };
  }
  const codec =
    ALSO_CALLED[statedEncoding.toLowerCase().replace(/[^a-z0-9]/g, '')] ?? statedEncoding;
  if (!iconv.encodingExists(codec)) {
    throw new FileError(
      file,
      msg`${file} declares the encoding "${statedEncoding}", which is not a known encoding.`,
      {
        hint: SAY_ENCODING,
      },
    );
  }
  // A text that fills its column may be cut within a letter; a wrong .cpg breaks far more.
  const broken = decodeAs(codec)(texts).search(/\uFFFD(?![\s\uFFFD])/);
  if (broken === -1) return { decode: decodeAs(codec), issues: [] };
  throw new FileError(
    file,
    msg`${file} is not in ${statedEncoding}: some of its bytes are not letters in that encoding.`,
    {
      hint: SAY_ENCODING,
    },
  );
}

const SAY_ENCODING = msg`Name the encoding: --encoding windows-1250, cp852 or utf-8.`;

/** Detects UTF-16 by its byte order mark, or by a NUL in every letter of the header. */
function detectUtf16(bytes: Buffer): Encoding | undefined {
  const [first, second] = bytes;
  const isLittle =
    (first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && bytes[3] === 0);
  const isBig =
    (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && bytes[2] === 0);
  if (bytes.length < 4 || bytes.length % 2 !== 0 || !(isLittle || isBig)) return undefined;
  return { name: 'UTF-16', codec: isLittle ? 'utf-16le' : 'utf-16be' };
}

/**
 * Scores how plausible a text is as Czech: letters count by frequency, signs inside words count
 * against it.
 */
function scoreAsCzech(text: string): number {
  let sum = 0;
  for (const { 0: letter, index } of text.matchAll(/[^\0-\x7f]/g)) {
    const frequency = FREQUENCY.get(letter.toLowerCase());
    const isInWord = /\p{L}/u.test(text[index - 1] ?? '') && /\p{L}/u.test(text[index + 1] ?? '');
    const isLetter = /\p{L}/u.test(letter);
    // A capital behind a lower-case letter counts as a sign.
    const isLoud = letter !== letter.toLowerCase() && /\p{Ll}/u.test(text[index - 1] ?? '');
    const [before = '', small, after = ''] = [text[index - 1], letter, text[index + 1]].map(
      (each) => each?.toLowerCase(),
    );
    const isOddThere = ODD_BEHIND.test(`${before}${small}`) || ODD_BEFORE.test(`${small}${after}`);
    const isOdd = (isInWord && (!isLetter || isLoud)) || isOddThere;
    if (frequency === undefined) sum -= isOdd || isLetter || /[\p{C}]/u.test(letter) ? 6 : 1;
    else sum += isOdd ? -6 : Math.log(1 + frequency);
  }
  return sum;
}

function chooseBest(all: readonly Encoding[], getScore: (each: Encoding) => number): Encoding {
  let bestEncoding = WINDOWS_1250;
  let most = Number.NEGATIVE_INFINITY;
  for (const each of all) {
    const score = getScore(each);
    if (score > most) [bestEncoding, most] = [each, score];
  }
  return bestEncoding;
}

function makeEncodingIssue(file: string, encoding: string, text: Buffer): Issue {
  const words = new Set<string>();
  for (const [word] of text.toString('utf8', 0, SAMPLE_BYTES).matchAll(/\p{L}+/gu)) {
    if (/[^\0-\x7f]/.test(word) && word.length > 2 && word.length <= MAX_WORD_CHARACTERS)
      words.add(word);
    if (words.size === WORDS_SHOWN) break;
  }
  const shown = [...words].join(', ');
  const says =
    shown === ''
      ? msg`${file} is read as ${encoding}.`
      : msg`${file} is read as ${encoding}, with words such as ${shown}. If they are wrong, use --encoding.`;
  return makeWarningIssue('table-encoding', says, { file });
}

const SAVE_AS_UTF8 = msg`Save the table as "CSV UTF-8" (Excel), or choose the character set Unicode (UTF-8) when saving (LibreOffice).`;

/**
 * Checks that bytes are UTF-8, and removes the byte order mark.
 * @throws FileError with the likely cause
 */
export function requireUtf8(file: string, bytes: Buffer): Buffer {
  if (bytes.length === 0) throw new FileError(file, msg`${file} is empty.`);
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])) {
    throw new FileError(
      file,
      msg`${file} is a spreadsheet or an archive (ZIP), not a text table.`,
      { hint: SAVE_AS_UTF8 },
    );
  }
  const nulAt = bytes.indexOf(0);
  if (nulAt !== -1) {
    const byte = nulAt + 1;
    const line = getLineAt(bytes, nulAt);
    const message = msg`${file} contains a NUL byte (byte ${byte}, line ${line}): it is not a text table.`;
    throw new FileError(file, message, { hint: SAVE_AS_UTF8 });
  }
  if (!isUtf8(bytes)) {
    const { problem } = describeNotUtf8(file, bytes);
    const cause = msg`The file is cut short, damaged, or combined from files in different encodings.`;
    throw new FileError(file, joinMessages([problem, cause], ' '), { hint: SAVE_AS_UTF8 });
  }
  return startsWith(bytes, [0xef, 0xbb, 0xbf]) ? bytes.subarray(3) : bytes;
}

/** Describes bytes that are not UTF-8, with the position of the first invalid one. */
export function describeNotUtf8(
  file: string,
  bytes: Buffer,
): { readonly at: number; readonly problem: Message } {
  const at = findFirstInvalidByte(bytes);
  const value = `0x${(bytes[at] ?? 0).toString(16).toUpperCase()}`;
  const byte = at + 1;
  const line = getLineAt(bytes, at);
  return {
    at,
    problem: msg`${file} is not UTF-8: byte ${byte} (line ${line}, value ${value}) is not valid.`,
  };
}

/**
 * Finds the first invalid byte by bisection: a prefix is valid UTF-8 up to the sequence that this
 * byte breaks.
 */
function findFirstInvalidByte(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isUtf8(bytes.subarray(0, findCharacterStart(bytes, middle)))) valid = middle;
    else invalid = middle;
  }
  return valid;
}

/** Returns the start of the UTF-8 sequence that a byte continues. */
function findCharacterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function getLineAt(bytes: Buffer, at: number): number {
  let line = 1;
  for (let i = bytes.indexOf(0x0a); i !== -1 && i < at; i = bytes.indexOf(0x0a, i + 1)) line++;
  return line;
}

function startsWith(bytes: Buffer, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}
