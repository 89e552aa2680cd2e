import { msg } from '../base/message.ts';
import { decodeXml, EncodingError } from './decode.ts';
import { lineAt, type XmlAttribute, type XmlDocument, type XmlElement } from './element.ts';
import { Fault, XmlSyntaxError } from './fault.ts';
import { Names, partsOf, type RawName, splitName } from './name.ts';
import { decodedText, decodedValue } from './references.ts';
import { Scope } from './scope.ts';

export { XmlSyntaxError } from './fault.ts';

/**
 * Parses XML 1.0 with namespaces, strictly and without a DTD: nothing is fetched, nothing but the five entities and
 * character references is replaced, and whatever is not well-formed is an error with its place.
 * @param charset of the `Content-Type` header, where there is one
 * @param mostNodes elements and attributes together
 * @throws XmlSyntaxError
 */
export function parseXml(bytes: Buffer, charset?: string, mostNodes = Number.POSITIVE_INFINITY): XmlDocument {
  let decoded: ReturnType<typeof decodeXml>;
  try {
    decoded = decodeXml(bytes, charset);
  } catch (thrown) {
    if (!(thrown instanceof EncodingError)) throw thrown;
    throw new XmlSyntaxError(thrown.says, thrown.byte, lineAt(bytes.toString('latin1', 0, thrown.byte), thrown.byte));
  }
  try {
    return { root: new Parser(decoded.text, mostNodes).parse(), source: decoded.text };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    throw new XmlSyntaxError(thrown.says, decoded.byteOf(thrown.offset), lineAt(decoded.text, thrown.offset));
  }
}

const MAX_DEPTH = 256;
const MAX_TAG_CHARACTERS = 64 * 1024;
const FORBIDDEN_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [9, 10, 13, 32];
const [EXCLAMATION, DOUBLE_QUOTE, APOSTROPHE, SLASH] = [33, 34, 39, 47];
const [AMPERSAND, LESS, EQUALS, GREATER, QUESTION, CLOSING_BRACKET] = [38, 60, 61, 62, 63, 93];

type OpenElement = { -readonly [Key in keyof XmlElement]: XmlElement[Key] } & { readonly children: XmlElement[] };
type Level = { readonly element: OpenElement; readonly rawName: string; readonly declared: readonly string[] };
type RawAttribute = { readonly name: RawName; readonly value: string; readonly offset: number };
type TagContent = { readonly attributes: readonly RawAttribute[]; readonly declared: readonly string[] };

const NO_ATTRIBUTES: readonly XmlAttribute[] = [];
const NO_CONTENT: TagContent = { attributes: [], declared: [] };

class Parser {
  readonly #source: string;
  #at = 0;
  #root: OpenElement | undefined;
  readonly #levels: Level[] = [];
  readonly #names = new Names();
  #current: OpenElement | undefined;
  readonly #scope = new Scope();
  readonly #mostNodes: number;
  #nodes = 0;

  constructor(source: string, mostNodes: number) {
    this.#mostNodes = mostNodes;
    this.#source = source;
  }

