import type { XmlElement } from '../xml/element.ts';
import { OAI_DC_NAMESPACE } from './protocol.ts';
import { isRefused, type OaiRecord } from './record.ts';
import type { RepeatedElements } from './repeated-elements.ts';

export type Json = null | boolean | string | readonly Json[] | { readonly [name: string]: Json };

/** Stands for what this account may not see, so that nobody takes the refusal for data. */
const MASKED: Json = { masked: true };

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * A record as one JSON object: `identifier`, `datestamp` and `sets` of its header, then `deleted` or `masked`, or its
 * `metadata` and their `namespace`; `about` where the service says something about them.
 */
export function recordJson(record: OaiRecord, repeated: RepeatedElements): { readonly [name: string]: Json } {
  const { header, metadata } = record;
  const about = record.about.map((one) => ({ [one.name]: elementJson(one) }));
  const head = {
    ...{ identifier: header.identifier, datestamp: header.datestamp, sets: header.setSpecs },
    ...(about.length === 0 ? {} : { about }),
  };
  if (header.deleted) return { ...head, deleted: true };
  if (record.refused) return { ...head, masked: true };
  if (metadata === undefined) return { ...head, metadata: null };
  return { ...head, namespace: metadata.namespace, metadata: metadataJson(record, repeated) };
}

/** What is said of a record without its metadata. */
export function headerJson({ header }: OaiRecord) {
  const { identifier, datestamp, setSpecs, deleted } = header;
  return { identifier, datestamp, sets: setSpecs, ...(deleted ? { deleted } : {}) };
}

/** The metadata alone, as {@link recordJson} has them; null where there is nothing to see. */
export function metadataJson({ metadata, refused }: OaiRecord, repeated: RepeatedElements): Json {
  if (metadata === undefined || refused) return null;
  const fields = metadata.namespace === OAI_DC_NAMESPACE ? innermost(metadata) : undefined;
  return fields === undefined ? contentJson(metadata, repeated) : dublinCoreJson(fields);
}

/** Some services nest `oai_dc:dc` in another one. */
function innermost(dc: XmlElement): XmlElement {
  const inner = dc.children.find(({ name, namespace }) => name === dc.name && namespace === dc.namespace);
  return inner === undefined ? dc : innermost(inner);
}

/** Every field of Dublin Core may repeat, so every one is a list. */
function dublinCoreJson({ children }: XmlElement): Json {
  const fields = new Map<string, Json[]>();
  for (const child of children) {
    const list = fields.get(child.name);
    if (list === undefined) fields.set(child.name, [elementJson(child)]);
    else list.push(elementJson(child));
  }
  return Object.fromEntries(fields);
}

const NOTHING: RepeatedElements = new Map();
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Any element, such as a description of a set. Text alone is a string; attributes are `@name` beside `#text` or the
 * children; an empty element is null.
 */
export function elementJson(element: XmlElement, repeated: RepeatedElements = NOTHING): Json {
  if (element.children.length > 0) return contentJson(element, repeated);
  if (isRefused(element)) return MASKED;
  if (element.attributes.length > 0) return contentJson(element, repeated);
  const text = element.text.trim();
  return text === '' ? null : text;
}

function contentJson(element: XmlElement, repeated: RepeatedElements): Json {
  const content: Record<string, Json> = {};
  for (const { name, namespace, value } of element.attributes) {
    if (namespace !== SCHEMA_INSTANCE) content[`@${name}`] = value;
  }
  const lists = repeated.get(element.name) ?? NO_NAMES;
  for (const child of element.children) {
    const value = elementJson(child, repeated);
    const before = Object.hasOwn(content, child.name) ? content[child.name] : undefined;
    if (before === undefined) put(content, child.name, lists.has(child.name) ? [value] : value);
    else if (Array.isArray(before)) before.push(value);
    else content[child.name] = [before, value];
  }
  const text = element.text.trim();
  if (text !== '') content['#text'] = text;
  return content;
}

/** A plain assignment to `__proto__` would not make a property. */
function put(content: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') content[name] = value;
  else Object.defineProperty(content, name, { value, enumerable: true, writable: true, configurable: true });
}
