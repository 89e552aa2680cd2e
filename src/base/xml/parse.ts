import { type Message, msg } from '../message.ts';
import {
  assertAllowedCharacters,
  decodeAttributeValue,
  decodeCdata,
  decodeText,
  decodeXml,
  findEndOfDeclaration,
  IS_ODD,
  isLocalName,
  makeForbiddenError,
  NameTable,
  type WrittenName,
  XmlSyntaxError,
} from './decode.ts';
import { XML_NAMESPACE, type XmlAttribute, type XmlDocument, type XmlElement } from './element.ts';

export { XmlSyntaxError };

/**
 * Parses XML 1.0 with namespaces, strictly: nothing is fetched, only the five predefined entities
 * and character references are resolved, and any violation is an error with its position.
 * @param maxNodes limit of elements, attributes and other markup together
 * @throws XmlSyntaxError for a document that is malformed, in an unknown encoding, has a DTD, or is
 * over a limit: `maxNodes`, 256 nested elements, 64 KiB of a tag, 4 MiB of a text
 */
export function parseXml(bytes: Buffer, maxNodes = Number.POSITIVE_INFINITY): XmlDocument {
  const utf8 = decodeXml(bytes);
  return { root: new Parser(utf8, maxNodes).parse(), bytes: utf8 };
}

/** A document of which one part at a time is parsed and held; of its root only the start tag. */
export type XmlWalk = XmlDocument & {
  /**
   * Yields the elements with these names that are not inside another of them, in document order.
   * Each iteration parses again; one that ends has checked the whole document.
   * @throws XmlSyntaxError during the iteration
   */
  readParts(names: ReadonlySet<string>): Iterable<XmlPart>;
};

/** An element of a document, and the start tags of its ancestors, outermost first. */
type XmlPart = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

/**
 * Begins to parse a document: its root now, its parts when they are read.
 * @param maxNodes limit of elements, attributes and other markup of a part, and of the document
 * around the parts
 * @throws XmlSyntaxError for an unknown encoding or invalid bytes, or a malformed beginning
 */
export function walkXml(bytes: Buffer, maxNodes: number): XmlWalk {
  const utf8 = decodeXml(bytes);
  return {
    root: new Parser(utf8, maxNodes).parseRoot(),
    bytes: utf8,
    readParts: (names) => new Parser(utf8, maxNodes).parseParts(names),
  };
}

const MAX_DEPTH = 256;
const MAX_TAG_BYTES = 64 * 1024;
/**
 * Limit of a text; the outline of a large area has a tenth. Reading and storing a text takes
 * several times its length.
 */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

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

/** An element whose end may not be parsed yet. */
type OpenElement = Pick<XmlElement, 'namespace' | 'name' | 'attributes' | 'start'> & {
  children: XmlElement[];
  text: string;
  end: number;
};

/** An element whose start tag was parsed. */
type Level = {
  readonly element: OpenElement;
  readonly name: WrittenName;
  /** Prefixes that the start tag declares. */
  readonly declared: readonly string[];
  /** Count before the element. */
  readonly nodes: number;
};

/** Prefixes that a tag declares, and its other attributes. */
type TagContent = Pick<Level, 'declared'> & Pick<XmlElement, 'attributes'>;

type WrittenAttribute = {
  readonly name: WrittenName;
  readonly offset: number;
  readonly value: string;
};

/** Scans byte by byte: for a text or name of a word or two, a native search costs more. */
class Parser {
  readonly #bytes: Buffer;
  #at: number;
  #root: OpenElement | undefined;
  /** The open elements, outermost first. */
  readonly #levels: Level[] = [];
  readonly #names: NameTable;
  readonly #maxNodes: number;
  #nodes = 0;

  /** @param maxNodes limit of elements, attributes and other markup that are held at a time */
  constructor(bytes: Buffer, maxNodes: number) {
    this.#bytes = bytes;
    this.#maxNodes = maxNodes;
    this.#at = findEndOfDeclaration(bytes);
    this.#names = new NameTable(bytes);
  }

