import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { sha512Of } from '../../src/http/digest.ts';
import { openOutbox } from '../../src/outbox/open-outbox.ts';
import { type NamedService, nameServices, openService } from '../../src/outbox/services.ts';
import { type Database, openSqlite } from '../../src/store/database.ts';
import { manualClock } from './manual-clock.ts';
import { ADDRESS, type TempOutbox, tempFolder, USERNAME } from './temp-outbox.ts';

const SCHEMAS = join(packageRoot, 'schemas', 'outbox');

/**
 * An empty outbox as an earlier pas made it: every schema up to this number, such as 1 for the first release. Up to 9 entries hang on
 * the names of profiles.
 */
export function earlierOutbox(path: string, schema: number): Database {
  const database = openSqlite(path);
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = off');
  for (const name of readdirSync(SCHEMAS).sort()) {
    if (Number(name.slice(0, 6)) <= schema) database.exec(readFileSync(join(SCHEMAS, name), 'utf8'));
  }
  database.pragma(`user_version = ${schema}`);
  return database;
}

type OldEntry = {
  readonly id?: number;
  /** Local id of its find, which is made where there is none; null for a record that is not kept here. */
  readonly find: string | null;
  readonly profile: string;
  readonly kind: 'import' | 'number' | 'photo';
  readonly state: string;
  readonly identCely?: string | null;
  /** Of a photograph: which bytes it has. */
  readonly byte?: number;
  readonly value?: string;
  /** It was in an older copy that was put back: nobody knows whether it was sent since. */
  readonly isDoubted?: boolean;
};

/** Adds an entry as the pas of schema 9 kept it. @returns its row */
export function addOldEntry(database: Database, entry: OldEntry): number {
  const { id = null, find, profile, kind, state, identCely = null, byte = 1, value = '1', isDoubted = false } = entry;
  const findId = find === null ? null : oldFind(database, find);
  const document = kind === 'import' && state !== 'draft' ? Buffer.from(`<find>${find} for ${profile}</find>`) : null;
  const { lastInsertRowid } = database
    .prepare(
      `insert into entries (id, find_id, profile, kind, state, ident_cely, record_key, document, document_sha512, value, photo_name,
         photo_type, photo_sha512, photo_bytes, doubt_from_at, doubt_until_at, created_at, updated_at)
       values (:id, :findId, :profile, :kind, :state, :identCely, :recordKey, :document, :digest, :value, :photoName,
         :photoType, :photoDigest, :photoBytes, :from, :until, 1, 2)`,
    )
    .run({
      ...{ id, findId, profile, kind, state, identCely, document },
      recordKey: findId === null ? `record:${identCely}` : `find:${findId}`,
      digest: document === null ? null : sha512Of(document),
      value: kind === 'number' ? value : null,
      ...(kind === 'photo'
        ? { photoName: `${byte}.jpg`, photoType: 'image/jpeg', photoDigest: Buffer.alloc(64, byte), photoBytes: byte }
        : { photoName: null, photoType: null, photoDigest: null, photoBytes: null }),
      ...(isDoubted ? { from: 10, until: 20 } : { from: null, until: null }),
    });
  return Number(lastInsertRowid);
}

function oldFind(database: Database, localId: string): number {
  database
    .prepare('insert or ignore into finds (local_id, elements, created_at, updated_at) values (?, ?, 1, 1)')
    .run(localId, JSON.stringify({ poznamka: localId }));
  return database.prepare('select id from finds where local_id = ?').pluck().get(localId) as number;
}

export function addOldAttempt(database: Database, entryId: number, account: string | null = null): void {
  database
    .prepare(`insert into attempts (entry_id, started_at, ended_at, method, path, account) values (?, 5, 6, 'POST', '/x', ?)`)
    .run(entryId, account);
}

export const OTHER_ADDRESS = 'https://training.example.org';
export const EVA = { address: ADDRESS, username: USERNAME };
export const JAN = { address: ADDRESS, username: 'jan@example.org' };
/** Two profiles of one service, and one of another; a profile `gone` is none of them any more. */
export const PROFILES: readonly NamedService[] = [
  { profile: 'field', ...EVA },
  { profile: 'twin', ...JAN },
  { profile: 'training', address: OTHER_ADDRESS, username: USERNAME },
];

/** An outbox of the last pas that kept things under the names of profiles, brought up to date as the account of `field` sees it. */
export function broughtOn(fill: (old: Database) => void, profiles = PROFILES): TempOutbox {
  const path = join(tempFolder(), 'outbox.sqlite');
  const old = earlierOutbox(path, 9);
  fill(old);
  old.close();
  const outbox = openOutbox(path, manualClock());
  nameServices(outbox, profiles);
  return { ...openService(outbox, EVA), [Symbol.dispose]: () => outbox.close() };
}
