import { msg } from '../message.ts';
import { assertNameLimit, XML_NAMESPACE, XmlFault } from './element.ts';
import type { ResolvedName } from './flat-tree.ts';

/**
 * Names of elements and attributes: XML 1.0 (fifth edition), productions 4 and 4a; Namespaces in
 * XML 1.0, section 4.
 */

type QualifiedName = { readonly prefix: string; readonly local: string };

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`;
const QUALIFIED_NAME = new RegExp(`^(?:(${NAME}):)?(${NAME})$`, 'u');

/**
 * Splits a qualified name at its colon; the prefix is '' without one, the result undefined where it
 * is no name.
 */
export function splitQualifiedName(text: string): QualifiedName | undefined {
  const match = QUALIFIED_NAME.exec(text);
  return match === null ? undefined : { prefix: match[1] ?? '', local: match[2] ?? '' };
}

/** Declaration of a prefix, and the depth of the declaring element. */
type NamespaceBinding = { readonly uri: string; readonly depth: number };

/** `start` is the first occurrence. */
export type RawName = ByteRange & {
  readonly rawName: string;
  /** Prefix that an attribute of this name declares. */
  readonly declares: string | undefined;
  /** Undefined where it is no name. */
  readonly parts: QualifiedName | undefined;
  /** The last resolution. */
  resolved: ResolvedName | undefined;
};

type ByteRange = { readonly start: number; readonly lengthBytes: number };

const MAX_RECENT = 1024;

/** Cache of a document's names, of which a few repeat. */
export class NameCache {
  readonly #bytes: Buffer;
  readonly #known = new Map<string, RawName>();
  /**
   * Last name per hash: comparing bytes with it is cheaper than slicing and looking up the name.
   */
  readonly #recent: (RawName | undefined)[] = new Array(MAX_RECENT).fill(undefined);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads the name that begins at an offset. */
  read(start: number): RawName {
    const bytes = this.#bytes;
    let end = start;
    let sum = 0;
    for (let code = bytes[end] ?? 0; !isNameEnd(code); code = bytes[++end] ?? 0)
      sum = (sum * 31 + code) | 0;
    if (end === start) throw new XmlFault(msg`a name is missing`, start);
    const likely = this.#recent[sum & (MAX_RECENT - 1)];
    if (
      likely !== undefined &&
      likely.lengthBytes === end - start &&
      this.isRepeatedAt(likely, start)
    )
      return likely;
    const rawName = bytes.toString('utf8', start, end);
    const name = this.#known.get(rawName) ?? makeName(rawName, start, end - start);
    this.#known.set(rawName, name);
    assertNameLimit(this.#known.size, start);
    this.#recent[sum & (MAX_RECENT - 1)] = name;
    return name;
  }

  /** Tells if the bytes of a range occur at another position, regardless of what follows them. */
  isRepeatedAt({ start, lengthBytes }: ByteRange, place: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < lengthBytes; at++)
      if (bytes[start + at] !== bytes[place + at]) return false;
    return true;
  }
}

function makeName(rawName: string, start: number, lengthBytes: number): RawName {
  const declares =
    rawName === 'xmlns' || rawName.startsWith('xmlns:')
      ? rawName.slice('xmlns:'.length)
      : undefined;
  return {
    rawName,
    start,
    lengthBytes,
    declares,
    parts: splitQualifiedName(rawName),
    resolved: undefined,
  };
}

/**
 * Tells if a name ends: white space, `=`, `/`, `>`, `<` or the end; {@link getNameParts} checks the
 * characters.
 */
function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

/**
 * Returns prefix and local part of a name.
 * @param offset of the name, for the fault
 * @throws XmlFault where it is no name
 */
export function getNameParts({ parts, rawName }: RawName, offset: number): QualifiedName {
  if (parts !== undefined) return parts;
  const start = rawName.slice(0, 40);
  throw new XmlFault(msg`"${start}" is not a name`, offset);
}

/** Namespaces in scope (Namespaces in XML 1.0), with constant lookup time. */
export class NamespaceScope {
  /** Declarations per prefix, the innermost last. */
  readonly #bound = new Map<string, NamespaceBinding[]>([
    ['xml', [{ uri: XML_NAMESPACE, depth: -1 }]],
  ]);
  /** One string for all equal URIs, which speeds up comparisons. */
  readonly #uris = new Map<string, string>();

  declare(prefix: string, uri: string, depth: number, offset: number): void {
    const bindings = this.#bound.get(prefix) ?? [];
    this.#bound.set(prefix, bindings);
    if (bindings.at(-1)?.depth === depth)
      throw new XmlFault(msg`a namespace prefix is declared twice`, offset);
    if (prefix === 'xmlns' || (prefix === 'xml') !== (uri === XML_NAMESPACE)) {
      throw new XmlFault(msg`the prefixes xml and xmlns may not be bound to anything else`, offset);
    }
    if (prefix !== '' && uri === '') {
      throw new XmlFault(msg`a namespace declaration is not well-formed`, offset);
    }
    const shared = this.#uris.get(uri) ?? uri;
    this.#uris.set(uri, shared);
    assertNameLimit(this.#uris.size, offset);
    bindings.push({ uri: shared, depth });
  }

  /** Ends the declarations of an element. */
  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#bound.get(prefix)?.pop();
  }

  /** Returns the namespace of a prefix; the empty prefix has none unless a default is declared. */
  getNamespace(prefix: string, offset: number): string {
    const uri = this.#bound.get(prefix)?.at(-1)?.uri;
    if (uri === undefined && prefix !== '')
      throw new XmlFault(msg`the prefix ${prefix} is not declared`, offset);
    return uri ?? '';
  }
}

/**
 * Text in the parser has one character per byte of UTF-8, so that offsets in text and bytes are
 * equal.
 */

/**
 * Flags of a byte: none, not ASCII, or to be decoded in a text or a value. U+FFFE begins with 0xef.
 */
export const NON_ASCII = 1;
const ODD_IN_TEXT = 2;
const ODD_IN_VALUE = 4;
export const DECODING_NEEDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte === 0xef ? NON_ASCII | ODD_IN_TEXT | ODD_IN_VALUE : NON_ASCII;
  const character = String.fromCharCode(byte);
  if ('\t\n<'.includes(character)) return ODD_IN_VALUE;
  if (character < ' ' || character === '&') return ODD_IN_TEXT | ODD_IN_VALUE;
  return character === ']' ? ODD_IN_TEXT : 0;
});

/**
 * Decodes a text or a value; undefined where it equals its source.
 * @param demands flags of all bytes from `start` to `end`, combined
 * @param rawName of the attribute, for a value
 * @throws XmlFault for a character, reference or markup that is not allowed there
 */
export function decodeReferences(
  bytes: Buffer,
  start: number,
  end: number,
  demands: number,
  rawName?: string,
): string | undefined {
  if ((demands & (rawName === undefined ? ODD_IN_TEXT : ODD_IN_VALUE)) === 0) return undefined;
  const raw = bytes.toString('latin1', start, end);
  return rawName === undefined ? decodeText(raw, start) : decodeValue(raw, start, rawName);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/** Size of a piece: millions of matches at once would take many times the memory of the text. */
const PIECE_CHARACTERS = 64 * 1024;

/** Negation of XML 1.0, production 2; U+FFFE and U+FFFF are three bytes each. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

/** @throws XmlFault for a character that XML forbids */
export function assertAllowedCharacters(raw: string, start: number): void {
  const forbidden = raw.search(FORBIDDEN_CHARACTER);
  if (forbidden !== -1)
    throw new XmlFault(msg`a control character is not allowed in XML`, start + forbidden);
}

/**
 * Decodes character data.
 * @param raw source, which begins at `start`
 */
function decodeText(raw: string, start: number): string {
  assertAllowedCharacters(raw, start);
  if (raw.includes(']]>'))
    throw new XmlFault(msg`]]> is not allowed in text`, start + raw.indexOf(']]>'));
  return decodeInPieces(raw, start, REPLACED_IN_TEXT, '\n');
}

/**
 * Decodes the content of a CDATA section.
 * @throws XmlFault for a character that XML forbids
 */
export function decodeSection(raw: string, start: number): string {
  assertAllowedCharacters(raw, start);
  return decodeInPieces(raw, start, LINE_BREAK, '\n');
}

/**
 * Decodes an attribute value.
 * @param rawName for the fault
 */
function decodeValue(raw: string, start: number, rawName: string): string {
  if (raw.includes('<'))
    throw new XmlFault(msg`< is not allowed in the value of ${rawName}`, start + raw.indexOf('<'));
  assertAllowedCharacters(raw, start);
  return decodeInPieces(raw, start, REPLACED_IN_VALUE, ' ');
}

const LINE_BREAK = /\r\n?/g;
const REFERENCE = '&(?:#(\\d+);|#x([\\da-fA-F]+);|([\\w.:-]+);)?';
const REPLACED_IN_TEXT = new RegExp(`\\r\\n?|${REFERENCE}`, 'g');
const REPLACED_IN_VALUE = new RegExp(`\\r\\n?|[\\t\\n]|${REFERENCE}`, 'g');

/**
 * Replaces references once, from left to right; the result is not parsed again.
 * @param space replaces a line break
 */
function decodeInPieces(raw: string, start: number, replaced: RegExp, space: string): string {
  const bytes = Buffer.allocUnsafe(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; ) {
    const piece = raw.slice(at, findPieceEnd(raw, at));
    const read = piece.replace(replaced, (whole, decimal, hexadecimal, name, index) =>
      whole.startsWith('&')
        ? resolveCharacterReference(whole, decimal, hexadecimal, name, start + at + index)
        : space,
    );
    length += bytes.write(read, length, 'latin1');
    at += piece.length;
  }
  return bytes.toString('utf8', 0, length);
}

/** Ends a piece outside references and line breaks. */
function findPieceEnd(raw: string, at: number): number {
  const end = at + PIECE_CHARACTERS;
  if (end >= raw.length) return raw.length;
  const [open] = /(?:\r|&[^;&]*)$/.exec(raw.slice(at, end)) ?? [];
  return open === undefined || open.length === PIECE_CHARACTERS ? end : end - open.length;
}

function resolveCharacterReference(
  whole: string,
  decimal: string | undefined,
  hexadecimal: string | undefined,
  name: string | undefined,
  offset: number,
): string {
  if (name !== undefined && Object.hasOwn(ENTITIES, name)) return ENTITIES[name] ?? whole;
  if (name !== undefined) throw makeUnknownEntityFault(name.slice(0, 40), offset);
  const digits = decimal ?? hexadecimal;
  if (digits === undefined) throw new XmlFault(msg`& must be written as &amp;`, offset);
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  if (!isCharacter(code))
    throw new XmlFault(msg`${whole} is not a character allowed in XML`, offset);
  return Buffer.from(String.fromCodePoint(code)).toString('latin1');
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return (
    code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
  );
}

function makeUnknownEntityFault(name: string, offset: number): XmlFault {
  return new XmlFault(msg`the entity &${name}; is unknown without a DTD`, offset);
}
