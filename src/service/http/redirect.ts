import { t } from '../../base/language.ts';
import type { Message } from '../../base/message.ts';
import type { AnswerHead } from './exchange.ts';

export const MAX_REDIRECTS = 5;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export function isRedirect({ status }: AnswerHead): boolean {
  return REDIRECTS.includes(status);
}

/** Returns the target of a redirect, or why there is none to follow. */
export function parseRedirect(from: string, { headers }: AnswerHead): URL | Message {
  const location = headers['location'];
  if (location === undefined || !URL.canParse(location, from))
    return t`it redirects without an address`;
  const target = new URL(location, from);
  const { protocol } = target;
  if (/^https?:$/.test(protocol)) return target;
  return t`it redirects to an address with ${protocol}, which pas does not follow`;
}
