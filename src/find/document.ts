import { trimText } from '../text/characters.ts';
import { buildXml, replaceIllegalCharacters, type XmlNode } from '../xml/write-xml.ts';
import { FIELDS, type Field, type FindElements } from './fields.ts';
import { type DocumentProfile, type Find, namespaceOf, schemaLocationOf } from './find.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** An import always requests a new identifier (A-FIELD-5). */
const NEW_IDENTIFIER = ':tba';

/**
 * Builds the import document of a find: the exact bytes that are validated, stored, digested and sent. It omits absent elements,
 * blank texts and the point of the system that was not chosen. A character that XML cannot hold becomes U+FFFD, so that the find
 * can be shown; the rules report it, and such a document is never sent.
 */
export function buildDocument(find: Find, profile: DocumentProfile): Buffer {
  return buildXml(documentNode(find.elements, profile));
}

/** Builds the root of the import document. */
export function documentNode(elements: FindElements, profile: DocumentProfile): XmlNode {
  const { prefix } = profile;
  const children: XmlNode[] = [{ name: `${prefix}:ident_cely`, content: NEW_IDENTIFIER }];
  const parents = new Map<string, XmlNode[]>();
  for (const field of FIELDS) {
    const node = write(field, elements, `${prefix}:${field.name}`);
    if (node === undefined) continue;
    let siblings = children;
    if (field.parent !== undefined) {
      siblings = parents.get(field.parent) ?? [];
      if (siblings.length === 0) children.push({ name: `${prefix}:${field.parent}`, content: siblings });
      parents.set(field.parent, siblings);
    }
    siblings.push(node);
  }
  return {
    name: `${prefix}:${prefix}`,
    attributes: rootAttributes(profile),
    content: [{ name: `${prefix}:samostatny_nalez`, content: children }],
  };
}

function rootAttributes(profile: DocumentProfile): NonNullable<XmlNode['attributes']> {
  return {
    [`xmlns:${profile.prefix}`]: namespaceOf(profile),
    'xmlns:xsi': XSI,
    'xsi:schemaLocation': `${namespaceOf(profile)} ${schemaLocationOf(profile)}`,
  };
}

function write(field: Field, elements: FindElements, name: string): XmlNode | undefined {
  const value = elements[field.name];
  if (value === undefined) return undefined;
  if (typeof value === 'object') {
    const id = xmlText(value.id);
    if (id === '') return undefined;
    const attributes = field.kind === 'term' ? { 'xml:lang': 'cs', id } : { id };
    return { name, attributes, content: xmlText(value.text) || id };
  }
  const text = xmlText(String(value));
  if (text === '') return undefined;
  if (field.kind !== 'point') return { name, content: text };
  return field.epsg === elements.geom_system ? { name, attributes: { EPSG: field.epsg ?? '' }, content: text } : undefined;
}

/** Returns the text that a parser reads back from a document. The service trims every text, so this does, too. */
export function xmlText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return trimText(replaceIllegalCharacters(lines));
}
