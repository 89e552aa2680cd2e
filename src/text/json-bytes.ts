const [LINE_FEED, SPACE, QUOTE, COMMA, COLON, OPEN_BRACKET, BACKSLASH, OPEN_BRACE] = [
  10, 32, 34, 44, 58, 91, 92, 123,
];
/** Longest form of a character in JSON: `\u001f`. */
const MAX_BYTES = 6;
/** A longer text is encoded in pieces. */
const PIECE_CHARACTERS = 64 * 1024;
/** A full block is not copied into a larger one, which would need its size twice. */
const BLOCK_BYTES = 1024 * 1024;
const [MAX_NAMES, LONG_NAME] = [1000, 100];

/**
 * Writes JSON as UTF-8 without intermediate objects and strings, which would take several times as
 * long.
 */
export class JsonBytes {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;
  #full: Buffer[] = [];
  readonly #names = new Map<string, Buffer>();
  readonly #attributeNames = new Map<string, Buffer>();

  /**
   * Returns what was written since the last time; the bytes are valid until the next value is
   * written.
   */
  take(): Buffer[] {
    const taken = [...this.#full, this.#bytes.subarray(0, this.#length)];
    this.#full = [];
    this.#length = 0;
    return taken;
  }

  /** Tells if a block is full, so that the caller should `take` soon. */
  get isLarge(): boolean {
    return this.#full.length > 0;
  }

  /** Opens an object or a list, behind a comma where one is needed. */
  open(bracket: '{' | '['): void {
    this.#begin(1);
    this.#put(bracket);
  }

  close(bracket: '}' | ']'): void {
    this.#reserve(1);
    this.#put(bracket);
  }

  endLine(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = LINE_FEED;
  }

  /** Writes the name of the next value. */
  writeKey(name: string): void {
    this.#writeName(this.#names.get(name) ?? cacheName(this.#names, name, name));
  }

  /** Writes the name of the next value, an attribute's, behind an `@`. */
  writeAttributeKey(name: string): void {
    this.#writeName(
      this.#attributeNames.get(name) ?? cacheName(this.#attributeNames, name, `@${name}`),
    );
  }

  #writeName(name: Buffer): void {
    this.#begin(name.length);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let index = 0; index < name.length; index++) bytes[at++] = name[index] ?? 0;
    this.#length = at;
  }

  /** Writes a text from a range of UTF-8 bytes. */
  writeBytes(source: Buffer, from: number, to: number): void {
    if (to - from > PIECE_CHARACTERS) {
      this.#writeLongString(source.toString('utf8', from, to));
      return;
    }
    this.#begin(MAX_BYTES * (to - from) + 4);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = QUOTE;
    for (let index = from; index < to; index++) {
      const code = source[index] ?? 0;
      if (code < SPACE || code === QUOTE || code === BACKSLASH) {
        this.#length += bytes.write(
          JSON.stringify(source.toString('utf8', from, to)),
          this.#length,
        );
        return;
      }
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.#length = at;
  }

  writeLiteral(word: 'null' | 'true'): void {
    this.#begin(word.length);
    this.#put(word);
  }

  writeString(text: string): void {
    if (text.length > PIECE_CHARACTERS) {
      this.#writeLongString(text);
      return;
    }
    this.#begin(MAX_BYTES * text.length + 4);
    const bytes = this.#bytes;
    const start = this.#length;
    let at = start;
    bytes[at++] = QUOTE;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code < SPACE || code === QUOTE || code === BACKSLASH || code > 0x7ff) {
        this.#length = start + bytes.write(JSON.stringify(text), start);
        return;
      }
      if (code > 0x7f) bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = code > 0x7f ? 0x80 | (code & 0x3f) : code;
    }
    bytes[at++] = QUOTE;
    this.#length = at;
  }

  #writeLongString(text: string): void {
    this.#begin(1);
    this.#put('"');
    for (let at = 0; at < text.length; ) {
      const last = text.charCodeAt(at + PIECE_CHARACTERS - 1);
      const piece = text.slice(
        at,
        at + PIECE_CHARACTERS - (last >= 0xd800 && last < 0xdc00 ? 1 : 0),
      );
      this.#reserve(MAX_BYTES * PIECE_CHARACTERS);
      this.#length += this.#bytes.write(JSON.stringify(piece).slice(1, -1), this.#length);
      at += piece.length;
    }
    this.#reserve(2);
    this.#put('"');
  }

  /**
   * Reserves room for a value and writes the comma before it. @param lengthBytes maximum length of
   * the value
   */
  #begin(lengthBytes: number): void {
    this.#reserve(lengthBytes + 1);
    const last =
      this.#length === 0 ? (this.#full.at(-1)?.at(-1) ?? LINE_FEED) : this.#bytes[this.#length - 1];
    const isFirst =
      last === OPEN_BRACE || last === OPEN_BRACKET || last === COLON || last === LINE_FEED;
    if (!isFirst) this.#bytes[this.#length++] = COMMA;
  }

  /** Appends ASCII text into reserved room. */
  #put(text: string): void {
    for (let index = 0; index < text.length; index++)
      this.#bytes[this.#length++] = text.charCodeAt(index);
  }

  #reserve(lengthBytes: number): void {
    const needed = this.#length + lengthBytes;
    if (needed <= this.#bytes.length) return;
    if (this.#length >= BLOCK_BYTES) {
      this.#full.push(this.#bytes.subarray(0, this.#length));
      this.#bytes = Buffer.allocUnsafe(Math.max(lengthBytes, 2 * BLOCK_BYTES));
      this.#length = 0;
      return;
    }
    const roomier = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(roomier, 0, 0, this.#length);
    this.#bytes = roomier;
  }
}

/** Encodes a name and caches it: a harvest repeats a few names. */
function cacheName(names: Map<string, Buffer>, name: string, shown: string): Buffer {
  const written = Buffer.from(`${JSON.stringify(shown)}:`);
  if (names.size < MAX_NAMES && name.length < LONG_NAME) names.set(name, written);
  return written;
}
