import { NEWEST_VERSION, SCHEMA_VERSIONS, type SchemaVersion } from '../../base/addresses.ts';
import { escapeAttribute, escapeText } from '../../state/records/render.ts';
import { formatSeconds } from './dates.ts';
import { ILLEGAL_VERB, INVALID_SET, type ProtocolError } from './protocol.ts';

/** Request part of every answer. */
export type Envelope = {
  readonly nowMs: number;
  /** Value of `responseDate`. */
  readonly responseMs: number;
  /** The used address, without the query. */
  readonly requestUrl: string;
  readonly query: URLSearchParams;
  readonly deployed: boolean;
};

/**
 * Renders an answer of OAI-PMH around the element of its verb, with the arguments of the request.
 */
export function renderAnswer(envelope: Envelope, content: string): string {
  return wrap(envelope, renderRequest(envelope, envelope.query), content);
}

/**
 * Renders an error. After `badVerb` and `badArgument` the request has no attributes (OAI-PMH 2.0,
 * section 3.2). For an unknown verb the deployed service names only its host (B-ADDRESS-6).
 */
export function renderError(envelope: Envelope, error: ProtocolError): string {
  const bare = envelope.deployed || error.code === 'badVerb' || error.code === 'badArgument';
  const request = renderRequest(
    envelope.deployed && error.message === ILLEGAL_VERB
      ? { ...envelope, requestUrl: new URL(envelope.requestUrl).origin }
      : envelope,
    bare ? new URLSearchParams() : envelope.query,
  );
  const message = envelope.deployed ? getDeployedMessage(error) : error.message;
  return wrap(envelope, request, `<error code="${error.code}">${escapeText(message)}</error>`);
}

/** Returns the short message of the deployed service (B-ADDRESS-6). */
function getDeployedMessage({ code, message }: ProtocolError): string {
  if (code === 'badVerb') return message;
  if (code !== 'badArgument') return '';
  return message === INVALID_SET ? message : 'Invalid arguments';
}

/**
 * Renders the request. The deployed service does not escape arguments, so its answer may be
 * malformed (B-ADDRESS-5).
 */
function renderRequest({ requestUrl, deployed }: Envelope, query: URLSearchParams): string {
  const quoted = deployed ? (text: string): string => text : escapeAttribute;
  const attributes = [...query].map(([name, value]) => ` ${name}="${quoted(value)}"`).join('');
  return `<request${attributes}>${escapeText(requestUrl)}</request>`;
}

function wrap(envelope: Envelope, request: string, content: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet type="text/xsl" href="/oai2.xsl"?>\n' +
    '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"' +
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"' +
    ' xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd">\n' +
    `<responseDate>${formatSeconds(envelope.responseMs)}</responseDate>\n${request}\n${content}\n</OAI-PMH>\n`
  );
}

/** An endpoint of interface B, by its path. */
export type HarvestPath =
  | { readonly kind: 'generic' }
  | {
      readonly kind: 'version';
      readonly version: SchemaVersion;
      readonly listed: boolean;
      readonly segment: string;
    }
  | { readonly kind: 'record'; readonly ident: string };

/** @param deployed accepts `v2.1`, and unknown versions (B-ADDRESS-7) */
export function parseHarvestPath(path: string, deployed: boolean): HarvestPath | undefined {
  if (path === '/oai') return { kind: 'generic' };
  const ident = /^\/id\/([^/]+)$/.exec(path)?.[1];
  if (ident !== undefined) return { kind: 'record', ident };
  const segment = /^\/([^/]+)\/oai$/.exec(path)?.[1];
  if (segment === undefined) return undefined;
  const name = deployed ? segment.replace(/^v/, '') : segment;
  const version = SCHEMA_VERSIONS.find((version) => version === name);
  if (version !== undefined) return { kind: 'version', version, listed: true, segment };
  return deployed && /^\d+\.\d+$/.test(name)
    ? { kind: 'version', version: NEWEST_VERSION, listed: false, segment }
    : undefined;
}
