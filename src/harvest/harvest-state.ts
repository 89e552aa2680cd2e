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
import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { packageRoot } from '../base/own-files.ts';
import type { ListPage } from './client.ts';
import { DAY_MS, type OaiRecord, RUN_AGAIN } from './protocol.ts';

/** Both bounds inclusive; null: none. */
export type HarvestWindow = { readonly fromMs: number | null; readonly untilMs: number | null };

/**
 * Progress of a harvest of one list, as plain data that is stored with each page. A pass scans the
 * list until a scan is complete; a scan reads it from beginning to end, by its tokens. Times are by
 * the server's clock, in milliseconds since 1970 UTC.
 */
export type HarvestPass = {
  readonly kind: 'full' | 'changes';
  readonly window: HarvestWindow;
  /** Earliest server time that was read: a clock that was ahead must hide no change. */
  readonly beganMs: number;
  /** This machine's clock when the pass began. */
  readonly localMs: number;
  /** Last count of the window by the service; null where it does not count. */
  readonly listSize: number | null;

  /** Number of the scan; each seen record is stored with it. */
  readonly scan: number;
  /** Number of different records that the scan saw. */
  readonly seen: number;
  /** How many scans in a row before this one agreed; null where this one differs from the last. */
  readonly agreed: number | null;
  /** A record moved, left the list or may be new, so that the scan may have skipped another one. */
  readonly moved: boolean;

  /** Token of the next page; null before the first page and after the last. */
  readonly token: string | null;
  readonly pages: number;
  /** Datestamp of the last record while the newest come first; null in any other order. */
  readonly edgeMs: number | null;
  /** Datestamp at which the list was continued without its token; null: it is read as a whole. */
  readonly cutMs: number | null;
};

/** Later than any record: the edge of a list of which nothing was read. */
const NOTHING_READ_MS = Number.MAX_SAFE_INTEGER;

const NEW_SCAN = {
  seen: 0,
  moved: false,
  token: null,
  pages: 0,
  edgeMs: NOTHING_READ_MS,
  cutMs: null,
} as const;

type Beginning = Pick<HarvestPass, 'kind' | 'window' | 'beganMs' | 'localMs' | 'scan'>;

/** Makes a pass of which no page was read. */
export function makePass(beginning: Beginning): HarvestPass {
  return { ...beginning, ...NEW_SCAN, listSize: null, agreed: null };
}

/** @param agreed null where the scan did not reach the end of the list */
export function makeNextScan(pass: HarvestPass, agreed: number | null): HarvestPass {
  return { ...pass, ...NEW_SCAN, scan: pass.scan + 1, agreed };
}

/**
 * Continues after a refused token. Where the newest come first, with the last datestamp, which
 * several records may share, and only if a count can confirm it; otherwise from the beginning.
 */
export function continueWithoutToken(pass: HarvestPass): HarvestPass {
  const { edgeMs, window, listSize } = pass;
  const hasRest = edgeMs !== null && edgeMs !== NOTHING_READ_MS && edgeMs >= (window.fromMs ?? 0);
  if (!hasRest || listSize === null) return makeNextScan(pass, null);
  return { ...pass, token: null, cutMs: Math.min(edgeMs, window.untilMs ?? edgeMs) };
}

/**
 * Returns the pass after a page of its list, whose records are counted already.
 * @param againMs datestamps of records that the scan had seen before
 * @param overlapMs time before the pass in which a record may have appeared late in the index
 */
export function advancePass(
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  againMs: readonly number[],
  overlapMs: number,
): HarvestPass {
  const datestampsMs = page.items.map(({ header }) => header.datestampMs);
  const beganMs = Math.min(pass.beganMs, page.responseDateMs);
  // The first page has no news: its records were there when the list was counted first.
  const hasNews =
    pass.pages > 0 && datestampsMs.some((ms) => getEndOfDatestampMs(ms) >= beganMs - overlapMs);
  const hasMoved = againMs.some((ms) => pass.cutMs === null || ms < pass.cutMs);
  // The count of a rest is not that of the window.
  const listSize =
    pass.cutMs === null && (page.completeListSize !== undefined || pass.pages === 0)
      ? (page.completeListSize ?? null)
      : pass.listSize;
  const counted = recountPass(pass, listSize, page.next === undefined);
  return {
    ...counted,
    moved: counted.moved || hasNews || hasMoved,
    beganMs,
    token: page.next ?? null,
    pages: pass.pages + 1,
    edgeMs: findEdge(pass.edgeMs, datestampsMs),
  };
}

