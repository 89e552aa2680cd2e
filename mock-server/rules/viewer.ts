import { randomBytes } from 'node:crypto';
import type { Answer, Incoming } from '../base/http-message.ts';
import type { Account, Role } from '../state/accounts.ts';
import type { Mock } from '../state/mock.ts';

/** Roles (S-ROLE-1): anonymous, researcher, archaeologist, archivist. */
export type VisibilityCode = 'A' | 'B' | 'C' | 'D';

/**
 * Reader of a record: the contract's role letter, with the user and the organisation that `my
 * record` refers to.
 */
export type Viewer = {
  readonly letter: VisibilityCode;
  readonly user: string | null;
  readonly organisation: string | null;
  readonly username: string | null;
};

const ANONYMOUS: Viewer = { letter: 'A', user: null, organisation: null, username: null };

/** An administrator may read what an archivist may (S-ROLE-2). */
const LETTER_OF_ROLE: Readonly<Record<Role, VisibilityCode>> = {
  researcher: 'B',
  archaeologist: 'C',
  archivist: 'D',
  administrator: 'D',
};

/** An active account without any role reads as an anonymous one does (S-ROLE-4). */
function makeViewer(account: Account): Viewer {
  const letter = account.role === null ? 'A' : LETTER_OF_ROLE[account.role];
  return {
    letter,
    user: account.user,
    organisation: account.organisation,
    username: account.username,
  };
}

/** Credentials that cannot be read: the deployed service fails on these in its own ways. */
type UnreadableCredentials = 'not-base64' | 'no-colon';

/**
 * Signs in by HTTP Basic, or by a bearer token of interface A unless `deployed`. Without
 * credentials: anonymous.
 * @returns the viewer; undefined for wrong credentials; or the fault of unreadable ones
 */
export function signIn(mock: Mock, incoming: Incoming): Viewer | undefined | UnreadableCredentials {
  const header = incoming.headers.authorization;
  if (header === undefined) return ANONYMOUS;
  const [, scheme = '', credentials = ''] = /^(\S+) *(.*)$/s.exec(header) ?? [];
  if (scheme.toLowerCase() === 'basic') return signInBasic(mock, credentials.trim());
  if (mock.deployed) return ANONYMOUS;
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  const state = mock.accounts.findTokenState(credentials.trim(), mock.settings.token_ms);
  return state === undefined || state.expired || !state.account.active
    ? undefined
    : makeViewer(state.account);
}

function signInBasic(mock: Mock, credentials: string): Viewer | undefined | UnreadableCredentials {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(credentials)) return 'not-base64';
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return 'no-colon';
  const account = mock.accounts.signIn(decoded.slice(0, colon), decoded.slice(colon + 1));
  return account?.active === true ? makeViewer(account) : undefined;
}

/**
 * Makes the 401. The deployed service sends no challenge, so clients must send Basic unasked
 * (B-AUTH-3).
 */
export function makeUnauthorised(deployed: boolean): Answer {
  const challenge: Record<string, string> = deployed
    ? {}
    : { 'www-authenticate': 'Basic realm="harvesting", charset="UTF-8"' };
  const type = deployed ? 'text/xml;charset=UTF-8' : 'text/plain; charset=utf-8';
  return {
    status: 401,
    headers: { 'content-type': type, ...challenge },
    body: 'Invalid credentials',
  };
}

const COOKIE = 'JSESSIONID';
const IDLE_MS = 5 * 3_600_000;

const SESSION_TABLE = `
create table if not exists harvest_sessions (id text primary key, user text not null, last_ms integer not null) strict;
`;

/**
 * Signs in by a session cookie of the deployed service, without credentials (B-AUTH-4).
 * @returns viewer, and cookie to set
 */
export function signInBySession(
  mock: Mock,
  incoming: Incoming,
  signedIn: Viewer,
): { viewer: Viewer; cookie: string | undefined } {
  mock.database.exec(SESSION_TABLE);
  const nowMs = Math.floor(mock.clock.now());
  if (signedIn.user !== null) {
    const id = randomBytes(16).toString('hex').toUpperCase();
    mock.database
      .prepare('insert into harvest_sessions (id, user, last_ms) values (?, ?, ?)')
      .run(id, signedIn.user, nowMs);
    return { viewer: signedIn, cookie: `${COOKIE}=${id}; Path=/; HttpOnly` };
  }
  const id = new RegExp(`(?:^|; *)${COOKIE}=([0-9A-F]+)`).exec(incoming.headers.cookie ?? '')?.[1];
  mock.database.prepare('delete from harvest_sessions where last_ms < ?').run(nowMs - IDLE_MS);
  const user = mock.database
    .prepare('update harvest_sessions set last_ms = ? where id = ? returning user')
    .pluck()
    .get(nowMs, id ?? '');
  const account = typeof user === 'string' ? mock.accounts.findByUser(user) : undefined;
  return { viewer: account?.active === true ? makeViewer(account) : ANONYMOUS, cookie: undefined };
}
