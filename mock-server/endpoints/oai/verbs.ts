import { getNamespace, getXsdAddress } from '../../base/addresses.ts';
import type { ArchiveRecord } from '../../state/records/record.ts';
import { escapeAttribute, escapeText } from '../../state/records/render.ts';
import { RIGHTS, renderDescription } from '../../state/records/render-dublin-core.ts';
import { formatMilliseconds, formatSeconds } from './dates.ts';
import { type Harvest, isOmitted, renderRecordElement } from './harvest.ts';
import { renderPage } from './lists.ts';
import { type Format, getFormats, ProtocolError, parseFormat, type Query } from './protocol.ts';
import { getSets, type HarvestSet } from './sets.ts';
import { type ListState, makeSignedTokens } from './tokens.ts';

const NAME = 'Mock finds archive';
const ADMIN_EMAIL = 'harvesting@mock.example.org';

/**
 * Returns the element of a verb.
 * @throws ProtocolError
 */
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
      return renderPage(harvest, query);
  }
}

function listMetadataFormats(harvest: Harvest, { arguments: args }: Query): string {
  const identifier = args.get('identifier');
  if (identifier !== undefined) findRecord(harvest, identifier);
  const { addresses, version } = harvest;
  const addressesByFormat: Readonly<Record<Format, readonly [schema: string, namespace: string]>> =
    {
      'dublin-core': [
        'http://www.openarchives.org/OAI/2.0/oai_dc.xsd',
        'http://www.openarchives.org/OAI/2.0/oai_dc/',
      ],
      native: [getXsdAddress(addresses, version), getNamespace(addresses, version)],
    };
  const formats = [...getFormats(addresses)].map(([name, format]) => {
    const [schema, namespace] = addressesByFormat[format];
    return (
      `<metadataFormat><metadataPrefix>${name}</metadataPrefix><schema>${schema}</schema>` +
      `<metadataNamespace>${namespace}</metadataNamespace></metadataFormat>`
    );
  });
  return `<ListMetadataFormats>\n${formats.join('\n')}\n</ListMetadataFormats>`;
}

/**
 * Renders one record. One that is not accessible has the refusal as content; one hidden from the
 * role does not exist.
 */
function getRecord(harvest: Harvest, { arguments: args }: Query): string {
  const format = parseFormat(harvest.addresses, args.get('metadataPrefix'));
  const record = findRecord(harvest, args.get('identifier') ?? '');
  return `<GetRecord>\n${renderRecordElement(harvest, record, format)}\n</GetRecord>`;
}

/**
 * Finds the record of `{oai_base}/id/<ident_cely>`, by the used or the announced address. From any
 * other, the deployed service removes as many characters as the prefix has (B-VERB-9).
 */
function findRecord(harvest: Harvest, identifier: string): ArchiveRecord {
  const { addresses, mock, deployed } = harvest;
  const used = `${addresses.idBase}/`;
  const bases = [used, `${addresses.baseUrl}/id/`, `${mock.addresses.idBase}/`];
  const prefix = bases.find((one) => identifier.startsWith(one)) ?? (deployed ? used : identifier);
  const record = mock.harvestIndex.recordIn(mock.archive, identifier.slice(prefix.length));
  if (record === undefined || isOmitted(harvest, record))
    throw new ProtocolError('idDoesNotExist', 'there is no such record');
  return record;
}

/**
 * Renders Identify (OAI-PMH 2.0, 4.2) with a rights manifest, and Dublin Core in Czech and English
 * (B-VERB-2).
 */
