import { hash } from 'node:crypto';
import { join } from 'node:path';
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
} from '../base/disk/database.ts';
import { guardDatabase } from '../base/disk/database-file.ts';
import { packageRoot } from '../base/own-files.ts';
import { computeWatermarkMs, type HarvestPass } from './pass.ts';

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

/** Unlisted records that are kept, since they may still exist. */
export type UnconfirmedLosses = {
  readonly lost: number;
  /** 0: the list is empty, and no record is held. */
  readonly held: number;
  /** Identifiers of lost records that finds or the mapping use. */
  readonly inUse: readonly string[];
  /** First time at which the list lacked them, by the server's clock. */
  readonly sinceMs: number;
  /** Digest of their identifiers. */
  readonly digest: string;
};

/**
 * Database with the tables `harvests` and `seen_records`; see schemas/harvest and
 * schemas/vocabulary.
 */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

/** State of a harvest of one list, between pages and between runs; written inside `change`. */
export type HarvestState = ReturnType<typeof openStoredState>;

/**
 * Makes a state in one row of `harvests`.
 * @param nowMs this machine's clock
 */
export function openStoredState(tables: HarvestTables, harvest: number, nowMs: () => number) {
  const { sql, change } = tables;
  const getColumn = (column: string): unknown =>
    sql(`select ${column} from harvests where id = ?`).pluck().get(harvest);
  const getJson = (column: string) =>
    JSON.parse(parseValue(orNull(isText), getColumn(column)) ?? 'null') ?? undefined;
  return {
    ...makeStoredRecords(tables, harvest),
    /** Runs `work` in a transaction. */
    change,
    /** Returns the time since which changes must be requested; null before the first pass. */
    getWatermarkMs: (): number | null => parseValue(orNull(isNumber), getColumn('watermark_at')),
    /** Returns the pass under way; undefined where there is none. */
    getPass: (): HarvestPass | undefined => getJson('pass'),
    getLastScan: () => Number(getColumn('scans')),
    savePass: (pass: HarvestPass) => {
      const update = sql('update harvests set pass = ?, scans = ? where id = ?');
      update.run(JSON.stringify(pass), pass.scan, harvest);
    },
    complete: (pass: HarvestPass) => {
      const update = sql(
        `update harvests set watermark_at = ?, completed_at = ?, pass = null, observed_losses = null,
           full_scan = iif(?, scans, full_scan) where id = ?`,
      );
      const isFull = pass.kind === 'full' ? 1 : 0;
      update.run(computeWatermarkMs(pass), Math.floor(nowMs()), isFull, harvest);
    },
    /** Returns the unconfirmed losses of the last pass; undefined where there are none. */
    getUnconfirmedLosses: (): UnconfirmedLosses | undefined => getJson('observed_losses'),
    /** Ends the pass with unconfirmed losses: the next one reads everything. */
    endUnconfirmed: (losses: UnconfirmedLosses) => {
      const update = sql(
        'update harvests set watermark_at = null, pass = null, observed_losses = ? where id = ?',
      );
      update.run(JSON.stringify(losses), harvest);
    },
  };
}

const parseSeen = createRowParser({
  datestampMs: isNumber,
  digest: isText,
  scan: isNumber,
  skipped: isNumber,
});

/** Makes the part of a state in `seen_records`. */
function makeStoredRecords({ sql }: HarvestTables, harvest: number) {
  const count = (text: string, ...values: number[]) =>
    Number(
      sql(text)
        .pluck()
        .get(...values),
    );
  const list = (text: string, ...values: number[]) =>
    parseTexts(
      sql(text)
        .pluck()
        .all(...values),
    );
  return {
    findSeen: (identifier: string): SeenRecord | undefined => {
      const row = sql(
        `select datestamp_at as datestampMs, digest, scan, skipped from seen_records
           where harvest = ? and identifier = ?`,
      ).get(harvest, identifier);
      if (row === undefined) return undefined;
      const seen = parseSeen(row);
      return { ...seen, skipped: seen.skipped === 1 };
    },
    markSeen: (identifier: string, { datestampMs, digest, scan, skipped }: SeenRecord) => {
      const insert = sql(
        `insert or replace into seen_records
           (harvest, identifier, datestamp_at, digest, scan, skipped) values (?, ?, ?, ?, ?, ?)`,
      );
      insert.run(harvest, identifier, datestampMs, digest, scan, skipped ? 1 : 0);
    },
    /** Counts the records that the service should list: of the last full pass and later ones. */
    countListed: () =>
      count(
        `select count(*) from seen_records where harvest = ? and scan > 0
           and scan >= (select full_scan from harvests where id = harvest)`,
        harvest,
      ),
    countSeenIn: (scan: number) =>
      count('select count(*) from seen_records where harvest = ? and scan = ?', harvest, scan),
    listSeenIn: (scan: number) =>
      list('select identifier from seen_records where harvest = ? and scan = ?', harvest, scan),
    /** Returns what a scan did not see of the stored records, without skipped and tombstones. */
    listUnseenIn: (scan: number): readonly string[] =>
      list(
        `select identifier from seen_records where harvest = ? and scan > 0 and scan < ?
           and length(digest) > 0 and skipped = 0`,
        harvest,
        scan,
      ),
    listSkipped: () =>
      list('select identifier from seen_records where harvest = ? and skipped = 1', harvest),
    /** Tells if all seen datestamps are days, whatever granularity the service declares. */
    isStampedByDay: () =>
      count(
        `select exists (select 1 from seen_records where harvest = ? and datestamp_at > 0)
           and not exists (
             select 1 from seen_records where harvest = ? and datestamp_at % 86400000 <> 0)`,
        harvest,
        harvest,
      ) === 1,
  };
}

/** Makes a state that ends with this process. */
export function openMemoryState(): HarvestState {
  const database = openDatabase(':memory:', { synchronous: 'normal' });
  migrate(database, join(packageRoot, 'schemas', 'harvest'));
  const { sql } = guardDatabase(database, (thrown) => thrown);
  const id = Number(sql("insert into harvests (set_spec) values ('')").run().lastInsertRowid);
  return openStoredState({ sql, change: (work) => database.transaction(work)() }, id, () => 0);
}

const DIGEST_CHARACTERS = 16;

/** Returns the digest that change detection compares: 16 characters of the SHA-256 in base64. */
export function digestRecord(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64').slice(0, DIGEST_CHARACTERS);
}
