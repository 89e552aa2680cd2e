import { msg } from '../message.ts';
import { XML_NAMESPACE, XmlFault } from './element.ts';

/**
 * Names of elements and attributes, and references: XML 1.0 (fifth edition), productions 4, 4a, 66
 * and 67; Namespaces in XML 1.0, section 4.
 */

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`;
const QUALIFIED_NAME = new RegExp(`^(?:(${NAME}):)?(${NAME})$`, 'u');

/** Tells if a text is a name without a colon. */
export function isLocalName(text: string): boolean {
  return QUALIFIED_NAME.test(text) && !text.includes(':');
}

/** A name with its namespace; one object per distinct name. */
type ResolvedName = {
  readonly namespace: string;
  readonly name: string;
  /** Start of the last tag with an attribute of this name. */
  lastTag: number;
};

/** A name as it is written; `start` is its first occurrence. */
export type RawName = {
  readonly text: string;
  readonly start: number;
  readonly lengthBytes: number;
  readonly prefix: string;
  readonly local: string;
  /** Prefix that an attribute of this name declares. */
  readonly declares: string | undefined;
  /** The last resolution. */
  resolved: ResolvedName | undefined;
  /** Start of the last tag that declares this prefix. */
  lastTag: number;
};

/** A page of records has some hundred names. Each distinct one costs many times its length. */
const MAX_NAMES = 10_000;
const MAX_RECENT = 1024;

/** Names of a document, of which a few repeat, and the namespaces in scope. */
export class NameTable {
  readonly #bytes: Buffer;
  readonly #raw = new Map<string, RawName>();
  /**
   * Last name per hash: comparing bytes with it is cheaper than slicing and looking up the name.
   */
  readonly #recent: (RawName | undefined)[] = new Array(MAX_RECENT).fill(undefined);
  readonly #resolved = new Map<string, ResolvedName>();
  /** Namespaces per prefix, the innermost last. */
  readonly #scope = new Map<string, string[]>([['xml', [XML_NAMESPACE]]]);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads the name that begins at an offset and ends before white space, `=`, `/`, `>` or `<`. */
  read(start: number): RawName {
    const bytes = this.#bytes;
    let end = start;
    let sum = 0;
    for (let code = bytes[end] ?? 0; !isNameEnd(code); code = bytes[++end] ?? 0)
      sum = (sum * 31 + code) | 0;
    const likely = this.#recent[sum & (MAX_RECENT - 1)];
    if (likely?.lengthBytes === end - start && this.isRepeatedAt(likely, start)) return likely;
    const text = bytes.toString('utf8', start, end);
    const name = this.#raw.get(text) ?? makeRawName(text, start, end - start);
    addName(this.#raw, text, name, start);
    this.#recent[sum & (MAX_RECENT - 1)] = name;
    return name;
  }

  /** Tells if the bytes of a name stand at an offset, whatever follows them. */
  isRepeatedAt({ start, lengthBytes }: RawName, place: number): boolean {
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
  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#scope.get(prefix)?.pop();
  }

  /** Resolves a name; an attribute without a prefix is in no namespace. */
  resolve(name: RawName, offset: number, isAttribute: boolean): ResolvedName {
    const { prefix, local, resolved } = name;
    const isBare = isAttribute && prefix === '';
    const namespace = isBare ? '' : this.#getNamespace(prefix, offset);
    if (resolved?.namespace === namespace) return resolved;
    const key = `${namespace}\n${local}`;
    name.resolved = this.#resolved.get(key) ?? { namespace, name: local, lastTag: -1 };
    addName(this.#resolved, key, name.resolved, offset);
    return name.resolved;
  }

  #getNamespace(prefix: string, offset: number): string {
    const namespace = this.#scope.get(prefix)?.at(-1);
    if (namespace === undefined && prefix !== '')
      throw new XmlFault(msg`the prefix ${prefix} is not declared`, offset);
    return namespace ?? '';
  }
}

function addName<Name>(names: Map<string, Name>, key: string, name: Name, offset: number): void {
  names.set(key, name);
  if (names.size > MAX_NAMES)
    throw new XmlFault(msg`there are more than ${MAX_NAMES} different names`, offset);
}

function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

function makeRawName(text: string, start: number, lengthBytes: number): RawName {
  const [, prefix = '', local] = QUALIFIED_NAME.exec(text) ?? [];
  if (local === undefined) {
    const beginning = text.slice(0, 40);
    throw new XmlFault(msg`"${beginning}" is not a name`, start);
  }
  const declares = prefix === 'xmlns' || text === 'xmlns' ? text.slice('xmlns:'.length) : undefined;
  return { text, start, lengthBytes, prefix, local, declares, resolved: undefined, lastTag: -1 };
}

/** Makes the fault of a name, a character or markup at a place where XML does not allow it. */
export function makeForbiddenFault(what: string, offset: number): XmlFault {
  return new XmlFault(msg`"${what}" is not allowed here`, offset);
}

/** Flags of a byte that must be decoded in a text, or in a value. U+FFFE begins with 0xef. */
const ODD_IN_TEXT = 1;
const ODD_IN_VALUE = 2;
export const DECODING_NEEDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte === 0xef ? ODD_IN_TEXT | ODD_IN_VALUE : 0;
  const character = String.fromCharCode(byte);
  if ('\t\n<'.includes(character)) return ODD_IN_VALUE;
  if (character < ' ' || character === '&') return ODD_IN_TEXT | ODD_IN_VALUE;
  return character === ']' ? ODD_IN_TEXT : 0;
});

/** Negation of XML 1.0, production 2; U+FFFE and U+FFFF are three bytes each. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

/**
 * @param raw source with one character per byte, which begins at `start`, as for the functions below
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
 * Decodes character data.
 * @param needs flags of all bytes, combined
 * @returns undefined where it equals its source
 */
export function decodeText(
  bytes: Buffer,
  start: number,
  end: number,
  needs: number,
): string | undefined {
  if ((needs & ODD_IN_TEXT) === 0) return undefined;
  const raw = bytes.toString('latin1', start, end);
  assertAllowedCharacters(raw, start);
  if (raw.includes(']]>')) throw makeForbiddenFault(']]>', start + raw.indexOf(']]>'));
  return replaceReferences(raw, start, REPLACED_IN_TEXT, '\n');
}

/** Decodes the content of a CDATA section. */
export function decodeSection(raw: string, start: number): string {
  return replaceReferences(raw, start, LINE_BREAK, '\n');
}

/**
 * Decodes an attribute value; a line break or tab becomes a blank (XML 1.0, section 3.3.3).
 * @param needs union of the flags that the parser gave to the bytes of the value
 * @throws XmlSyntaxError for a forbidden character or reference
 */
export function decodeAttributeValue(
  bytes: Buffer,
  start: number,
  end: number,
  needs: number,
): string {
  if ((needs & ODD_IN_VALUE) === 0) return bytes.toString('utf8', start, end);
  const raw = bytes.toString('latin1', start, end);
  if (raw.includes('<')) throw makeForbiddenFault('<', start + raw.indexOf('<'));
  assertAllowedCharacters(raw, start);
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
  if (!isCharacter(code)) throw makeForbiddenFault(whole.slice(0, 40), offset);
  return String.fromCodePoint(code);
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return (
    code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
  );
}
