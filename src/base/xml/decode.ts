import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { LocalizedError } from '../errors.ts';
import { type Message, msg } from '../message.ts';
import { getLineAt, XML_NAMESPACE } from './element.ts';

/** The document is not well-formed, or contains refused markup (a DTD, too deep a nesting). */
export class XmlSyntaxError extends LocalizedError {
  /** Offset in the document as UTF-8, without its byte order mark. */
  readonly byte: number;
  /** From 1. */
  readonly line: number;
  constructor(message: Message, byte: number, line: number) {
    super(msg`${message} (line ${line}, byte ${byte})`);
    this.byte = byte;
    this.line = line;
  }
}

/** V8's strings end at 512 MiB; no page comes near this size. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/**
 * Converts an XML document to UTF-8, without its byte order mark. The mark decides, then the XML
 * declaration, then UTF-8 (XML 1.0, appendix F); the charset of a transport does not, since servers
 * name one that is none of the document. Nothing is repaired.
 * @throws XmlSyntaxError for an unknown encoding, invalid bytes, or more than 256 MiB
 */
export function decodeXml(bytes: Buffer): Buffer {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new XmlSyntaxError(msg`the document has more than ${MAX_DOCUMENT_BYTES} bytes`, 0, 1);
  const mark = findByteOrderMark(bytes);
  const content = bytes.subarray(mark?.length ?? 0);
  const encoding = (mark?.encoding ?? findDeclaredEncoding(bytes) ?? 'utf-8').toLowerCase();
  if (encoding === 'utf-8' || encoding === 'utf8') {
    if (isUtf8(content)) return content;
    const byte = findFirstInvalidByte(content);
    throw new XmlSyntaxError(msg`this byte is not UTF-8`, byte, getLineAt(content, byte));
  }
  const decoder = findDecoder(encoding);
  if (decoder === undefined) {
    const named = encoding.slice(0, 40);
    throw new XmlSyntaxError(msg`the encoding "${named}" is not known`, 0, 1);
  }
  // ASCII and ISO 8859-1 are read as Windows-1252, as on the web.
  if (decoder.encoding === 'windows-1252') return Buffer.from(decodeWindows1252(content));
  try {
    return Buffer.from(decoder.decode(content));
  } catch {
    throw new XmlSyntaxError(msg`the document is not ${encoding}`, 0, 1);
  }
}

/** Undefined for an unknown encoding. */
function findDecoder(encoding: string): TextDecoder | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch {
    return undefined;
  }
}

/** Windows-1252 from 0x80 to 0x9F, which Node 20 decodes as ISO 8859-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252[letter.charCodeAt(0) - 0x80] ?? letter);
}

function findByteOrderMark(
  bytes: Buffer,
): { readonly encoding: string; readonly length: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { encoding: 'utf-8', length: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', length: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', length: 2 };
  return undefined;
}

function findDeclaredEncoding(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 200);
  return /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']/.exec(head)?.[1];
}

/** @param content that is not UTF-8 */
function findFirstInvalidByte(content: Buffer): number {
  const replaced = Buffer.from(content.toString('utf8'));
  let byte = 0;
  while (content[byte] === replaced[byte]) byte++;
  // The invalid byte may equal the first one of its replacement.
  while (byte > 0 && !isUtf8(content.subarray(0, byte))) byte--;
  return byte;
}

// Names of elements and attributes, and references: XML 1.0 (fifth edition), productions 4, 4a, 66
// and 67; Namespaces in XML 1.0, section 4.

