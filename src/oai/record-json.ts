import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import { JsonBytes } from '../text/json-bytes.ts';
import {
  getAttribute,
  getChild,
  walkDescendants,
  type XmlDocument,
  type XmlElement,
} from '../xml/element.ts';
import { type FlatTree, getTreePosition, NONE } from '../xml/flat-tree.ts';
import { parseXml } from '../xml/parse.ts';
import { isRefusal, OAI_DC_NAMESPACE, type OaiHeader, type OaiRecord } from './protocol.ts';

export type Json = null | boolean | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };
type HeaderJson = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: readonly string[];
  readonly deleted?: boolean;
};

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

export function toHeaderJson(record: OaiRecord): HeaderJson {
  return renderJson((json) => writeHeader(json, record)) as HeaderJson;
}

/**
 * Converts a record to one JSON object: `identifier`, `datestamp` and `sets` of its header, then
 * `deleted` or `masked`, or `metadata` and their `namespace`; `about` where there is one.
 */
export function toRecordJson(record: OaiRecord, repeated: RepeatedElements): JsonObject {
  return renderJson((json) => writeRecord(json, record, repeated)) as JsonObject;
}

/**
 * Converts any element, such as a set description. Text alone is a string; attributes are `@name`
 * beside `#text` or the children; an empty element is null.
 */
export function toElementJson(element: XmlElement): Json {
  return renderJson((json) => writeAny(json, element));
}

function renderJson(write: (json: JsonBytes) => void): Json {
  const json = new JsonBytes();
  write(json);
  return JSON.parse(Buffer.concat(json.take()).toString()) as Json;
}

/** Writes the JSON of {@link toHeaderJson}. */
export function writeHeader(json: JsonBytes, { header }: OaiRecord): void {
  json.open('{');
  writeHeaderMembers(json, header);
  json.close('}');
}

function writeHeaderMembers(
  json: JsonBytes,
  { identifier, datestamp, setSpecs, deleted }: OaiHeader,
): void {
  json.writeKey('identifier');
  json.writeString(identifier);
  json.writeKey('datestamp');
  json.writeString(datestamp);
  json.writeKey('sets');
  json.open('[');
  for (const setSpec of setSpecs) json.writeString(setSpec);
  json.close(']');
  if (!deleted) return;
  json.writeKey('deleted');
  json.writeLiteral('true');
}

/** Writes the JSON of {@link toRecordJson}. */
export function writeRecord(json: JsonBytes, record: OaiRecord, repeated: RepeatedElements): void {
  const { header, metadata, refused, about } = record;
  json.open('{');
  writeHeaderMembers(json, header);
  if (about.length > 0) {
    json.writeKey('about');
    json.open('[');
    for (const one of about) {
      json.open('{');
      json.writeKey(one.name);
      writeAny(json, one);
      json.close('}');
    }
    json.close(']');
  }
  if (refused && !header.deleted) {
    json.writeKey('masked');
    json.writeLiteral('true');
  } else if (!header.deleted) {
    if (metadata !== undefined) {
      json.writeKey('namespace');
      json.writeString(metadata.namespace);
    }
    json.writeKey('metadata');
    writeMetadata(json, record, repeated);
  }
  json.close('}');
}

function writeMetadata(
  json: JsonBytes,
  { metadata, refused }: OaiRecord,
  repeated: RepeatedElements,
): void {
  if (metadata === undefined || refused) {
    json.writeLiteral('null');
    return;
  }
  const { tape, at } = getTreePosition(metadata);
  if (metadata.namespace !== OAI_DC_NAMESPACE) {
    writeContent(json, tape, at, repeated);
    return;
  }
  json.open('{');
  writeChildren(json, tape, findInnermost(tape, at), NOTHING, EVERY_NAME);
  json.close('}');
}

/** Returns the innermost `oai_dc:dc`: some services nest it in another one. */
function findInnermost(tape: FlatTree, dc: number): number {
  const name = tape.getNameAt(dc);
  const end = tape.getNext(dc);
  let child = tape.getFirstChild(dc);
  while (child < end && tape.getNameAt(child) !== name) child = tape.getNext(child);
  return child < end ? findInnermost(tape, child) : dc;
}

type NameSet = { has(name: string): boolean };

const NOTHING: RepeatedElements = new Map();
const NO_NAMES: NameSet = new Set();
/** Each field of Dublin Core may repeat, so each is a list. */
const EVERY_NAME: NameSet = { has: () => true };

function writeAny(json: JsonBytes, element: XmlElement): void {
  const { tape, at } = getTreePosition(element);
  writeElement(json, tape, at, NOTHING);
}

function writeElement(
  json: JsonBytes,
  tape: FlatTree,
  at: number,
  repeated: RepeatedElements,
): void {
  if (isRefusal(tape, at)) {
    // The text of the refusal is no data.
    json.open('{');
    json.writeKey('masked');
    json.writeLiteral('true');
    json.close('}');
  } else if (tape.hasChildren(at) || tape.countAttributes(at) > 0) {
    writeContent(json, tape, at, repeated);
  } else if (!writeText(json, tape, at, undefined)) {
    json.writeLiteral('null');
  }
}

