import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { DatabaseError, isDamaged } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import {
  asDatabaseError,
  createRowGuard,
  createRowParser,
  type Database,
  type GuardedType,
  isNumber,
  isSchemaDamage,
  isText,
  migrate,
  openDatabase,
  openSqlite,
  parseTexts,
  parseValue,
  runTransaction,
} from '../store/database.ts';
import { makeBackupPath } from '../store/database-file.ts';
import { writePrivateFile } from '../store/files.ts';
import { lockForChange } from '../store/lock-file.ts';
import {
  type EventRow,
  type OutboxEvent,
  parseEvent,
  parseEventRow,
  parseNumberedEvent,
  serializeEvent,
} from './events.ts';

/** An attempt of another outbox in the journal. */
type EarlierAttempt = {
  readonly outbox: string;
  readonly entry: string;
  readonly localId: string | null;
  readonly digest: string | null;
  /** The resulting record; null where it is unknown. */
  readonly identCely: string | null;
  readonly at: number;
};

const parseEarlierOutbox = createRowParser({
  outbox: isText,
  attempts: isNumber,
  lastAt: isNumber,
});
export type EarlierOutbox = ReturnType<typeof parseEarlierOutbox>;

/**
 * This machine's copy of the events of its outboxes. Every function throws DatabaseError where the
 * disk fails.
 */
export type Journal = {
  readonly path: string;
  readonly id: string;
  /** Identifier of the machine that made it; empty where that has none. */
  readonly machine: string;
  /** Adds missing events; they are on disk when it returns. */
  append(events: readonly OutboxEvent[]): void;
  /**
   * Returns the id of the event with this sequence number, which distinguishes this journal from a
   * rebuilt one.
   */
  findEventAt(seq: number): string | undefined;
  has(id: string): boolean;
  /**
   * Returns the first events of an outbox after a sequence number, in the order in which they were
   * written.
   */
  listEventsSince(
    outbox: string,
    seq: number,
    limit?: number,
  ): { readonly seq: number; readonly event: OutboxEvent }[];
  isAnswered(attempt: OutboxEvent): boolean;
  /** Returns other outboxes with attempts of this account at this service. */
  listOtherOutboxes(account: string, address: string, except: string): EarlierOutbox[];
  /** Returns records that the service named in its answers to imports of these other outboxes. */
  listRecordsOfOthers(account: string, address: string, except: string): ReadonlySet<string>;
  /**
   * Returns imports that another outbox attempted with this account and digest, or with this
   * account and local id.
   */
  listEarlierAttempts(
    account: string,
    except: string,
    by: { readonly digest: string } | { readonly localId: string },
  ): EarlierAttempt[];
  /** Replaces the bodies of events, to remove documents that are no longer needed. */
  replaceBodies(events: readonly OutboxEvent[]): void;
  getSizeBytes(): number;
  close(): void;
};

type JournalOptions = {
  /** Returns the identifier of this machine; called when the journal is made. */
  readonly machine: () => string;
  readonly clock: Clock;
  /** Maximum wait for another process's write, in milliseconds. */
  readonly busyTimeoutMs?: number;
  /** Verifies the whole journal first, so that damage is found before anything is sent. */
  readonly isChecked?: boolean;
  /** Called with the path of the backup of a damaged journal. */
  readonly onSetAside?: (path: string) => void;
};

/**
 * Opens the journal, or creates it. A damaged one is renamed; its readable events are copied into a
 * new one with the same identity, and the outboxes add the rest at the next merge.
 * @throws DatabaseError where it cannot be opened or written; DatabaseTooNewError where a newer pas
 * wrote it; ConfigError where another process keeps rebuilding it
 */
export function openJournal(path: string, options: JournalOptions): Journal {
  const sound = openUndamaged(path, options);
  if (sound !== undefined) return sound;
  const lock = lockForChange(
    `${path}.lock`,
    options.clock,
    msg`${path}: another pas process is rebuilding the journal.`,
  );
  try {
    // Another process may have rebuilt it in the meantime: it must not be set aside again.
    const rebuilt = openUndamaged(path, options);
    if (rebuilt !== undefined) return rebuilt;
    rebuild(path, options);
    return openSound(path, options);
  } finally {
    lock.release();
  }
}

function openUndamaged(path: string, options: JournalOptions): Journal | undefined {
  try {
    return openChecked(path, options);
  } catch (thrown) {
    if (isDamaged(thrown)) return undefined;
    throw thrown;
  }
}

function openChecked(path: string, options: JournalOptions): Journal {
  const journal = openSound(path, options);
  try {
    if (options.isChecked === true) assertSoundJournal(journal);
    return journal;
  } catch (thrown) {
    journal.close();
    throw thrown;
  }
}

