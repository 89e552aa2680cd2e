import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import { assertSameFile, type Extent } from '../store/append-file.ts';
import {
  asDatabaseError,
  createRowGuard,
  createRowParser,
  type Database,
  type Guarded,
  isNumber,
  isText,
  makeMemberGuard,
  migrate,
  openDatabase,
  orNull,
  type Statement,
} from '../store/database.ts';
import type { FileStanding } from '../store/file-folder.ts';

/** Open ledger of a harvest into a file; all functions of this module work on it. */
export type Ledger = {
  readonly path: string;
  sql(text: string): Statement;
  /** Runs `work` in a transaction. @throws DatabaseError where the disk fails */
  change<T>(work: () => T): T;
  /**
   * Begins a group, unless one is open: its changes are committed together by `commitGroup`, or
   * lost by `dropGroup`.
   */
  beginGroup(): void;
  isInGroup(): boolean;
  commitGroup(): void;
  dropGroup(): void;
  /** @throws FileError where the file was removed or replaced meanwhile */
  assertUnmodified(): void;
  close(): void;
};

/** Equal to that in schemas/harvest. */
const APPLICATION_ID = 0x70617368;

/**
 * Another harvest into the same output holds the lock until it ends, so a longer wait is useless.
 */
const BUSY_TIMEOUT_MS = 500;

/**
 * Opens or creates the ledger with an exclusive lock, which ends with the process.
 * @throws DatabaseError when another process has it open, or the file is unusable; UsageError when
 * it is another program's database; DatabaseTooNewError
 */