function findEdge(edgeMs: number | null, datestampsMs: readonly number[]): number | null {
  let lastMs = edgeMs;
  for (const datestampMs of datestampsMs) {
    if (lastMs === null || datestampMs > lastMs) return null;
    lastMs = datestampMs;
  }
  return lastMs;
}

/** Returns the pass after a count: a list that became shorter, or than what was seen, lost a record. */
export function recountPass(
  pass: HarvestPass,
  listSize: number | null,
  isAtEnd: boolean,
): HarvestPass {
  const counted = listSize ?? Number.POSITIVE_INFINITY;
  const hasShrunk = pass.pages > 0 && counted < (pass.listSize ?? 0);
  const hasLost = isAtEnd && counted < pass.seen;
  return { ...pass, listSize, moved: pass.moved || hasShrunk || hasLost };
}

export function hasListEnded({ token, pages }: HarvestPass): boolean {
  return token === null && pages > 0;
}

/** Tells if the list had one page, so that no record could move between pages. */
export function isOnePage({ token, pages }: HarvestPass): boolean {
  return token === null && pages === 1;
}

/** Tells if counted records were not seen; false where the service does not count. */
export function isShort({ listSize, seen }: HarvestPass): boolean {
  return listSize !== null && seen < listSize;
}

/** Tells if all counted records were seen; false where the service does not count. */
export function hasSeenAllRecords(pass: HarvestPass): boolean {
  return pass.listSize !== null && !isShort(pass);
}

/**
 * Tells if a scan saw the list as it was at one moment; docs/harvesting.md has the rules. A count
 * alone does not show that a record was skipped where one left the list while another one came.
 * @param agreed how many scans in a row saw the same records as the one before, and besides only
 * newer ones
 */
export function isCompleteScan(pass: HarvestPass, agreed: number): boolean {
  if (isShort(pass)) return false;
  const neededScans = pass.moved ? 1 : 0;
  return isOnePage(pass) || agreed >= (pass.listSize === null ? 2 : neededScans);
}

/** Returns the end of the day for a datestamp that is a day. */
export function getEndOfDatestampMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/** A clock that is further behind is ignored: the machine may have lost its time. */
const MAX_BEHIND_MS = 7 * DAY_MS;

/**
 * Returns the beginning of a pass by the earlier of both clocks: a server clock that was ahead
 * would hide changes.
 */
export function computeWatermarkMs({ beganMs, localMs }: HarvestPass): number {
  return beganMs - localMs > MAX_BEHIND_MS ? beganMs : Math.min(beganMs, localMs);
}

/** Returns the name of a set for people, also for the empty one, which is everything. */
export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

/** Makes the error `incomplete`, with the counts of the pass. */
export function makeIncompleteError(setSpec: string, pass: HarvestPass, reason: string): OaiError {
  const list = formatSetName(setSpec);
  const { listSize, seen: seenCount } = pass;
  const size = listSize ?? '?';
  return new OaiError(
    'incomplete',
    t`${list} is not complete: ${reason}. The service sent ${seenCount} records and counts ${size}.`,
    { hint: RUN_AGAIN },
  );
}

/**
 * Returns the reason for a full pass: while a server clock was ahead, a watermark may have skipped
 * changes.
 */
export function formatClockWentBack(
  setSpec: string,
  watermarkMs: number,
  serverNowMs: number,
): string {
  const was = new Date(watermarkMs).toISOString();
  const is = new Date(serverNowMs).toISOString();
  return t`${setSpec}: the service's clock went back from ${was} (last harvest) to ${is}, so everything is read again.`;
}

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
