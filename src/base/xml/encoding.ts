import { isUtf8 } from 'node:buffer';
import { LocalizedError } from '../errors.ts';
import { type Message, msg } from '../message.ts';
import { getLineAt } from './element.ts';

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

/** V8's strings end at 512 MiB; no page comes near this size. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

const PIECE_BYTES = 64 * 1024;
/** A byte of an old encoding may become three bytes of UTF-8. */
const MAX_GROWTH_FACTOR = 3;

/** A document in UTF-8, and where its characters were. */
export type DecodedXml = {
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
 * @throws XmlSyntaxError
 */
export function decodeXml(bytes: Buffer, charset?: string): DecodedXml {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new XmlSyntaxError(msg`the document has more than ${MAX_DOCUMENT_BYTES} bytes`, 0, 1);
  const mark = findByteOrderMark(bytes);
  const encodingName = (mark?.encoding ?? charset ?? findDeclaredEncoding(bytes) ?? 'utf-8')
    .trim()
    .toLowerCase();
  const encoding =
    encodingName === 'utf-16' ? (detectWideEncoding(bytes) ?? encodingName) : encodingName;
  const start = mark?.length ?? 0;
  const content = bytes.subarray(start);
  if (encoding === 'utf-8' || encoding === 'utf8') {
    if (isUtf8(content)) return { utf8: content, getByte: (offset) => start + offset };
    const byte = start + findFirstInvalidByte(content);
    throw new XmlSyntaxError(msg`this byte is not UTF-8`, byte, getLineAt(bytes, byte));
  }
  const decoder = openDecoder(encoding);
  if (decoder === undefined) {
    const named = encoding.slice(0, 40);
    throw new XmlSyntaxError(msg`the encoding "${named}" is not known`, 0, 1);
  }
  const utf8 = convert(content, decoder);
  if (utf8 === undefined) throw new XmlSyntaxError(msg`the document is not ${encoding}`, 0, 1);
  const width = encoding.startsWith('utf-16') ? 2 : 1;
  return { utf8, getByte: (offset) => start + utf8.toString('utf8', 0, offset).length * width };
}

/**
 * Converts in pieces: a single string would take up to four times its size. Undefined where a byte
 * does not fit the encoding.
 */
function convert(content: Buffer, decoder: Decoder): Buffer | undefined {
  const utf8 = Buffer.allocUnsafe(MAX_GROWTH_FACTOR * content.length);
  let length = 0;
  try {
    for (let at = 0; at < content.length; at += PIECE_BYTES) {
      const piece = content.subarray(at, at + PIECE_BYTES);
      const stream = at + PIECE_BYTES < content.length;
      length += utf8.write(decoder.decode(piece, { stream }), length);
    }
    return utf8.subarray(0, length);
  } catch {
    return undefined;
  }
}

type Decoder = { decode(bytes: Buffer, options: { readonly stream: boolean }): string };

/** Undefined for an unknown encoding. ASCII and ISO 8859-1 are read as Windows-1252, as on the web. */
function openDecoder(encoding: string): Decoder | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true });
    return decoder.encoding === 'windows-1252' ? { decode: decodeWindows1252 } : decoder;
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

/** @param content that is not UTF-8 */
function findFirstInvalidByte(content: Buffer): number {
  const replaced = Buffer.from(content.toString('utf8'));
  let byte = 0;
  while (content[byte] === replaced[byte]) byte++;
  // The invalid byte may equal the first one of its replacement.
  while (byte > 0 && !isUtf8(content.subarray(0, byte))) byte--;
  return byte;
}
