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
  /** The element's own character data with white space, joined; without that of its children. */
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

/** Returns the first child with a local name, in the parent's namespace unless another is given. */
export function getChild(
  parent: XmlElement,
  name: string,
  namespace = parent.namespace,
): XmlElement | undefined {
  for (const child of parent.children)
    if (child.name === name && child.namespace === namespace) return child;
  return undefined;
}

/** Returns the children with a local name, in the parent's namespace unless another is given. */
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
 * Returns the trimmed text of the first child with a local name, in the parent's namespace;
 * undefined where the child is absent, or has no text but white space.
 */
export function getChildText(parent: XmlElement, name: string): string | undefined {
  const text = getChild(parent, name)?.text.trim();
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
 * Returns the source of an element as a part of the document's bytes, not a copy. Prefixes that its
 * ancestors declare are not declared in it.
 */
export function getSourceBytes({ bytes }: XmlDocument, { start, end }: XmlElement): Buffer {
  return bytes.subarray(start, end);
}

/** Returns the source of a range as it is in the document, with its markup and references. */
export function getSourceText({ bytes }: XmlDocument, { start, end }: ByteRange): string {
  return bytes.toString('utf8', start, end);
}

/** Returns the line, from 1, in which an element's start tag begins. */
export function getLine(document: XmlDocument, element: XmlElement): number {
  return getLineAt(document.bytes, element.start);
}

/** Returns the line, from 1, of the byte at an offset. */
export function getLineAt(bytes: Buffer, offset: number): number {
  return makeLineCounter(bytes)(offset);
}

/** Makes a function that returns the line of each of ascending offsets in one scan. */
export function makeLineCounter(bytes: Buffer): (offset: number) => number {
  let line = 1;
  let next = bytes.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = bytes.indexOf('\n', next + 1)) line++;
    return line;
  };
}

const MAX_QUOTED_CHARACTERS = 60;

/**
 * Describes the text between the children of an element, which no reader uses: up to 60 characters
 * of it, and what to do. Undefined where that is only white space, or there are no children.
 */
export function describeStrayText({ name, children, text }: XmlElement): Message | undefined {
  if (children.length === 0) return undefined;
  const stray = text.replace(/\s+/g, ' ').trim();
  if (stray === '') return undefined;
  const quoted =
    stray.length > MAX_QUOTED_CHARACTERS ? `${stray.slice(0, MAX_QUOTED_CHARACTERS)}…` : stray;
  return msg`The text "${quoted}" is between the elements of ${name}. Move it into one of them, or remove it.`;
}