  parse(): XmlElement {
    const source = this.#source;
    const forbidden = source.search(FORBIDDEN_CHARACTER);
    if (forbidden !== -1) throw new Fault(msg`a control character is not allowed in XML`, forbidden);
    this.#skipDeclaration();
    while (this.#at < source.length) {
      if (source.charCodeAt(this.#at) === LESS) this.#takeMarkup();
      else this.#takeText();
    }
    const open = this.#levels.at(-1);
    if (open !== undefined) throw new Fault(msg`<${open.rawName}> is not closed`, source.length);
    if (this.#root === undefined) throw new Fault(msg`there is no element`, source.length);
    return this.#root;
  }

  #takeMarkup(): void {
    const code = this.#source.charCodeAt(this.#at + 1);
    if (code === SLASH) this.#takeEndTag();
    else if (code === QUESTION) this.#skipInstruction();
    else if (code === EXCLAMATION) this.#takeDeclaration();
    else this.#takeStartTag();
  }

  #skipDeclaration(): void {
    const match = /^<\?xml[ \t\r\n][^<>]*?\?>/.exec(this.#source);
    if (match === null) return;
    const form =
      /^<\?xml\s+version\s*=\s*(["'])1\.\d+\1(\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\3)?(\s+standalone\s*=\s*(["'])(yes|no)\5)?\s*\?>$/;
    if (!form.test(match[0])) throw new Fault(msg`the XML declaration is not well-formed`, 0);
    this.#at = match[0].length;
  }

  /** Looked at character by character, since nearly every text is a word or two: each search of V8's own would cost more. */
  #takeText(): void {
    const [source, start] = [this.#source, this.#at];
    let at = start;
    let isPlain = true;
    for (let code = source.charCodeAt(at); at < source.length && code !== LESS; code = source.charCodeAt(++at)) {
      if (code === AMPERSAND || code === CARRIAGE_RETURN || code === CLOSING_BRACKET) isPlain = false;
    }
    this.#at = at;
    const raw = source.slice(start, at);
    if (this.#current === undefined) {
      const stray = raw.search(/[^ \t\r\n]/);
      if (stray !== -1) throw new Fault(msg`there is text outside the root element`, start + stray);
      return;
    }
    this.#current.text += isPlain ? raw : decodedText(raw, start);
  }

  #takeDeclaration(): void {
    const { at, source } = { at: this.#at, source: this.#source };
    if (source.startsWith('<!--', at)) {
      const end = source.indexOf('--', at + 4);
      if (end === -1) throw new Fault(msg`a comment is not closed`, at);
      if (source.charCodeAt(end + 2) !== GREATER) throw new Fault(msg`-- may not stand in a comment`, end);
      this.#at = end + 3;
    } else if (source.startsWith('<![CDATA[', at)) {
      const end = source.indexOf(']]>', at + 9);
      if (end === -1) throw new Fault(msg`a CDATA section is not closed`, at);
      if (this.#current === undefined) throw new Fault(msg`there is text outside the root element`, at);
      const raw = source.slice(at + 9, end);
      this.#current.text += raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
      this.#at = end + 3;
    } else if (source.startsWith('<!DOCTYPE', at)) {
      throw new Fault(msg`a DTD is refused`, at);
    } else {
      throw new Fault(msg`<! begins nothing that is known`, at);
    }
  }

  #skipInstruction(): void {
    const end = this.#source.indexOf('?>', this.#at + 2);
    if (end === -1) throw new Fault(msg`a processing instruction is not closed`, this.#at);
    const target = /^[^\s?]*/.exec(this.#source.slice(this.#at + 2, Math.min(end, this.#at + 90)))?.[0] ?? '';
    if (target.length > 80 || splitName(target) === undefined || target.toLowerCase() === 'xml' || target.includes(':')) {
      throw new Fault(msg`a processing instruction may not be called "${target}"`, this.#at);
    }
    this.#at = end + 2;
  }

  #takeEndTag(): void {
    const [source, start] = [this.#source, this.#at];
    const level = this.#levels.pop();
    if (level === undefined) throw new Fault(msg`an end tag without a start tag`, start);
    this.#at += 2 + level.rawName.length;
    this.#skipSpace();
    if (!source.startsWith(level.rawName, start + 2) || source.charCodeAt(this.#at) !== GREATER) {
      const found = source.slice(start + 2, start + 42).replace(/>[\s\S]*/, '');
      throw new Fault(msg`<${level.rawName}> must be closed before </${found}>`, start);
    }
    this.#at++;
    level.element.end = this.#at;
    this.#scope.leave(level.declared);
    this.#current = this.#levels.at(-1)?.element;
  }

  #takeStartTag(): void {
    const start = this.#at;
    this.#at++;
    const name = this.#readName();
    const { rawName } = name;
    const { attributes, declared } = this.#readAttributes(start);
    const empty = this.#source.charCodeAt(this.#at) === SLASH;
    if (empty) this.#at++;
    if (this.#source.charCodeAt(this.#at) !== GREATER) throw new Fault(msg`the tag <${rawName}> is not well-formed`, this.#at);
    this.#at++;
    const { prefix, local } = partsOf(name, start + 1);
    const element: OpenElement = {
      namespace: this.#scope.resolve(prefix, start + 1),
      name: local,
      attributes: attributes.length === 0 ? NO_ATTRIBUTES : this.#resolveAttributes(attributes),
      children: [],
      text: '',
      start,
      end: this.#at,
    };
    this.#place(element);
    this.#nodes += 1 + attributes.length;
    const most = this.#mostNodes;
    if (this.#nodes > most) throw new Fault(msg`there are more than ${most} elements and attributes`, start);
    if (empty) {
      this.#scope.leave(declared);
      return;
    }
    if (this.#levels.length >= MAX_DEPTH) throw new Fault(msg`elements are nested deeper than ${MAX_DEPTH}`, start);
    this.#levels.push({ element, rawName, declared });
    this.#current = element;
  }

  #place(element: OpenElement): void {
    if (this.#current !== undefined) this.#current.children.push(element);
    else if (this.#root === undefined) this.#root = element;
    else throw new Fault(msg`there is a second root element`, element.start);
  }

  #readName(): RawName {
    const name = this.#names.read(this.#source, this.#at);
    this.#at += name.rawName.length;
    return name;
  }

  #skipSpace(): boolean {
    const start = this.#at;
    while (isSpace(this.#source.charCodeAt(this.#at))) this.#at++;
    return this.#at > start;
  }

  /** Namespace declarations go into the scope; the others are returned. */
  #readAttributes(start: number): TagContent {
    const source = this.#source;
    let attributes: RawAttribute[] | undefined;
    let declared: string[] | undefined;
    for (;;) {
      if (this.#at - start > MAX_TAG_CHARACTERS)
        throw new Fault(msg`a tag is longer than ${MAX_TAG_CHARACTERS} characters`, start);
      const spaced = this.#skipSpace();
      const code = source.charCodeAt(this.#at);
      if (code === GREATER || code === SLASH || Number.isNaN(code)) {
        if (attributes === undefined && declared === undefined) return NO_CONTENT;
        return { attributes: attributes ?? NO_CONTENT.attributes, declared: declared ?? NO_CONTENT.declared };
      }
      if (!spaced) throw new Fault(msg`white space is missing between attributes`, this.#at);
      const offset = this.#at;
      const name = this.#readName();
      const { rawName } = name;
      const value = this.#readValue(rawName);
      if (rawName !== 'xmlns' && !rawName.startsWith('xmlns:')) {
        attributes ??= [];
        attributes.push({ name, value, offset });
        continue;
      }
      const prefix = rawName.slice('xmlns:'.length);
      this.#scope.declare(prefix, value, this.#levels.length, offset);
      declared ??= [];
      declared.push(prefix);
    }
  }

  #readValue(rawName: string): string {
    const source = this.#source;
    this.#skipSpace();
    if (source.charCodeAt(this.#at) !== EQUALS) throw new Fault(msg`the attribute ${rawName} has no value`, this.#at);
    this.#at++;
    this.#skipSpace();
    const quote = source.charCodeAt(this.#at);
    if (quote !== DOUBLE_QUOTE && quote !== APOSTROPHE) throw new Fault(msg`the value of ${rawName} is not quoted`, this.#at);
    const start = this.#at + 1;
    let end = start;
    let isPlain = true;
    for (let code = source.charCodeAt(end); code !== quote; code = source.charCodeAt(++end)) {
      if (end >= source.length) throw new Fault(msg`the value of ${rawName} has no end`, start);
      if (code < SPACE || code === AMPERSAND || code === LESS) isPlain = false;
    }
    this.#at = end + 1;
    const raw = source.slice(start, end);
    return isPlain ? raw : decodedValue(raw, start, rawName);
  }

  #resolveAttributes(raw: readonly RawAttribute[]): readonly XmlAttribute[] {
    const attributes = raw.map(({ name, value, offset }) => {
      const { prefix, local } = partsOf(name, offset);
      return { namespace: prefix === '' ? '' : this.#scope.resolve(prefix, offset), name: local, value };
    });
    if (attributes.length > 1) refuseTwice(raw, attributes);
    return attributes;
  }
}

function refuseTwice(raw: readonly RawAttribute[], attributes: readonly XmlAttribute[]): void {
  if (new Set(attributes.map(({ name }) => name)).size === attributes.length) return;
  const seen = new Set<string>();
  for (const [index, { namespace, name }] of attributes.entries()) {
    if (seen.size < seen.add(`${namespace} ${name}`).size) continue;
    const rawName = raw[index]?.name.rawName ?? name;
    throw new Fault(msg`the attribute ${rawName} is given twice`, raw[index]?.offset ?? 0);
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB || code === CARRIAGE_RETURN;
}
