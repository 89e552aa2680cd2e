import type { HttpResponse } from './exchange.ts';

export const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export function isRedirect({ status }: HttpResponse): boolean {
  return REDIRECTS.includes(status);
}

/** Returns the address to which an answer redirects; undefined where it has no valid one. */
export function parseRedirectTarget(from: string, { headers }: HttpResponse): URL | undefined {
  const location = headers['location'];
  return location !== undefined && URL.canParse(location, from)
    ? new URL(location, from)
    : undefined;
}
