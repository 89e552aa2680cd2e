import { isUtf8 } from 'node:buffer';
import { LocalizedError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** V8's strings end at 512 MiB; no page comes near this size. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

const PIECE_BYTES = 64 * 1024;
/** A byte of an old encoding may become three bytes of UTF-8. */
const MAX_GROWTH_FACTOR = 3;

/** The bytes do not fit the encoding that the document or its sender declares. */
export class EncodingError extends LocalizedError {
  /** First unreadable byte, from 0. */
  readonly byte: number;
  constructor(byte: number, message: Message) {
    super(message);
    this.byte = byte;
  }
}

type DecodedText = {
  /** Without a byte order mark. */
  readonly utf8: Buffer;
  /** Maps an offset in `utf8` to the byte of the document where that character begins. */
  getByte(offset: number): number;
};

/**
 * Converts an XML document to UTF-8. The byte order mark decides, then the transport's charset,
 * then the XML declaration (also one in UTF-16 without a mark), then UTF-8 (RFC 7303, section 3;
 * XML 1.0, appendix F). Invalid bytes are an error; nothing is repaired.
 * @param charset of the `Content-Type` header, where there is one
 * @throws EncodingError
 */
export function decodeXml(bytes: Buffer, charset?: string): DecodedText {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new EncodingError(0, msg`the document has more than ${MAX_DOCUMENT_BYTES} bytes`);
  const mark = findByteOrderMark(bytes);
  const encodingName = (mark?.encoding ?? charset ?? findDeclaredEncoding(bytes) ?? 'utf-8')
    .trim()
    .toLowerCase();
  const encoding =
    encodingName === 'utf-16' ? (detectWideEncoding(bytes) ?? encodingName) : encodingName;
  const start = mark?.length ?? 0;
  const content = bytes.subarray(start);
  if (encoding === 'utf-8' || encoding === 'utf8') {
    if (!isUtf8(content))
      throw new EncodingError(
        start + findFirstInvalidByte(content, 'utf-8'),
        msg`this byte is not UTF-8`,
      );
    return { utf8: content, getByte: (offset) => start + offset };
  }
  const utf8 = decodeOther(content, encoding, start);
  const width = encoding.startsWith('utf-16') ? 2 : 1;
  return { utf8, getByte: (offset) => start + utf8.toString('utf8', 0, offset).length * width };
}

/** Converts in pieces: a single string would take up to four times its size. */
function decodeOther(content: Buffer, encoding: string, start: number): Buffer {
  const decoder = openDecoder(encoding);
  if (decoder === undefined) {
    const named = encoding.slice(0, 40);
    throw new EncodingError(0, msg`the encoding "${named}" is not known`);
  }
  const utf8 = Buffer.allocUnsafe(MAX_GROWTH_FACTOR * content.length);
  let length = 0;
  try {
    for (let at = 0; at < content.length; at += PIECE_BYTES) {
      const piece = content.subarray(at, at + PIECE_BYTES);
      length += utf8.write(
        decoder.decode(piece, { stream: at + PIECE_BYTES < content.length }),
        length,
      );
    }
    return utf8.subarray(0, length);
  } catch {
    throw new EncodingError(
      start + findFirstInvalidByte(content, encoding),
      msg`this byte is not ${encoding}`,
    );
  }
}

type Decoder = { decode(bytes: Buffer, options: { readonly stream: boolean }): string };

/** Windows-1252 from 0x80 to 0x9F, which Node 20 decodes as ISO 8859-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * Undefined for an unknown encoding. `TextDecoder` reads ISO 8859-1 as Windows-1252, contrary to
 * XML.
 */
function openDecoder(encoding: string): Decoder | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true });
    return decoder.encoding === 'windows-1252'
      ? { decode: WESTERN[getWesternKind(encoding)] }
      : decoder;
  } catch {
    return undefined;
  }
}

/** Western encodings: all letters are one byte. */
const WESTERN = {
  ascii: (bytes: Buffer): string => {
    if (bytes.some((byte) => byte > 0x7f)) throw new TypeError('a byte is not ASCII');
    return bytes.toString('latin1');
  },
  latin1: (bytes: Buffer): string => bytes.toString('latin1'),
  windows: (bytes: Buffer): string =>
    bytes
      .toString('latin1')
      .replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252[letter.charCodeAt(0) - 0x80] ?? letter),
};

function getWesternKind(encoding: string): keyof typeof WESTERN {
  if (encoding.endsWith('1252')) return 'windows';
  return /ascii|x3\.4/.test(encoding) ? 'ascii' : 'latin1';
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

/** Detects UTF-16 without a mark by the `<?` of an XML declaration. */
function detectWideEncoding(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 4);
  if (start === '<\0?\0') return 'utf-16le';
  return start === '\0<\0?' ? 'utf-16be' : undefined;
}

function findDeclaredEncoding(bytes: Buffer): string | undefined {
  const wide = detectWideEncoding(bytes);
  if (wide !== undefined) return wide;
  const head = bytes.toString('latin1', 0, 200);
  return /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']/.exec(head)?.[1];
}

