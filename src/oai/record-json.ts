import { JsonBytes } from '../text/json-bytes.ts';
import type { XmlElement } from '../xml/element.ts';
import { type FlatTree, placeOf } from '../xml/flat-tree.ts';
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
  return parsed((json) => writeAny(json, element));
}

function parsed(write: (json: JsonBytes) => void): Json {
  const json = new JsonBytes();
  write(json);
  return JSON.parse(Buffer.concat(json.take()).toString()) as Json;
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
      writeAny(json, one);
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
  return Buffer.concat(json.take()).toString();
}

function writeMetadata(json: JsonBytes, { metadata, refused }: OaiRecord, repeated: RepeatedElements): void {
  if (metadata === undefined || refused) {
    json.literal('null');
  } else if (metadata.namespace !== OAI_DC_NAMESPACE) {
    const { tape, at } = placeOf(metadata);
    writeContent(json, tape, at, repeated);
  } else {
    const { tape, at } = placeOf(innermost(metadata));
    json.open('{');
    // Every field of Dublin Core may repeat, so every one is a list.
    const fields = new Set(tape.childrenByName(at).map((child) => tape.nameAt(child).name));
    writeChildren(json, tape, at, NOTHING, fields);
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

function writeAny(json: JsonBytes, element: XmlElement): void {
  const { tape, at } = placeOf(element);
  writeElement(json, tape, at, NOTHING);
}

function writeElement(json: JsonBytes, tape: FlatTree, at: number, repeated: RepeatedElements): void {
  const hasChildren = tape.hasChildren(at);
  if (!hasChildren && isRefusal(tape, at)) {
    // So that nobody takes the refusal for data.
    json.open('{');
    json.name('masked');
    json.literal('true');
    json.close('}');
  } else if (hasChildren || tape.attributeCount(at) > 0) {
    writeContent(json, tape, at, repeated);
  } else if (hasText(tape, at)) {
    writeText(json, tape, at);
  } else {
    json.literal('null');
  }
}

function isRefusal(tape: FlatTree, at: number): boolean {
  const mayBe = !tape.findText(at) || tape.to - tape.from === REFUSAL.length;
  return mayBe && tape.textOf(at).trim() === REFUSAL;
}

function hasText(tape: FlatTree, at: number): boolean {
  return tape.findText(at) ? tape.from < tape.to : trimmed(tape.textOf(at)) !== '';
}

function writeText(json: JsonBytes, tape: FlatTree, at: number): void {
  if (tape.findText(at)) json.bytes(tape.bytes, tape.from, tape.to);
  else json.string(trimmed(tape.textOf(at)));
}

/** Without white space at its ends. U+FEFF, which `trim` takes away as well, is text. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isSpace(text.charAt(from))) from++;
  while (from < to && isSpace(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

function isSpace(character: string): boolean {
  return character !== '\ufeff' && character.trim() === '';
}

function writeContent(json: JsonBytes, tape: FlatTree, at: number, repeated: RepeatedElements): void {
  json.open('{');
  writeAttributes(json, tape, at);
  if (tape.hasChildren(at)) writeChildren(json, tape, at, repeated, repeated.get(tape.nameAt(at).name) ?? NO_NAMES);
  if (hasText(tape, at)) {
    json.name('text', '#');
    writeText(json, tape, at);
  }
  json.close('}');
}

function writeAttributes(json: JsonBytes, tape: FlatTree, element: number): void {
  const count = tape.attributeCount(element);
  for (let position = 0; position < count; position++) {
    const at = tape.attributeAt(element, position);
    const { name, namespace } = tape.nameAt(at);
    // Two may differ by their namespace alone, and only one of a name can stand in JSON.
    if (namespace === SCHEMA_INSTANCE || isNamedLater(tape, element, name, position)) continue;
    json.name(name, '@');
    if (tape.findValue(at)) json.bytes(tape.bytes, tape.from, tape.to);
    else json.string(tape.valueOf(at));
  }
}

function isNamedLater(tape: FlatTree, element: number, name: string, position: number): boolean {
  for (let later = position + 1; later < tape.attributeCount(element); later++) {
    const other = tape.nameAt(tape.attributeAt(element, later));
    if (other.name === name && other.namespace !== SCHEMA_INSTANCE) return true;
  }
  return false;
}

/** @param lists names of what is a list even where there is one */
function writeChildren(
  json: JsonBytes,
  tape: FlatTree,
  at: number,
  repeated: RepeatedElements,
  lists: ReadonlySet<string>,
): void {
  const children = tape.childrenByName(at);
  for (let first = 0, next = 0; first < children.length; first = next) {
    const name = tape.nameAt(children[first] ?? 0).name;
    while (next < children.length && tape.nameAt(children[next] ?? 0).name === name) next++;
    const isList = next > first + 1 || lists.has(name);
    json.name(name);
    if (isList) json.open('[');
    for (let index = first; index < next; index++) writeElement(json, tape, children[index] ?? 0, repeated);
    if (isList) json.close(']');
  }
}
