import { normalizeId } from '../base/characters.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { XmlElement } from '../base/xml/element.ts';
import { type ListPage, type OaiClient, toFullIdentifier } from './client.ts';
import type { OaiArguments } from './protocol.ts';
import {
  type Json,
  readRepeatedElements,
  toElementJson,
  toHeaderJson,
  toRecordJson,
} from './record-json.ts';

/** One verb of OAI-PMH: one request, and its answer as JSON. */

export type Asking = {
  readonly client: OaiClient;
  /** Schema version of the records. */
  readonly version: string;
  readonly args: OaiArguments;
  readonly signal: AbortSignal;
};

/**
 * Completes an identifier that a person typed, in any letter case.
 * @throws UsageError where it is empty
 */
export function resolveIdentifier(oaiBase: string, identifier: string): string {
  const typed = normalizeId(identifier).replaceAll(' ', '');
  if (typed === '') throw new UsageError(t`The identifier is empty.`);
  const full = toFullIdentifier(oaiBase, typed);
  if (full === typed) return full;
  return toFullIdentifier(
    oaiBase,
    /^ruian-/i.test(typed) ? typed.toLowerCase() : typed.toUpperCase(),
  );
}

/** Requests the description of the repository (OAI-PMH 2.0, section 4.2). */
export async function askIdentify({ client, signal }: Asking) {
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
    descriptions: toDescriptionsJson(identity),
  };
}

/** Requests all formats, or those of one record (OAI-PMH 2.0, section 4.4). */
export async function askFormats({ client, args, signal }: Asking) {
  return { formats: await client.listMetadataFormats(args.identifier, signal) };
}

/** Requests one page of sets, the first one or that of a token (OAI-PMH 2.0, section 4.6). */
export async function askSets({ client, args, signal }: Asking) {
  const page = await client.listSets(args, signal);
  const sets = page.items.map((set) => ({
    set: set.setSpec,
    name: set.name,
    descriptions: toDescriptionsJson(set),
  }));
  return { sets, ...toPagingJson(page) };
}

/** Requests one page of headers, the first one or that of a token (OAI-PMH 2.0, section 4.3). */
export async function askIdentifiers({ client, args, signal }: Asking) {
  const page = await client.listHeaders(args, signal);
  return { headers: page.items.map(toHeaderJson), ...toPagingJson(page) };
}

/** Requests one page of records, the first one or that of a token (OAI-PMH 2.0, section 4.5). */
export async function askRecords({ client, version, args, signal }: Asking) {
  const page = await client.listRecords(args, signal);
  const repeated = readRepeatedElements(version);
  return {
    records: page.items.map((record) => toRecordJson(record, repeated)),
    ...toPagingJson(page),
  };
}

/** Requests one record (OAI-PMH 2.0, section 4.1). */
export async function askRecord({ client, version, args, signal }: Asking) {
  const { identifier = '', metadataPrefix = '' } = args;
  const { record } = await client.getRecord(identifier, metadataPrefix, signal);
  return toRecordJson(record, readRepeatedElements(version));
}

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
    token_expires: tokenExpiresMs === undefined ? null : new Date(tokenExpiresMs).toISOString(),
    response_date: new Date(responseDateMs).toISOString(),
  };
}

function toDescriptionsJson({
  descriptions,
}: {
  readonly descriptions: readonly XmlElement[];
}): { readonly [name: string]: Json }[] {
  return descriptions.map((element) => ({ [element.name]: toElementJson(element) }));
}
