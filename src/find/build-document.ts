import { type Message, msg } from '../base/message.ts';
import { trimText } from '../text/characters.ts';
import { buildXml, replaceIllegalCharacters, type XmlNode } from '../xml/write-xml.ts';
import type { Reference } from './field.ts';
import { FIELDS, type Field, type FindElements } from './fields.ts';
import type { Find } from './find.ts';

/** The part of a profile that determines the form of a document (A-DECLARE-1). */
export type DocumentProfile = {
  /** `svc` in the contract; a deployed service may have another one. */
  readonly prefix: string;
  /** `{schema_base}`, without a final slash. */
  readonly schemaBase: string;
  /** `2.2` */
  readonly schemaVersion: string;
};

/** `{schema_base}/<x.y>/` */
export function getNamespace(profile: DocumentProfile): string {
  return `${profile.schemaBase}/${profile.schemaVersion}/`;
}

/** `{schema_base}/<x.y>/svc.xsd` */
export function getSchemaLocation(profile: DocumentProfile): string {
  return `${getNamespace(profile)}${profile.prefix}.xsd`;
}

type NamesProblem = {
  readonly isCertain: boolean;
  readonly message: Message;
  readonly todo: Message;
};

/**
 * Compares the names in documents with those in the service's own documents.
 * @param told prefix and namespace from an answer of the service; undefined is returned for a
 * namespace of no schema
 */
export function findNamesProblem(
  profile: DocumentProfile,
  { prefix, namespace }: { readonly prefix: string; readonly namespace: string },
): NamesProblem | undefined {
  const [, base, version] = /^(.+)\/(\d+\.\d+)\/$/.exec(namespace) ?? [];
  if (base === undefined || version === undefined) return undefined;
  if (prefix !== profile.prefix || base !== profile.schemaBase)
    return {
      isCertain: true,
      message: msg`The service refuses every import of this profile: its schema is ${prefix} at ${base}, but the profile has ${profile.prefix} at ${profile.schemaBase}.`,
      todo: msg`Set prefix = "${prefix}" and schema_base = "${base}" in the profile.`,
    };
  if (version === profile.schemaVersion) return undefined;
  return {
    isCertain: false,
    message: msg`The service may refuse every import of this profile: it uses schema version ${version}, but the profile has ${profile.schemaVersion}.`,
    todo: msg`Ask the operator which schema_version imports need.`,
  };
}

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** An import always requests a new identifier (A-FIELD-5). */
const NEW_IDENTIFIER = ':tba';

/**
 * Builds the import document of a find: the exact bytes that are validated, stored, digested and
 * sent. It omits absent elements, blank texts and the point of the system that was not chosen. A
 * character that XML cannot hold becomes U+FFFD, so that the find can be shown; the rules report
 * it, and such a document is never sent.
 */
export function buildDocument(find: Find, profile: DocumentProfile): Buffer {
  return buildXml(makeDocumentNode(find.elements, profile));
}

/**
 * Makes the tree of a document in the order of the schema; absent elements are omitted, and
 * `ident_cely` is `:tba`.
 */
export function makeDocumentNode(elements: FindElements, profile: DocumentProfile): XmlNode {
  const { prefix } = profile;
  const children: XmlNode[] = [{ name: `${prefix}:ident_cely`, content: NEW_IDENTIFIER }];
  const parents = new Map<string, XmlNode[]>();
  for (const field of FIELDS) {
    const node = write(field, elements, `${prefix}:${field.name}`);
    if (node === undefined) continue;
    let siblings = children;
    if (field.parent !== undefined) {
      siblings = parents.get(field.parent) ?? [];
      if (siblings.length === 0)
        children.push({ name: `${prefix}:${field.parent}`, content: siblings });
      parents.set(field.parent, siblings);
    }
    siblings.push(node);
  }
  return {
    name: `${prefix}:${prefix}`,
    attributes: makeRootAttributes(profile),
    content: [{ name: `${prefix}:samostatny_nalez`, content: children }],
  };
}

function makeRootAttributes(profile: DocumentProfile): NonNullable<XmlNode['attributes']> {
  return {
    [`xmlns:${profile.prefix}`]: getNamespace(profile),
    'xmlns:xsi': XSI,
    'xsi:schemaLocation': `${getNamespace(profile)} ${getSchemaLocation(profile)}`,
  };
}

/** Caches nodes: the finds of a table share the references of equal cells. */
const referenceNodes = new WeakMap<Reference, XmlNode>();

function write(field: Field, elements: FindElements, name: string): XmlNode | undefined {
  const value = elements[field.name];
  if (value === undefined) return undefined;
  if (typeof value === 'object') {
    const existing = referenceNodes.get(value);
    if (existing?.name === name) return existing;
    const id = normalizeXmlText(value.id);
    if (id === '') return undefined;
    const attributes: Record<string, string> =
      field.kind === 'term' ? { 'xml:lang': 'cs', id } : { id };
    const node = { name, attributes, content: normalizeXmlText(value.text) || id };
    referenceNodes.set(value, node);
    return node;
  }
  const text = normalizeXmlText(String(value));
  if (text === '') return undefined;
  if (field.kind !== 'point') return { name, content: text };
  return field.epsg === elements.geom_system
    ? { name, attributes: { EPSG: field.epsg ?? '' }, content: text }
    : undefined;
}

/**
 * Returns the text that a parser reads back from a document. The service trims every text, so this
 * does, too.
 */
function normalizeXmlText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return trimText(replaceIllegalCharacters(lines));
}
