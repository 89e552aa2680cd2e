/** Decoded bytes of a text, with the range of the text from which each byte was decoded. */
export type Layer = {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
  /** The last pass still found escapes. */
  readonly isTooDeep: boolean;
};

type Options = {
  /** `drop` removes tags, for texts that they split; `keep` is for texts inside of tags. */
  readonly markup: 'keep' | 'drop';
  readonly places: boolean;
};

/** Limit of nested escapes: each pass decodes one level. */
const MAX_PASSES = 8;
const MAX_TAG_BYTES = 200;

/**
 * Decodes the escapes of JSON, URLs and HTML, repeatedly, and removes the characters that can split
 * a text: blanks (`+` in a form), `=` (end of a line in quoted-printable), backslashes and
 * invisible characters. Its time is linear in the length of the text.
 */
export function decodeEscapes(text: Uint8Array, { markup, places }: Options): Layer {
  let input: Layer = {
    bytes: text,
    length: text.length,
    starts: undefined,
    ends: undefined,
    isTooDeep: false,
  };
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const output = new Output(input, places);
    decodePass(output, markup === 'drop');
    input = output.makeLayer();
    if (!output.hasDecoded) return withoutSeparators(input);
  }
  return { ...input, isTooDeep: true };
}

function withoutSeparators(input: Layer): Layer {
  const { bytes, starts, ends } = input;
  let length = 0;
  for (let at = 0; at < input.length; at++) {
    const byte = bytes[at] ?? 0;
    if (IS_SEPARATOR[byte] === 1) continue;
    bytes[length] = byte;
    if (starts !== undefined && ends !== undefined) {
      starts[length] = starts[at] ?? 0;
      ends[length] = ends[at] ?? 0;
    }
    length += 1;
  }
  return { ...input, length };
}

class Output {
  hasDecoded = false;
  readonly #input: Layer;
  readonly #bytes: Uint8Array;
  readonly #starts: Int32Array | undefined;
  readonly #ends: Int32Array | undefined;
  #length = 0;

  constructor(input: Layer, places: boolean) {
    this.#input = input;
    this.#bytes = new Uint8Array(input.length);
    this.#starts = places ? new Int32Array(input.length) : undefined;
    this.#ends = places ? new Int32Array(input.length) : undefined;
  }

  get input(): Layer {
    return this.#input;
  }

  /** Writes a byte that was decoded from the input from `from` to `to`. */
  put(byte: number, from: number, to: number): void {
    const at = this.#length;
    this.#bytes[at] = byte;
    if (this.#starts !== undefined && this.#ends !== undefined) {
      this.#starts[at] = this.#input.starts?.[from] ?? from;
      this.#ends[at] = this.#input.ends?.[to - 1] ?? to;
    }
    this.#length = at + 1;
    if (byte >= 0x80) this.#dropInvisible();
  }

