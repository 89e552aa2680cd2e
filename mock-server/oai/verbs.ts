import { namespaceOf, xsdAddressOf } from '../addresses.ts';
import type { ArchiveRecord } from '../records/record.ts';
import { type Harvest, isOmitted, recordElement } from './harvest.ts';
import { identify } from './identify.ts';
import { listPage } from './lists.ts';
import { type Format, formatsOf, ProtocolError, parseFormat, type Query } from './protocol.ts';
import { listSets } from './set-list.ts';

/** The element that answers a verb. @throws ProtocolError */
export function answerVerb(harvest: Harvest, query: Query): Promise<string> | string {
  switch (query.verb) {
    case 'Identify':
      return identify(harvest);
    case 'ListMetadataFormats':
      return listMetadataFormats(harvest, query);
    case 'ListSets':
      return listSets(harvest, query);
    case 'GetRecord':
      return getRecord(harvest, query);
    case 'ListIdentifiers':
    case 'ListRecords':
      return listPage(harvest, query);
  }
}

function listMetadataFormats(harvest: Harvest, { arguments: given }: Query): string {
  const identifier = given.get('identifier');
  if (identifier !== undefined) recordOf(harvest, identifier);
  const { addresses, version } = harvest;
  const addressesOf: Readonly<Record<Format, readonly [schema: string, namespace: string]>> = {
    'dublin-core': ['http://www.openarchives.org/OAI/2.0/oai_dc.xsd', 'http://www.openarchives.org/OAI/2.0/oai_dc/'],
    native: [xsdAddressOf(addresses, version), namespaceOf(addresses, version)],
  };
  const formats = [...formatsOf(addresses)].map(([name, format]) => {
    const [schema, namespace] = addressesOf[format];
    return (
      `<metadataFormat><metadataPrefix>${name}</metadataPrefix><schema>${schema}</schema>` +
      `<metadataNamespace>${namespace}</metadataNamespace></metadataFormat>`
    );
  });
  return `<ListMetadataFormats>\n${formats.join('\n')}\n</ListMetadataFormats>`;
}

/**
 * A record or element that is not accessible is returned with the refusal in place of its content; what a table calls hidden
 * is omitted, and does not exist for that role when asked for by name.
 */
function getRecord(harvest: Harvest, { arguments: given }: Query): string {
  const format = parseFormat(harvest.addresses, given.get('metadataPrefix'));
  const record = recordOf(harvest, given.get('identifier') ?? '');
  return `<GetRecord>\n${recordElement(harvest, record, format)}\n</GetRecord>`;
}

/**
 * The record of an identifier `{oai_base}/id/<ident_cely>`, by the address as the client used it or as the server announced it. The
 * deployed service cuts off as many characters as the prefix has, whatever they are (B-VERB-9).
 */
function recordOf(harvest: Harvest, identifier: string): ArchiveRecord {
  const { addresses, mock, deployed } = harvest;
  const used = `${addresses.idBase}/`;
  const known = [used, `${addresses.baseUrl}/id/`, `${mock.addresses.idBase}/`];
  const prefix = deployed ? used : known.find((one) => identifier.startsWith(one));
  const ident = prefix === undefined ? '' : identifier.slice(prefix.length);
  const record = mock.harvestIndex.recordIn(mock.archive, ident);
  if (record === undefined || isOmitted(harvest, record)) throw new ProtocolError('idDoesNotExist', 'there is no such record');
  return record;
}