  parse(): XmlElement {
    const { length } = this.#bytes;
    while (this.#at < length) this.#parseNext();
    return this.#getEndedRoot();
  }

  /** Parses the start tag of the root only. */
  parseRoot(): XmlElement {
    while (this.#root === undefined && this.#at < this.#bytes.length) this.#parseNext();
    return this.#getRoot();
  }

  /**
   * Parses to the end. Yields each outermost element with one of the names when it ends, and drops
   * it afterwards.
   */
  *parseParts(names: ReadonlySet<string>): Generator<XmlPart> {
    const { length } = this.#bytes;
    const isNamed = ({ element }: Level): boolean => names.has(element.name);
    while (this.#at < length) {
      const ended = this.#parseNext();
      if (ended === undefined || !isNamed(ended) || this.#levels.some(isNamed)) continue;
      yield { element: ended.element, around: this.#levels.map(({ element }) => element) };
      this.#getInnermost()?.children.pop();
      this.#nodes = ended.nodes;
    }
    this.#getEndedRoot();
  }

  #getRoot(): XmlElement {
    if (this.#root === undefined) throw this.#makeError(msg`there is no element`, this.#at);
    return this.#root;
  }

  #getEndedRoot(): XmlElement {
    const open = this.#levels.at(-1);
    if (open !== undefined) throw this.#makeOpenError(`<${open.name.text}>`);
    return this.#getRoot();
  }

  /** Returns the element that ends here. */
  #parseNext(): Level | undefined {
    if (this.#bytes[this.#at] !== LESS) this.#parseText();
    else if (this.#bytes[this.#at + 1] === SLASH) return this.#parseEndTag();
    else {
      this.#count(1);
      const code = this.#bytes[this.#at + 1];
      if (code === QUESTION) this.#parseInstruction();
      else if (code === EXCLAMATION) this.#parseDeclaration();
      else return this.#parseStartTag();
    }
    return undefined;
  }

  /** Returns the innermost open element. */
  #getInnermost(): OpenElement | undefined {
    return this.#levels.at(-1)?.element;
  }

  #parseText(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    const { length } = bytes;
    let at = start;
    let odd = 0;
    for (; at < length; at++) {
      const code = bytes[at] ?? 0;
      if (code === LESS) break;
      odd |= IS_ODD[code] ?? 0;
    }
    this.#at = at;
    const element = this.#getInnermost();
    if (element !== undefined) {
      this.#assertTextLimit(element, at - start, start);
      element.text += odd === 0 ? bytes.toString('utf8', start, at) : decodeText(bytes, start, at);
      return;
    }
    const stray = bytes.toString('latin1', start, at).search(/[^ \t\r\n]/);
    if (stray === -1) return;
    const excerpt = bytes.toString('utf8', start + stray, start + stray + 160);
    throw makeForbiddenError(excerpt, bytes, start + stray);
  }

  #parseInstruction(): void {
    const at = this.#at;
    this.#at = this.#findEnd('<?', '?>');
    const source = this.#bytes.toString('utf8', at + 2, Math.min(this.#at, at + 360));
    const [target = ''] = /^[^\s?]*/.exec(source) ?? [];
    if (target.length > 80 || !isLocalName(target) || target.toLowerCase() === 'xml')
      throw makeForbiddenError(`<?${target}`, this.#bytes, at);
  }

  /**
   * Returns the position after the markup that begins here.
   * @throws XmlSyntaxError where it has no end, or a character that XML forbids
   */
  #findEnd(opening: string, closing: string): number {
    const end = this.#bytes.indexOf(closing, this.#at + opening.length);
    if (end === -1) throw this.#makeOpenError(opening);
    assertAllowedCharacters(this.#bytes, this.#at, end);
    return end + closing.length;
  }

  #parseDeclaration(): void {
    const at = this.#at;
    const bytes = this.#bytes;
    const element = this.#getInnermost();
    const isBeginning = (markup: string): boolean =>
      bytes.toString('latin1', at, at + markup.length) === markup;
    if (isBeginning('<!--')) {
      const end = this.#findEnd('<!--', '--');
      if (bytes[end] !== GREATER) throw makeForbiddenError('--', bytes, end - 2);
      this.#at = end + 1;
    } else if (isBeginning('<![CDATA[') && element !== undefined) {
      const start = at + '<![CDATA['.length;
      this.#at = this.#findEnd('<![CDATA[', ']]>');
      const end = this.#at - ']]>'.length;
      this.#assertTextLimit(element, end - start, at);
      element.text += decodeCdata(bytes, start, end);
    } else if (isBeginning('<!DOCTYPE')) {
      throw this.#makeError(msg`a DTD is not allowed`, at);
    } else {
      throw makeForbiddenError('<!', bytes, at);
    }
  }

  #parseEndTag(): Level {
    const start = this.#at;
    const level = this.#levels.pop();
    if (level === undefined) throw makeForbiddenError('</', this.#bytes, start);
    const { name } = level;
    this.#at = start + 2 + name.lengthBytes;
    if (this.#bytes[this.#at] !== GREATER) this.#skipSpace();
    if (this.#bytes[this.#at] !== GREATER || !this.#names.isRepeatedAt(name, start + 2)) {
      const source = this.#bytes.toString('utf8', start + 2, start + 82);
      const [endName = ''] = source.slice(0, 40).split('>', 1);
      throw this.#makeError(msg`<${name.text}> must be closed before </${endName}>`, start);
    }
    this.#at++;
    return this.#endElement(level);
  }

  /** Returns the element if it is empty, and so ends. */
  #parseStartTag(): Level | undefined {
    const start = this.#at;
    const nodes = this.#nodes - 1;
    this.#at++;
    const name = this.#parseName();
    const { declared, attributes } = this.#parseAttributes(start, name);
    const isEmpty = this.#bytes[this.#at] === SLASH;
    if (isEmpty) this.#at++;
    if (this.#bytes[this.#at] !== GREATER) throw this.#makeTagError(name, this.#at);
    this.#at++;
    this.#count(attributes.length + declared.length);
    const namespace = this.#names.getNamespace(name, start + 1);
    const element: OpenElement = {
      namespace,
      name: name.local,
      attributes,
      children: [],
      text: '',
      start,
      end: 0,
    };
    const parent = this.#getInnermost();
    if (parent !== undefined) parent.children.push(element);
    else if (this.#root === undefined) this.#root = element;
    else throw makeForbiddenError(`<${name.text}>`, this.#bytes, start);
    const level = { element, name, declared, nodes };
    if (isEmpty) return this.#endElement(level);
    if (this.#levels.push(level) > MAX_DEPTH)
      throw this.#makeError(msg`elements are nested deeper than ${MAX_DEPTH}`, start);
    return undefined;
  }

  #count(nodes: number): void {
    this.#nodes += nodes;
    const most = this.#maxNodes;
    if (this.#nodes > most)
      throw this.#makeError(
        msg`there are more than ${most} elements, attributes and other markup`,
        this.#at,
      );
  }

  #endElement(level: Level): Level {
    level.element.end = this.#at;
    this.#names.endScope(level.declared);
    return level;
  }

  #parseName(): WrittenName {
    const name = this.#names.read(this.#at);
    this.#at += name.lengthBytes;
    return name;
  }

  #skipSpace(): boolean {
    const start = this.#at;
    while (isSpace(this.#bytes[this.#at])) this.#at++;
    return this.#at > start;
  }

  #parseAttributes(start: number, tag: WrittenName): TagContent {
    const declared: string[] = [];
    const written: WrittenAttribute[] = [];
    for (;;) {
      if (this.#at - start > MAX_TAG_BYTES)
        throw this.#makeError(msg`a tag is longer than ${MAX_TAG_BYTES} characters`, start);
      const isSpaced = this.#skipSpace();
      const code = this.#bytes[this.#at];
      if (code === GREATER || code === SLASH || code === undefined)
        return { declared, attributes: this.#resolveAttributes(written) };
      const offset = this.#at;
      if (!isSpaced) throw this.#makeTagError(tag, offset);
      const name = this.#parseName();
      const value = this.#parseValue(tag);
      const { declares } = name;
      if (declares === undefined) written.push({ name, offset, value });
      else {
        this.#assertDeclarable(declares, value, offset);
        if (declared.includes(declares)) throw this.#makeRepeatedError(name, offset);
        this.#names.declare(declares, value);
        declared.push(declares);
      }
    }
  }

  #parseValue(tag: WrittenName): string {
    const bytes = this.#bytes;
    this.#skipSpace();
    if (bytes[this.#at] !== EQUALS) throw this.#makeTagError(tag, this.#at);
    this.#at++;
    this.#skipSpace();
    const quote = bytes[this.#at];
    if (quote !== DOUBLE_QUOTE && quote !== APOSTROPHE) throw this.#makeTagError(tag, this.#at);
    const start = this.#at + 1;
    let end = start;
    let odd = 0;
    for (let code = bytes[end] ?? 0; code !== quote; code = bytes[++end] ?? 0) {
      if (end >= bytes.length) throw this.#makeTagError(tag, start);
      odd |= code < SPACE || code === LESS ? 1 : (IS_ODD[code] ?? 0);
    }
    this.#at = end + 1;
    return odd === 0 ? bytes.toString('utf8', start, end) : decodeAttributeValue(bytes, start, end);
  }

  /** Resolves prefixes at the end of the tag, when its declarations are known. */
  #resolveAttributes(written: readonly WrittenAttribute[]): XmlAttribute[] {
    const attributes: XmlAttribute[] = [];
    for (const { name: writtenName, offset, value } of written) {
      const { prefix, local: name } = writtenName;
      // An attribute without a prefix is in no namespace.
      const namespace = prefix === '' ? '' : this.#names.getNamespace(writtenName, offset);
      for (const before of attributes)
        if (before.name === name && before.namespace === namespace)
          throw this.#makeRepeatedError(writtenName, offset);
      attributes.push({ namespace, name, value });
    }
    return attributes;
  }

  #assertTextLimit({ text }: OpenElement, moreBytes: number, byte: number): void {
    if (text.length + moreBytes > MAX_TEXT_BYTES)
      throw this.#makeError(msg`a text is longer than ${MAX_TEXT_BYTES} bytes`, byte);
  }

  /** Namespaces in XML 1.0, section 3: constraints on reserved prefixes and on empty namespaces. */
  #assertDeclarable(prefix: string, namespace: string, byte: number): void {
    const isReserved = prefix === 'xmlns' || (prefix === 'xml') !== (namespace === XML_NAMESPACE);
    if (isReserved || (prefix !== '' && namespace === ''))
      throw this.#makeError(
        msg`the namespace "${namespace}" of the prefix ${prefix} is not allowed`,
        byte,
      );
  }

  #makeRepeatedError({ text }: WrittenName, byte: number): XmlSyntaxError {
    return this.#makeError(msg`the attribute ${text} is given twice`, byte);
  }

  #makeTagError({ text }: WrittenName, byte: number): XmlSyntaxError {
    const tag = text.slice(0, 40);
    return this.#makeError(msg`the tag <${tag}> is not well-formed`, byte);
  }

  #makeOpenError(markup: string): XmlSyntaxError {
    return this.#makeError(msg`${markup} is not closed`, this.#at);
  }

  #makeError(message: Message, byte: number): XmlSyntaxError {
    return new XmlSyntaxError(message, this.#bytes, byte);
  }
}

function isSpace(code: number | undefined): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB || code === CARRIAGE_RETURN;
}
