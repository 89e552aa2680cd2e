import { escapeAttribute, escapeText } from '../records/render.ts';
import { dublinCoreOf, RIGHTS } from '../records/render-dublin-core.ts';
import { toMilliseconds, toSeconds } from './dates.ts';
import type { Harvest } from './harvest.ts';

const NAME = 'Mock finds archive';
const ADMIN_EMAIL = 'harvesting@mock.example.org';

/** OAI-PMH 2.0, section 4.2, with the descriptions of B-VERB-2: a rights manifest, and Dublin Core in Czech and English. */
export function identify({ mock, addresses, requestUrl, deployed, nowMs }: Harvest): string {
  const earliestMs = mock.archive.earliestDatestampMs() ?? nowMs;
  // Milliseconds against the announced granularity are a habit of the deployed service (B-VERB-14).
  const earliest = deployed ? toMilliseconds(earliestMs) : toSeconds(earliestMs);
  const about = dublinCoreOf([
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
    `<description>${rightsManifest()}</description>`,
    `<description>${about}</description>`,
    '</Identify>',
  ].join('\n');
}

function rightsManifest(): string {
  return (
    '<rightsManifest xmlns="http://www.openarchives.org/OAI/2.0/rights/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"' +
    ' xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/rights/ http://www.openarchives.org/OAI/2.0/rightsManifest.xsd"' +
    ' appliesTo="http://www.openarchives.org/OAI/2.0/entity#metadata">' +
    `<rights><rightsReference ref="${escapeAttribute(RIGHTS)}"/></rights></rightsManifest>`
  );
}
