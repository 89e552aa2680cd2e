import { randomBytes } from 'node:crypto';
import type { Incoming } from '../http-message.ts';
import type { Mock } from '../mock.ts';
import { ANONYMOUS, type Viewer, viewerOf } from './viewer.ts';

const COOKIE = 'JSESSIONID';
const IDLE_MS = 5 * 3_600_000;

const SESSION_TABLE = `
create table if not exists harvest_sessions (id text primary key, user text not null, last_ms integer not null) strict;
`;

/**
 * Sessions of the deployed service: whoever signed in stays so by cookie, even without credentials (B-AUTH-4).
 * @returns the viewer, and the cookie to set
 */
export function throughSession(mock: Mock, incoming: Incoming, signedIn: Viewer): { viewer: Viewer; cookie: string | undefined } {
  mock.database.exec(SESSION_TABLE);
  const nowMs = Math.floor(mock.clock.now());
  if (signedIn.user !== null) {
    const id = randomBytes(16).toString('hex').toUpperCase();
    mock.database.prepare('insert into harvest_sessions (id, user, last_ms) values (?, ?, ?)').run(id, signedIn.user, nowMs);
    return { viewer: signedIn, cookie: `${COOKIE}=${id}; Path=/; HttpOnly` };
  }
  const id = new RegExp(`(?:^|; *)${COOKIE}=([0-9A-F]+)`).exec(incoming.headers.cookie ?? '')?.[1];
  mock.database.prepare('delete from harvest_sessions where last_ms < ?').run(nowMs - IDLE_MS);
  const row = mock.database.prepare('update harvest_sessions set last_ms = ? where id = ? returning user').get(nowMs, id ?? '') as
    | { user: string }
    | undefined;
  const account = row === undefined ? undefined : mock.accounts.byUser(row.user);
  return { viewer: account?.active === true ? viewerOf(account) : ANONYMOUS, cookie: undefined };
}