/** Fault at an offset; the parser converts it to {@link XmlSyntaxError}. */
export class XmlFault extends LocalizedError {
  readonly offset: number;
  constructor(message: Message, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/**
 * Makes the fault of a name, a character or markup at a place where XML does not allow it.
 * @param markup quoted in the message, up to 40 characters
 */
export function makeForbiddenFault(markup: string, offset: number): XmlFault {
  const what = markup.slice(0, 40);
  return new XmlFault(msg`"${what}" is not allowed here`, offset);
}

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`;
const QUALIFIED_NAME = new RegExp(`^(?:(${NAME}):)?(${NAME})$`, 'u');

/** Tells if a text is a name without a colon (Namespaces in XML 1.0, production 4). */
export function isLocalName(text: string): boolean {
  return QUALIFIED_NAME.test(text) && !text.includes(':');
}

/** A name as it is written; one object per distinct one. */
export type WrittenName = {
  readonly text: string;
  /** Offset of its first occurrence. */
  readonly start: number;
  readonly lengthBytes: number;
  readonly prefix: string;
  readonly local: string;
  /** Prefix that an attribute of this name declares. */
  readonly declares: string | undefined;
};

/** A page of records has some hundred names. Each distinct one costs many times its length. */
const MAX_NAMES = 10_000;
const MAX_RECENT = 1024;

/** Names of a document, of which a few repeat, and the namespaces in scope. */
export class NameTable {
  readonly #bytes: Buffer;
  readonly #written = new Map<string, WrittenName>();
  /**
   * Last name per hash: comparing bytes with it is cheaper than slicing and looking up the name.
   */
  readonly #recent: (WrittenName | undefined)[] = new Array(MAX_RECENT).fill(undefined);
  /** Namespaces per prefix, the innermost last. */
  readonly #scope = new Map<string, string[]>([['xml', [XML_NAMESPACE]]]);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Reads the name that begins at an offset and ends before white space, `=`, `/`, `>` or `<`.
   * @throws XmlFault where it is no name, or the document has too many different ones
   */
  read(start: number): WrittenName {
    const bytes = this.#bytes;
    let end = start;
    let sum = 0;
    for (let code = bytes[end] ?? 0; !isNameEnd(code); code = bytes[++end] ?? 0)
      sum = (sum * 31 + code) | 0;
    const likely = this.#recent[sum & (MAX_RECENT - 1)];
    if (likely?.lengthBytes === end - start && this.isRepeatedAt(likely, start)) return likely;
    const text = bytes.toString('utf8', start, end);
    const name = this.#written.get(text) ?? this.#add(text, start, end - start);
    this.#recent[sum & (MAX_RECENT - 1)] = name;
    return name;
  }

  #add(text: string, start: number, lengthBytes: number): WrittenName {
    const name = parseName(text, start, lengthBytes);
    this.#written.set(text, name);
    if (this.#written.size > MAX_NAMES)
      throw new XmlFault(msg`there are more than ${MAX_NAMES} different names`, start);
    return name;
  }

  /** Tells if the bytes of a name stand at an offset, whatever follows them. */
  isRepeatedAt({ start, lengthBytes }: WrittenName, place: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < lengthBytes; at++)
      if (bytes[start + at] !== bytes[place + at]) return false;
    return true;
  }

  declare(prefix: string, namespace: string): void {
    const inScope = this.#scope.get(prefix);
    if (inScope === undefined) this.#scope.set(prefix, [namespace]);
    else inScope.push(namespace);
  }

  /** Ends the declarations of an element. */
  endScope(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#scope.get(prefix)?.pop();
  }

  /**
   * Returns the namespace that the prefix of a name has in scope; empty for none.
   * @throws XmlFault where the prefix is not declared
   */
  getNamespace({ prefix }: WrittenName, offset: number): string {
    const namespace = this.#scope.get(prefix)?.at(-1);
    if (namespace === undefined && prefix !== '')
      throw new XmlFault(msg`the prefix ${prefix} is not declared`, offset);
    return namespace ?? '';
  }
}

function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

function parseName(text: string, start: number, lengthBytes: number): WrittenName {
  const [, prefix = '', local] = QUALIFIED_NAME.exec(text) ?? [];
  if (local === undefined) {
    const beginning = text.slice(0, 40);
    throw new XmlFault(msg`"${beginning}" is not a name`, start);
  }
  const declares = prefix === 'xmlns' || text === 'xmlns' ? text.slice('xmlns:'.length) : undefined;
  return { text, start, lengthBytes, prefix, local, declares };
}

/**
 * 1 for a byte for which a text must be decoded or checked: a reference, a line break of two
 * characters, the end of a CDATA section, or a forbidden character (U+FFFE begins with 0xef).
 */
export const IS_ODD = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isControl = byte < 0x20 && byte !== 0x9 && byte !== 0xa;
  return isControl || byte === 0xef || '&]'.includes(String.fromCharCode(byte)) ? 1 : 0;
});

/** Negation of XML 1.0, production 2; U+FFFE and U+FFFF are three bytes each. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

/**
 * Asserts that a text has only characters of XML 1.0 (production 2).
 * @param raw source with one character per byte, which begins at `start`
 * @throws XmlFault for a character that XML forbids
 */
export function assertAllowedCharacters(raw: string, start: number): void {
  const match = FORBIDDEN_CHARACTER.exec(raw);
  if (match === null) return;
  const code = Buffer.from(match[0], 'latin1').toString('hex').toUpperCase();
  throw makeForbiddenFault(`0x${code}`, start + match.index);
}

const LINE_BREAK = /\r\n?/g;
const REFERENCE = '&(?:#(\\d+);|#x([\\da-fA-F]+);|([\\w.:-]+);)?';
const REPLACED_IN_TEXT = new RegExp(`\\r\\n?|${REFERENCE}`, 'g');
const REPLACED_IN_VALUE = new RegExp(`\\r\\n?|[\\t\\n]|${REFERENCE}`, 'g');

/**
 * Decodes the character data between two offsets: references and line breaks.
 * @throws XmlFault for an unknown reference, a forbidden character, or the end of a CDATA section
 */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('latin1', start, end);
  assertAllowedCharacters(raw, start);
  const stray = raw.indexOf(']]>');
  if (stray !== -1) throw makeForbiddenFault(']]>', start + stray);
  return replaceReferences(raw, start, REPLACED_IN_TEXT, '\n');
}

/**
 * Decodes the content of a CDATA section: only its line breaks change. The caller has asserted that
 * its characters are allowed.
 */
export function decodeCdata(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('latin1', start, end);
  return replaceReferences(raw, start, LINE_BREAK, '\n');
}

/**
 * Decodes an attribute value; a line break or tab becomes a blank (XML 1.0, section 3.3.3).
 * @throws XmlFault for an unknown reference, a forbidden character, or a `<`
 */
export function decodeAttributeValue(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('latin1', start, end);
  assertAllowedCharacters(raw, start);
  const stray = raw.indexOf('<');
  if (stray !== -1) throw makeForbiddenFault('<', start + stray);
  return replaceReferences(raw, start, REPLACED_IN_VALUE, ' ');
}

/**
 * Replaces references once, from left to right; the result is not parsed again. One at a time:
 * millions of matches at once would take many times the memory of the text.
 * @param space replaces a line break
 */
function replaceReferences(raw: string, start: number, replaced: RegExp, space: string): string {
  // No character is longer than a reference to it.
  const bytes = Buffer.allocUnsafe(raw.length);
  let length = 0;
  let from = 0;
  for (const match of raw.matchAll(replaced)) {
    const [whole] = match;
    length += bytes.write(raw.slice(from, match.index), length, 'latin1');
    length += bytes.write(
      whole.startsWith('&') ? resolveReference(match, start + match.index) : space,
      length,
    );
    from = match.index + whole.length;
  }
  length += bytes.write(raw.slice(from), length, 'latin1');
  return bytes.toString('utf8', 0, length);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

function resolveReference(
  [whole, decimal, hexadecimal, name]: RegExpExecArray,
  offset: number,
): string {
  if (name !== undefined) {
    const character = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (character !== undefined) return character;
    const entity = name.slice(0, 40);
    throw new XmlFault(msg`the entity &${entity}; is unknown without a DTD`, offset);
  }
  const digits = decimal ?? hexadecimal;
  if (digits === undefined) throw new XmlFault(msg`& must be written as &amp;`, offset);
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  if (!isCharacter(code)) throw makeForbiddenFault(whole, offset);
  return String.fromCodePoint(code);
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return (
    code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
  );
}
