import { randomBytes } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { integer, nullable, object, text } from '../base/shape.ts';
import type { Archive } from './records/archive.ts';
import { type Body, getChild, getId, getList, getText } from './records/record.ts';
import type { SeedAccount } from './seed-content.ts';
import { makeStatementCache } from './statements.ts';

/** Accounts, and the tokens that were issued to them, by SQL that may run again. */
export const ACCOUNT_TABLES = `
create table if not exists accounts (
  username text primary key,
  email text not null unique,
  password text not null,
  user text not null,
  projects text
) strict;
create table if not exists tokens (
  token text primary key,
  user text not null unique,
  created_ms integer not null
) strict;
`;

/** Roles, and the accessibility letter that each may read (S-ROLE-2). */
export type Role = 'researcher' | 'archaeologist' | 'archivist' | 'administrator';
/** Name of the role group in `uzivatel` records and in answers. */
export const GROUP_OF_ROLE: Readonly<Record<Role, string>> = {
  researcher: 'Badatel',
  archaeologist: 'Archeolog',
  archivist: 'Archivář',
  administrator: 'Administrátor',
};
/** From the lowest to the highest. */
export const ROLES: readonly Role[] = ['researcher', 'archaeologist', 'archivist', 'administrator'];

/** An account, with the data of its `uzivatel` record. */
export type Account = {
  readonly username: string;
  readonly email: string;
  /** Identifier of the `uzivatel` record. */
  readonly user: string;
  readonly organisation: string | null;
  readonly active: boolean;
  /** Highest role among the account's groups; null where no group is a role. */
  readonly role: Role | null;
  /** Users with whom this account actively cooperates, above or below it. */
  readonly cooperatesWith: readonly string[];
  /**
   * Survey projects that its active cooperations list; undefined: all of the partners'
   * organisations.
   */
  readonly projects: readonly string[] | undefined;
};

/** Returns the lower-case names by which rules of the settings may refer to an account. */
export function listAccountNames({ email, username }: Account): readonly string[] {
  return [email.toLowerCase(), username.toLowerCase()];
}

const parseAccountRow = object({
  username: text(),
  email: text(),
  password: text(),
  user: text(),
  projects: nullable(text()),
});
type Row = ReturnType<typeof parseAccountRow>;
const parseTokenRow = object({ token: text(), user: text(), created_ms: integer({}) });

/** Account of a token that was issued, even if it is older than its lifetime. */
export type TokenState = { readonly account: Account; readonly expired: boolean };

/** Accounts with their passwords, which are stored in clear text for tests. */
export class Accounts {
  readonly #database: Database;
  readonly #prepare: (sql: string) => Statement;
  readonly #archive: Archive;
  readonly #now: () => number;

  constructor(database: Database, archive: Archive, now: () => number) {
    this.#database = database;
    this.#prepare = makeStatementCache(database);
    this.#archive = archive;
    this.#now = now;
  }

  add(account: SeedAccount): void {
    const email =
      getText(this.#archive.findLive('uzivatel', account.user)?.body['email']) ?? account.username;
    this.#prepare(
      'insert or replace into accounts (username, email, password, user, projects) values (?, ?, ?, ?, ?)',
    ).run(
      account.username,
      email,
      account.password,
      account.user,
      account.projects === undefined ? null : JSON.stringify(account.projects),
    );
  }

  /**
   * Returns the account, including deactivated ones, by user name or e-mail address, if the
   * password is right.
   */
  signIn(name: string, password: string): Account | undefined {
    const storedRow = this.#prepare(
      'select * from accounts where username = @name or email = @name collate nocase',
    ).get({
      name,
    });
    const row = storedRow === undefined ? undefined : parseAccountRow(storedRow);
    return row?.password === password ? this.#describe(row) : undefined;
  }

  findByUser(user: string): Account | undefined {
    const row = this.#prepare('select * from accounts where user = ?').get(user);
    return row === undefined ? undefined : this.#describe(parseAccountRow(row));
  }

  findByName(username: string): Account | undefined {
    return this.listAll().find((account) => account.username === username);
  }

  listAll(): Account[] {
    const rows = this.#prepare('select * from accounts order by username').all();
    return rows.map((row) => this.#describe(parseAccountRow(row)));
  }

  /**
   * Returns the account's one token while it is younger than `lifetimeMs`, else a new one
   * (A-AUTH-7).
   */
  issueToken(user: string, lifetimeMs: number): string {
    const row = this.#prepare('select * from tokens where user = ?').get(user);
    const present = row === undefined ? undefined : parseTokenRow(row);
    if (present !== undefined && this.#now() - present.created_ms < lifetimeMs)
      return present.token;
    const token = randomBytes(20).toString('hex');
    this.#prepare('insert or replace into tokens (token, user, created_ms) values (?, ?, ?)').run(
      token,
      user,
      Math.floor(this.#now()),
    );
    return token;
  }

  /** Returns the account of a token, and if it has expired; undefined for an unknown token. */
  findTokenState(token: string, lifetimeMs: number): TokenState | undefined {
    const storedRow = this.#prepare('select * from tokens where token = ?').get(token);
    const row = storedRow === undefined ? undefined : parseTokenRow(storedRow);
    const account = row === undefined ? undefined : this.findByUser(row.user);
    if (row === undefined || account === undefined) return undefined;
    return { account, expired: this.#now() - row.created_ms >= lifetimeMs };
  }

  /** Makes the account's token older than any lifetime. */
  expireToken(user: string): void {
    this.#prepare('update tokens set created_ms = 0 where user = ?').run(user);
  }

  clear(): void {
    this.#database.exec('delete from tokens; delete from accounts;');
  }

  #describe(row: Row): Account {
    const body = this.#archive.findLive('uzivatel', row.user)?.body ?? {};
    return {
      username: row.username,
      email: row.email,
      user: row.user,
      organisation: getId(body['organizace']) ?? null,
      active: getText(body['aktivni']) !== 'false',
      role: parseRole(body),
      cooperatesWith: [
        ...getList(body['spoluprace_nadrizeni']),
        ...getList(body['spoluprace_podrizeni']),
      ]
        .map((entry) => getChild(entry))
        .filter((entry) => getText(entry?.['stav']) === '2')
        .map((entry) => getId(entry?.['vedouci'] ?? entry?.['spolupracovnik']) ?? ''),
      projects: row.projects === null ? undefined : JSON.parse(row.projects),
    };
  }
}

function parseRole(body: Body): Role | null {
  const ranks = getList(body['skupina'])
    .map((group) => getText(group))
    .map((group) => ROLES.findIndex((role) => GROUP_OF_ROLE[role] === group));
  return ROLES[Math.max(-1, ...ranks)] ?? null;
}

/** Returns the place of a role among {@link ROLES}: 0 is the lowest. */
export function getRoleRank(role: Role): number {
  return ROLES.indexOf(role);
}
