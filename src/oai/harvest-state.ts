import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import {
  createRowParser,
  isNumber,
  isText,
  migrate,
  openDatabase,
  orNull,
  parseTexts,
  parseValue,
  type Statement,
} from '../store/database.ts';
import { guardDatabase } from '../store/guarded-database.ts';
import { getWatermark, type HarvestPass } from './pass.ts';

/** Last seen version of a record. */
export type SeenRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Digest of the record's source; empty where none was stored. */
  readonly digest: string;
  /** Number of the last scan that saw it; 0 where it has a tombstone. */
  readonly scan: number;
  /** It could not be read. */
  readonly skipped: boolean;
};

/** Unlisted records that were not yet taken for deleted. */
export type ObservedLosses = {
  /** First time at which the list lacked them, by the server's clock. */
  readonly sinceMs: number;
  /** Digest of the missing identifiers; empty where the list was empty and nothing is stored. */
  readonly digest: string;
};

/**
 * State of a harvest between pages, and between runs where it is stored. Functions that write must
 * run inside `change`.
 */
export type HarvestState = {
  /**
   * Beginning of the last complete pass, by the server's clock; later changes must be requested.
   * Null before the first.
   */
  getWatermarkMs(): number | null;
  /** The pass under way; undefined when there is none. */
  getPass(): HarvestPass | undefined;
  savePass(pass: HarvestPass): void;
  /** Ends the pass as complete. */
  complete(): void;
  /** Returns the unconfirmed losses of the last pass; undefined where there are none. */
  getObservedLosses(): ObservedLosses | undefined;
  /** Ends the pass with unconfirmed losses: the next one reads everything. */
  endUnconfirmed(losses: ObservedLosses): void;
  /**
   * Counts the records that the service should list: those of the last full pass and later ones.
   */
  countListed(): number;
  /** Tells if a seen datestamp is a day, whatever granularity the service declares. */
  isStampedByDay(): boolean;
  markDayGranularity(): void;
  getLastScan(): number;
  findSeen(identifier: string): SeenRecord | undefined;
  markSeen(identifier: string, seenRecord: SeenRecord): void;
  /** Returns the identifiers of skipped records. */
  listSkipped(): string[];
  listSeenIn(scan: number): Iterable<string>;
  /**
   * Returns the identifiers of stored records that this scan did not see, without skipped ones and
   * tombstones.
   */
  listUnseenIn(scan: number): readonly string[];
  /** Runs `work` in a transaction. */
  change<T>(work: () => T): T;
};

/**
 * Database with the tables `harvests` and `seen_records`; see schemas/harvest and
 * schemas/vocabulary.
 */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

const parseSeen = createRowParser({
  datestampMs: isNumber,
  digest: isText,
  scan: isNumber,
  skipped: isNumber,
});

/**
 * Makes a state in one row of `harvests`.
 * @param nowMs this machine's clock
 */
export function makeStoredState(
  { sql, change }: HarvestTables,
  harvest: number,
  nowMs: () => number,
): HarvestState {
  const getColumn = (column: string): unknown =>
    sql(`select ${column} from harvests where id = ?`).pluck().get(harvest);
  const getPass = (): HarvestPass | undefined => {
    const text = getColumn('pass');
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  return {
    change,
    getWatermarkMs: () => parseValue(orNull(isNumber), getColumn('watermark_at')),
    getPass,
    savePass: (pass) =>
      sql('update harvests set pass = ?, scans = ? where id = ?').run(
        JSON.stringify(pass),
        pass.scan,
        harvest,
      ),
    complete: () => {
      const done = getPass();
      sql(
        `update harvests set watermark_at = ?, completed_at = ?, pass = null, observed_losses = null,
           full_scan = case when pass ->> '$.kind' = 'full' then scans else full_scan end where id = ?`,
      ).run(done === undefined ? null : getWatermark(done), Math.floor(nowMs()), harvest);
    },
    getObservedLosses: () => {
      const text = getColumn('observed_losses');
      return typeof text === 'string' ? JSON.parse(text) : undefined;
    },
    endUnconfirmed: (losses) =>
      sql(
        'update harvests set watermark_at = null, pass = null, observed_losses = ? where id = ?',
      ).run(JSON.stringify(losses), harvest),
    isStampedByDay: () => getColumn('by_day') === 1,
    markDayGranularity: () => sql('update harvests set by_day = 1 where id = ?').run(harvest),
    getLastScan: () => Number(getColumn('scans')),
    ...makeStoredRecords(sql, harvest),
  };
}

type RecordState = Pick<
  HarvestState,
  'countListed' | 'findSeen' | 'markSeen' | 'listSkipped' | 'listSeenIn' | 'listUnseenIn'
>;

/** Makes the part of a state in `seen_records`. */
function makeStoredRecords(sql: HarvestTables['sql'], harvest: number): RecordState {
  return {
    countListed: () =>
      Number(
        sql(
          `select count(*) from seen_records where harvest = :harvest and scan > 0
             and scan >= (select full_scan from harvests where id = :harvest)`,
        )
          .pluck()
          .get({ harvest }),
      ),
    findSeen: (identifier) => {
      const row = sql(
        'select datestamp_at as datestampMs, digest, scan, skipped from seen_records where harvest = ? and identifier = ?',
      ).get(harvest, identifier);
      if (row === undefined) return undefined;
      const seen = parseSeen(row);
      return { ...seen, skipped: seen.skipped === 1 };
    },
    markSeen: (identifier, { datestampMs, digest, scan, skipped }) =>
      sql(
        'insert or replace into seen_records (harvest, identifier, datestamp_at, digest, scan, skipped) values (?, ?, ?, ?, ?, ?)',
      ).run(harvest, identifier, datestampMs, digest, scan, skipped ? 1 : 0),
    listSkipped: () =>
      parseTexts(
        sql('select identifier from seen_records where harvest = ? and skipped = 1')
          .pluck()
          .all(harvest),
      ),
    *listSeenIn(scan) {
      const identifiers = sql(
        'select identifier from seen_records where harvest = ? and scan = ?',
      ).pluck();
      for (const identifier of identifiers.iterate(harvest, scan))
        yield parseValue(isText, identifier);
    },
    listUnseenIn: (scan) => {
      const identifiers = sql(
        `select identifier from seen_records where harvest = ? and scan > 0 and scan < ? and length(digest) > 0 and skipped = 0`,
      );
      return parseTexts(identifiers.pluck().all(harvest, scan));
    },
  };
}

/** Makes a state that ends with this process. */
export function makeMemoryState(): HarvestState {
  const database = openDatabase(':memory:', { synchronous: 'normal' });
  migrate(database, join(packageRoot, 'schemas', 'harvest'));
  const { sql } = guardDatabase(database, (thrown) => thrown);
  const id = Number(sql("insert into harvests (set_spec) values ('')").run().lastInsertRowid);
  return makeStoredState({ sql, change: (work) => database.transaction(work)() }, id, () => 0);
}
