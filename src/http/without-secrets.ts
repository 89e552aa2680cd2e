import type { Exchange, HttpResponse } from './exchange.ts';

const MASK = '***';
/** Anything shorter is no secret, and would be struck out of half the answer. */
const LEAST_CHARACTERS = 6;

/**
 * Strikes secrets out of whatever an answer repeats of its request. Debug pages and proxies do so, and what an answer
 * says ends up in messages and in the journal.
 */
export function discreet(secret: string, send: Exchange): Exchange {
  return async (request) => withoutSecret(await send(request), secret);
}

export function withoutSecret(response: HttpResponse, secret: string): HttpResponse {
  const { status, headers, body } = response;
  const repeated = body.includes(secret) || Object.values(headers).some((value) => value.includes(secret));
  if (secret.length < LEAST_CHARACTERS || !repeated) return response;
  const strike = (text: string): string => text.replaceAll(secret, MASK);
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, strike(value)])),
    body: Buffer.from(strike(body.toString('utf8'))),
  };
}
