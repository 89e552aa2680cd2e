import type { XmlElement } from 'libxml2-wasm';
import { Broken, shortened } from './check.ts';

/**
 * An element as plain data. Its name is local, those of attributes are as written: `id`,
 * `xml:lang`.
 */
export type Element = {
  readonly name: string;
  readonly namespace: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Text of the element and all below it, trimmed. */
  readonly text: string;
  readonly children: readonly Element[];
};

type Library = typeof import('libxml2-wasm');
let library: Promise<Library> | undefined;

/** Loaded with the first answer. */
export function xmlLibrary(): Promise<Library> {
  library ??= import('libxml2-wasm');
  return library;
}

/** @throws Broken where the text is no well-formed XML */
export async function readXml(text: string): Promise<Element> {
  const xml = await xmlLibrary();
  const option = xml.ParseOption.XML_PARSE_NONET | xml.ParseOption.XML_PARSE_NO_XXE;
  try {
    const document = xml.XmlDocument.fromBuffer(Buffer.from(text.trimStart()), { option });
    try {
      return toElement(xml, document.root);
    } finally {
      document.dispose();
    }
  } catch (thrown) {
    if (thrown instanceof xml.XmlError)
      throw new Broken(shortened(`no well-formed XML (${thrown.message}): ${text}`));
    throw thrown;
  }
}

function toElement(xml: Library, element: XmlElement): Element {
  const children = element.find('*').filter((node) => node instanceof xml.XmlElement);
  return {
    name: element.name,
    namespace: element.namespaceUri,
    attributes: new Map(
      element.attrs.map(({ prefix, name, value }) => [
        prefix === '' ? name : `${prefix}:${name}`,
        value,
      ]),
    ),
    text: element.content.trim(),
    children: children.map((child) => toElement(xml, child)),
  };
}

/** The first element at a path of local names below this one. */
export function at(element: Element | undefined, ...path: readonly string[]): Element | undefined {
  return path.reduce(
    (element, name) => element?.children.find((child) => child.name === name),
    element,
  );
}

export function textAt(
  element: Element | undefined,
  ...path: readonly string[]
): string | undefined {
  return at(element, ...path)?.text;
}

export function idAt(element: Element | undefined, ...path: readonly string[]): string | undefined {
  return at(element, ...path)?.attributes.get('id');
}

/** All elements of a name, however deep. */
export function listAll(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...listAll(child, name),
  ]);
}

/**
 * The element as a document of its own. Text beside child elements is left out: no type of the
 * schema reads it.
 */
export function writeXml(element: Element, inherited = ''): string {
  const attributes = [...element.attributes]
    .filter(([name]) => !name.startsWith('xsi:'))
    .map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const namespace = element.namespace === inherited ? '' : ` xmlns="${escaped(element.namespace)}"`;
  const children = element.children.map((child) => writeXml(child, element.namespace)).join('');
  const content = element.children.length === 0 ? escaped(element.text) : children;
  return `<${element.name}${namespace}${attributes.join('')}>${content}</${element.name}>`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
