const [LINE_FEED, SPACE, QUOTE, COMMA, COLON, OPEN_BRACKET, BACKSLASH, OPEN_BRACE] = [10, 32, 34, 44, 58, 91, 92, 123];
/** A character in JSON has no more: `\u001f`. */
const MOST_BYTES = 6;

/**
 * JSON that grows as UTF-8, for what is only written down: to make objects first, a text of those and bytes of that takes
 * several times as long.
 */
export class JsonBytes {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;

  /** What has grown; what comes next begins anew. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  /** An object or a list. What comes next stands in it, behind a comma where that is missing. */
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

  /** Of what comes next. @param mark stands before it */
  name(name: string, mark: '' | '@' | '#' = ''): void {
    this.#quoted(name, mark);
    this.#bytes[this.#length++] = COLON;
  }

  string(text: string): void {
    this.#quoted(text, '');
  }

  literal(word: 'null' | 'true'): void {
    this.#begin(word.length);
    this.#put(word);
  }

  #quoted(text: string, mark: string): void {
    this.#begin(MOST_BYTES * text.length + 4);
    const bytes = this.#bytes;
    const start = this.#length;
    let at = start;
    bytes[at++] = QUOTE;
    if (mark !== '') bytes[at++] = mark.charCodeAt(0);
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code < SPACE || code === QUOTE || code === BACKSLASH || code > 0x7ff) {
        this.#length = start + bytes.write(JSON.stringify(mark + text), start);
        return;
      }
      if (code > 0x7f) bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = code > 0x7f ? 0x80 | (code & 0x3f) : code;
    }
    bytes[at++] = QUOTE;
    this.#length = at;
  }

  /** @param lengthBytes that follow at most */
  #begin(lengthBytes: number): void {
    this.#reserve(lengthBytes + 1);
    const last = this.#length === 0 ? LINE_FEED : this.#bytes[this.#length - 1];
    const isFirst = last === OPEN_BRACE || last === OPEN_BRACKET || last === COLON || last === LINE_FEED;
    if (!isFirst) this.#bytes[this.#length++] = COMMA;
  }

  /** ASCII, for which there is room. */
  #put(text: string): void {
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text.charCodeAt(index);
  }

  #reserve(lengthBytes: number): void {
    const needed = this.#length + lengthBytes;
    if (needed <= this.#bytes.length) return;
    const roomier = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(roomier, 0, 0, this.#length);
    this.#bytes = roomier;
  }
}
