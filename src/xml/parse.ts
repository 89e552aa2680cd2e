import { t } from '../base/language.ts';
import { decodeXml, EncodingError } from './decode.ts';
import { lineAt, type XmlAttribute, type XmlDocument, type XmlElement } from './element.ts';
import { Fault, XmlSyntaxError } from './fault.ts';
import { type QualifiedName, splitName } from './name.ts';
import { decodeReferences } from './references.ts';
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
    throw new XmlSyntaxError(thrown.message, thrown.byte, lineAt(bytes.toString('latin1', 0, thrown.byte), thrown.byte));
  }
  try {
    return { root: new Parser(decoded.text, mostNodes).parse(), source: decoded.text };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    throw new XmlSyntaxError(thrown.message, decoded.byteOf(thrown.offset), lineAt(decoded.text, thrown.offset));
  }
}

const MAX_DEPTH = 256;
const MAX_TAG_CHARACTERS = 64 * 1024;
const FORBIDDEN_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [9, 10, 13, 32];
const [EXCLAMATION, DOUBLE_QUOTE, APOSTROPHE, SLASH] = [33, 34, 39, 47];
const [LESS, EQUALS, GREATER, QUESTION] = [60, 61, 62, 63];

type OpenElement = { -readonly [Key in keyof XmlElement]: XmlElement[Key] } & { readonly children: XmlElement[] };
type Level = { readonly element: OpenElement; readonly rawName: string; readonly declared: readonly string[] };
type RawAttribute = { readonly rawName: string; readonly value: string; readonly offset: number };

const NO_ATTRIBUTES: readonly XmlAttribute[] = [];
const NOTHING_DECLARED: readonly string[] = [];

class Parser {
  readonly #source: string;
  readonly #hasCarriageReturn: boolean;
  readonly #hasSectionEnd: boolean;
  #at = 0;
  #root: OpenElement | undefined;
  readonly #levels: Level[] = [];
  /** The same few names come again and again. */
  readonly #names = new Map<string, QualifiedName>();
  #current: OpenElement | undefined;
  readonly #scope = new Scope();
  readonly #mostNodes: number;
  #nodes = 0;

  constructor(source: string, mostNodes: number) {
    this.#mostNodes = mostNodes;
    this.#source = source;
    this.#hasCarriageReturn = source.includes('\r');
    this.#hasSectionEnd = source.includes(']]>');
  }