  /**
   * Copies the byte at `from` and all up to the next that may begin an escape. @returns the
   * position behind them
   */
  copyPlain(from: number): number {
    const { bytes, length } = this.#input;
    this.put(bytes[from] ?? 0, from, from + 1);
    const [out, starts, ends] = [this.#bytes, this.#starts, this.#ends];
    let [at, written] = [from + 1, this.#length];
    while (at < length && IS_PLAIN[bytes[at] ?? 0] === 1) {
      out[written] = bytes[at] ?? 0;
      if (starts !== undefined && ends !== undefined) {
        starts[written] = this.#input.starts?.[at] ?? at;
        ends[written] = this.#input.ends?.[at] ?? at + 1;
      }
      at += 1;
      written += 1;
    }
    this.#length = written;
    return at;
  }

  /** Removes U+00A0, U+00AD, U+200B to U+200D, U+2060 and U+FEFF, in UTF-8. */
  #dropInvisible(): void {
    const bytes = this.#bytes;
    const [a, b, c] = [
      bytes[this.#length - 3],
      bytes[this.#length - 2],
      bytes[this.#length - 1] ?? 0,
    ];
    const isOfTwo = b === 0xc2 && (c === 0xa0 || c === 0xad);
    const isOfThree =
      (a === 0xe2 && b === 0x80 && c >= 0x8b && c <= 0x8d) ||
      (a === 0xe2 && b === 0x81 && c === 0xa0) ||
      (a === 0xef && b === 0xbb && c === 0xbf);
    if (!isOfTwo && !isOfThree) return;
    this.#length -= isOfTwo ? 2 : 3;
    this.hasDecoded = true;
  }

  makeLayer(): Layer {
    return {
      bytes: this.#bytes,
      length: this.#length,
      starts: this.#starts,
      ends: this.#ends,
      isTooDeep: false,
    };
  }
}

const [AMPERSAND, BACKSLASH, LESS_THAN, GREATER_THAN, PERCENT] = [
  0x26, 0x5c, 0x3c, 0x3e, 0x25,
] as const;
const SPECIAL = new Set<number>([AMPERSAND, BACKSLASH, LESS_THAN, PERCENT]);
/** 1 for bytes that begin no escape. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 && !SPECIAL.has(byte) ? 1 : 0,
);
const SEPARATORS = new Set(Buffer.from('\0\t\n\v\f\r +='));
const IS_SEPARATOR = Uint8Array.from({ length: 256 }, (_, byte) => (SEPARATORS.has(byte) ? 1 : 0));

function decodePass(output: Output, dropsTags: boolean): void {
  const { bytes, length } = output.input;
  let at = 0;
  while (at < length) {
    const byte = bytes[at] ?? 0;
    if (byte === PERCENT) at = decodePercent(output, at);
    else if (byte === AMPERSAND) at = decodeReference(output, at);
    else if (byte === BACKSLASH) at = decodeBackslash(output, at);
    else if (byte === LESS_THAN && dropsTags) at = dropTag(output, at);
    else at = output.copyPlain(at);
  }
}

/** Decodes `%41` and `%2541`. */
function decodePercent(output: Output, from: number): number {
  const { bytes, length } = output.input;
  let at = from + 1;
  while (at + 1 < length && bytes[at] === 0x32 && bytes[at + 1] === 0x35) at += 2;
  const byte = at + 1 < length ? parseNumberAt(bytes, at, at + 2, 16) : undefined;
  if (byte === undefined) {
    output.hasDecoded ||= at > from + 1;
    output.put(PERCENT, from, at);
    return at;
  }
  output.hasDecoded = true;
  output.put(byte, from, at + 2);
  return at + 2;
}

const IN_JSON: Readonly<Record<string, number>> = { b: 8, f: 12, n: 10, r: 13, t: 9 };

/** Decodes `\u0041`, `\x41` and `\n` behind any number of backslashes. */
function decodeBackslash(output: Output, from: number): number {
  const { bytes, length } = output.input;
  let at = from;
  while (at < length && bytes[at] === BACKSLASH) at += 1;
  const letter = String.fromCharCode(bytes[at] ?? 0);
  const digits = letter === 'u' || letter === 'U' ? 4 : letter === 'x' ? 2 : 0;
  const unit =
    digits > 0 && at + digits < length
      ? parseNumberAt(bytes, at + 1, at + 1 + digits, 16)
      : undefined;
  const control = IN_JSON[letter];
  output.hasDecoded = true;
  if (unit === undefined && control === undefined) return at;
  if (control !== undefined) {
    output.put(control, from, at + 1);
    return at + 1;
  }
  const end = at + 1 + digits;
  const low = isHighSurrogate(unit ?? 0) ? parseLowSurrogate(output.input, end) : undefined;
  writeCodePoint(
    output,
    low === undefined ? (unit ?? 0) : combineSurrogates(unit ?? 0, low.unit),
    from,
    low?.end ?? end,
  );
  return low?.end ?? end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function combineSurrogates(high: number, low: number): number {
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

function parseLowSurrogate(
  { bytes, length }: Layer,
  from: number,
): { unit: number; end: number } | undefined {
  let at = from;
  while (at < length && bytes[at] === BACKSLASH) at += 1;
  if (at === from || at + 4 >= length || ((bytes[at] ?? 0) | 0x20) !== 0x75) return undefined;
  const unit = parseNumberAt(bytes, at + 1, at + 5, 16);
  return unit !== undefined && unit >= 0xdc00 && unit < 0xe000 ? { unit, end: at + 5 } : undefined;
}

const NAMED: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  nbsp: '\u00a0',
  shy: '\u00ad',
};
/** Names of accents in HTML, which follow the letter. */
const ACCENTS: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  caron: '\u030c',
};
const MAX_NAME_BYTES = 8;
const MAX_DIGITS = 8;

/** Decodes `&lt;`, `&#60;`, `&#x3c;` and `&amp;lt;`. */
function decodeReference(output: Output, from: number): number {
  const { bytes, length } = output.input;
  let at = from + 1;
  while (isTextAt(output.input, at, 'amp;')) at += 4;
  if (bytes[at] === 0x23) {
    const isHex = bytes[at + 1] === 0x78 || bytes[at + 1] === 0x58;
    let digits = at + (isHex ? 2 : 1);
    const first = digits;
    while (bytes[digits] === 0x30 && digits < length) digits += 1;
    let end = digits;
    while (end < length && end - digits < MAX_DIGITS && isDigit(bytes[end] ?? 0, isHex)) end += 1;
    const code =
      end === first
        ? undefined
        : end === digits
          ? 0
          : parseNumberAt(bytes, digits, end, isHex ? 16 : 10);
    if (code !== undefined && code <= 0x10ffff) return writeReference(output, code, from, end);
  } else {
    let end = at;
    while (end < length && end - at <= MAX_NAME_BYTES && isLetter(bytes[end] ?? 0)) end += 1;
    const isName = end > at && bytes[end] === 0x3b;
    const character = isName
      ? decodeCharacterName(Buffer.from(bytes.subarray(at, end)).toString('latin1'))
      : undefined;
    if (character !== undefined)
      return writeReference(output, character.codePointAt(0) ?? 0, from, end);
  }
  output.hasDecoded ||= at > from + 1;
  output.put(AMPERSAND, from, at);
  return at;
}

function writeReference(output: Output, code: number, from: number, end: number): number {
  const after = output.input.bytes[end] === 0x3b ? end + 1 : end;
  output.hasDecoded = true;
  writeCodePoint(output, code, from, after);
  return after;
}

function decodeCharacterName(name: string): string | undefined {
  const accent = ACCENTS[name.slice(1)];
  return accent === undefined
    ? Object.hasOwn(NAMED, name)
      ? NAMED[name]
      : undefined
    : `${name[0]}${accent}`.normalize('NFC');
}

function writeCodePoint(output: Output, code: number, from: number, to: number): void {
  if (code < 0x80) output.put(code, from, to);
  else for (const byte of Buffer.from(String.fromCodePoint(code))) output.put(byte, from, to);
}

function dropTag(output: Output, from: number): number {
  const { bytes, length } = output.input;
  const limit = Math.min(length, from + MAX_TAG_BYTES);
  for (let at = from + 1; at < limit && bytes[at] !== LESS_THAN; at++) {
    if (bytes[at] !== GREATER_THAN) continue;
    output.hasDecoded = true;
    return at + 1;
  }
  output.put(LESS_THAN, from, from + 1);
  return from + 1;
}

function isTextAt({ bytes }: Layer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function isDigit(byte: number, isHex: boolean): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (isHex && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)))
  );
}

function parseNumberAt(
  bytes: Uint8Array,
  from: number,
  to: number,
  radix: 10 | 16,
): number | undefined {
  let value = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (!isDigit(byte, radix === 16)) return undefined;
    value = value * radix + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
}
