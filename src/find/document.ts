import { buildXml, replaceIllegalCharacters, type XmlNode } from '../xml/build.ts';
import { FIELDS, type Field } from './fields.ts';
import { type DocumentProfile, type Find, type FindElements, namespaceOf, schemaLocationOf } from './find.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** An import always asks the service for a new identifier (contract, element `ident_cely`). */
const NEW_IDENTIFIER = ':tba';

/**
 * The import document of a find, as the exact bytes that are validated, stored, digested and sent. Absent elements and blank
 * texts are left out, and so is the point of the coordinate system that was not chosen.
 *
 * A character that XML cannot hold is written as U+FFFD, so that a find with one can still be looked at; the rules report it, and
 * such a document is never sent.
 */
export function buildDocument(find: Find, profile: DocumentProfile): Buffer {
  return buildXml(documentNode(find, profile));
}

/** The root of the same document. */
export function documentNode(find: Pick<Find, 'elements'>, profile: DocumentProfile): XmlNode {
  const qualified = (name: string): string => `${profile.prefix}:${name}`;
  const children: XmlNode[] = [{ name: qualified('ident_cely'), content: NEW_IDENTIFIER }];
  const parents = new Map<string, XmlNode[]>();
  for (const field of FIELDS) {
    const written = write(field, find.elements);
    if (written === undefined) continue;
    let siblings = children;
    if (field.parent !== undefined) {
      siblings = parents.get(field.parent) ?? [];
      if (siblings.length === 0) children.push({ name: qualified(field.parent), content: siblings });
      parents.set(field.parent, siblings);
    }
    siblings.push({ ...written, name: qualified(field.name) });
  }
  return {
    name: qualified(profile.prefix),
    attributes: {
      [`xmlns:${profile.prefix}`]: namespaceOf(profile),
      'xmlns:xsi': XSI,
      'xsi:schemaLocation': `${namespaceOf(profile)} ${schemaLocationOf(profile)}`,
    },
    content: [{ name: qualified('samostatny_nalez'), content: children }],
  };
}

function write(field: Field, elements: FindElements): Omit<XmlNode, 'name'> | undefined {
  const value = elements[field.name];
  if (value === undefined) return undefined;
  if (typeof value === 'object') {
    const id = xmlText(value.id);
    if (id === '') return undefined;
    const attributes = field.kind === 'term' ? { 'xml:lang': 'cs', id } : { id };
    return { attributes, content: xmlText(value.text) || id };
  }
  const text = xmlText(String(value));
  if (text === '') return undefined;
  if (field.kind !== 'point') return { content: text };
  return field.epsg === elements.geom_system ? { attributes: { EPSG: field.epsg ?? '' }, content: text } : undefined;
}

/** What a parser will read from the document again. The service trims every text, so that is done here already. */
function xmlText(text: string): string {
  return replaceIllegalCharacters(text.replace(/\r\n?/g, '\n')).trim();
}
