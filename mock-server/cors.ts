import { CONTROL_PATH } from './base/addresses.ts';
import type { Answer, Incoming } from './base/http-message.ts';

/** Beside those that every page may read (Fetch standard, CORS-safelisted response headers). */
const EXPOSED = 'Location, X-Record-ID, Retry-After, WWW-Authenticate, Date';
const METHODS = 'GET, HEAD, POST, PATCH';

/**
 * Headers that let a web page of another origin read an answer; never one of the control interface.
 * @param allowed the origins, separated by commas, or `*`
 */
export function corsHeaders(allowed: string | undefined, { headers, path }: Incoming): Readonly<Record<string, string>> {
  const { origin } = headers;
  if (allowed === undefined || origin === undefined || path.startsWith(CONTROL_PATH)) return {};
  const isAny = allowed === '*';
  if (!isAny && !allowed.split(',').includes(origin)) return {};
  const named = isAny ? { 'access-control-allow-origin': '*' } : { 'access-control-allow-origin': origin, vary: 'Origin' };
  return { ...named, 'access-control-expose-headers': EXPOSED };
}

/** The answer to a browser that asks before it sends a request; undefined for any other request. */
export function preflightAnswer(allowed: string | undefined, incoming: Incoming): Answer | undefined {
  const { method, headers } = incoming;
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!isPreflight || Object.keys(corsHeaders(allowed, incoming)).length === 0) return undefined;
  const asked = headers['access-control-request-headers'];
  return {
    status: 200,
    headers: {
      'access-control-allow-methods': METHODS,
      ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
      'access-control-max-age': '600',
    },
    body: '',
  };
}
