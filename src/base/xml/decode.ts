import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { LocalizedError } from '../errors.ts';
import { type Message, msg } from '../message.ts';
import { findCharacterIllegalInXml } from './build.ts';
import { getLineAt, XML_NAMESPACE } from './element.ts';

/** The document is not well-formed, or contains refused markup (a DTD, too deep a nesting). */
export class XmlSyntaxError extends LocalizedError {
  /** Offset in the document as UTF-8, without its byte order mark. */
  readonly byte: number;
  /** From 1. */
  readonly line: number;
  /** @param bytes the document as UTF-8, without its byte order mark */
  constructor(message: Message, bytes: Buffer, byte: number) {
    const line = getLineAt(bytes, byte);
    super(msg`${message} (line ${line}, byte ${byte})`);
    this.byte = byte;
    this.line = line;
  }
}

/** V8's strings end at 512 MiB; no page comes near this size. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

const UTF_8_MARK = Buffer.from('\ufeff');

/**
 * Converts an XML document to UTF-8, without its byte order mark. The mark decides, then the XML
 * declaration, then UTF-8 (XML 1.0, appendix F); the charset of a transport does not, since servers
 * name one that is none of the document. Nothing is repaired.
 * @throws XmlSyntaxError for an unknown encoding, invalid bytes, or more than 256 MiB
 */
export function decodeXml(bytes: Buffer): Buffer {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new XmlSyntaxError(msg`the document has more than ${MAX_DOCUMENT_BYTES} bytes`, bytes, 0);
  const isMarked = bytes.subarray(0, UTF_8_MARK.length).equals(UTF_8_MARK);
  const content = isMarked ? bytes.subarray(UTF_8_MARK.length) : bytes;
  const encoding = isMarked ? 'utf-8' : findEncoding(bytes);
  if (encoding === 'utf-8' || encoding === 'utf8') {
    if (isUtf8(content)) return content;
    throw new XmlSyntaxError(msg`this byte is not UTF-8`, content, findFirstInvalidByte(content));
  }
  try {
    return convertToUtf8(content, new TextDecoder(encoding, { fatal: true }));
  } catch {
    const named = encoding.slice(0, 40);
    throw new XmlSyntaxError(msg`the document cannot be read as "${named}"`, content, 0);
  }
}

const PIECE_BYTES = 1024 * 1024;

/** Converts piece by piece, since the text of a whole document takes several times its memory. */
function convertToUtf8(content: Buffer, decoder: TextDecoder): Buffer {
  // ASCII and ISO 8859-1 are read as Windows-1252, as on the web.
  const isWindows1252 = decoder.encoding === 'windows-1252';
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    const piece = content.subarray(at, at + PIECE_BYTES);
    const text = isWindows1252 ? decodeWindows1252(piece) : decoder.decode(piece, { stream: true });
    pieces.push(Buffer.from(text));
  }
  // Throws where the last character is cut off.
  return Buffer.concat([...pieces, Buffer.from(decoder.decode())]);
}

/** Windows-1252 from 0x80 to 0x9F, which Node 20 decodes as ISO 8859-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252[letter.charCodeAt(0) - 0x80] ?? letter);
}

function findEncoding(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const declared = XML_DECLARATION.exec(getXmlDeclaration(bytes))?.groups?.['encoding'];
  return declared?.toLowerCase() ?? 'utf-8';
}

/** XML 1.0, production 23. */
const XML_DECLARATION =
  /^<\?xml\s+version\s*=\s*(["'])1\.\d+\1(?:\s+encoding\s*=\s*(["'])(?<encoding>[A-Za-z][\w.-]*)\2)?(?:\s+standalone\s*=\s*(["'])(?:yes|no)\4)?\s*\?>$/;

/** Returns the source of the XML declaration, which may be malformed; empty without one. */
function getXmlDeclaration(bytes: Buffer): string {
  const source = bytes.toString('latin1', 0, bytes.indexOf('>') + 1);
  return /^<\?xml[ \t\r\n]/.test(source) ? source : '';
}

/**
 * Returns the position after the XML declaration, 0 without one.
 * @throws XmlSyntaxError for a malformed one
 */
