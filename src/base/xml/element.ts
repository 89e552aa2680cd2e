import { type Message, msg } from '../message.ts';

// Parsed XML document. Names are compared by namespace and local name; prefixes have no meaning.

/** An attribute with its decoded value; its prefix has no meaning. */
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

/** A document with its source: elements are ranges of its bytes. */
export type XmlDocument = {
  readonly root: XmlElement;
  /** The whole document as UTF-8. */
  readonly bytes: Buffer;
};

/** Namespace of the prefix `xml`, as in `xml:lang`. */
export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
/** Namespace of XML Schema. */
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

/**
 * Returns the first child of that name in the parent's namespace, or in the given one; undefined
 * without one.
 */
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

/** Yields every descendant with a local name and namespace, in document order. */
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

/**
 * Returns the source bytes of an element, without prefixes that ancestors declare; they are shared
 * with the document, not copied.
 */
export function getSourceBytes({ bytes }: XmlDocument, { start, end }: XmlElement): Buffer {
  return bytes.subarray(start, end);
}

/** Returns the text of a range as it is in the document, with its references. */
export function getSourceText({ bytes }: XmlDocument, { start, end }: ByteRange): string {
  return bytes.toString('utf8', start, end);
}

/** Returns the line of an element's start tag, from 1. */
export function getLine(document: XmlDocument, element: XmlElement): number {
  return getLineAt(document.bytes, element.start);
}

/** Returns the line of a byte, from 1. */
export function getLineAt(bytes: Buffer, offset: number): number {
  return makeLineCounter(bytes)(offset);
}

/** Makes a line counter for ascending offsets: each part of the document is scanned once. */
export function makeLineCounter(bytes: Buffer): (offset: number) => number {
  let line = 1;
  let next = bytes.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = bytes.indexOf('\n', next + 1)) line++;
    return line;
  };
}

/**
 * Returns the source of the namespace declarations in scope at the end of `path`, inner ones
 * winning, each behind a blank: text cut out of the innermost element needs them to be parsed
 * alone.
 * @param path elements of the document, each the parent of the next
 */
export function renderNamespaceDeclarations(
  document: XmlDocument,
  path: readonly XmlElement[],
): string {
  const declarations = new Map<string, string>();
  for (const element of path) {
    const tag = getStartTag(document, element);
    for (const [text, name = ''] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)) {
      if (/^xmlns(?::|$)/.test(name)) declarations.set(name, ` ${text.trim()}`);
    }
  }
  return [...declarations.values()].join('');
}

/** Returns the source of an element's start tag, from `<` to `>`, with its prefixes. */
export function getStartTag(document: XmlDocument, { start, end, children }: XmlElement): string {
  const beginning = getSourceText(document, { start, end: children[0]?.start ?? end });
  return /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(beginning)?.[0] ?? '';
}

/** Text between the children of an element, which no reader uses. */
type StrayText = { readonly element: XmlElement; readonly text: string; readonly start: number };

/** Comments, instructions, and the delimiters of CDATA sections. */
const MARKUP = /<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$)|<!\[CDATA\[|\]\]>/g;

const LONGEST = 60;

/**
 * Yields each piece of text directly in an element that has children, in document order, cut at 60
 * characters and with single blanks; comments are none. Nothing for an element without children.
 */
export function* walkStrayTexts(document: XmlDocument, element: XmlElement): Generator<StrayText> {
  if (element.children.length === 0 || !/[^ \t\r\n]/.test(element.text)) return;
  for (const { start: from, source } of listGaps(document, element)) {
    const between = source.replace(MARKUP, (markup) => markup.replace(/[^\n]/g, ' '));
    const text = between.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
    const start = from + Buffer.byteLength(between.slice(0, between.search(/[^ \t\r\n]/)));
    if (text !== '')
      yield { element, text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, start };
  }
}

/** Yields the source before, between and behind the children of an element. */
function* listGaps(document: XmlDocument, element: XmlElement) {
  let start = element.start + Buffer.byteLength(getStartTag(document, element));
  for (const child of [...element.children, undefined]) {
    const end = child?.start ?? document.bytes.lastIndexOf('</', element.end - 1);
    yield { start, source: getSourceText(document, { start, end }) };
    start = child?.end ?? end;
  }
}

/** Makes the message about a text that no reader uses, with what to do. */
export function makeStrayTextMessage({ element: { name }, text }: StrayText): Message {
  return msg`The text "${text}" is between the elements of ${name}. Move it into one of them, or remove it.`;
}

/** An element to be written. Names include their prefixes. */
export type XmlNode = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Text or elements; mixed content is not supported. */
  readonly content?: string | readonly XmlNode[];
};

/**
 * Negation of XML 1.0 (fifth edition), production 2; of the line breaks only a line feed survives a
 * parser unchanged.
 */
const ILLEGAL_CHARACTER = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** A faster check than by code points, which most texts pass. */
const PLAINLY_LEGAL = /^[\t\n\u0020-\uD7FF]*$/;

/**
 * Returns the first character that XML cannot hold: a control character, U+FFFE, U+FFFF or a lone
 * surrogate; also a carriage return, which a parser would change. Undefined without one.
 */
export function findCharacterIllegalInXml(text: string): string | undefined {
  return PLAINLY_LEGAL.test(text) ? undefined : ILLEGAL_CHARACTER.exec(text)?.[0];
}

/** Replaces each character that {@link findCharacterIllegalInXml} finds by U+FFFD. */
export function replaceIllegalCharacters(text: string): string {
  return PLAINLY_LEGAL.test(text)
    ? text
    : text.replace(new RegExp(ILLEGAL_CHARACTER, 'gu'), '\uFFFD');
}

/**
 * Writes a document as UTF-8 with one element per line, so that a line number in an error message
 * identifies an element.
 * @throws RangeError when a text or a value has a character that XML cannot hold
 */
export function buildXml(root: XmlNode): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root)}`, 'utf8');
}

/**
 * Writes an element and its content for {@link buildXml}, indented by `depth` steps.
 * @throws RangeError when a text or a value has a character that XML cannot hold
 */
export function renderElement({ name, attributes, content = '' }: XmlNode, depth = 0): string {
  const indent = INDENTS[depth] ?? '  '.repeat(depth);
  let tag = `${indent}<${name}`;
  if (attributes !== undefined) {
    for (const key of Object.keys(attributes))
      tag += ` ${key}="${escapeAttributeValue(name, attributes[key] ?? '')}"`;
  }
  if (content.length === 0) return `${tag}/>\n`;
  if (typeof content === 'string') return `${tag}>${renderContent(name, content)}</${name}>\n`;
  let text = `${tag}>\n`;
  for (const child of content) text += renderElement(child, depth + 1);
  return `${text}${indent}</${name}>\n`;
}

const INDENTS = ['', '  ', '    ', '      '];

/** Fast check for texts that need no escaping. */
const PLAIN_CONTENT = /^[\t\n\u0020-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;
const PLAIN_VALUE = /^[\u0020\u0021\u0023-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;

function renderContent(name: string, text: string): string {
  return PLAIN_CONTENT.test(text) ? text : escapeXml(name, text);
}

/**
 * Escapes an attribute value, including white space, which a parser would turn into blanks.
 * @param name of the element, for the error
 * @throws RangeError when the value has a character that XML cannot hold
 */
export function escapeAttributeValue(name: string, value: string): string {
  if (PLAIN_VALUE.test(value)) return value;
  return escapeXml(name, value)
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}

function escapeXml(name: string, text: string): string {
  const character = findCharacterIllegalInXml(text);
  if (character === undefined)
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  throw new RangeError(
    `<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}
