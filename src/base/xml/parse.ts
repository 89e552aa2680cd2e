import { msg } from '../message.ts';
import {
  assertTextLimit,
  getLineAt,
  type XmlDocument,
  type XmlElement,
  XmlFault,
  XmlSyntaxError,
} from './element.ts';
import { type DecodedXml, decodeXml } from './encoding.ts';
import { FlatElement, FlatTree, NONE, type ResolvedName } from './flat-tree.ts';
import {
  assertAllowedCharacters,
  DECODING_NEEDS,
  decodeReferences,
  decodeSection,
  getNameParts,
  NameCache,
  NamespaceScope,
  NON_ASCII,
  type RawName,
  splitQualifiedName,
} from './name.ts';

export { XmlSyntaxError };

/**
 * Parses XML 1.0 with namespaces, strictly and without a DTD: nothing is fetched, only the five
 * predefined entities and character references are resolved, and any violation is an error with its
 * position.
 * @param charset of the `Content-Type` header, where there is one
 * @param maxNodes limit of elements, attributes and other markup together
 * @throws XmlSyntaxError
 */
export function parseXml(
  bytes: Buffer,
  charset?: string,
  maxNodes = Number.POSITIVE_INFINITY,
): XmlDocument {
  const xml = decodeXml(bytes, charset);
  try {
    return { root: new Parser(xml.utf8, maxNodes).parse(), bytes: xml.utf8 };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

/**
 * A document of which only its bytes and one part at a time are held; of the root only the start
 * tag is parsed.
 */
export type XmlWalk = XmlDocument & {
  /**
   * Yields the elements with these names that are not inside another of them, in document order.
   * Each iteration parses again; one that ends has checked the whole document.
   * @throws XmlSyntaxError during the iteration
   */
  readParts(names: ReadonlySet<string>): Iterable<XmlPart>;
};

/**
 * Parses a document in parts.
 * @param maxNodes limit of elements, attributes and other markup of a part, and of the document
 * around the parts
 * @throws XmlSyntaxError where the start of the document is malformed
 */
export function walkXml(bytes: Buffer, maxNodes: number): XmlWalk {
  const xml = decodeXml(bytes);
  const makeParser = (): Parser => new Parser(xml.utf8, maxNodes);
  const parts = function* (names: ReadonlySet<string>): Generator<XmlPart> {
    try {
      yield* makeParser().parseParts(names);
    } catch (thrown) {
      throw asSyntaxError(xml, thrown);
    }
  };
  try {
    return { root: makeParser().parseRoot(), bytes: xml.utf8, readParts: parts };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

function asSyntaxError({ utf8, getByte }: DecodedXml, thrown: unknown): unknown {
  if (!(thrown instanceof XmlFault)) return thrown;
  return new XmlSyntaxError(thrown.says, getByte(thrown.offset), getLineAt(utf8, thrown.offset));
}

/**
 * An element of a long document, and its ancestors, outermost first, of which only the start tags
 * were parsed.
 */
type XmlPart = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

const MAX_DEPTH = 256;
const MAX_TAG_CHARACTERS = 64 * 1024;

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const EXCLAMATION = 33;
const DOUBLE_QUOTE = 34;
const APOSTROPHE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;

/** An element whose start tag was parsed. */
type Level = {
  readonly element: number;
  readonly name: RawName;
  readonly declared: readonly string[];
  /** Counts before the element. */
  readonly nodes: number;
  readonly decodedTexts: number;
};

const NOTHING_DECLARED: readonly string[] = [];

class Parser {
  readonly #bytes: Buffer;
  #at: number;
  readonly #tape: FlatTree;
  /** The open element; {@link NONE} outside the root. */
  #current = NONE;
  #hasRoot = false;
  /** The open elements, outermost first. */
  readonly #levels: Level[] = [];
  #ended: Level | undefined;
  readonly #names: NameCache;
  readonly #scope = new NamespaceScope();
  /** Attributes of the current tag; the lists may be longer, since they are reused. */
  #attributeCount = 0;
  readonly #attributeNames: RawName[] = [];
  readonly #attributeOffsets: number[] = [];
  #valueStart = 0;
  #valueEnd = 0;
  #valueIsWide = false;
  readonly #maxNodes: number;
  #nodes = 0;

  /** @param maxNodes limit of elements, attributes and other markup that are held at a time */
  constructor(bytes: Buffer, maxNodes: number) {
    this.#maxNodes = maxNodes;
    this.#bytes = bytes;
    this.#at = findEndOfDeclaration(bytes);
    this.#names = new NameCache(bytes);
    this.#tape = new FlatTree(bytes);
  }

  parse(): XmlElement {
    const { length } = this.#bytes;
    while (this.#at < length) this.#parseNext();
    this.#assertEnded();
    return new FlatElement(this.#tape, 0);
  }

  /** Parses the start tag of the root only. */
  parseRoot(): XmlElement {
    while (!this.#hasRoot && this.#at < this.#bytes.length) this.#parseNext();
    if (!this.#hasRoot) throw new XmlFault(msg`there is no element`, this.#at);
    return new FlatElement(this.#tape, 0);
  }

  /**
   * Parses to the end. Yields each outermost element with one of the names when it ends, and drops
   * it afterwards.
   */
  *parseParts(names: ReadonlySet<string>): Generator<XmlPart> {
    const { length } = this.#bytes;
    const isNamed = ({ element }: Level): boolean => names.has(this.#tape.getNameAt(element).name);
    while (this.#at < length) {
      this.#parseNext();
      if (this.#ended === undefined) continue;
      const ended = this.#ended;
      this.#ended = undefined;
      if (!isNamed(ended) || this.#levels.some(isNamed)) continue;
      const [element, ...around] = [ended, ...this.#levels].map(
        (level) => new FlatElement(this.#tape, level.element),
      );
      if (element !== undefined) yield { element, around };
      this.#tape.truncate(ended.element, ended.decodedTexts);
      this.#nodes = ended.nodes;
    }
    this.#assertEnded();
  }

  #assertEnded(): void {
    const { length } = this.#bytes;
    const open = this.#levels.at(-1);
    if (open !== undefined) throw new XmlFault(msg`<${open.name.rawName}> is not closed`, length);
    if (!this.#hasRoot) throw new XmlFault(msg`there is no element`, length);
  }

  #parseNext(): void {
    if (this.#bytes[this.#at] === LESS) this.#parseMarkup();
    else this.#parseText();
  }

  #parseMarkup(): void {
    const code = this.#bytes[this.#at + 1];
    if (code === SLASH) {
      this.#parseEndTag();
      return;
    }
    this.#count(1);
    if (code === QUESTION) this.#at = findEndOfInstruction(this.#bytes, this.#at);
    else if (code === EXCLAMATION) this.#parseDeclaration();
    else this.#parseStartTag();
  }

  /**
   * Scans byte by byte: most texts are a word or two, for which a native search call costs more.
   */
  #parseText(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    const { length } = bytes;
    let at = start;
    let demands = 0;
    for (; at < length; at++) {
      const code = bytes[at] ?? 0;
      if (code === LESS) break;
      demands |= DECODING_NEEDS[code] ?? 0;
    }
    this.#at = at;
    if (this.#current === NONE) {
      const stray = bytes.toString('latin1', start, at).search(/[^ \t\r\n]/);
      if (stray !== -1)
        throw new XmlFault(msg`there is text outside the root element`, start + stray);
      return;
    }
    assertTextLimit(at - start, start);
    this.#tape.addText(
      this.#current,
      start,
      at,
      (demands & NON_ASCII) !== 0,
      decodeReferences(bytes, start, at, demands),
    );
  }

  #parseDeclaration(): void {
    const at = this.#at;
    const bytes = this.#bytes;
    const isBeginning = (markup: string): boolean =>
      bytes.toString('latin1', at, at + markup.length) === markup;
    if (isBeginning('<!--')) {
      const end = bytes.indexOf('--', at + 4);
      if (end === -1) throw new XmlFault(msg`a comment is not closed`, at);
      if (bytes[end + 2] !== GREATER) throw new XmlFault(msg`-- is not allowed in a comment`, end);
      assertAllowedCharacters(bytes.toString('latin1', at, end), at);
      this.#at = end + 3;
    } else if (isBeginning('<![CDATA[')) {
      const end = bytes.indexOf(']]>', at + 9);
      if (end === -1) throw new XmlFault(msg`a CDATA section is not closed`, at);
      if (this.#current === NONE)
        throw new XmlFault(msg`there is text outside the root element`, at);
      assertTextLimit(end - at, at);
      const section = decodeSection(bytes.toString('latin1', at + 9, end), at + 9);
      this.#tape.addText(this.#current, at + 9, end, false, section);
      this.#at = end + 3;
    } else if (isBeginning('<!DOCTYPE')) {
      throw new XmlFault(msg`a DTD is not allowed`, at);
    } else {
      throw new XmlFault(msg`<! starts no known markup`, at);
    }
  }

  #parseEndTag(): void {
    const start = this.#at;
    const level = this.#levels.pop();
    if (level === undefined) throw new XmlFault(msg`an end tag without a start tag`, start);
    const { name } = level;
    this.#at = start + 2 + name.lengthBytes;
    if (this.#bytes[this.#at] !== GREATER) this.#skipSpace();
    if (this.#bytes[this.#at] !== GREATER || !this.#names.isRepeatedAt(name, start + 2)) {
      const [endName = ''] = this.#bytes
        .toString('utf8', start + 2, start + 82)
        .slice(0, 40)
        .split('>', 1);
      throw new XmlFault(msg`<${name.rawName}> must be closed before </${endName}>`, start);
    }
    this.#at++;
    this.#endElement(level);
    this.#current = this.#levels.at(-1)?.element ?? NONE;
  }

  #parseStartTag(): void {
    const start = this.#at;
    this.#at++;
    const name = this.#parseName();
    const tape = this.#tape;
    const element = tape.beginElement(start);
    const nodes = this.#nodes - 1;
    const { decodedTexts } = tape;
    this.#attributeCount = 0;
    const declared =
      this.#bytes[this.#at] === GREATER ? NOTHING_DECLARED : this.#parseAttributes(start, element);
    const level = { element, name, declared, nodes, decodedTexts };
    const empty = this.#bytes[this.#at] === SLASH;
    if (empty) this.#at++;
    if (this.#bytes[this.#at] !== GREATER)
      throw new XmlFault(msg`the tag <${name.rawName}> is not well-formed`, this.#at);
    this.#at++;
    tape.setElementName(element, this.#resolve(name, start + 1, false));
    if (this.#attributeCount > 0) this.#resolveAttributes(start, element, name);
    if (this.#current === NONE && this.#hasRoot)
      throw new XmlFault(msg`there is a second root element`, start);
    this.#hasRoot = true;
    this.#count(this.#attributeCount + declared.length);
    if (empty) {
      this.#endElement(level);
      return;
    }
    if (this.#levels.push(level) > MAX_DEPTH)
      throw new XmlFault(msg`elements are nested deeper than ${MAX_DEPTH}`, start);
    this.#current = element;
  }

  #count(nodes: number): void {
    this.#nodes += nodes;
    const most = this.#maxNodes;
    if (this.#nodes > most)
      throw new XmlFault(
        msg`there are more than ${most} elements, attributes and other markup`,
        this.#at,
      );
  }

  #endElement(level: Level): void {
    const { element, declared } = level;
    this.#ended = level;
    this.#tape.endElement(element, this.#at);
    if (declared !== NOTHING_DECLARED) this.#scope.leave(declared);
  }

  /** Resolves prefixes at the end of the tag, when its declarations are known. */
  #resolveAttributes(start: number, element: number, name: RawName): void {
    for (let position = 0; position < this.#attributeCount; position++) {
      const raw = this.#attributeNames[position] ?? name;
      const offset = this.#attributeOffsets[position] ?? start;
      const attribute = this.#resolve(raw, offset, true);
      if (attribute.lastTag === start)
        throw new XmlFault(msg`the attribute ${raw.rawName} is given twice`, offset);
      attribute.lastTag = start;
      this.#tape.setAttributeName(element, position, attribute);
    }
  }

  /** Uses the cached resolution of a name where its declaration has not changed. */
  #resolve(name: RawName, offset: number, isAttribute: boolean): ResolvedName {
    const { prefix, local } = getNameParts(name, offset);
    const namespace = isAttribute && prefix === '' ? '' : this.#scope.getNamespace(prefix, offset);
    if (name.resolved?.namespace !== namespace)
      name.resolved = this.#tape.resolve(namespace, local, offset);
    return name.resolved;
  }

  #parseName(): RawName {
    const name = this.#names.read(this.#at);
    this.#at += name.lengthBytes;
    return name;
  }

  #skipSpace(): boolean {
    const start = this.#at;
    while (isSpace(this.#bytes[this.#at])) this.#at++;
    return this.#at > start;
  }

  /** @returns the prefixes that are declared in the tag */
  #parseAttributes(start: number, element: number): readonly string[] {
    let declared: string[] | undefined;
    for (;;) {
      if (this.#at - start > MAX_TAG_CHARACTERS)
        throw new XmlFault(msg`a tag is longer than ${MAX_TAG_CHARACTERS} characters`, start);
      const spaced = this.#skipSpace();
      const code = this.#bytes[this.#at];
      if (code === GREATER || code === SLASH || code === undefined)
        return declared ?? NOTHING_DECLARED;
      if (!spaced) throw new XmlFault(msg`white space is missing between attributes`, this.#at);
      const offset = this.#at;
      const name = this.#parseName();
      const decoded = this.#parseValue(name.rawName);
      const prefix = name.declares;
      if (prefix === undefined) {
        this.#tape.addValue(element, this.#valueStart, this.#valueEnd, this.#valueIsWide, decoded);
        this.#attributeNames[this.#attributeCount] = name;
        this.#attributeOffsets[this.#attributeCount++] = offset;
        continue;
      }
      if (name.parts === undefined)
        throw new XmlFault(msg`a namespace declaration is not well-formed`, offset);
      const uri = decoded ?? this.#bytes.toString('utf8', this.#valueStart, this.#valueEnd);
      this.#scope.declare(prefix, uri, this.#levels.length, offset);
      declared ??= [];
      declared.push(prefix);
    }
  }

  /**
   * Records the position of the value.
   * @returns the value where it differs from its source
   */
  #parseValue(rawName: string): string | undefined {
    const bytes = this.#bytes;
    this.#skipSpace();
    if (bytes[this.#at] !== EQUALS)
      throw new XmlFault(msg`the attribute ${rawName} has no value`, this.#at);
    this.#at++;
    this.#skipSpace();
    const quote = bytes[this.#at];
    if (quote !== DOUBLE_QUOTE && quote !== APOSTROPHE)
      throw new XmlFault(msg`the value of ${rawName} is not quoted`, this.#at);
    const start = this.#at + 1;
    let end = start;
    let demands = 0;
    for (let code = bytes[end] ?? 0; code !== quote; code = bytes[++end] ?? 0) {
      if (end >= bytes.length) throw new XmlFault(msg`the value of ${rawName} has no end`, start);
      demands |= DECODING_NEEDS[code] ?? 0;
    }
    this.#at = end + 1;
    this.#valueStart = start;
    this.#valueEnd = end;
    this.#valueIsWide = (demands & NON_ASCII) !== 0;
    return decodeReferences(bytes, start, end, demands, rawName);
  }
}

function isSpace(code: number | undefined): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB || code === CARRIAGE_RETURN;
}

const XML_DECLARATION =
  /^<\?xml\s+version\s*=\s*(["'])1\.\d+\1(\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\3)?(\s+standalone\s*=\s*(["'])(yes|no)\5)?\s*\?>$/;

/** Returns the position after the XML declaration, or 0 without one. */
function findEndOfDeclaration(bytes: Buffer): number {
  const source = bytes.toString('latin1', 0, bytes.indexOf('>') + 1);
  const [declaration] = /^<\?xml[ \t\r\n][^<>]*?\?>/.exec(source) ?? [];
  if (declaration === undefined) return 0;
  assertAllowedCharacters(declaration, 0);
  if (!XML_DECLARATION.test(declaration))
    throw new XmlFault(msg`the XML declaration is not well-formed`, 0);
  return declaration.length;
}

/** Returns the position after the processing instruction at `at`. */
function findEndOfInstruction(bytes: Buffer, at: number): number {
  const end = bytes.indexOf('?>', at + 2);
  if (end === -1) throw new XmlFault(msg`a processing instruction is not closed`, at);
  assertAllowedCharacters(bytes.toString('latin1', at, end), at);
  const target =
    /^[^\s?]*/.exec(bytes.toString('utf8', at + 2, Math.min(end, at + 360)))?.[0] ?? '';
  if (
    target.length > 80 ||
    splitQualifiedName(target) === undefined ||
    target.toLowerCase() === 'xml' ||
    target.includes(':')
  ) {
    throw new XmlFault(msg`a processing instruction may not be called "${target}"`, at);
  }
  return end + 2;
}