export function findEndOfDeclaration(bytes: Buffer): number {
  const declaration = getXmlDeclaration(bytes);
  assertAllowedCharacters(bytes, 0, declaration.length);
  if (declaration !== '' && !XML_DECLARATION.test(declaration))
    throw makeForbiddenError(declaration, bytes, 0);
  return declaration.length;
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

/**
 * Makes the error of a name, a character or markup at a place where XML does not allow it.
 * @param markup quoted in the message, up to 40 characters
 */
export function makeForbiddenError(markup: string, bytes: Buffer, byte: number): XmlSyntaxError {
  const what = markup.slice(0, 40);
  return new XmlSyntaxError(msg`"${what}" is not allowed here`, bytes, byte);
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

/** A name as it is written. */
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

/** Names of a document, of which a few repeat, and the namespaces in scope. */
export class NameTable {
  readonly #bytes: Buffer;
  /** By hash: comparing bytes with the name is cheaper than slicing and looking it up. */
  readonly #written = new Map<number, WrittenName>();
  /** Namespaces per prefix, the innermost last. */
  readonly #scope = new Map<string, string[]>([['xml', [XML_NAMESPACE]]]);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Reads the name that begins at an offset and ends before white space, `=`, `/`, `>` or `<`.
   * @throws XmlSyntaxError where it is no name, or the document has too many different ones
   */
  read(start: number): WrittenName {
    const bytes = this.#bytes;
    let end = start;
    let hash = 0;
    for (let code = bytes[end] ?? 0; !isNameEnd(code); code = bytes[++end] ?? 0)
      hash = (hash * 31 + code) | 0;
    const known = this.#written.get(hash);
    if (known?.lengthBytes === end - start && this.isRepeatedAt(known, start)) return known;
    const name = parseName(bytes, start, end);
    this.#written.set(hash, name);
    if (this.#written.size > MAX_NAMES)
      throw new XmlSyntaxError(msg`there are more than ${MAX_NAMES} different names`, bytes, start);
    return name;
  }

  /** Tells if the bytes of a name stand at an offset, whatever follows them. */
  isRepeatedAt({ start, lengthBytes }: WrittenName, place: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < lengthBytes; at++)
      if (bytes[start + at] !== bytes[place + at]) return false;
    return true;
  }

  /** Gives a prefix this namespace until {@link endScope}; '' is the namespace without a prefix. */
  declare(prefix: string, namespace: string): void {
    const inScope = this.#scope.get(prefix);
    if (inScope === undefined) this.#scope.set(prefix, [namespace]);
    else inScope.push(namespace);
  }

  /** Ends the declarations of an element, of these prefixes. */
  endScope(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#scope.get(prefix)?.pop();
  }

  /**
   * Returns the namespace that the prefix of a name has in scope; empty for none.
   * @throws XmlSyntaxError where the prefix is not declared
   */
  getNamespace({ prefix }: WrittenName, offset: number): string {
    const namespace = this.#scope.get(prefix)?.at(-1);
    if (namespace === undefined && prefix !== '')
      throw new XmlSyntaxError(msg`the prefix ${prefix} is not declared`, this.#bytes, offset);
    return namespace ?? '';
  }
}

function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

function parseName(bytes: Buffer, start: number, end: number): WrittenName {
  const text = bytes.toString('utf8', start, end);
  const [, prefix = '', local] = QUALIFIED_NAME.exec(text) ?? [];
  if (local === undefined) {
    const beginning = text.slice(0, 40);
    throw new XmlSyntaxError(msg`"${beginning}" is not a name`, bytes, start);
  }
  const declares = prefix === 'xmlns' || text === 'xmlns' ? text.slice('xmlns:'.length) : undefined;
  return { text, start, lengthBytes: end - start, prefix, local, declares };
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
 * Asserts that the source between two offsets has only characters of XML 1.0 (production 2).
 * @throws XmlSyntaxError for a character that XML forbids
 */
export function assertAllowedCharacters(bytes: Buffer, start: number, end: number): void {
  const match = FORBIDDEN_CHARACTER.exec(bytes.toString('latin1', start, end));
  if (match === null) return;
  const code = Buffer.from(match[0], 'latin1').toString('hex').toUpperCase();
  throw makeForbiddenError(`0x${code}`, bytes, start + match.index);
}

const REFERENCE = '&(?:#(\\d+);|#x([\\da-fA-F]+);|([\\w.:-]+);)?';
const ODD_IN_TEXT = new RegExp(`\\r\\n?|\\]\\]>|${REFERENCE}`, 'g');
const ODD_IN_ATTRIBUTE = new RegExp(`\\r\\n?|[\\t\\n<]|${REFERENCE}`, 'g');

/** Decodes references and line breaks of a text; throws XmlSyntaxError for forbidden ones. */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  return decodeSource(bytes, start, end, ODD_IN_TEXT, '\n');
}

/** Decodes the content of a CDATA section as {@link decodeText}, without references. */
export function decodeCdata(bytes: Buffer, start: number, end: number): string {
  return decodeSource(bytes, start, end, /\r\n?/g, '\n');
}

/** Decodes an attribute value as {@link decodeText}, white space as blanks (XML 1.0, 3.3.3). */
export function decodeAttributeValue(bytes: Buffer, start: number, end: number): string {
  return decodeSource(bytes, start, end, ODD_IN_ATTRIBUTE, ' ');
}

/**
 * Replaces white space and references once, from left to right; the result is not parsed again.
 * Into one buffer: millions of matches, or pieces, would take many times the memory of the text.
 * @param pattern matches them, and what is not allowed
 * @param space replaces a line break
 */
function decodeSource(
  bytes: Buffer,
  start: number,
  end: number,
  pattern: RegExp,
  space: string,
): string {
  assertAllowedCharacters(bytes, start, end);
  // No character is longer than a reference to it.
  const decoded = Buffer.allocUnsafe(end - start);
  let length = 0;
  let from = start;
  for (const match of bytes.toString('latin1', start, end).matchAll(pattern)) {
    const [markup] = match;
    const at = start + match.index;
    length += bytes.copy(decoded, length, from, at);
    if (markup.startsWith('&')) length += decoded.write(resolveReference(match, bytes, at), length);
    else if (markup.trim() === '') length += decoded.write(space, length);
    else throw makeForbiddenError(markup, bytes, at);
    from = at + markup.length;
  }
  length += bytes.copy(decoded, length, from, end);
  return decoded.toString('utf8', 0, length);
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
  bytes: Buffer,
  byte: number,
): string {
  if (name !== undefined) {
    const predefined = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (predefined !== undefined) return predefined;
    const entity = name.slice(0, 40);
    throw new XmlSyntaxError(msg`the entity &${entity}; is unknown without a DTD`, bytes, byte);
  }
  const digits = decimal ?? hexadecimal;
  if (digits === undefined) throw new XmlSyntaxError(msg`& must be written as &amp;`, bytes, byte);
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  // A number beyond Unicode is as forbidden as U+FFFF.
  const character = String.fromCodePoint(code > 0x10ffff ? 0xffff : code);
  if (character !== '\r' && findCharacterIllegalInXml(character) !== undefined)
    throw makeForbiddenError(whole, bytes, byte);
  return character;
}
