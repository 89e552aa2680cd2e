import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import {
  createRowGuard,
  type Database,
  hasNewestSchema,
  isAnyRow,
  isNumber,
  isText,
  openSqlite,
  orNull,
  parseValue,
} from '../base/disk/database.ts';
import {
  assertUndamaged,
  copyDatabase,
  findFreeBackupPath,
  isSoundDatabase,
} from '../base/disk/database-file.ts';
import { DatabaseError, FileError, isDamageError, isSound } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import { storeQuestionsAboutAlikeFinds } from './alike-finds.ts';
import { rebuildEntries } from './append-facts.ts';
import { makeDamagedError, parseFact } from './facts.ts';
import { hasSoundContent, hasSoundDocument, INTENT_COLUMNS, type StoredIntent } from './intents.ts';
import { assertSoundLedger, assertSoundRows } from './ledger.ts';
import {
  findKnownAccount,
  type Outbox,
  openOutbox,
  readHeader,
  updateHeader,
} from './open-outbox.ts';
import { getPushPlace, type PushLockOptions, withPushLock } from './push-lock.ts';
import { countVisibleFinds } from './stored-finds.ts';
import { requestFullUnion, restoreIntentContents, uniteWithLedger } from './unite.ts';
import { countEntriesByState } from './views/outbox-status.ts';

/** Tables of every outbox; a file without them belongs to another program. */
const TABLES_OF_AN_OUTBOX = ['header', 'intents', 'facts', 'entries'];

/**
 * Copies a snapshot of the outbox to a file, in place of an older copy, and writes the time into
 * the header of the copy. A push may run meanwhile.
 * @throws DatabaseError where anything in the outbox is damaged; the older copy stays then
 */
export function backUpOutbox(outbox: Outbox, target: string): void {
  assertSoundOutbox(outbox);
  copyDatabase(outbox.path, target, (copy) => {
    copy.prepare('update header set copy_made_at = ?').run(outbox.clock.now());
  });
}

/**
 * Asserts that the table of entries agrees with its indexes, so that a push leaves no entry out. No
 * content is compared with its id.
 * @throws DatabaseError where the table is damaged
 */
export function assertSoundEntries({ path, sql }: Outbox): void {
  assertUndamaged(path, sql(`pragma integrity_check('entries')`));
}

/**
 * Asserts that an outbox is undamaged: its file, its header, and each fact and intent by its id.
 * @throws DatabaseError where anything is damaged
 */
export function assertSoundOutbox(outbox: Outbox): void {
  assertUndamaged(outbox.path, outbox.sql('pragma integrity_check(1)'));
  if (outbox.sql('pragma foreign_key_check').get() !== undefined)
    throw makeDamagedError(outbox.path, 'foreign_key');
  assertSoundRows(outbox.path, outbox.sql);
  readHeader(outbox);
}

/**
 * Removes facts, contents and documents that differ from what was written, and unreadable
 * questions and lookups. Where a fact is removed, all entries are, so that the caller must make
 * them again.
 */
function removeDamagedRows(outbox: Outbox) {
  return outbox.change(() => {
    const facts = outbox
      .sql('select seq as row, * from facts not indexed')
      .all()
      .filter((row) => !isSound(() => parseFact(outbox.path, row)))
      .map(parseNamed);
    const contents: Named[] = [];
    const documents: Named[] = [];
    for (const row of outbox
      .sql(`select row, ${INTENT_COLUMNS} from intents not indexed`)
      .iterate()) {
      const stored = row as StoredIntent;
      if (!hasSoundContent(stored)) contents.push(parseNamed(row));
      else if (!hasSoundDocument(stored)) documents.push(parseNamed(row));
    }
    // They refer to facts, and are made again.
    if (facts.length > 0) outbox.sql('delete from entries').run();
    for (const { row } of facts) outbox.sql('delete from facts where seq = ?').run(row);
    for (const column of ['held', 'lookup'])
      outbox.sql(`update entries set ${column} = null where not json_valid(${column})`).run();
    for (const { row } of contents)
      outbox.sql('update intents set content = null where row = ?').run(row);
    for (const { row } of [...contents, ...documents])
      outbox
        .sql('update intents set document = null, issues = null, prepared_id = null where row = ?')
        .run(row);
    return {
      /**
       * Finds or records of which a fact or the content of an intent was removed: the damage may be
       * in the subject, which the slot has as well.
       */
      subjects: [...facts, ...contents].flatMap(({ subject, slot }) => [
        subject,
        ...slot.split(' '),
      ]),
      /** Ids of intents without content now. */
      intents: contents.map(({ id }) => id),
    };
  });
}

const isNamed = createRowGuard({ row: isNumber, id: isText, subject: isText });
const hasSlot = createRowGuard({ slot: isText });

/** Parses what names a damaged row; its slot is '' where the row has none. */
function parseNamed(row: unknown) {
  return { ...parseValue(isNamed, row), slot: hasSlot(row) ? row.slot : '' };
}

type Named = ReturnType<typeof parseNamed>;

/**
 * Makes all entries again from the facts, in one transaction. Lookups, and questions that do not
 * follow from facts, are lost.
 */