/**
 * Writes the text of an element, behind a name where one is given. @returns false where there is no
 * text
 */
function writeText(json: JsonBytes, tape: FlatTree, at: number, name: string | undefined): boolean {
  const isInSource = tape.findText(at);
  const text = isInSource ? undefined : trimValue(tape.getText(at));
  if (text === '' || (isInSource && tape.from === tape.to)) return false;
  if (name !== undefined) json.writeKey(name);
  if (text === undefined) json.writeBytes(tape.bytes, tape.from, tape.to);
  else json.writeString(text);
  return true;
}

/** Trims white space, but keeps U+FEFF, which `trim` removes. */
function trimValue(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isSpace(text.charAt(from))) from++;
  while (from < to && isSpace(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

function isSpace(character: string): boolean {
  return character !== '\ufeff' && character.trim() === '';
}

function writeContent(
  json: JsonBytes,
  tape: FlatTree,
  at: number,
  repeated: RepeatedElements,
): void {
  json.open('{');
  writeAttributes(json, tape, at);
  if (tape.hasChildren(at))
    writeChildren(json, tape, at, repeated, repeated.get(tape.getNameAt(at).name) ?? NO_NAMES);
  writeText(json, tape, at, '#text');
  json.close('}');
}

function writeAttributes(json: JsonBytes, tape: FlatTree, element: number): void {
  const count = tape.countAttributes(element);
  for (let position = 0; position < count; position++) {
    const at = tape.getAttributePosition(element, position);
    const { name, namespace } = tape.getNameAt(at);
    // Two children may differ only in namespace, and JSON has one member per name: the last.
    if (namespace === SCHEMA_INSTANCE || isNamedLater(tape, element, name, position)) continue;
    json.writeAttributeKey(name);
    if (tape.findValue(at)) json.writeBytes(tape.bytes, tape.from, tape.to);
    else json.writeString(tape.getValue(at));
  }
}

function isNamedLater(tape: FlatTree, element: number, name: string, position: number): boolean {
  for (let later = position + 1; later < tape.countAttributes(element); later++) {
    const other = tape.getNameAt(tape.getAttributePosition(element, later));
    if (other.name === name && other.namespace !== SCHEMA_INSTANCE) return true;
  }
  return false;
}

/** @param lists names of children that are always lists */
function writeChildren(
  json: JsonBytes,
  tape: FlatTree,
  at: number,
  repeated: RepeatedElements,
  lists: NameSet,
): void {
  tape.linkChildren(at);
  for (let first = tape.getFirstChild(at); first !== NONE; first = tape.nextOther(first)) {
    const { name } = tape.getNameAt(first);
    const isList = tape.getNextAlike(first) !== NONE || lists.has(name);
    json.writeKey(name);
    if (isList) json.open('[');
    for (let child = first; child !== NONE; child = tape.getNextAlike(child))
      writeElement(json, tape, child, repeated);
    if (isList) json.close(']');
  }
}

/** Names of children that may repeat, by the name of their parent; all local names. */
export type RepeatedElements = ReadonlyMap<string, ReadonlySet<string>>;

const XSD = 'http://www.w3.org/2001/XMLSchema';
const NEWEST_VERSION = '2.2';

/** @param version schema version of the records; the newest is used for an unknown one */
export function listRepeatedElements(version: string): RepeatedElements {
  const getPath = (path: string): string => join(packageRoot, 'schemas', 'svc', path, 'svc.xsd');
  const isKnown = /^\d+\.\d+$/.test(version) && existsSync(getPath(version));
  return computeRepeatedElements(
    parseXml(readFileSync(getPath(isKnown ? version : NEWEST_VERSION))),
  );
}

/**
 * Computes from a schema which children may repeat: these are lists in JSON even if there is only
 * one.
 */
function computeRepeatedElements({ root }: XmlDocument): RepeatedElements {
  const types = new Map<string, readonly Declaration[]>();
  for (const type of root.children)
    types.set(getAttribute(type, 'name') ?? '', listDeclarations(type));
  const repeated = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const visit = (parent: string, declarations: readonly Declaration[] = []): void => {
    for (const { name, type, isRepeated } of declarations) {
      if (isRepeated) repeated.set(parent, (repeated.get(parent) ?? new Set()).add(name));
      if (seen.size !== seen.add(`${parent}/${name}`).size) visit(name, types.get(type));
    }
  };
  const entities = getChild(root, 'element');
  if (entities !== undefined) visit('', listDeclarations(entities));
  return repeated;
}

type Declaration = { readonly name: string; readonly type: string; readonly isRepeated: boolean };

function listDeclarations(type: XmlElement): Declaration[] {
  return [...walkDescendants(type, 'element', XSD)].map((child) => ({
    name: getAttribute(child, 'name') ?? '',
    type: getAttribute(child, 'type') ?? '',
    isRepeated: getAttribute(child, 'maxOccurs') === 'unbounded',
  }));
}
