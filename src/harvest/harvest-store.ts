/**
 * Store of a harvest beside its output: what of the file is committed, and the state of each list.
 *
 * A page is appended to the output and to the open group. A group ends after 20 ms: the output is
 * flushed to disk first, then its length and the state are committed. After a kill, the next run
 * cuts the output to the committed length and requests the next page again.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  convertDatabaseErrors,
  createRowParser,
  type Database,
  guardDatabase,
  isNumber,
  isText,
  makeMemberGuard,
  migrateDatabase,
  openPreparedDatabase,
  orNull,
  toDatabaseError,
} from '../base/disk/database.ts';
import { FileError, UsageError } from '../base/errors.ts';
import { type Message, msg, t } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';

/** State of an append-only file, as the store has it. */
export type CommittedPart = {
  /** Bytes of committed pages; others may follow. */
  readonly lengthBytes: number;
  /** SHA-256 of these bytes; null where it is not known. */
  readonly digest: string | null;
  /** Size of the whole file when it was closed; null while it is open, and after a kill. */
  readonly closedBytes: number | null;
};

/** Open store of a harvest into a file. */
export type HarvestStore = ReturnType<typeof openHarvestStore>;

/** Equal to that in schemas/harvest. */
const APPLICATION_ID = 0x70617368;

/**
 * Another harvest into the same output holds the lock until it ends, so a longer wait is useless.
 */
const BUSY_TIMEOUT_MS = 500;

/**
 * Opens or creates the store at a path with an exclusive lock, until `close` or the end of the
 * process.
 * @throws DatabaseError where another process has the store open, or the file is unusable;
 * UsageError where it is a database of another program; DatabaseTooNewError
 */
export function openHarvestStore(path: string) {
  const options = {
    synchronous: 'normal',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    exclusive: true,
  } as const;
  const database = openPreparedDatabase(path, options, (opened) => {
    assertOurs(path, opened);
    migrateDatabase(opened, join(packageRoot, 'schemas', 'harvest'));
    // Takes the lock even where no migration was needed.
    opened.transaction(() => {}).immediate();
    // The library keeps 16 MB of pages in memory, and most records are looked up only once.
    opened.pragma('cache_size = -2000');
  });
  const file = statSync(path, { bigint: true });
  const { sql } = guardDatabase(database, (thrown) => toDatabaseError(path, thrown));
  return {
    path,
    sql,
    ...makeTransactions(path, database),
    /** Makes all commits survive a power cut, which otherwise loses the last ones. */
    flush: (): void => void sql('pragma wal_checkpoint(full)').all(),
    /** @throws FileError where the file was removed or replaced meanwhile */
    assertUnmodified: (): void => assertSameFile(path, file),
    close: (): void => void database.close(),
  };
}

/** Makes the functions of a store that change it, alone or in a group of changes. */
function makeTransactions(path: string, database: Database) {
  const execute = (text: string) => convertDatabaseErrors(path, () => database.exec(text));
  /** The output may have records that the dropped group lacks; they are written again. */
  const dropGroup = (): void => {
    if (database.inTransaction) execute('rollback');
  };
  const change = <T>(work: () => T): T =>
    convertDatabaseErrors(path, () => database.transaction(work).immediate());
  return {
    /**
     * Runs `work` in a transaction; inside a group it is a part of it that is undone alone.
     * @throws DatabaseError where the disk fails
     */
    change,
    /**
     * Runs `work` as `change`, in the open group of changes or in a new one. Where `work` fails,
     * the whole group is lost.
     */
    changeInGroup: <T>(work: () => T): T => {
      if (!database.inTransaction) execute('begin');
      try {
        return change(work);
      } catch (thrown) {
        dropGroup();
        throw thrown;
      }
    },
    /** Commits the open group after `prepare`; the group is lost where that fails. */
    commitGroup: async (prepare: () => Promise<void>): Promise<void> => {
      // A failed disk may have ended the group.
      if (!database.inTransaction) return;
      try {
        await prepare();
        execute('commit');
      } finally {
        dropGroup();
      }
    },
  };
}

/** An empty file is accepted: a killed process may have created it. */
function assertOurs(path: string, database: Database): void {
  if (database.pragma('application_id', { simple: true }) === APPLICATION_ID) return;
  if (database.prepare('select count(*) from sqlite_schema').pluck().get() === 0) return;
  throw new UsageError(t`${path} is a database of another program.`, {
    hint: t`Use another --out.`,
  });
}

// State of the output. Functions that write must run inside HarvestStore.change.

const parseCommittedPart = createRowParser({
  lengthBytes: isNumber,
  digest: orNull(isText),
  closedBytes: orNull(isNumber),
});

/** State of a new output. */
export const NOTHING_COMMITTED: CommittedPart = { lengthBytes: 0, digest: null, closedBytes: null };

/**
 * Returns the committed part of the output; {@link NOTHING_COMMITTED} before the first harvest.
 * @throws DatabaseError where the store is damaged
 */
export function getCommittedPart(store: HarvestStore): CommittedPart {
  const row = store
    .sql(`select length_bytes as lengthBytes, digest, closed_bytes as closedBytes from outputs`)
    .get();
  return row === undefined ? NOTHING_COMMITTED : parseCommittedPart(row);
}

