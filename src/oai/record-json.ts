import { JsonBytes } from '../text/json-bytes.ts';
import type { XmlAttribute, XmlElement } from '../xml/element.ts';
import { OAI_DC_NAMESPACE } from './protocol.ts';
import { type OaiHeader, type OaiRecord, REFUSAL } from './record.ts';
import type { RepeatedElements } from './repeated-elements.ts';

export type Json = null | boolean | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };
type HeaderJson = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: readonly string[];
  readonly deleted?: boolean;
};

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** What is said of a record without its metadata. */
export function headerJson(record: OaiRecord): HeaderJson {
  return parsed((json) => writeHeader(json, record)) as HeaderJson;
}

/**
 * A record as one JSON object: `identifier`, `datestamp` and `sets` of its header, then `deleted` or `masked`, or its
 * `metadata` and their `namespace`; `about` where the service says something about them.
 */
export function recordJson(record: OaiRecord, repeated: RepeatedElements): JsonObject {
  return parsed((json) => writeRecord(json, record, repeated)) as JsonObject;
}

/**
 * Any element, such as a description of a set. Text alone is a string; attributes are `@name` beside `#text` or the
 * children; an empty element is null.
 */
export function elementJson(element: XmlElement): Json {
  return parsed((json) => writeElement(json, element, NOTHING));
}

function parsed(write: (json: JsonBytes) => void): Json {
  const json = new JsonBytes();
  write(json);
  return JSON.parse(json.take().toString()) as Json;
}

/** Writes what {@link headerJson} gives. */
export function writeHeader(json: JsonBytes, { header }: OaiRecord): void {
  json.open('{');
  writeHeaderMembers(json, header);
  json.close('}');
}

function writeHeaderMembers(json: JsonBytes, { identifier, datestamp, setSpecs, deleted }: OaiHeader): void {
  json.name('identifier');
  json.string(identifier);
  json.name('datestamp');
  json.string(datestamp);
  json.name('sets');
  json.open('[');
  for (const setSpec of setSpecs) json.string(setSpec);
  json.close(']');
  if (!deleted) return;
  json.name('deleted');
  json.literal('true');
}

/** Writes what {@link recordJson} gives. */
export function writeRecord(json: JsonBytes, record: OaiRecord, repeated: RepeatedElements): void {
  const { header, metadata, refused, about } = record;
  json.open('{');
  writeHeaderMembers(json, header);
  if (about.length > 0) {
    json.name('about');
    json.open('[');
    for (const one of about) {
      json.open('{');
      json.name(one.name);
      writeElement(json, one, NOTHING);
      json.close('}');
    }
    json.close(']');
  }
  if (refused && !header.deleted) {
    json.name('masked');
    json.literal('true');
  } else if (!header.deleted) {
    if (metadata !== undefined) {
      json.name('namespace');
      json.string(metadata.namespace);
    }
    json.name('metadata');
    writeMetadata(json, record, repeated);
  }
  json.close('}');
}

/** The metadata alone, as {@link recordJson} has them; null where there is nothing to see. @param json to write them in */
export function metadataText(json: JsonBytes, record: OaiRecord, repeated: RepeatedElements): string | null {
  if (record.metadata === undefined || record.refused) return null;
  writeMetadata(json, record, repeated);
  return json.take().toString();
}

function writeMetadata(json: JsonBytes, { metadata, refused }: OaiRecord, repeated: RepeatedElements): void {
  if (metadata === undefined || refused) {
    json.literal('null');
  } else if (metadata.namespace !== OAI_DC_NAMESPACE) {
    writeContent(json, metadata, repeated);
  } else {
    const { children } = innermost(metadata);
    json.open('{');
    // Every field of Dublin Core may repeat, so every one is a list.
    writeChildren(json, children, NOTHING, new Set(children.map(({ name }) => name)));
    json.close('}');
  }
}

/** Some services nest `oai_dc:dc` in another one. */
function innermost(dc: XmlElement): XmlElement {
  const inner = dc.children.find(({ name, namespace }) => name === dc.name && namespace === dc.namespace);
  return inner === undefined ? dc : innermost(inner);
}

const NOTHING: RepeatedElements = new Map();
const NO_NAMES: ReadonlySet<string> = new Set();

function writeElement(json: JsonBytes, element: XmlElement, repeated: RepeatedElements): void {
  // Each of these is made when it is asked for.
  const { children, attributes } = element;
  const text = element.text.trim();
  if (children.length === 0 && text === REFUSAL) {
    // So that nobody takes the refusal for data.
    json.open('{');
    json.name('masked');
    json.literal('true');
    json.close('}');
  } else if (children.length > 0 || attributes.length > 0) {
    writeContent(json, { name: element.name, attributes, children, text }, repeated);
  } else if (text === '') {
    json.literal('null');
  } else {
    json.string(text);
  }
}

type Content = Pick<XmlElement, 'name' | 'attributes' | 'children' | 'text'>;

function writeContent(json: JsonBytes, { name, attributes, children, text }: Content, repeated: RepeatedElements): void {
  json.open('{');
  attributes.forEach((attribute, index) => {
    // Two may differ by their namespace alone, and only one of a name can stand in JSON.
    if (attribute.namespace === SCHEMA_INSTANCE || isNamedLater(attributes, attribute, index)) return;
    json.name(attribute.name, '@');
    json.string(attribute.value);
  });
  if (children.length > 0) writeChildren(json, children, repeated, repeated.get(name) ?? NO_NAMES);
  const trimmed = text.trim();
  if (trimmed !== '') {
    json.name('text', '#');
    json.string(trimmed);
  }
  json.close('}');
}

function isNamedLater(attributes: readonly XmlAttribute[], { name }: XmlAttribute, index: number): boolean {
  for (let later = index + 1; later < attributes.length; later++) {
    const other = attributes[later];
    if (other?.name === name && other.namespace !== SCHEMA_INSTANCE) return true;
  }
  return false;
}

/** @param lists names of what is a list even where there is one */
function writeChildren(
  json: JsonBytes,
  children: readonly XmlElement[],
  repeated: RepeatedElements,
  lists: ReadonlySet<string>,
): void {
  const byName = new Map<string, XmlElement[]>();
  for (const child of children) {
    const same = byName.get(child.name);
    if (same === undefined) byName.set(child.name, [child]);
    else same.push(child);
  }
  for (const [name, same] of byName) {
    const isList = same.length > 1 || lists.has(name);
    json.name(name);
    if (isList) json.open('[');
    for (const child of same) writeElement(json, child, repeated);
    if (isList) json.close(']');
  }
}
