import { createHash, timingSafeEqual } from 'node:crypto';
import { blockListOf, contains, plainAddress } from '../base/address-list.ts';
import type { Answer, Incoming } from '../base/http-message.ts';
import { json } from '../base/problem.ts';
import type { Mock } from '../state/mock.ts';

const LOOPBACK = blockListOf(['127.0.0.0/8', '::1']);
const ASKS_FOR_TOKEN = { 'www-authenticate': 'Basic realm="control interface of the mock server", charset="UTF-8"' };

/**
 * Explains why a caller may not use the control interface; undefined where it may. A caller with the token may, from any host; where there is
 * no token, any caller on this machine, whatever address the server listens on.
 */
export function refusalOf(mock: Mock, { message, headers, addresses }: Incoming): Answer | undefined {
  const { origin, host, authorization } = headers;
  if (mock.controlToken === undefined) {
    if (!contains(LOOPBACK, plainAddress(message.socket.remoteAddress ?? '')))
      return failure(403, 'the control interface answers on loopback only; a server with --control-token answers others as well');
    if (!namesThisMachine(mock, host)) return failure(403, `the control interface answers at ${mock.addresses.controlUrl}`);
  } else if (!bears(mock.controlToken, authorization)) {
    const error = 'the control interface asks for its token, as Bearer or as the password of Basic';
    return json(401, { error }, ASKS_FOR_TOKEN);
  }
  // A browser sends a password with whatever page asks for something here, so the token alone keeps no page away.
  const own = [`http://${host}`, ...[addresses, mock.addresses].map(({ controlUrl }) => new URL(controlUrl).origin)];
  const isOwn = origin === undefined || own.includes(origin);
  return isOwn ? undefined : failure(403, 'web pages from elsewhere may not use this');
}

export function failure(status: number, reason: string): Answer {
  return json(status, { error: reason });
}

/** Protects against DNS rebinding: a foreign host name that resolves to this server is refused. */
function namesThisMachine({ addresses }: Mock, host: string | undefined): boolean {
  const url = `http://${host ?? ''}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const isLoopback = contains(LOOPBACK, hostname.replace(/^\[(.*)\]$/, '$1'));
  return isLoopback || hostname === 'localhost' || hostname === new URL(addresses.controlUrl).hostname;
}

/** A browser asks for a user name as well; which one is no matter. */
function bears(token: string, authorization: string | undefined): boolean {
  const [, scheme = '', given = ''] = /^(Bearer|Basic) +(\S.*)$/is.exec(authorization ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  // Headers arrive as Latin-1, whatever their bytes are.
  const text = Buffer.from(given, isBasic ? 'base64' : 'latin1').toString('utf8');
  const said = isBasic ? text.replace(/^[^:]*:/, '') : text;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(said), digest(token));
}
