import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeId, trimText } from '../base/characters.ts';
import { formatIso } from '../base/clock.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import {
  getAttribute,
  getChild,
  SCHEMA_NAMESPACE,
  walkDescendants,
  type XmlDocument,
  type XmlElement,
} from '../base/xml/element.ts';
import { parseXml } from '../base/xml/parse.ts';
import { type ListPage, type OaiClient, toFullIdentifier } from './client.ts';
import { OAI_DC_NAMESPACE, type OaiArguments, type OaiRecord, REFUSAL } from './protocol.ts';

/** A value of JSON; numbers stay texts, as the service writes them. */
export type Json = null | boolean | string | readonly Json[] | JsonObject;
type JsonMembers = { [name: string]: Json };
type JsonObject = Readonly<JsonMembers>;
type HeaderJson = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: readonly string[];
  readonly deleted?: boolean;
};

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** Converts a header to JSON: `identifier`, `datestamp`, `sets`, and `deleted` where it is true. */
export function toHeaderJson({ header }: OaiRecord): HeaderJson {
  const { identifier, datestamp, setSpecs, deleted } = header;
  const json = { identifier, datestamp, sets: setSpecs };
  return deleted ? { ...json, deleted } : json;
}

/**
 * Converts a record to one JSON object: `identifier`, `datestamp` and `sets` of its header, then
 * `deleted: true`, or `masked: true` where the account may not read it, or else `metadata` with its
 * `namespace`; `metadata` is null where the service sent none.
 */
export function toRecordJson(record: OaiRecord, repeated: RepeatedElements): JsonObject {
  const { header, metadata, refused } = record;
  const json = toHeaderJson(record);
  if (header.deleted) return json;
  if (refused) return { ...json, masked: true };
  if (metadata === undefined) return { ...json, metadata: null };
  return { ...json, namespace: metadata.namespace, metadata: toMetadataJson(metadata, repeated) };
}

function toMetadataJson(metadata: XmlElement, repeated: RepeatedElements): JsonObject {
  if (metadata.namespace !== OAI_DC_NAMESPACE)
    return toContentJson(metadata, trimText(metadata.text), repeated);
  const fields: JsonMembers = {};
  addChildren(fields, findInnermost(metadata), NOTHING, EVERY_NAME);
  return fields;
}

/**
 * Converts an element, such as a set description, to JSON. Without children and attributes it
 * becomes its trimmed text, or null without text; without children and with the text of the
 * refusal, `masked: true`. Any other becomes an object: its attributes as `@name` (without those of
 * `xsi`), its children by name, several of one name as a list, and its trimmed text as `#text`.
 * @param repeated children that are lists even if there is one
 */
export function toElementJson(element: XmlElement, repeated: RepeatedElements = NOTHING): Json {
  const text = trimText(element.text);
  if (element.children.length === 0) {
    // The text of the refusal is no data.
    if (text === REFUSAL) return { masked: true };
    if (element.attributes.length === 0) return text === '' ? null : text;
  }
  return toContentJson(element, text, repeated);
}

/** Returns the innermost `oai_dc:dc`: some services nest it in another one. */
function findInnermost(dc: XmlElement): XmlElement {
  const nested = getChild(dc, dc.name, dc.namespace);
  return nested === undefined ? dc : findInnermost(nested);
}

type NameSet = { has(name: string): boolean };

const NOTHING: RepeatedElements = new Map();
const NO_NAMES: NameSet = new Set();
/** Each field of Dublin Core may repeat, so each is a list. */
const EVERY_NAME: NameSet = { has: () => true };

function toContentJson(element: XmlElement, text: string, repeated: RepeatedElements): JsonObject {
  const content: JsonMembers = {};
  // Two attributes may differ only in namespace, and JSON has one member per name: the last.
  for (const { namespace, name, value } of element.attributes)
    if (namespace !== SCHEMA_INSTANCE) content[`@${name}`] = value;
  addChildren(content, element, repeated, repeated.get(element.name) ?? NO_NAMES);
  if (text !== '') content['#text'] = text;
  return content;
}

