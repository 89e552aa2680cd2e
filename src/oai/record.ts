import { childText, getAttribute, getChild, getChildren, type XmlElement } from '../xml/element.ts';
import { datestampMs, OAI_NAMESPACE } from './protocol.ts';

/** OAI-PMH 2.0, section 2.5. */
export type OaiHeader = {
  /** The full identifier, as the service writes it. */
  readonly identifier: string;
  /** Source text. */
  readonly datestamp: string;
  readonly datestampMs: number;
  /** May be empty, although the contract promises one (B-RECORD-1): a deleted record's often is. */
  readonly setSpecs: readonly string[];
  readonly deleted: boolean;
};

export type OaiRecord = {
  readonly header: OaiHeader;
  /** The element inside `metadata`; a deleted record has none. */
  readonly metadata: XmlElement | undefined;
  /** Neither deleted nor with anything in its metadata: a fault of the service. A header alone is no such record. */
  readonly lacksContent: boolean;
  /** The service lists the record but shows none of it to this account. */
  readonly refused: boolean;
  readonly about: readonly XmlElement[];
  readonly element: XmlElement;
};

/** Stands in place of whatever the account may not see (B-SEE-2). */
export const REFUSAL = 'HTTP/1.1 403 Forbidden';

function isRefused(element: XmlElement): boolean {
  return element.children.length === 0 && element.text.trim() === REFUSAL;
}

/** A `header`, bare or wrapped in a `record`. Undefined where it is not complete, or says what is not known of the record. */
export function parseHeader(element: XmlElement): OaiHeader | undefined {
  const header = element.name === 'record' ? getChild(element, 'header', OAI_NAMESPACE) : element;
  if (header === undefined) return undefined;
  const identifier = childText(header, 'identifier', OAI_NAMESPACE);
  const datestamp = childText(header, 'datestamp', OAI_NAMESPACE);
  const ms = datestamp === undefined ? undefined : datestampMs(datestamp);
  const status = (getAttribute(header, 'status') ?? '').trim().toLowerCase();
  if (identifier === undefined || datestamp === undefined || ms === undefined) return undefined;
  if (status !== '' && status !== 'deleted') return undefined;
  return {
    identifier,
    datestamp,
    datestampMs: ms,
    setSpecs: getChildren(header, 'setSpec', OAI_NAMESPACE).map((set) => set.text.trim()),
    deleted: status === 'deleted',
  };
}

/** Parses a `record`; undefined where its header is incomplete. */
export function parseRecord(element: XmlElement): OaiRecord | undefined {
  const header = parseHeader(element);
  if (header === undefined) return undefined;
  const metadata = getChild(element, 'metadata', OAI_NAMESPACE)?.children[0];
  const abouts = getChildren(element, 'about', OAI_NAMESPACE);
  const about = abouts.length === 0 ? NONE : abouts.flatMap(({ children }) => children);
  const lacksContent = !header.deleted && metadata === undefined;
  return { header, metadata, lacksContent, refused: metadata !== undefined && showsNothing(metadata), about, element };
}

const NONE: readonly XmlElement[] = [];

/** A header, bare or of a whole record, as a record that has nothing else. */
export function parseHeaderAlone(element: XmlElement): OaiRecord | undefined {
  const bare = element.name === 'record' ? getChild(element, 'header', OAI_NAMESPACE) : element;
  const header = parseHeader(element);
  if (header === undefined || bare === undefined) return undefined;
  return { header, metadata: undefined, lacksContent: false, refused: false, about: [], element: bare };
}

/** Native format: the root holds the text alone. Dublin Core: the text stands in the root, perhaps nested, or in its only field. */
function showsNothing(metadata: XmlElement): boolean {
  if (isRefused(metadata)) return true;
  const only = metadata.children.length === 1 ? metadata.children[0] : undefined;
  if (only === undefined) return false;
  if (only.namespace !== metadata.namespace) return isRefused(only);
  return only.name === metadata.name && showsNothing(only);
}

/** The one entity inside a native record's root, whatever version its namespace names. */
export function findEntity(record: OaiRecord): XmlElement | undefined {
  return record.metadata?.children[0];
}

/** `https://host/id/HES-000253` → `HES-000253`. */
export function toIdent(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf('/') + 1);
}