export function rebuildAllEntries(outbox: Outbox): void {
  outbox.change(() => {
    const subjects = outbox.listTexts(
      'select subject from facts group by subject order by min(seq)',
    );
    outbox.sql('delete from entries').run();
    for (const subject of subjects) rebuildEntries(outbox, subject);
  });
}

/**
 * Copies a backup, verifies the copy and opens it, so that the backup itself stays unchanged.
 * @param draft path of the copy
 * @throws FileError where the backup is no outbox; DatabaseError where it is damaged;
 * DatabaseTooNewError where a newer pas wrote it
 */
export function openCopyOfBackup(file: string, draft: string, clock: Clock): Outbox {
  try {
    copyDatabase(file, draft, (copy) => {
      const tables = copy
        .prepare(`select name from sqlite_schema where type = 'table'`)
        .pluck()
        .all();
      if (TABLES_OF_AN_OUTBOX.every((name) => tables.includes(name))) return;
      throw new FileError(file, msg`${file} is a database, but not an outbox of pas.`, {
        hint: msg`Specify a file that ${cmd`pas backup`} created.`,
      });
    });
    return openSound(draft, clock);
  } catch (thrown) {
    throw isDamageError(thrown) ? makeDamagedBackupError(file, thrown) : thrown;
  }
}

function makeDamagedBackupError(file: string, cause: Error): DatabaseError {
  return new DatabaseError(msg`${file}: the backup is damaged.`, {
    cause,
    damaged: true,
    hint: msg`Restore an older backup.`,
  });
}

function openSound(path: string, clock: Clock): Outbox {
  const outbox = openOutbox(path, clock);
  try {
    assertSoundOutbox(outbox);
    return outbox;
  } catch (thrown) {
    outbox.close();
    throw thrown;
  }
}

const OUTBOX_CONTENT = [
  'entries',
  'facts',
  'intents',
  'account',
  'accepted_people',
  'unexplained',
  'pulled',
  'header',
] as const;

/**
 * Replaces the content of the outbox by that of another one of the same schema, in one transaction,
 * so that an interruption leaves the old or the new content. The caller holds the push lock.
 * @param from path of the other outbox
 * @param aside path of the copy of the old content, which is made first
 */
export function replaceOutboxContents(outbox: Outbox, from: string, aside: string): void {
  outbox.sql('attach database ? as brought').run(from);
  try {
    outbox.change(() => {
      // The transaction keeps other processes from writing, so the copy has everything that is
      // replaced.
      copyDatabase(outbox.path, aside);
      outbox.sql('pragma defer_foreign_keys = on').run();
      for (const table of OUTBOX_CONTENT) outbox.sql(`delete from main.${table}`).run();
      for (const table of [...OUTBOX_CONTENT].reverse()) {
        const columns = outbox
          .listTexts(`select name from pragma_table_info('${table}', 'main')`)
          .join(', ');
        outbox
          .sql(`insert into main.${table} (${columns}) select ${columns} from brought.${table}`)
          .run();
      }
    });
  } finally {
    outbox.sql('detach database brought').run();
  }
}

/** Tables whose rows a damaged file may still have; the caches are made again. */
const TRUTH = ['header', 'account', 'accepted_people', 'intents', 'facts'] as const;

/** Tells if SQLite finds no damage in the file, and its tables are those of an outbox. */
function isSoundOutboxFile(path: string): boolean {
  const folder = join(packageRoot, 'schemas', 'outbox');
  const hasSchema = () =>
    withDatabase(openSqlite(path, { readonly: true }), (file) => hasNewestSchema(file, folder));
  return isSoundDatabase(path) && isSound(hasSchema);
}