/** @param lists names of children that are always lists */
function addChildren(
  content: JsonMembers,
  parent: XmlElement,
  repeated: RepeatedElements,
  lists: NameSet,
): void {
  for (const child of parent.children) {
    const { name } = child;
    const json = toElementJson(child, repeated);
    const before = Object.hasOwn(content, name) ? content[name] : undefined;
    if (Array.isArray(before)) before.push(json);
    else if (before !== undefined) content[name] = [before, json];
    else addMember(content, name, lists.has(name) ? [json] : json);
  }
}

/** Adds a member; assigning to `__proto__` would add none. */
function addMember(content: JsonMembers, name: string, value: Json): void {
  if (name !== '__proto__') content[name] = value;
  else Object.defineProperty(content, name, { value, enumerable: true, writable: true });
}

/** Names of children that may repeat, by the name of their parent; all local names. */
export type RepeatedElements = ReadonlyMap<string, ReadonlySet<string>>;

const NEWEST_VERSION = '2.2';

/**
 * Reads which children of an element may repeat from the schema that pas brings along: these are
 * lists in JSON even if there is one.
 * @param version schema version of the records, such as `2.2`; the newest is read for an unknown
 * one
 */
export function readRepeatedElements(version: string): RepeatedElements {
  const getPath = (path: string): string => join(packageRoot, 'schemas', 'svc', path, 'svc.xsd');
  const isKnown = /^\d+\.\d+$/.test(version) && existsSync(getPath(version));
  return computeRepeatedElements(
    parseXml(readFileSync(getPath(isKnown ? version : NEWEST_VERSION))),
  );
}

/** Computes from a schema which children may repeat. */
function computeRepeatedElements({ root }: XmlDocument): RepeatedElements {
  const types = new Map<string, readonly Declaration[]>();
  for (const type of root.children)
    types.set(getAttribute(type, 'name') ?? '', listDeclarations(type));
  const repeated = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const visit = (parent: string, declarations: readonly Declaration[] = []): void => {
    for (const { name, type, isRepeated } of declarations) {
      if (isRepeated) repeated.set(parent, (repeated.get(parent) ?? new Set()).add(name));
      const path = `${parent}/${name}`;
      if (seen.has(path)) continue;
      seen.add(path);
      visit(name, types.get(type));
    }
  };
  const entities = getChild(root, 'element');
  if (entities !== undefined) visit('', listDeclarations(entities));
  return repeated;
}

type Declaration = { readonly name: string; readonly type: string; readonly isRepeated: boolean };

function listDeclarations(type: XmlElement): Declaration[] {
  return [...walkDescendants(type, 'element', SCHEMA_NAMESPACE)].map((child) => ({
    name: getAttribute(child, 'name') ?? '',
    type: getAttribute(child, 'type') ?? '',
    isRepeated: getAttribute(child, 'maxOccurs') === 'unbounded',
  }));
}

/** One request of a verb of OAI-PMH, whose answer becomes JSON. */
export type JsonRequest = {
  readonly client: OaiClient;
  /** Schema version of the records. */
  readonly version: string;
  readonly args: OaiArguments;
  readonly signal: AbortSignal;
};

/**
 * Returns the full form of an identifier that a person typed, without blanks and with hyphens for
 * dashes. A short one is put into capitals, one of RÚIAN into small letters, as the service writes
 * them; one with a scheme, such as `https:`, keeps its case.
 * @throws UsageError where the identifier is empty
 */
export function completeTypedIdentifier(oaiBase: string, identifier: string): string {
  const typed = normalizeId(identifier).replaceAll(' ', '');
  if (typed === '') throw new UsageError(t`The identifier is empty.`);
  const full = toFullIdentifier(oaiBase, typed);
  if (full === typed) return full;
  return toFullIdentifier(
    oaiBase,
    /^ruian-/i.test(typed) ? typed.toLowerCase() : typed.toUpperCase(),
  );
}

