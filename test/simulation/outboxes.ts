import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/base/disk/database.ts';
import { openDatabaseImage } from '../../src/base/disk/database-file.ts';
import {
  findOutboxName,
  listProfilesOfOutbox,
  readConfigFile,
} from '../../src/cli/context/config.ts';

import type { Profile } from './scenario.ts';

/** An entry as an outbox of a home has it. */
export type Entry = {
  /** UUID of its outbox, and the profile that shows that; none where no profile does any more. */
  readonly outbox: string;
  readonly profile: Profile | undefined;
  readonly id: number;
  readonly find: string;
  readonly kind: 'import' | 'number' | 'photo';
  readonly state: string;
  /** The question that a person must answer, and how strongly its candidates match. */
  readonly held: string | null;
  readonly matched: 'same' | 'near' | null;
  readonly isHidden: 0 | 1;
  readonly ident: string | null;
  readonly value: string | null;
  /** SHA-512 of a photograph. */
  readonly digest: string | null;
  readonly service: string;
  readonly attempts: number;
};

const ENTRIES = `select entries.id, coalesce((select finds.local_id from finds where uuid = subject), ident_cely) as find, kind, state, held ->> 'basis' as held, case when held is null then null when exists (select 1 from json_each(held, '$.candidates') where value ->> 'matched' = 'same') then 'same' else 'near' end as matched,
    exists (select 1 from finds where uuid = subject and finds.hidden = 1) as isHidden, entries.ident_cely as ident, entries.value as value,
    photograph ->> 'sha512' as digest, attempts,
    (select outbox from header) as outbox, (select address from header) as service
  from entries order by entries.id`;

/** Entries of all outboxes of a home. */
export function readEntries(home: string): Entry[] {
  return listFolders(home).flatMap((folder) => {
    const read = readOutbox<Omit<Entry, 'profile'>>(home, folder, ENTRIES);
    const profile = findProfile(home, folder);
    return read.map((entry) => ({ ...entry, profile }));
  });
}

/** Tells if every outbox with entries in a home was pushed: its header says from where. */
export function arePushed(home: string): boolean {
  const query = `select ledger <> '' or not exists (select 1 from entries) as isPushed from header`;
  return listFolders(home).every(
    (outbox) => readOutbox<{ isPushed: 0 | 1 }>(home, outbox, query)[0]?.isPushed === 1,
  );
}

/** The folders of a home that have an outbox. */
function listFolders(home: string): string[] {
  const folder = join(home, 'outboxes');
  return existsSync(folder)
    ? readdirSync(folder).filter(
        (name) => !name.includes('-') && existsSync(join(folder, name, 'outbox.sqlite')),
      )
    : [];
}

/** The UUIDs of the outboxes of a home, which tell a copy from another one. */
export function listOutboxes(home: string): string[] {
  return listFolders(home).flatMap((name) => readId(home, name));
}

function readId(home: string, name: string): string[] {
  return readOutbox<{ outbox: string }>(home, name, 'select outbox from header').map(
    ({ outbox }) => outbox,
  );
}

/** The name of the folder of a profile's outbox; empty where there is no such profile. */
export function getFolderName(home: string, profile: Profile): string {
  const config = join(home, 'config.toml');
  if (!existsSync(config)) return '';
  return findOutboxName(readConfigFile(config).profiles.get(profile) ?? {}) ?? '';
}

function findFolder(home: string, profile: Profile): string | undefined {
  const name = getFolderName(home, profile);
  return listFolders(home).find((each) => each === name);
}

/** The UUID of the outbox of a profile, where it has one. */
export function findOutbox(home: string, profile: Profile): string | undefined {
  const folder = findFolder(home, profile);
  return folder === undefined ? undefined : readId(home, folder)[0];
}

/** The profile that shows the outbox in a folder. */
function findProfile(home: string, folder: string): Profile | undefined {
  const config = join(home, 'config.toml');
  if (!existsSync(config)) return undefined;
  return listProfilesOfOutbox(readConfigFile(config), folder)[0] as Profile | undefined;
}

/** The id of the last command of a person that an outbox knows, after its words. */
export function readLastCommand(home: string, profile: Profile, words = '%'): string | undefined {
  const outbox = findFolder(home, profile);
  if (outbox === undefined) return undefined;
  const query = `select command from facts where command like '${words} %' order by seq desc limit 1`;
  return readOutbox<{ command: string }>(home, outbox, query)[0]?.command;
}

export function readDocument(home: string, find: string): Buffer | undefined {
  const query = `select document from finds join intents on intents.row = finds.intent
    where document is not null and local_id = '${find}'`;
  return listFolders(home).flatMap((outbox) =>
    readOutbox<{ document: Buffer }>(home, outbox, query),
  )[0]?.document;
}

function readOutbox<T>(home: string, outbox: string, query: string): T[] {
  const path = join(home, 'outboxes', outbox, 'outbox.sqlite');
  // Without data in its log its bytes are read, which is quicker.
  const database = existsSync(`${path}-wal`)
    ? openSqlite(path)
    : openDatabaseImage(path, readFileSync(path));
  try {
    // On a full disk a new outbox may have got no table yet.
    const hasTables = database.prepare('select 1 from sqlite_schema').get() !== undefined;
    return hasTables ? (database.prepare(query).all() as T[]) : [];
  } finally {
    database.close();
  }
}