  parse(): XmlElement {
    const source = this.#source;
    const forbidden = source.search(FORBIDDEN_CHARACTER);
    if (forbidden !== -1) throw new Fault(t`a control character is not allowed in XML`, forbidden);
    this.#skipDeclaration();
    while (this.#at < source.length) {
      const next = source.indexOf('<', this.#at);
      const end = next === -1 ? source.length : next;
      if (end > this.#at) this.#takeText(this.#at, end);
      this.#at = end;
      if (next !== -1) this.#takeMarkup();
    }
    const open = this.#levels.at(-1);
    if (open !== undefined) throw new Fault(t`<${open.rawName}> is not closed`, source.length);
    if (this.#root === undefined) throw new Fault(t`there is no element`, source.length);
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
    if (!form.test(match[0])) throw new Fault(t`the XML declaration is not well-formed`, 0);
    this.#at = match[0].length;
  }

  #takeText(start: number, end: number): void {
    const raw = this.#source.slice(start, end);
    if (this.#current === undefined) {
      const stray = raw.search(/[^ \t\r\n]/);
      if (stray !== -1) throw new Fault(t`there is text outside the root element`, start + stray);
      return;
    }
    if (this.#hasSectionEnd && raw.includes(']]>')) throw new Fault(t`]]> may not stand in text`, start + raw.indexOf(']]>'));
    this.#current.text += this.#decode(raw, start);
  }

  #decode(raw: string, start: number): string {
    const text = this.#hasCarriageReturn && raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
    return text.includes('&') ? decodeReferences(text, start, raw) : text;
  }

  #takeDeclaration(): void {
    const { at, source } = { at: this.#at, source: this.#source };
    if (source.startsWith('<!--', at)) {
      const end = source.indexOf('--', at + 4);
      if (end === -1) throw new Fault(t`a comment is not closed`, at);
      if (source.charCodeAt(end + 2) !== GREATER) throw new Fault(t`-- may not stand in a comment`, end);
      this.#at = end + 3;
    } else if (source.startsWith('<![CDATA[', at)) {
      const end = source.indexOf(']]>', at + 9);
      if (end === -1) throw new Fault(t`a CDATA section is not closed`, at);
      if (this.#current === undefined) throw new Fault(t`there is text outside the root element`, at);
      const raw = source.slice(at + 9, end);
      this.#current.text += raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
      this.#at = end + 3;
    } else if (source.startsWith('<!DOCTYPE', at)) {
      throw new Fault(t`a DTD is refused`, at);
    } else {
      throw new Fault(t`<! begins nothing that is known`, at);
    }
  }

  #skipInstruction(): void {
    const end = this.#source.indexOf('?>', this.#at + 2);
    if (end === -1) throw new Fault(t`a processing instruction is not closed`, this.#at);
    const target = /^[^\s?]*/.exec(this.#source.slice(this.#at + 2, Math.min(end, this.#at + 90)))?.[0] ?? '';
    if (target.length > 80 || splitName(target) === undefined || target.toLowerCase() === 'xml' || target.includes(':')) {
      throw new Fault(t`a processing instruction may not be called "${target}"`, this.#at);
    }
    this.#at = end + 2;
  }

  #takeEndTag(): void {
    const [source, start] = [this.#source, this.#at];
    const level = this.#levels.pop();
    if (level === undefined) throw new Fault(t`an end tag without a start tag`, start);
    this.#at += 2 + level.rawName.length;
    this.#skipSpace();
    if (!source.startsWith(level.rawName, start + 2) || source.charCodeAt(this.#at) !== GREATER) {
      const found = source.slice(start + 2, start + 42).replace(/>[\s\S]*/, '');
      throw new Fault(t`<${level.rawName}> must be closed before </${found}>`, start);
    }
    this.#at++;
    level.element.end = this.#at;
    this.#scope.leave(level.declared);
    this.#current = this.#levels.at(-1)?.element;
  }

  #takeStartTag(): void {
    const start = this.#at;
    this.#at++;
    const rawName = this.#readName();
    const { attributes, declared } = this.#readAttributes(start);
    const empty = this.#source.charCodeAt(this.#at) === SLASH;
    if (empty) this.#at++;
    if (this.#source.charCodeAt(this.#at) !== GREATER) throw new Fault(t`the tag <${rawName}> is not well-formed`, this.#at);
    this.#at++;
    const { prefix, local } = this.#split(rawName, start + 1);
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
    if (this.#nodes > most) throw new Fault(t`there are more than ${most} elements and attributes`, start);
    if (empty) {
      this.#scope.leave(declared);
      return;
    }
    if (this.#levels.length >= MAX_DEPTH) throw new Fault(t`elements are nested deeper than ${MAX_DEPTH}`, start);
    this.#levels.push({ element, rawName, declared });
    this.#current = element;
  }

  #place(element: OpenElement): void {
    if (this.#current !== undefined) this.#current.children.push(element);
    else if (this.#root === undefined) this.#root = element;
    else throw new Fault(t`there is a second root element`, element.start);
  }

  /** Up to white space, `=`, `/`, `>` or `<`; the characters themselves are checked by {@link splitName}. */
  #readName(): string {
    const source = this.#source;
    const start = this.#at;
    let at = start;
    for (let code = source.charCodeAt(at); code > SPACE && !endsName(code); code = source.charCodeAt(at)) at++;
    if (at === start) throw new Fault(t`a name is missing`, start);
    this.#at = at;
    return source.slice(start, at);
  }

  #skipSpace(): boolean {
    const start = this.#at;
    while (isSpace(this.#source.charCodeAt(this.#at))) this.#at++;
    return this.#at > start;
  }

  /** Namespace declarations go into the scope; the others are returned. */
  #readAttributes(start: number): { readonly attributes: readonly RawAttribute[]; readonly declared: readonly string[] } {
    const source = this.#source;
    const attributes: RawAttribute[] = [];
    let declared: string[] | undefined;
    for (;;) {
      if (this.#at - start > MAX_TAG_CHARACTERS) throw new Fault(t`a tag is longer than ${MAX_TAG_CHARACTERS} characters`, start);
      const spaced = this.#skipSpace();
      const code = source.charCodeAt(this.#at);
      if (code === GREATER || code === SLASH || Number.isNaN(code)) return { attributes, declared: declared ?? NOTHING_DECLARED };
      if (!spaced) throw new Fault(t`white space is missing between attributes`, this.#at);
      const offset = this.#at;
      const rawName = this.#readName();
      const value = this.#readValue(rawName);
      if (rawName !== 'xmlns' && !rawName.startsWith('xmlns:')) {
        attributes.push({ rawName, value, offset });
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
    if (source.charCodeAt(this.#at) !== EQUALS) throw new Fault(t`the attribute ${rawName} has no value`, this.#at);
    this.#at++;
    this.#skipSpace();
    const quote = source.charCodeAt(this.#at);
    if (quote !== DOUBLE_QUOTE && quote !== APOSTROPHE) throw new Fault(t`the value of ${rawName} is not quoted`, this.#at);
    const start = this.#at + 1;
    const end = source.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", start);
    if (end === -1) throw new Fault(t`the value of ${rawName} has no end`, start);
    const raw = source.slice(start, end);
    if (raw.includes('<')) throw new Fault(t`< may not stand in the value of ${rawName}`, start + raw.indexOf('<'));
    this.#at = end + 1;
    const spaced = /[\t\n\r]/.test(raw) ? raw.replace(/\r\n|[\t\n\r]/g, ' ') : raw;
    return spaced.includes('&') ? decodeReferences(spaced, start, raw) : spaced;
  }

  #resolveAttributes(raw: readonly RawAttribute[]): readonly XmlAttribute[] {
    const seen = new Set<string>();
    return raw.map(({ rawName, value, offset }) => {
      const { prefix, local } = this.#split(rawName, offset);
      const namespace = prefix === '' ? '' : this.#scope.resolve(prefix, offset);
      if (raw.length > 1 && seen.size === seen.add(`${namespace} ${local}`).size) {
        throw new Fault(t`the attribute ${rawName} is given twice`, offset);
      }
      return { namespace, name: local, value };
    });
  }

  #split(rawName: string, offset: number): QualifiedName {
    const known = this.#names.get(rawName);
    if (known !== undefined) return known;
    const name = splitName(rawName);
    const start = rawName.slice(0, 40);
    if (name === undefined) throw new Fault(t`"${start}" is not a name`, offset);
    this.#names.set(rawName, name);
    return name;
  }
}

function endsName(code: number): boolean {
  return code === EQUALS || code === SLASH || code === GREATER || code === LESS;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB || code === CARRIAGE_RETURN;
}