function withDatabase<T>(database: Database, work: (database: Database) => T): T {
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const isEntryRow = createRowGuard({ key: isText, uuid: isText, localId: orNull(isText) });

/** An entry of a find, by what stays when the cache is made again. */
type NamedEntry = { readonly key: string; readonly uuid: string; readonly localId: string };

/** Reads the table alone: a damaged index hides no entry. */
const ENTRY_ROWS = 'select key, subject as uuid, local_id as localId from entries not indexed';

/**
 * Returns the entries of finds among {@link ENTRY_ROWS}, each with the local id that its import
 * has. Rows that are damaged, and entries without an import, are left out.
 */
function parseEntriesOfFinds(rows: readonly unknown[]): NamedEntry[] {
  const entries = rows.filter(isEntryRow);
  const localIds = new Map(
    entries.flatMap(({ uuid, localId }) => (localId === null ? [] : [[uuid, localId]])),
  );
  return entries.flatMap(({ key, uuid }) => {
    const localId = localIds.get(uuid);
    return localId === undefined ? [] : { key, uuid, localId };
  });
}

/** Returns the entries of finds, also of removed ones. */
function listNamedEntries({ sql }: Outbox): NamedEntry[] {
  return parseEntriesOfFinds(sql(ENTRY_ROWS).all());
}

/**
 * Copies all rows that can still be read from a damaged file to a new outbox.
 * @returns the entries of its finds
 */
function salvageRows(path: string, outbox: Outbox): NamedEntry[] {
  return withDatabase(openSqlite(path, { readonly: true }), (from) => {
    // Whatever of the schema is damaged, the other tables stay readable.
    from.unsafeMode();
    from.pragma('writable_schema = on');
    outbox.change(() => {
      for (const table of TRUTH) copyRows(from, table, outbox);
    });
    return parseEntriesOfFinds(readFromBothEnds(from, ENTRY_ROWS));
  });
}

function copyRows(from: Database, table: string, { sql, listTexts }: Outbox): void {
  const rows = readFromBothEnds(from, `select * from ${table} not indexed`);
  const columns = listTexts(`select name from pragma_table_info('${table}')`);
  const insert = sql(
    `insert or replace into ${table} (${columns.join(', ')}) values (${columns.map((name) => `:${name}`).join(', ')})`,
  );
  for (const row of rows)
    try {
      insert.run(row);
    } catch {
      // A value that its column does not take is damaged: the row is left out.
    }
}

/** Returns most rows twice: a damaged page hides only its own ones. */
function readFromBothEnds(from: Database, query: string): unknown[] {
  return [query, `${query} order by rowid desc`].flatMap((each) => listReadableRows(from, each));
}

function listReadableRows(from: Database, query: string): unknown[] {
  const rows: unknown[] = [];
  try {
    for (const row of from.prepare(query).iterate()) if (isAnyRow(row)) rows.push(row);
  } catch {
    // The rows behind are on a damaged page, or the table itself is unknown.
  }
  return rows;
}

/**
 * Describes an outbox: its header, user and place, and counts of its finds and entries, without
 * those of removed finds.
 * @param machine identifier of this machine; empty where it has none
 */
export function describeOutbox(outbox: Outbox, machine: string) {
  const { accepted, dropped, ...unsent } = countEntriesByState(outbox);
  const unsentCount = Object.values(unsent).reduce((sum, count) => sum + count);
  const account = findKnownAccount(outbox);
  return {
    header: readHeader(outbox),
    /** User name or e-mail address of its account; undefined where none has signed in. */
    user: account?.username || account?.email,
    /** Undefined where the ledger is unusable. */
    place: outbox.ledger === undefined ? undefined : getPushPlace(outbox, machine),
    finds: countVisibleFinds(outbox),
    entries: unsentCount + accepted + dropped,
    accepted,
    /** Entries that are neither accepted nor dropped; the service may have some of them. */
    unsent: unsentCount,
  };
}

type Damaged = {
  readonly lock: PushLockOptions;
  readonly ledgerFile: string;
  readonly outboxFile: string;
  readonly clock: Clock;
  /** Opens or makes the outbox, without uniting it: what is damaged would end that. */
  open(): Outbox;
};

/**
 * Repairs outbox and ledger under the push lock: moves a damaged file aside and takes the readable
 * rows of the outbox, removes what differs from what was written, binds the outbox to the account
 * of its attempts, unites it with the ledger, and makes the entries again, with their questions
 * about alike finds.
 * @throws OutboxLeasedError during a push; DatabaseError where the disk fails
 */
export async function repairOutbox(options: Damaged) {
  const { lock, ledgerFile, outboxFile, clock, open } = options;
  return withPushLock(lock, async () => {
    const isSoundLedger = !existsSync(ledgerFile) || isSound(() => assertSoundLedger(ledgerFile));
    const ledgerAside = isSoundLedger ? undefined : setAside(ledgerFile, clock.now());
    const outboxAside = isSoundOutboxFile(outboxFile)
      ? undefined
      : setAside(outboxFile, clock.now());
    const outbox = open();
    const before =
      outboxAside === undefined ? listNamedEntries(outbox) : salvageRows(outboxAside, outbox);
    const { subjects, intents } = removeDamagedRows(outbox);
    // That of the attempts; without one, the next sign-in binds the outbox.
    const [account = null] = outbox.listTexts(
      `select distinct body ->> 'account' from facts where kind = 'attempted'`,
    );
    outbox.change(() => updateHeader(outbox, { account }));
    requestFullUnion(outbox);
    uniteWithLedger(outbox);
    restoreIntentContents(outbox, intents);
    rebuildAllEntries(outbox);
    // The caches had the questions.
    storeQuestionsAboutAlikeFinds(outbox, () => true);
    const getName = ({ uuid, key }: NamedEntry): string => `${uuid} ${key}`;
    const left = new Set(listNamedEntries(outbox).map(getName));
    const damaged = before.filter(
      (entry) => !left.has(getName(entry)) || subjects.includes(entry.uuid),
    );
    return {
      /** New path of a damaged ledger; undefined where it was sound. */
      ledgerAside,
      /** New path of the outbox, where its file is damaged. */
      outboxAside,
      /**
       * Local ids of finds of which something was removed, except documents: the next push makes
       * these again.
       */
      damaged: [...new Set(damaged.map(({ localId }) => localId))],
    };
  });
}

/** @returns the new path */
function setAside(path: string, nowMs: number): string {
  const aside = findFreeBackupPath(`${path.replace(/\.sqlite$/, '')}-damaged`, nowMs);
  for (const suffix of ['-wal', '-shm', ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}