/**
 * Requests the description of the repository (Identify; OAI-PMH 2.0, section 4.2).
 * @throws as {@link SendRequest}: OaiError, AuthError, UnavailableError, InterruptedError
 */
export async function fetchIdentityJson({ client, signal }: JsonRequest) {
  const identity = await client.identify(signal);
  return {
    repository_name: identity.repositoryName,
    base_url: identity.baseUrl,
    protocol_version: identity.protocolVersion,
    admin_emails: identity.adminEmails,
    earliest_datestamp: identity.earliestDatestamp,
    deleted_record: identity.deletedRecord,
    granularity: identity.granularity,
    compressions: identity.compressions,
    descriptions: toDescriptionsJson(identity.descriptions),
  };
}

/**
 * Requests all formats, or those of the record `args.identifier` (ListMetadataFormats; section
 * 4.4).
 * @throws as {@link SendRequest}: OaiError, AuthError, UnavailableError, InterruptedError
 */
export async function fetchFormatsJson({ client, args, signal }: JsonRequest) {
  return { formats: await client.listMetadataFormats(args.identifier, signal) };
}

/**
 * Requests one page of sets, the first one or that of a token (ListSets; section 4.6).
 * @throws as {@link SendRequest}: UsageError, OaiError, AuthError, UnavailableError,
 * InterruptedError
 */
export async function fetchSetsJson({ client, args, signal }: JsonRequest) {
  const page = await client.listSets(args, signal);
  const sets = page.items.map((set) => ({
    set: set.setSpec,
    name: set.name,
    descriptions: toDescriptionsJson(set.descriptions),
  }));
  return { sets, ...toPagingJson(page) };
}

/**
 * Requests one page of headers, the first or that of a token (ListIdentifiers; section 4.3).
 * @throws as {@link SendRequest}: UsageError, OaiError, AuthError, UnavailableError,
 * InterruptedError
 */
export async function fetchHeadersJson({ client, args, signal }: JsonRequest) {
  const page = await client.listHeaders(args, signal);
  return { headers: page.items.map(toHeaderJson), ...toPagingJson(page) };
}

/**
 * Requests one page of records, the first one or that of a token (ListRecords; section 4.5).
 * @throws as {@link SendRequest}: UsageError, OaiError, AuthError, UnavailableError,
 * InterruptedError
 */
export async function fetchRecordsJson({ client, version, args, signal }: JsonRequest) {
  const page = await client.listRecords(args, signal);
  const repeated = readRepeatedElements(version);
  return {
    records: page.items.map((record) => toRecordJson(record, repeated)),
    ...toPagingJson(page),
  };
}

/**
 * Requests the record `args.identifier` in the format `args.metadataPrefix` (GetRecord; section
 * 4.1), and returns it as {@link toRecordJson} does.
 * @throws as {@link SendRequest}: UsageError (also without a format), OaiError, AuthError,
 * UnavailableError, InterruptedError
 */
export async function fetchRecordJson({
  client,
  version,
  args,
  signal,
}: JsonRequest): Promise<JsonObject> {
  const { identifier = '', metadataPrefix = '' } = args;
  const record = await client.getRecord(identifier, metadataPrefix, signal);
  return toRecordJson(record, readRepeatedElements(version));
}

/** Position of a page in its list, and the next token; null where it is unknown. */
export type PagingJson = ReturnType<typeof toPagingJson>;

function toPagingJson({
  next,
  completeListSize,
  cursor,
  tokenExpiresMs,
  responseDateMs,
}: ListPage<unknown>) {
  return {
    resumption_token: next ?? null,
    complete_list_size: completeListSize ?? null,
    cursor: cursor ?? null,
    token_expires: formatIso(tokenExpiresMs),
    response_date: formatIso(responseDateMs),
  };
}

function toDescriptionsJson(descriptions: readonly XmlElement[]): JsonObject[] {
  return descriptions.map((element) => ({ [element.name]: toElementJson(element) }));
}
