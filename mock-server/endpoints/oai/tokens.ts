import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Addresses, SchemaVersion } from '../../base/addresses.ts';
import { ProtocolError, type Verb } from './protocol.ts';

/** Continuation of a list. Members that the deployed service's tokens lack are null. */
export type ListState = {
  readonly verb: Verb | null;
  readonly version: SchemaVersion | null;
  readonly prefix: string;
  readonly set: string | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
  /** The user who began the list; null: anonymous. */
  readonly user: string | null;
  /** Last record of the previous page, after which the next page begins, whatever has changed. */
  readonly after: { readonly datestampMs: number; readonly ident: string } | null;
  /** Number of records on earlier pages. */
  readonly cursor: number;
  /** Size of the whole list when it began. */
  readonly size: number;
};

/** Resumption tokens: each stands for the state of one list until it expires. */
export type Tokens = {
  issue(state: ListState, expiresMs: number): string;
  /** @throws ProtocolError `badResumptionToken` */
  read(token: string, nowMs: number): ListState;
};

type Service = { readonly seedNumber: number; readonly addresses: Pick<Addresses, 'mount'> };

function makeTokenError(reason: string): ProtocolError {
  return new ProtocolError('badResumptionToken', reason);
}

/**
 * Makes tokens that carry their state with a signature: nothing is stored, and they survive a
 * restart. Each tenant, at its own mount, knows only its own. Their form varies with the seed
 * number: some need escaping in a URL.
 */
export function makeSignedTokens({ seedNumber, addresses }: Service): Tokens {
  const key = createHash('sha256')
    .update(`resumption tokens of ${seedNumber}${addresses.mount}`)
    .digest();
  const spelling = SPELLINGS[Math.abs(seedNumber) % SPELLINGS.length] ?? SPELLINGS[0];
  const sign = (bytes: Buffer): Buffer =>
    createHmac('sha256', key).update(bytes).digest().subarray(0, 12);
  return {
    issue: (state, expiresMs) => {
      const bytes = Buffer.from(JSON.stringify([state, expiresMs]));
      return spelling.write(Buffer.concat([sign(bytes), bytes]));
    },
    read: (token, nowMs) => {
      const all = spelling.read(token);
      const signature = all.subarray(0, 12);
      const bytes = all.subarray(12);
      // Decoding ignores blanks and stray characters, which no token has.
      const isOurs =
        signature.length === 12 &&
        timingSafeEqual(signature, sign(bytes)) &&
        spelling.write(all) === token;
      if (!isOurs) throw makeTokenError('the token is unknown');
      const [state, expiresMs]: [ListState, number] = JSON.parse(bytes.toString());
      if (nowMs > expiresMs) throw makeTokenError('the token has expired');
      return state;
    },
  };
}

type Spelling = {
  readonly write: (bytes: Buffer) => string;
  readonly read: (text: string) => Buffer;
};

const SPELLINGS: readonly [Spelling, ...Spelling[]] = [
  { write: (bytes) => bytes.toString('base64url'), read: (text) => Buffer.from(text, 'base64url') },
  { write: (bytes) => bytes.toString('base64'), read: (text) => Buffer.from(text, 'base64') },
  {
    write: (bytes) => bytes.toString('hex').toUpperCase(),
    read: (text) => Buffer.from(text, 'hex'),
  },
  {
    write: (bytes) => `list|${bytes.toString('base64')}&v=1`,
    read: (text) => Buffer.from(text.slice(5, -4), 'base64'),
  },
];

const TOKEN_TABLE = `
create table if not exists resumption_tokens (
  token text primary key,
  state text not null,
  expires_ms integer not null
) strict;
create index if not exists resumption_tokens_by_expiry on resumption_tokens (expires_ms);
`;

/**
 * Makes tokens of the deployed service's form: 32 upper-case hexadecimal digits for a stored state
 * (B-TOKEN-8).
 */
export function makeStoredTokens(database: Database): Tokens {
  database.exec(TOKEN_TABLE);
  return {
    issue: (state, expiresMs) => {
      const text = JSON.stringify(state);
      const token = createHash('md5').update(`${text}${expiresMs}`).digest('hex').toUpperCase();
      database
        .prepare(
          'insert or replace into resumption_tokens (token, state, expires_ms) values (?, ?, ?)',
        )
        .run(token, text, Math.floor(expiresMs));
      return token;
    },
    read: (token, nowMs) => {
      database.prepare('delete from resumption_tokens where expires_ms < ?').run(Math.floor(nowMs));
      const state = database
        .prepare('select state from resumption_tokens where token = ?')
        .pluck()
        .get(token);
      if (typeof state !== 'string') throw makeTokenError('the token is unknown or has expired');
      return JSON.parse(state);
    },
  };
}