export function openLedger(path: string): Ledger {
  const database = openDatabase(path, {
    synchronous: 'normal',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    exclusive: true,
  });
  try {
    if (!asDatabaseError(path, () => isOurs(database))) {
      throw new UsageError(t`${path} is a database of another program.`, {
        hint: t`Use another --out.`,
      });
    }
    asDatabaseError(path, () => {
      migrate(database, join(packageRoot, 'schemas', 'harvest'));
      // Takes the lock even where no migration was needed.
      database.transaction(() => {}).immediate();
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  const opened = statSync(path, { bigint: true });
  const statements = new Map<string, Statement>();
  return {
    path,
    sql: (text) => {
      const statement = statements.get(text) ?? asDatabaseError(path, () => database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
    change: (work) => asDatabaseError(path, () => database.transaction(work).immediate()),
    beginGroup: () => {
      if (!database.inTransaction) asDatabaseError(path, () => database.exec('begin'));
    },
    isInGroup: () => database.inTransaction,
    commitGroup: () => {
      asDatabaseError(path, () => database.exec('commit'));
    },
    dropGroup: () => {
      if (database.inTransaction) asDatabaseError(path, () => database.exec('rollback'));
    },
    assertUnmodified: () => assertSameFile(path, opened),
    close: () => database.close(),
  };
}

/** An empty file is accepted: a killed process may have created it. */
function isOurs(database: Database): boolean {
  if (database.pragma('application_id', { simple: true }) === APPLICATION_ID) return true;
  return database.prepare('select count(*) from sqlite_schema').pluck().get() === 0;
}

/**
 * State of the output in the ledger. Functions that write must run inside {@link Ledger.change}.
 */

const parseExtent = createRowParser({ lengthBytes: isNumber, digest: orNull(isText) });

/** Returns the committed length in bytes and digest of the output; 0 and null for a new one. */
export function readExtent(ledger: Ledger): Extent {
  const row = ledger.sql('select length_bytes as lengthBytes, digest from outputs').get();
  if (row === undefined) return { lengthBytes: 0, digest: null };
  const { lengthBytes, digest } = parseExtent(row);
  return { lengthBytes, digest: JSON.parse(digest ?? 'null') };
}

export function saveExtent(ledger: Ledger, { lengthBytes, digest }: Extent): void {
  ledger
    .sql('update outputs set length_bytes = ?, digest = ?')
    .run(lengthBytes, JSON.stringify(digest));
}

/** Returns the checkpoint that the last run saved; undefined where it did not finish. */
export function readCheckpoint(ledger: Ledger): unknown {
  const text = ledger.sql('select checkpoint from outputs').pluck().get();
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}

export function saveCheckpoint(ledger: Ledger, checkpoint: unknown): void {
  ledger.sql('update outputs set checkpoint = ?').run(JSON.stringify(checkpoint));
}

/**
 * Deletes the checkpoint of the last run: from now on, output that the ledger lacks counts as pas's
 * own. The flush of the WAL makes this survive a power cut, which loses the last commits. Must run
 * outside {@link Ledger.change}.
 */
export function deleteCheckpoint(ledger: Ledger): void {
  ledger.change(() => ledger.sql('update outputs set checkpoint = null').run());
  ledger.sql('pragma wal_checkpoint(full)').all();
}

/**
 * Deletes records, files, extent and checkpoint from the ledger; the next pass of each set is
 * complete.
 */
export function resetOutput(ledger: Ledger): void {
  ledger.sql('delete from seen_records').run();
  ledger.sql('delete from files').run();
  invalidateWatermarks(ledger);
  withTrackingSuspended(ledger, () => ledger.sql('delete from records').run());
  ledger
    .sql('update outputs set length_bytes = 0, digest = null, checkpoint = null, edited = 0')
    .run();
}

/** Makes the next pass of each set a complete one. */
function invalidateWatermarks(ledger: Ledger): void {
  ledger.sql('update harvests set watermark_at = null, pass = null').run();
}

/**
 * Compares the rights of the account with the previous ones; where they differ, no list of changes
 * contains the difference, so all is read again.
 * @returns true if they differ
 */
export function updateRights(ledger: Ledger, rights: string): boolean {
  const before = ledger.sql('select rights from outputs').pluck().get();
  const differs = typeof before === 'string' && before !== rights;
  if (differs) invalidateWatermarks(ledger);
  ledger.sql('update outputs set rights = ?').run(rights);
  return differs;
}

/**
 * Sets whether stored records are verified against the service. A pass that did not verify from its
 * first page begins again.
 */
export function setVerifying(ledger: Ledger, verify: boolean): void {
  const is = verify ? 1 : 0;
  if (verify)
    ledger.sql('update harvests set pass = null where (select verifying from outputs) = 0').run();
  ledger.sql('update outputs set verifying = ?').run(is);
}

/**
 * Runs writes of pas; any other write into the table of records is marked by a trigger (see
 * schemas/harvest).
 */
export function withTrackingSuspended(ledger: Ledger, work: () => void): void {
  ledger.sql('update outputs set writing = 1').run();
  work();
  ledger.sql('update outputs set writing = 0').run();
}

/** Subject of a harvest into one output, and its account. One output has one subject. */
export type Subject = ReturnType<typeof parseSubject>;
const parseSubject = createRowParser({
  oaiBase: isText,
  /** Schema version of the endpoint; `newest` for the generic one. */
  version: isText,
  /** Sorted, separated by a space; empty for everything. */
  sets: isText,
  /** Complete records, or headers only. */
  verb: makeMemberGuard(['ListRecords', 'ListIdentifiers'] as const),
  format: isText,
  /** As the user wrote it; empty for no bound. */
  fromBound: isText,
  untilBound: isText,
  /** Empty for anonymous. The content of a record depends on it. */
  account: isText,
  form: isText,
});

const LABELS: Readonly<Record<keyof Subject, Message>> = {
  oaiBase: msg`interface`,
  version: msg`schema version`,
  sets: msg`set`,
  verb: msg`verb`,
  format: msg`format`,
  fromBound: '--from',
  untilBound: '--until',
  account: msg`account`,
  form: msg`output form`,
};

/** Returns the subject of the output; undefined before its first harvest. */
export function getSubject(ledger: Ledger): Subject | undefined {
  const row = ledger
    .sql(
      `select oai_base as oaiBase, version, sets, verb, format, from_bound as fromBound, until_bound as untilBound, account, form
       from outputs`,
    )
    .get();
  return row === undefined ? undefined : parseSubject(row);
}

/**
 * Stores the subject of a new output, or compares it with that of an existing one. Must run inside
 * {@link Ledger.change}.
 * @throws UsageError where the output has another subject
 */
export function assertSubject(ledger: Ledger, subject: Subject, output: string): void {
  const stored = isUntouched(ledger) ? undefined : getSubject(ledger);
  if (stored === undefined) {
    ledger.sql('delete from harvests').run();
    ledger
      .sql(
        `insert or replace into outputs (id, oai_base, version, sets, verb, format, from_bound, until_bound, account, form)
         values (1, :oaiBase, :version, :sets, :verb, :format, :fromBound, :untilBound, :account, :form)`,
      )
      .run(subject);
    return;
  }
  const [differing] = (Object.keys(LABELS) as (keyof Subject)[]).filter(
    (key) => stored[key] !== subject[key],
  );
  if (differing === undefined) return;
  const [was, is] = [stored[differing], subject[differing]].map((value) =>
    value === '' ? t`none` : value,
  );
  const label = LABELS[differing];
  throw new UsageError(t`${output} contains another harvest: its ${label} is ${was}, not ${is}.`, {
    hint: t`Use the same flags as before to continue it, or another --out.`,
  });
}

/**
 * Tells if no record was ever harvested into it, for example because the service refused; then its
 * subject may change.
 */
function isUntouched(ledger: Ledger): boolean {
  const touched = ledger.sql(
    `select exists (select 1 from harvests where watermark_at is not null or pass ->> '$.seen' > 0)
       or exists (select 1 from seen_records)`,
  );
  return touched.pluck().get() === 0;
}

/**
 * Returns the id of the harvest of a set, created on first use. Must run inside {@link
 * Ledger.change}.
 */
export function getOrCreateHarvest(ledger: Ledger, setSpec: string): number {
  ledger.sql('insert or ignore into harvests (set_spec) values (?)').run(setSpec);
  return Number(ledger.sql('select id from harvests where set_spec = ?').pluck().get(setSpec));
}

/** A row of `records`; see schemas/harvest. */
export type StoredRecord = Guarded<typeof isRecord>;
const isRecord = createRowGuard({
  ...{
    identifier: isText,
    datestamp: isText,
    sets: isText,
    deleted: makeMemberGuard([0, 1]),
    masked: makeMemberGuard([0, 1]),
  },
  ...{ metadata: orNull(isText), xml: isText },
});

const COLUMNS = [
  'identifier',
  'datestamp',
  'sets',
  'deleted',
  'masked',
  'metadata',
  'xml',
] as const;

/** Tells if the table has the record with equal values in all columns. */
export function hasRecord(ledger: Ledger, record: StoredRecord): boolean {
  const row = ledger
    .sql(`select ${COLUMNS.join(', ')} from records where identifier = ?`)
    .get(record.identifier);
  return isRecord(row) && COLUMNS.every((column) => row[column] === record[column]);
}

/** Counts the rows of the table; undefined where its triggers are missing. */
export function countRows(ledger: Ledger): number | undefined {
  const triggers = ledger.sql(
    `select count(*) from sqlite_master where type = 'trigger' and name in ('record_added', 'record_changed', 'record_removed')`,
  );
  return triggers.pluck().get() === 3
    ? Number(ledger.sql('select count(*) from records').pluck().get())
    : undefined;
}

/**
 * Tells if another program wrote into the table of records until {@link settleTable} resets the
 * mark.
 */
export function isEdited(ledger: Ledger): boolean {
  return ledger.sql('select edited from outputs').pluck().get() === 1;
}

/**
 * Resets the mark of foreign writes after a complete comparison. Must run inside {@link
 * Ledger.change}.
 */
export function settleTable(ledger: Ledger): void {
  ledger.sql('update outputs set edited = 0').run();
  const has = 'select 1 from records where records.identifier = seen_records.identifier';
  ledger
    .sql(`update seen_records set digest = '' where length(digest) > 0 and not exists (${has})`)
    .run();
}

/**
 * Deletes rows that the harvest did not write, and tombstones, which no list confirms. Must run
 * inside {@link Ledger.change}.
 */
export function removeForeign(ledger: Ledger): void {
  const unlisted =
    'identifier in (select identifier from seen_records group by identifier having max(scan) = 0)';
  ledger.sql(`delete from seen_records where ${unlisted}`).run();
  const seenQuery =
    'select 1 from seen_records as seen where seen.identifier = records.identifier and length(digest) > 0';
  ledger.sql(`delete from records where not exists (${seenQuery})`).run();
}

/** Inserts or replaces a row. Must run inside {@link Ledger.change}. */
export function saveRecord(ledger: Ledger, record: StoredRecord): void {
  ledger
    .sql(
      `insert into records (identifier, datestamp, sets, deleted, masked, metadata, xml)
       values (:identifier, :datestamp, :sets, :deleted, :masked, :metadata, :xml)
       on conflict (identifier) do update set datestamp = excluded.datestamp, sets = excluded.sets,
         deleted = excluded.deleted, masked = excluded.masked, metadata = excluded.metadata, xml = excluded.xml`,
    )
    .run(record);
}

/** Counts the seen identifiers with a digest; a record that the output lacks has an empty one. */
export function countHeld(ledger: Ledger): number {
  return Number(
    ledger
      .sql('select count(distinct identifier) from seen_records where length(digest) > 0')
      .pluck()
      .get(),
  );
}

/**
 * Files of a folder of records, as they were written. Functions that write must run inside {@link
 * Ledger.change}.
 */

const parseFile = createRowParser({
  ...{ name: isText, identifier: isText, sizeBytes: isNumber, changedNs: isText, digest: isText },
});

export type StoredFile = FileStanding & { readonly name: string; readonly identifier: string };

export function saveFile(
  ledger: Ledger,
  { name, identifier, sizeBytes, changedNs, digest }: StoredFile,
): void {
  const insert =
    'insert or replace into files (name, identifier, size_bytes, changed_at, digest) values (?, ?, ?, ?, ?)';
  ledger.sql(insert).run(name, identifier, sizeBytes, changedNs, digest);
}

export function listStoredFiles(ledger: Ledger): StoredFile[] {
  const rows = ledger.sql(
    'select name, identifier, size_bytes as sizeBytes, changed_at as changedNs, digest from files',
  );
  return rows.all().map(parseFile);
}

/** Marks lost files to be requested one by one, until the service returns or deletes the record. */
export function requestAgain(ledger: Ledger, files: readonly StoredFile[]): void {
  for (const { name, identifier } of files) {
    ledger.sql('delete from files where name = ?').run(name);
    ledger
      .sql(`update seen_records set digest = '-', skipped = 1 where identifier = ?`)
      .run(identifier);
  }
}
