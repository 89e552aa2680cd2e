import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Exchange, HttpRequest, HttpResponse } from '../http/exchange.ts';
import { redactAnswers } from '../http/redaction.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

type GetOptions = Pick<HttpRequest, 'answerTimeoutMs' | 'maxAnswerBytes' | 'signal'>;

/** GET with a query string, and with a credential that is only for the endpoint's own origin. */
type Get = (query: string, authorization: string | undefined, options: GetOptions) => Promise<HttpResponse>;

/**
 * Follows redirects, and remembers where the endpoint really is, so that a harvest pays for one redirect and not for
 * one a page. A credential never goes to another origin, and without it the service would show less; nothing goes from
 * https to http.
 * @throws OaiError for a redirect that leads nowhere, or away from where the credential may go
 */
export function followRedirects(endpoint: string, exchange: Exchange): Get {
  const { origin } = new URL(endpoint);
  let settled = endpoint;
  return async (query, authorization, options) => {
    const send = authorization === undefined ? exchange : redactAnswers([tokenIn(authorization)], exchange);
    let url = `${settled}?${query}`;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      if (authorization !== undefined && new URL(url).origin !== origin) throw elsewhere(endpoint, new URL(url).origin);
      const response = await send({
        method: 'GET',
        url,
        headers: {
          accept: '*/*',
          'accept-encoding': 'gzip',
          ...(authorization === undefined ? {} : { authorization }),
        },
        ...options,
      });
      if (!REDIRECTS.includes(response.status)) return response;
      url = targetOf(url, response, query);
      const [base = '', targetQuery] = url.split('?', 2);
      if (targetQuery === query) settled = base;
    }
    throw new OaiError('malformed', t`${endpoint} redirects in a loop.`, { hint: t`Check oai_base in the profile.` });
  };
}

/** What an `Authorization` header holds after its scheme. */
export function tokenIn(authorization: string): string {
  return authorization.replace(/^\w+ /, '');
}

function elsewhere(endpoint: string, origin: string): OaiError {
  return new OaiError('malformed', t`${endpoint} redirects to ${origin}, to which your sign-in is not sent.`, {
    hint: t`If the service has moved there, set oai_base in the profile to that address; otherwise ask its operator.`,
  });
}

function targetOf(from: string, response: HttpResponse, query: string): string {
  const location = response.headers['location'];
  const target = location === undefined || !URL.canParse(location, from) ? undefined : new URL(location, from);
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw new OaiError('malformed', t`${from} redirects without an address.`, { hint: t`Check oai_base in the profile.` });
  }
  if (target.protocol === 'http:' && from.startsWith('https:')) {
    throw new OaiError('malformed', t`${from} redirects to ${target.origin}, which is not protected by TLS.`, {
      hint: t`Ask the operator of the service.`,
    });
  }
  target.hash = '';
  if (target.search === '') target.search = query;
  // Escaped in the same way as our own, so that the two can be compared.
  const sameArguments = new URLSearchParams(target.search).toString() === query;
  return `${target.origin}${target.pathname}${sameArguments ? `?${query}` : target.search}`;
}