/** Finds the longest readable prefix by bisection; the broken character starts behind it. */
function findFirstInvalidByte(content: Buffer, encoding: string): number {
  let readable = 0;
  let broken = content.length;
  while (broken - readable > 1) {
    const middle = (readable + broken) >> 1;
    if (isReadable(content.subarray(0, middle), encoding, 'partial')) readable = middle;
    else broken = middle;
  }
  while (!isReadable(content.subarray(0, readable), encoding, 'whole')) readable--;
  return readable;
}

function isReadable(content: Buffer, encoding: string, end: 'whole' | 'partial'): boolean {
  try {
    openDecoder(encoding)?.decode(content, { stream: end === 'partial' });
    return true;
  } catch {
    return false;
  }
}

/** The document is not well-formed, or contains refused markup (a DTD, too deep a nesting). */
export class XmlSyntaxError extends LocalizedError {
  readonly byte: number;
  /** From 1. */
  readonly line: number;
  constructor(message: Message, byte: number, line: number) {
    super(msg`${message} (line ${line}, byte ${byte})`);
    this.byte = byte;
    this.line = line;
  }
}

/** Fault at an offset; the parser converts it to {@link XmlSyntaxError}. */
export class XmlFault extends LocalizedError {
  readonly offset: number;
  constructor(message: Message, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A page of records has some hundred names. Each distinct one costs many times its length. */
const MAX_NAMES = 10_000;

/** @param count of the distinct names, prefixes or namespaces so far */
export function assertNameLimit(count: number, offset: number): void {
  if (count > MAX_NAMES)
    throw new XmlFault(msg`there are more than ${MAX_NAMES} different names`, offset);
}

/**
 * Limit of a text; the outline of a large area has a tenth. Reading and storing a text takes
 * several times its length.
 */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** @throws XmlFault at `offset` */
export function assertTextLimit(lengthBytes: number, offset: number): void {
  if (lengthBytes > MAX_TEXT_BYTES)
    throw new XmlFault(msg`a text is longer than ${MAX_TEXT_BYTES} bytes`, offset);
}

/**
 * Parsed XML document. Names are compared by namespace and local name; prefixes have no meaning.
 */

export type XmlAttribute = {
  readonly namespace: string;
  readonly name: string;
  readonly value: string;
};

/** First byte, and the one after the last. */
type ByteRange = { readonly start: number; readonly end: number };

/** The range begins with the start tag and ends with the end tag. */
export type XmlElement = ByteRange & {
  /** Namespace URI; empty where there is none. */
  readonly namespace: string;
  readonly name: string;
  /** Without namespace declarations. */
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /**
   * The element's own character data, joined, white space included; without that of its children.
   */
  readonly text: string;
};

export type XmlDocument = {
  readonly root: XmlElement;
  /** The whole document as UTF-8. */
  readonly bytes: Buffer;
};

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
export const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema';

/**
 * Returns the value of an attribute, undefined where it is absent. Attributes without prefix have
 * no namespace.
 */
export function getAttribute(
  element: XmlElement,
  name: string,
  namespace = '',
): string | undefined {
  // A closure for each search would be most of the memory that reading the headers of a page takes.
  for (const attribute of element.attributes)
    if (attribute.name === name && attribute.namespace === namespace) return attribute.value;
  return undefined;
}

/** Returns the first child of that name in the parent's namespace, or in the given one. */
export function getChild(
  parent: XmlElement,
  name: string,
  namespace = parent.namespace,
): XmlElement | undefined {
  for (const child of parent.children)
    if (child.name === name && child.namespace === namespace) return child;
  return undefined;
}

/**
 * Returns the children with a local name, in the namespace of the parent unless another is given.
 */
export function getChildren(
  parent: XmlElement,
  name: string,
  namespace = parent.namespace,
): XmlElement[] {
  const found: XmlElement[] = [];
  for (const child of parent.children)
    if (child.name === name && child.namespace === namespace) found.push(child);
  return found;
}

/**
 * Returns the trimmed text of the first child of that name; undefined where it is absent or blank.
 */
export function getChildText(
  parent: XmlElement,
  name: string,
  namespace = parent.namespace,
): string | undefined {
  const text = getChild(parent, name, namespace)?.text.trim();
  return text === '' ? undefined : text;
}

/** Yields every descendant of that name, in document order. */
export function* walkDescendants(
  parent: XmlElement,
  name: string,
  namespace: string,
): Generator<XmlElement> {
  for (const child of parent.children) {
    if (child.name === name && child.namespace === namespace) yield child;
    yield* walkDescendants(child, name, namespace);
  }
}

/** Returns the source bytes of an element, without prefixes that ancestors declare. */
export function getSourceBytes({ bytes }: XmlDocument, { start, end }: XmlElement): Buffer {
  return bytes.subarray(start, end);
}

export function getSourceText({ bytes }: XmlDocument, { start, end }: ByteRange): string {
  return bytes.toString('utf8', start, end);
}

/** Returns the line of an element's start tag, from 1. */
export function getLine(document: XmlDocument, element: XmlElement): number {
  return getLineAt(document.bytes, element.start);
}

/** Returns the line of a character or byte, from 1. */
export function getLineAt(source: string | Buffer, offset: number): number {
  let line = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1))
    line++;
  return line;
}

/** Makes a line counter for ascending offsets: each part of the document is scanned once. */
export function makeLineCounter({ bytes }: XmlDocument): (offset: number) => number {
  let line = 1;
  let next = bytes.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = bytes.indexOf('\n', next + 1)) line++;
    return line;
  };
}