function identify({ mock, addresses, requestUrl, deployed, nowMs }: Harvest): string {
  const earliestMs = mock.archive.getEarliestDatestampMs() ?? nowMs;
  // The deployed service uses milliseconds, against its announced granularity (B-VERB-14).
  const earliest = deployed ? formatMilliseconds(earliestMs) : formatSeconds(earliestMs);
  const about = renderDescription([
    ['title', 'Zkušební archiv nálezů', 'cs'],
    ['title', NAME, 'en'],
    ['identifier', `${addresses.oaiBase}/oai`, 'cs'],
    ['identifier', `${addresses.oaiBase}/oai`, 'en'],
    ['description', 'Zkušební server: záznamy jsou smyšlené.', 'cs'],
    ['description', 'A server for tests: its records are invented.', 'en'],
    ['rights', RIGHTS],
  ]);
  return [
    '<Identify>',
    `<repositoryName>${NAME}</repositoryName>`,
    `<baseURL>${escapeText(requestUrl)}</baseURL>`,
    '<protocolVersion>2.0</protocolVersion>',
    `<adminEmail>${ADMIN_EMAIL}</adminEmail>`,
    `<earliestDatestamp>${earliest}</earliestDatestamp>`,
    '<deletedRecord>persistent</deletedRecord>',
    '<granularity>YYYY-MM-DDThh:mm:ssZ</granularity>',
    ...(deployed ? [] : ['<compression>gzip</compression>']),
    `<description>${renderRightsManifest()}</description>`,
    `<description>${about}</description>`,
    '</Identify>',
  ].join('\n');
}

function renderRightsManifest(): string {
  return (
    '<rightsManifest xmlns="http://www.openarchives.org/OAI/2.0/rights/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"' +
    ' xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/rights/ http://www.openarchives.org/OAI/2.0/rightsManifest.xsd"' +
    ' appliesTo="http://www.openarchives.org/OAI/2.0/entity#metadata">' +
    `<rights><rightsReference ref="${escapeAttribute(RIGHTS)}"/></rights></rightsManifest>`
  );
}

/** Renders the sets, in pages; the deployed service has one page and ignores tokens (B-SET-4). */
function listSets(harvest: Harvest, { arguments: args }: Query): string {
  const { deployed, version, mock } = harvest;
  const sets = getSets(version, deployed);
  const pageSize = deployed ? sets.length : mock.settings.page_size;
  const token = deployed ? undefined : args.get('resumptionToken');
  const cursor = token === undefined ? 0 : parseCursor(harvest, token);
  const page = sets.slice(cursor, cursor + pageSize);
  return `<ListSets>\n${page.map(renderSet).join('\n')}${renderToken(harvest, cursor, page.length, sets.length)}\n</ListSets>`;
}

function renderSet({ setSpec, cs, en }: HarvestSet): string {
  const description = renderDescription([
    ['description', `Záznamy sady „${cs}“.`, 'cs'],
    ['description', `Records of the set "${en}".`, 'en'],
  ]);
  return (
    `<set><setSpec>${setSpec}</setSpec><setName>${escapeText(`${cs} / ${en}`)}</setName>` +
    `<setDescription>${description}</setDescription></set>`
  );
}

function parseCursor(harvest: Harvest, token: string): number {
  if (harvest.refuseTokens) throw new ProtocolError('badResumptionToken', 'the token has expired');
  const state = makeSignedTokens(harvest.mock).read(token, harvest.nowMs);
  if (state.verb === 'ListSets' && state.version === harvest.version) return state.cursor;
  throw new ProtocolError('badResumptionToken', 'the token belongs to another list');
}

function renderToken(
  { mock, version, nowMs }: Harvest,
  cursor: number,
  pageLength: number,
  size: number,
): string {
  const attributes = `completeListSize="${size}" cursor="${cursor}"`;
  if (cursor + pageLength >= size) return cursor === 0 ? '' : `\n<resumptionToken ${attributes}/>`;
  const state: ListState = {
    verb: 'ListSets',
    version,
    prefix: '',
    set: null,
    fromMs: null,
    untilMs: null,
    user: null,
    after: null,
    cursor: cursor + pageLength,
    size,
  };
  const expiresMs = nowMs + mock.settings.resumption_token_ms;
  const token = escapeText(makeSignedTokens(mock).issue(state, expiresMs));
  return `\n<resumptionToken expirationDate="${formatSeconds(expiresMs)}" ${attributes}>${token}</resumptionToken>`;
}