/** @throws DatabaseError with a damaged cause where SQLite or a checksum finds damage */
export function assertSoundJournal(journal: Journal): void {
  const check = openDatabase(journal.path, { synchronous: 'normal', readonly: true });
  try {
    reportSchemaDamage(journal.path, () => {
      const result = String(check.pragma('integrity_check(1)', { simple: true }));
      if (result !== 'ok') throw makeDamagedJournalError(journal.path, result);
      for (const row of check.prepare('select * from events not indexed').iterate())
        parseEvent(journal.path, row);
    });
  } finally {
    check.close();
  }
}

function makeDamagedJournalError(path: string, result: string, cause?: unknown): DatabaseError {
  return new DatabaseError(msg`${path}: the journal is damaged (${result}).`, {
    cause,
    damaged: true,
    hint: msg`Run the command again: the journal is moved aside and rebuilt from what can be read and from the outboxes.`,
  });
}

function openSound(path: string, { machine, busyTimeoutMs }: JournalOptions): Journal {
  // A commit must survive a power cut: otherwise an attempt could be lost.
  const database = openDatabase(path, {
    synchronous: 'full',
    busyTimeoutMs,
  });
  try {
    asDatabaseError(path, () => migrate(database, join(packageRoot, 'schemas', 'journal')));
    const identity = getOrCreateIdentity(path, database, machine);
    return reportSchemaDamage(path, () => withStatements(path, database, identity));
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Reports a table, column or JSON index that differs from the schema as damage. */
function reportSchemaDamage<T>(path: string, prepare: () => T): T {
  try {
    return asDatabaseError(path, prepare);
  } catch (thrown) {
    if (!isSchemaDamage(thrown)) throw thrown;
    throw makeDamagedJournalError(path, thrown.message, thrown);
  }
}

const isIdentity = createRowGuard({ journal: isText, machine: isText });
type Identity = GuardedType<typeof isIdentity>;

/** The identity is also stored in a file beside the journal, so that a rebuilt one keeps it. */
function getOrCreateIdentity(path: string, database: Database, machine: () => string): Identity {
  return reportSchemaDamage(path, () => {
    const read = database.prepare('select journal, machine from identity');
    const row = read.get();
    if (row !== undefined) return parseValue(isIdentity, row);
    const fileIdentity = readIdentity(path);
    database
      .prepare('insert or ignore into identity (only, journal, machine) values (1, ?, ?)')
      .run(fileIdentity?.journal ?? randomUUID(), fileIdentity?.machine ?? machine());
    const identity = parseValue(isIdentity, read.get());
    writePrivateFile(getIdentityFile(path), `${JSON.stringify(identity)}\n`);
    return identity;
  });
}

function getIdentityFile(path: string): string {
  return `${path.replace(/\.sqlite$/, '')}.id`;
}

function readIdentity(path: string): Identity | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(getIdentityFile(path), 'utf8'));
    return isIdentity(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** As a limit in SQLite. */
const ALL = -1;
const INSERT = `insert into events (seq, id, outbox, find, entry, position, kind, body, crc)
  values (:seq, :id, :outbox, :find, :entry, :position, :kind, :body, :crc) on conflict (id) do nothing`;

function withStatements(
  path: string,
  database: Database,
  { journal: id, machine }: Identity,
): Journal {
  const insert = database.prepare(INSERT);
  const at = database.prepare('select id from events where seq = ?').pluck();
  const since = database.prepare(
    'select * from events where outbox = ? and seq > ? order by seq limit ?',
  );
  const answer = database.prepare(
    `select 1 from events where entry = ? and kind = 'answered' and body ->> 'attempt' = ?`,
  );
  const replace = database.prepare('update events set body = :body, crc = :crc where id = :id');
  const selectEvent = database.prepare('select 1 from events where id = ?');
  const guard = <T>(work: () => T): T => asDatabaseError(path, work);
  return {
    path,
    id,
    machine,
    append: (events) =>
      guard(() => {
        if (events.length === 0) return;
        runTransaction(database, () => {
          for (const event of events) insert.run({ seq: null, ...serializeEvent(event) });
        });
      }),
    findEventAt: (seq) => guard(() => parseTexts(at.all(seq)).at(0)),
    has: (event) => guard(() => selectEvent.get(event) !== undefined),
    listEventsSince: (outbox, seq, limit = ALL) =>
      guard(() => since.all(outbox, seq, limit).map((row) => parseNumberedEvent(path, row))),
    isAnswered: (attempt) => guard(() => answer.get(attempt.entry, attempt.id) !== undefined),
    listOtherOutboxes: (account, address, except) =>
      guard(() => listOtherOutboxes(database, account, address, except)),
    listRecordsOfOthers: (account, address, except) =>
      guard(
        () =>
          new Set(
            parseTexts(
              database.prepare(RECORDS_OF_OTHERS).pluck().all({ account, address, except }),
            ),
          ),
      ),
    listEarlierAttempts: (account, except, by) =>
      guard(() => listEarlierAttempts(path, database, account, except, by)),
    replaceBodies: (events) =>
      guard(() => {
        runTransaction(database, () => {
          for (const event of events) replace.run(serializeEvent(event));
        });
      }),
    getSizeBytes: () =>
      ['', '-wal'].reduce(
        (sum, suffix) => sum + (statSync(`${path}${suffix}`, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    close: () => database.close(),
  };
}

/** Outboxes with this account at this service. */
const OTHERS = `outbox in (
  select outbox from events
  where kind = 'bound' and outbox <> :except and body ->> 'account' = :account and body ->> 'address' = :address)`;

const RECORDS_OF_OTHERS = `select distinct body ->> 'identCely' from events as answered
  where kind = 'answered' and body ->> 'settles' = 'accepted' and body ->> 'identCely' is not null and ${OTHERS} and exists (
    select 1 from events where entry = answered.entry and kind = 'attempted' and body ->> 'entryKind' = 'import')`;

function listOtherOutboxes(
  database: Database,
  account: string,
  address: string,
  except: string,
): EarlierOutbox[] {
  return database
    .prepare(
      `select outbox, count(*) as attempts, max(body ->> 'at') as lastAt from events
       where kind = 'attempted' and ${OTHERS} group by outbox order by lastAt desc`,
    )
    .all({ account, address, except })
    .map(parseEarlierOutbox);
}

function listEarlierAttempts(
  path: string,
  database: Database,
  account: string,
  except: string,
  by: { readonly digest: string } | { readonly localId: string },
): EarlierAttempt[] {
  const [column, value] = 'digest' in by ? ['digest', by.digest] : ['localId', by.localId];
  const rows = database
    .prepare(
      `select * from events where kind = 'attempted' and body ->> '${column}' = :value and outbox <> :except
         and body ->> 'entryKind' = 'import' and body ->> 'account' = :account order by seq`,
    )
    .all({ value, except, account });
  const record = database
    .prepare(
      `select body ->> 'identCely' from events where entry = ? and kind in ('answered', 'found', 'decided')
         and body ->> 'identCely' is not null order by seq desc limit 1`,
    )
    .pluck();
  return rows.flatMap((row): EarlierAttempt[] => {
    const { outbox, entry, kind, body } = parseEvent(path, row);
    if (kind !== 'attempted') return [];
    const identCely = record.get(entry);
    const { localId, digest, at } = body;
    return [
      {
        outbox,
        entry: entry ?? '',
        localId,
        digest,
        at,
        identCely: typeof identCely === 'string' ? identCely : null,
      },
    ];
  });
}

/**
 * Renames a damaged journal and copies its events under higher sequence numbers, so that all
 * outboxes merge again.
 */
function rebuild(path: string, options: JournalOptions): void {
  const aside = setAside(path, options.clock.now());
  options.onSetAside?.(aside);
  const { journal, machine } = readIdentity(path) ??
    readIdentityRow(aside) ?? { journal: randomUUID(), machine: options.machine() };
  writePrivateFile(getIdentityFile(path), `${JSON.stringify({ journal, machine })}\n`);
  const fresh = openSound(path, options);
  fresh.close();
  const database = openDatabase(path, { synchronous: 'full' });
  try {
    const insert = database.prepare(INSERT);
    let seq = Math.floor(options.clock.now());
    const copy = (): void => {
      for (const row of readReadableRows(aside)) insert.run({ ...row, seq: seq++ });
    };
    asDatabaseError(path, () => runTransaction(database, copy));
  } finally {
    database.close();
  }
}

function setAside(path: string, nowMs: number): string {
  const aside = makeBackupPath(`${path.replace(/\.sqlite$/, '')}-damaged`, nowMs);
  asDatabaseError(path, () => {
    for (const suffix of ['-wal', '-shm', ''])
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  });
  return aside;
}

function readIdentityRow(path: string): Identity | undefined {
  return attemptRead(path, (database) =>
    parseValue(isIdentity, database.prepare('select journal, machine from identity').get()),
  );
}

/**
 * Reads row by row from both ends, then by sequence number, since one damaged page must not lose
 * the others.
 */
function readReadableRows(path: string): EventRow[] {
  const seqs = [
    ...new Set(['asc', 'desc'].flatMap((direction) => readReadablePlaces(path, direction))),
  ].sort((a, b) => a - b);
  return (
    attemptRead(path, (database) => {
      const query = database.prepare('select * from events where seq = ?');
      return seqs.flatMap((seq) => {
        try {
          return parseEventRow(path, query.get(seq));
        } catch {
          return [];
        }
      });
    }) ?? []
  );
}

function readReadablePlaces(path: string, direction: string): number[] {
  const seqs: number[] = [];
  attemptRead(path, (database) => {
    const places = database
      .prepare(`select seq from events not indexed order by seq ${direction}`)
      .pluck()
      .iterate();
    for (const seq of places) seqs.push(parseValue(isNumber, seq));
  });
  return seqs;
}

function attemptRead<T>(path: string, work: (database: Database) => T): T | undefined {
  try {
    const database = openSqlite(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}
