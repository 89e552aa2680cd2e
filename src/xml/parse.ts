import { msg } from '../base/message.ts';
import { decodeXml, EncodingError } from './decode.ts';
import { lineAt, type XmlDocument, type XmlElement } from './element.ts';
import { Fault, XmlSyntaxError } from './fault.ts';
import { Names, partsOf, type RawName, splitName } from './name.ts';
import { decodedText, decodedValue } from './references.ts';
import { Scope } from './scope.ts';
import { type ResolvedName, Tape, TapeElement } from './tape.ts';

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

type Level = { readonly element: number; readonly rawName: string; readonly declared: readonly string[] };

const NONE = -1;
const NOTHING_DECLARED: readonly string[] = [];

class Parser {
  readonly #source: string;
  #at = 0;
  readonly #tape: Tape;
  /** The element that is open; {@link NONE} outside of the root. */
  #current = NONE;
  #hasRoot = false;
  readonly #levels: Level[] = [];
  readonly #names = new Names();
  readonly #scope = new Scope();
  /** Of the tag that is read; the lists are longer where another had more. */
  #attributeCount = 0;
  readonly #attributeNames: RawName[] = [];
  readonly #attributeOffsets: number[] = [];
  readonly #mostNodes: number;
  #nodes = 0;

  constructor(source: string, mostNodes: number) {
    this.#mostNodes = mostNodes;
    this.#source = source;
    this.#tape = new Tape(source);
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
    if (!this.#hasRoot) throw new Fault(msg`there is no element`, source.length);
    return new TapeElement(this.#tape, 0);
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
    if (this.#current === NONE) {
      const stray = source.slice(start, at).search(/[^ \t\r\n]/);
      if (stray !== -1) throw new Fault(msg`there is text outside the root element`, start + stray);
      return;
    }
    this.#tape.addText(this.#current, start, at, isPlain ? undefined : decodedText(source.slice(start, at), start));
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
      if (this.#current === NONE) throw new Fault(msg`there is text outside the root element`, at);
      const raw = source.slice(at + 9, end);
      this.#tape.addText(this.#current, at + 9, end, raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : undefined);
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
    this.#endElement(level);
    this.#current = this.#levels.at(-1)?.element ?? NONE;
  }

  #takeStartTag(): void {
    const start = this.#at;
    this.#at++;
    const name = this.#readName();
    const { rawName } = name;
    const element = this.#tape.beginElement(start);
    const declared = this.#readAttributes(start, element);
    const empty = this.#source.charCodeAt(this.#at) === SLASH;
    if (empty) this.#at++;
    if (this.#source.charCodeAt(this.#at) !== GREATER) throw new Fault(msg`the tag <${rawName}> is not well-formed`, this.#at);
    this.#at++;
    this.#resolveNames(start, element, name);
    if (this.#current === NONE && this.#hasRoot) throw new Fault(msg`there is a second root element`, start);
    this.#hasRoot = true;
    this.#nodes += 1 + this.#attributeCount;
    const most = this.#mostNodes;
    if (this.#nodes > most) throw new Fault(msg`there are more than ${most} elements and attributes`, start);
    const level = { element, rawName, declared };
    if (empty) {
      this.#endElement(level);
      return;
    }
    if (this.#levels.length >= MAX_DEPTH) throw new Fault(msg`elements are nested deeper than ${MAX_DEPTH}`, start);
    this.#levels.push(level);
    this.#current = element;
  }

  #endElement({ element, declared }: Level): void {
    this.#tape.endElement(element, this.#at);
    if (declared !== NOTHING_DECLARED) this.#scope.leave(declared);
  }

  /** What a prefix means is known at the end of the tag. */
  #resolveNames(start: number, element: number, name: RawName): void {
    const { prefix } = partsOf(name, start + 1);
    this.#tape.nameElement(element, resolved(this.#tape, name, this.#scope.resolve(prefix, start + 1)));
    for (let position = 0; position < this.#attributeCount; position++) {
      const [raw = name, offset = start] = [this.#attributeNames[position], this.#attributeOffsets[position]];
      const { prefix } = partsOf(raw, offset);
      const attribute = resolved(this.#tape, raw, prefix === '' ? '' : this.#scope.resolve(prefix, offset));
      if (attribute.lastTag === start) throw new Fault(msg`the attribute ${raw.rawName} is given twice`, offset);
      attribute.lastTag = start;
      this.#tape.nameAttribute(element, position, attribute);
    }
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

  /** @returns the prefixes that are declared in the tag */
  #readAttributes(start: number, element: number): readonly string[] {
    const source = this.#source;
    let declared: string[] | undefined;
    this.#attributeCount = 0;
    for (;;) {
      if (this.#at - start > MAX_TAG_CHARACTERS)
        throw new Fault(msg`a tag is longer than ${MAX_TAG_CHARACTERS} characters`, start);
      const spaced = this.#skipSpace();
      const code = source.charCodeAt(this.#at);
      if (code === GREATER || code === SLASH || Number.isNaN(code)) return declared ?? NOTHING_DECLARED;
      if (!spaced) throw new Fault(msg`white space is missing between attributes`, this.#at);
      const offset = this.#at;
      const name = this.#readName();
      const { rawName } = name;
      const { start: valueStart, end, decoded } = this.#readValue(rawName);
      if (rawName !== 'xmlns' && !rawName.startsWith('xmlns:')) {
        this.#tape.addValue(element, valueStart, end, decoded);
        this.#attributeNames[this.#attributeCount] = name;
        this.#attributeOffsets[this.#attributeCount++] = offset;
        continue;
      }
      const prefix = rawName.slice('xmlns:'.length);
      this.#scope.declare(prefix, decoded ?? source.slice(valueStart, end), this.#levels.length, offset);
      declared ??= [];
      declared.push(prefix);
    }
  }

  #readValue(rawName: string): { readonly start: number; readonly end: number; readonly decoded: string | undefined } {
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
    return { start, end, decoded: isPlain ? undefined : decodedValue(source.slice(start, end), start, rawName) };
  }
}

/** A name means the same again and again. */
function resolved(tape: Tape, name: RawName, namespace: string): ResolvedName {
  if (name.resolved?.namespace !== namespace) name.resolved = tape.resolve(namespace, name.parts?.local ?? '');
  return name.resolved;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB || code === CARRIAGE_RETURN;
}
