import { CONTROL_PATH, SCHEMA_VERSIONS } from './base/addresses.ts';
import { type Answer, type Incoming, isAnnouncingMoreThan } from './base/http-message.ts';
import { makeHtmlPage } from './base/problem.ts';
import { answerControl } from './control/endpoint.ts';
import { answerDescription } from './endpoints/descriptions.ts';
import { answerPhotographDownload } from './endpoints/download.ts';
import { answerHarvest } from './endpoints/oai/endpoint.ts';
import { answerWrite } from './endpoints/pas/endpoint.ts';
import { answerTokenAuth, answerUserInfo } from './endpoints/pas/token-auth.ts';
import type { SentAnswer } from './rules/run-under-fault.ts';
import type { JournalEntry } from './state/journal.ts';
import type { Mock } from './state/mock.ts';

/**
 * Answers a request by the endpoint that its path names; 404 where it names none.
 * @throws whatever the endpoint throws, such as HttpError
 */
export async function routeRequest(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
): Promise<SentAnswer> {
  const { path } = incoming;
  // The proxy stands in front of interface A: it judges the length before the service sees the
  // request (A-WIRE-2).
  if (path.startsWith('/api/') && isAnnouncingMoreThan(incoming, mock.settings.body_max_bytes))
    return makeHtmlPage(413, 'Request Entity Too Large');
  if (path === '/api/token-auth/') return answerTokenAuth(mock, incoming, entry);
  if (path === '/api/uzivatel-info/') return answerUserInfo(mock, incoming, entry);
  if (path === '/api/token-auth' || path === '/api/uzivatel-info') {
    return makeHtmlPage(301, 'Moved Permanently', {
      location: `${incoming.addresses.baseUrl}${path}/${incoming.search}`,
    });
  }
  if (path.startsWith('/api/pas/')) return answerWrite(mock, incoming, entry);
  const schema = findSchemaAt(mock, incoming);
  if (schema !== undefined) return isRead(incoming) ? schema : makeMethodError();
  if (path === CONTROL_PATH || path.startsWith(`${CONTROL_PATH}/`))
    return answerControl(mock, incoming);
  // Only the mock has this path: the service has no description.
  if (path === '/openapi.json')
    return isRead(incoming) ? answerDescription(incoming, 'service') : makeMethodError();
  if (mock.training) return makeNotFound();
  const download = /^\/id\/([^/]+)\/file\/([^/]+)(\/thumb(?:\/page\/1)?)?$/.exec(path);
  if (download !== null && !isRead(incoming)) return makeMethodError();
  if (download !== null)
    return answerPhotographDownload(mock, incoming, entry, download[1] ?? '', download[2] ?? '');
  if (/^(\/[^/]+)?\/oai$/.test(path) || path.startsWith('/id/'))
    return answerHarvest(mock, incoming, entry);
  return makeNotFound();
}

function isRead({ method }: Incoming): boolean {
  return method === 'GET' || method === 'HEAD';
}

function makeMethodError(): Answer {
  return makeHtmlPage(405, 'Method Not Allowed', { allow: 'GET, HEAD' });
}

function makeNotFound(): Answer {
  return makeHtmlPage(404, 'Not Found');
}

/**
 * Finds a schema of this deployment, at the address in documents or under the own path, whatever a
 * proxy makes of the path.
 */
function findSchemaAt(mock: Mock, { path, addresses }: Incoming): Answer | undefined {
  if (!path.endsWith('.xsd')) return undefined;
  const { schemaBase, prefix } = addresses;
  const base = [new URL(schemaBase).pathname, `/schema/${prefix}`].find((candidate) =>
    path.startsWith(`${candidate}/`),
  );
  const name = base === undefined ? undefined : path.slice(base.length + 1);
  const headers = { 'content-type': 'application/xml; charset=utf-8' };
  if (name === 'xml.xsd') return { status: 200, headers, body: mock.schemas.readXmlSchema() };
  const version = SCHEMA_VERSIONS.find((candidate) => name === `${candidate}/${prefix}.xsd`);
  return version === undefined
    ? undefined
    : { status: 200, headers, body: mock.schemas.readText(version, schemaBase) };
}