/** Stores the committed part of the output, whose subject must be stored already. */
export function storeCommittedPart(store: HarvestStore, part: CommittedPart): void {
  store
    .sql(
      `update outputs set length_bytes = :lengthBytes, digest = :digest, closed_bytes = :closedBytes`,
    )
    .run(part);
}

/**
 * Deletes what the store knows of the output and its records, so that the next pass of each set
 * reads all; the output itself stays as it is.
 */
export function resetOutputState(store: HarvestStore): void {
  store.sql('delete from seen_records').run();
  store.sql('update harvests set watermark_at = null, pass = null').run();
  storeCommittedPart(store, NOTHING_COMMITTED);
}

/** Subject of a harvest into one output, and its account. One output has one subject. */
export type RecordHarvestSubject = ReturnType<typeof parseSubject>;
const parseSubject = createRowParser({
  oaiBase: isText,
  /** Schema version of the endpoint. */
  version: isText,
  /** Sorted, separated by a space; empty for everything. */
  sets: isText,
  format: isText,
  /** As the user wrote it; empty for no bound. */
  fromBound: isText,
  untilBound: isText,
  /** Empty for anonymous. The content of a record depends on it. */
  account: isText,
  form: makeMemberGuard(['jsonl', 'xml'] as const),
});

const LABELS: Readonly<Record<keyof RecordHarvestSubject, Message>> = {
  oaiBase: msg`interface`,
  version: msg`schema version`,
  sets: msg`set`,
  format: msg`format`,
  fromBound: '--from',
  untilBound: '--until',
  account: msg`account`,
  form: msg`output form`,
};

/**
 * Returns of what the output is a harvest; undefined before the first one.
 * @throws DatabaseError where the store is damaged
 */
export function getOutputSubject(store: HarvestStore): RecordHarvestSubject | undefined {
  const row = store
    .sql(
      `select oai_base as oaiBase, version, sets, format, from_bound as fromBound, until_bound as untilBound, account, form
       from outputs`,
    )
    .get();
  return row === undefined ? undefined : parseSubject(row);
}

/**
 * Stores the subject of an output for which no record was harvested yet; for any other output,
 * asserts that it has this subject. Must run inside {@link HarvestStore.change}.
 * @param output path, for the error
 * @throws UsageError with the first part of the subject that differs
 */
export function storeOrAssertSubject(
  store: HarvestStore,
  subject: RecordHarvestSubject,
  output: string,
): void {
  const stored = isUntouched(store) ? undefined : getOutputSubject(store);
  if (stored === undefined) {
    store.sql('delete from harvests').run();
    store
      .sql(
        `insert or replace into outputs (id, oai_base, version, sets, format, from_bound, until_bound, account, form)
         values (1, :oaiBase, :version, :sets, :format, :fromBound, :untilBound, :account, :form)`,
      )
      .run(subject);
    return;
  }
  const differing = (Object.keys(LABELS) as (keyof RecordHarvestSubject)[]).find(
    (key) => stored[key] !== subject[key],
  );
  if (differing === undefined) return;
  const was = stored[differing] || t`none`;
  const is = subject[differing] || t`none`;
  const label = LABELS[differing];
  throw new UsageError(t`${output} contains another harvest: its ${label} is ${was}, not ${is}.`, {
    hint: t`Use the same flags as before to continue it, or another --out.`,
  });
}

/** Tells if no record was harvested into the output yet, as where the service refused. */
function isUntouched(store: HarvestStore): boolean {
  const touched = store.sql(
    `select exists (select 1 from harvests where watermark_at is not null or pass ->> '$.seen' > 0)
       or exists (select 1 from seen_records)`,
  );
  return touched.pluck().get() === 0;
}

/**
 * Returns the id of the row of a set in `harvests`; a missing row is inserted. Must run inside
 * {@link HarvestStore.change}.
 */
export function getOrCreateHarvest(store: HarvestStore, setSpec: string): number {
  store.sql('insert or ignore into harvests (set_spec) values (?)').run(setSpec);
  return Number(store.sql('select id from harvests where set_spec = ?').pluck().get(setSpec));
}

/** Returns the number of different records in the output, of all sets, deleted ones included. */
export function countStoredRecords(store: HarvestStore): number {
  return Number(
    store
      .sql('select count(distinct identifier) from seen_records where length(digest) > 0')
      .pluck()
      .get(),
  );
}

/**
 * Asserts that a path still leads to the opened file; on Windows nothing is checked.
 * @throws FileError where the opened file was removed or replaced
 */
export function assertSameFile(path: string, { dev, ino }: BigIntStats): void {
  // Windows does not allow replacing an open file, and its network drives change file numbers.
  if (process.platform === 'win32') return;
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (there?.dev === dev && there.ino === ino) return;
  throw makeModifiedFileError(path);
}

/**
 * Makes the error of a file that another program changed, removed or replaced; a person must
 * decide.
 */
export function makeModifiedFileError(path: string): FileError {
  return new FileError(path, t`${path} was changed, removed or replaced by another program.`, {
    hint: t`Add --verify to repair it from the service, or give another --out.`,
  });
}
