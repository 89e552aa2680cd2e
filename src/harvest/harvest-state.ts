import { hash } from 'node:crypto';
import { join } from 'node:path';
import {
  createRowParser,
  guardDatabase,
  isNumber,
  isText,
  migrate,
  openDatabase,
  orNull,
  parseTexts,
  parseValue,
  type Statement,
} from '../base/disk/database.ts';
import { t } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import { getSourceBytes, type XmlDocument } from '../base/xml/element.ts';
import type { ListPage } from './client.ts';
import { DAY_MS, type OaiRecord } from './protocol.ts';

/** Both bounds inclusive; null: none. */
export type HarvestWindow = { readonly fromMs: number | null; readonly untilMs: number | null };

/** Tells if the bounds exclude every time, so that nothing needs to be requested. */
export function isEmptyWindow({ fromMs, untilMs }: HarvestWindow): boolean {
  return fromMs !== null && untilMs !== null && fromMs > untilMs;
}

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
  /** Datestamp at which the list was continued without its token; null: it is read as a whole. */
  readonly cutMs: number | null;
};

const NEW_SCAN = { seen: 0, moved: false, token: null, pages: 0, cutMs: null } as const;

/** Makes a pass of which no page was read. */
export function makePass(
  beginning: Pick<HarvestPass, 'kind' | 'window' | 'beganMs' | 'localMs' | 'scan'>,
): HarvestPass {
  return { ...beginning, ...NEW_SCAN, listSize: null, agreed: null };
}

/**
 * Makes the pass before its next scan, of which no page was read.
 * @param agreed null where the scan did not reach the end of the list
 */
export function makeNextScan(pass: HarvestPass, agreed: number | null): HarvestPass {
  return { ...pass, ...NEW_SCAN, scan: pass.scan + 1, agreed };
}

/**
 * Returns the pass with the records of a page counted. `agreed` becomes null where a record that is
 * older than the pass was not in the scan before: then the two scans do not agree.
 */
export function withSightings(pass: HarvestPass, sightings: Sightings): HarvestPass {
  let { seen: seenCount, agreed } = pass;
  for (const { before, now } of sightings.values()) {
    if (before?.scan === pass.scan) continue;
    seenCount++;
    // The scan before did not see it, although it is older than the pass.
    if (before?.scan !== pass.scan - 1 && now.datestampMs < pass.beganMs) agreed = null;
  }
  return { ...pass, seen: seenCount, agreed };
}

/**
 * Returns the pass after a page of its list: with the next token, the number of pages, the count of
 * the service, and `moved` where a record came a second time, is as new as the pass, or the list
 * became shorter. {@link withSightings} counts the records.
 * @param overlapMs time before the pass in which a record may have appeared late in the index
 */
export function advancePass(
  pass: HarvestPass,
  { items, completeListSize, next, responseDateMs }: ListPage<OaiRecord>,
  sightings: Sightings,
  overlapMs: number,
): HarvestPass {
  const { cutMs, pages, scan } = pass;
  const beganMs = Math.min(pass.beganMs, responseDateMs);
  // The first page has no news: its records were there when the list was counted first.
  const hasNews =
    pages > 0 &&
    items.some(({ header }) => getEndOfDatestampMs(header.datestampMs) >= beganMs - overlapMs);
  // A rest begins with records of the datestamp at which it was cut.
  const hasMoved = [...sightings.values()].some(
    ({ before, now }) => before?.scan === scan && (cutMs === null || now.datestampMs < cutMs),
  );
  // The count of a rest is not that of the window.
  const counted = cutMs === null ? recountPass(pass, completeListSize) : pass;
  const moved = counted.moved || hasNews || hasMoved;
  return { ...counted, moved, beganMs, token: next ?? null, pages: pages + 1 };
}

/** Returns the pass after a count: a list that became shorter lost a record. */
export function recountPass(pass: HarvestPass, size: number | undefined): HarvestPass {
  if (size === undefined) return pass;
  const hasShrunk = pass.pages > 0 && size < (pass.listSize ?? 0);
  return { ...pass, listSize: size, moved: pass.moved || hasShrunk };
}

/** Tells if the scan has read the last page of the list. */
export function hasListEnded({ token, pages }: HarvestPass): boolean {
  return token === null && pages > 0;
}

/** Tells if the list had one page, so that no record could move between pages. */
export function isOnePage({ token, pages }: HarvestPass): boolean {
  return token === null && pages === 1;
}

/** Tells if counted records were not seen; false where the service does not count. */
export function isShort({ listSize, seen: seenCount }: HarvestPass): boolean {
  return listSize !== null && seenCount < listSize;
}

/**
 * Tells if a scan saw the list as it was at one moment; docs/harvesting.md has the rules. A count
 * alone does not show that a record was skipped where one left the list while another one came.
 * @param agreedNow scans in a row that agree, this one included
 */
export function isCompleteScan(pass: HarvestPass, agreedNow: number): boolean {
  const { listSize, seen: seenCount, moved } = pass;
  if (isShort(pass)) return false;
  if (isOnePage(pass)) return true;
  if (listSize === null) return agreedNow >= 2;
  return agreedNow >= 1 || (!moved && seenCount === listSize);
}

/** Returns the last millisecond that a datestamp may stand for: of its day where it has no time. */
export function getEndOfDatestampMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/** A clock that is further behind is ignored: the machine may have lost its time. */
const MAX_BEHIND_MS = 7 * DAY_MS;

/**
 * Returns the server time since which the next pass must request changes: the beginning of this
 * one, by the earlier of both clocks, since a server clock that was ahead would hide changes.
 */
export function computeWatermarkMs({ beganMs, localMs }: HarvestPass): number {
  return beganMs - localMs > MAX_BEHIND_MS ? beganMs : Math.min(beganMs, localMs);
}

/** Formats the name of a set for people; the empty one is everything. */
export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

/** Last seen version of a record. */
export type SeenRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Digest of the record's source; empty where none was stored. */
  readonly digest: string;
  /** Number of the last scan that saw it; {@link NO_SCAN} where it has a tombstone. */
  readonly scan: number;
  /** It could not be read. */
  readonly skipped: boolean;
};

/** No later pass marks a record of this scan again, and one that returns is new. */
export const NO_SCAN = 0;

/** A record as a page has it; several copies on one page count as one. */
export type Sighting = {
  readonly before: SeenRecord | undefined;
  readonly now: SeenRecord;
  /** Undefined for a record that is not stored. */
  readonly record?: OaiRecord;
  /** Reason for which the record was skipped. */
  readonly fault?: string;
};

/** Records of a page by identifier. */
export type Sightings = ReadonlyMap<string, Sighting>;

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
 * Database with the tables `harvests` and `seen_records` of schemas/harvest or schemas/vocabulary.
 */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

/** State of one list between two runs. */
type HarvestProgress = {
  /** Time since which changes must be requested; null: all must be. */
  readonly watermarkMs: number | null;
  /** When the last complete pass ended, by this machine's clock. */
  readonly completedMs: number | null;
  /** The pass under way. */
  readonly pass: HarvestPass | null;
  /** Number of the last scan. */
  readonly scan: number;
  /** Last scan of the last complete full pass: a record that it did not see is not listed. */
  readonly fullScan: number;
  /** Losses that the last pass found, and that are not confirmed; null for none. */
  readonly losses: UnconfirmedLosses | null;
};

const parseProgress = createRowParser({
  watermarkMs: orNull(isNumber),
  completedMs: orNull(isNumber),
  pass: orNull(isText),
  scan: isNumber,
  fullScan: isNumber,
  losses: orNull(isText),
});

const parseSeen = createRowParser({
  datestampMs: isNumber,
  digest: isText,
  scan: isNumber,
  skipped: isNumber,
});

/** State of a harvest of one list, between pages and between runs; written inside `change`. */
export type HarvestState = ReturnType<typeof openStoredState>;

/**
 * Opens the state of one list in the tables of a store, whose changes must run inside `change`.
 * Reading throws DatabaseError where a stored value is damaged.
 * @param harvest id of its row in `harvests`
 */
export function openStoredState(tables: HarvestTables, harvest: number) {
  const { sql, change } = tables;
  const getProgress = (): HarvestProgress => {
    const select = sql(
      `select watermark_at as watermarkMs, completed_at as completedMs, pass, scans as scan,
         full_scan as fullScan, observed_losses as losses from harvests where id = ?`,
    );
    const { pass, losses, ...columns } = parseProgress(select.get(harvest));
    return { ...columns, pass: JSON.parse(pass ?? 'null'), losses: JSON.parse(losses ?? 'null') };
  };
  const saveProgress = (changes: Partial<HarvestProgress>): void => {
    const { pass, losses, ...columns } = { ...getProgress(), ...changes };
    const update = sql(
      `update harvests set watermark_at = :watermarkMs, completed_at = :completedMs, pass = :pass,
         scans = :scan, full_scan = :fullScan, observed_losses = :losses where id = :harvest`,
    );
    const texts = { pass: pass && JSON.stringify(pass), losses: losses && JSON.stringify(losses) };
    update.run({ ...columns, ...texts, harvest });
  };
  return {
    ...makeStoredRecords(tables, harvest),
    /** Runs `work` in a transaction. */
    change,
    getProgress,
    saveProgress,
    savePass: (pass: HarvestPass) => saveProgress({ pass, scan: pass.scan }),
  };
}

/** Makes the part of a state in `seen_records`. */
function makeStoredRecords({ sql }: HarvestTables, harvest: number) {
  const list = (text: string, scan = 0): string[] =>
    parseTexts(sql(text).pluck().all({ harvest, scan }));
  const compute = (text: string, scan = 0): number | null =>
    parseValue(orNull(isNumber), sql(text).pluck().get({ harvest, scan }));
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
      compute(
        `select count(*) from seen_records where harvest = :harvest and scan > 0
           and scan >= (select full_scan from harvests where id = harvest)`,
      ),
    /** Returns the earliest datestamp that a scan saw; null where it saw no record. */
    findOldestSeenMs: (scan: number) =>
      compute(
        `select min(datestamp_at) from seen_records
           where harvest = :harvest and scan = :scan and length(digest) > 0`,
        scan,
      ),
    listSeenIn: (scan: number) =>
      list('select identifier from seen_records where harvest = :harvest and scan = :scan', scan),
    /** Returns what a scan did not see of the stored records, without skipped and tombstones. */
    listUnseenIn: (scan: number) =>
      list(
        `select identifier from seen_records where harvest = :harvest and scan > 0 and scan < :scan
           and length(digest) > 0 and skipped = 0`,
        scan,
      ),
    listSkipped: () =>
      list('select identifier from seen_records where harvest = :harvest and skipped = 1'),
    /** Tells if all seen datestamps are days, whatever granularity the service declares. */
    isStampedByDay: () =>
      compute(
        `select max(datestamp_at % 86400000) from seen_records
           where harvest = :harvest and datestamp_at > 0`,
      ) === 0,
  };
}

/**
 * Opens an empty state that ends with this process.
 * @throws DatabaseError where SQLite cannot be loaded
 */
export function openMemoryState(): HarvestState {
  const database = openDatabase(':memory:', { synchronous: 'normal' });
  migrate(database, join(packageRoot, 'schemas', 'harvest'));
  const { sql } = guardDatabase(database, (thrown) => thrown);
  const id = Number(sql("insert into harvests (set_spec) values ('')").run().lastInsertRowid);
  return openStoredState({ sql, change: (work) => database.transaction(work)() }, id);
}

const DIGEST_CHARACTERS = 16;

/** Returns the digest that change detection compares: 16 characters of the SHA-256 in base64. */
export function digestRecord(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64').slice(0, DIGEST_CHARACTERS);
}

/** Records of a page, without those that are skipped. */
export type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** Reasons by the identifier of the record that cannot be used. */
type RecordFaults = ReadonlyMap<string, string>;
/** Result of a store that can use every record. */
export const NO_FAULTS: RecordFaults = new Map();

/** Where the records of a list are stored: a file, the vocabulary, or the memory of one pull. */
export type RecordStore = {
  readonly state: HarvestState;
  /** Writes records outside the database of the state. Must be repeatable after a crash. */
  write?(page: RecordPage): Promise<void>;
  /**
   * Stores records, or that those written belong to the output; runs in the transaction that
   * commits the page.
   * @returns the faults of records that are seen again in each run until they can be used
   */
  commit(page: RecordPage): RecordFaults;
  /** Records of the list that are held; without it, only the count is compared. */
  readonly holdings?: {
    findLost(scan: number): Promise<Losses>;
    /**
     * Stores that records do not exist any more. Must be repeatable after a crash.
     * @returns the number of tombstones
     */
    deleteLost(lost: readonly string[], pass: HarvestPass): Promise<number>;
  };
};

/** Held records that a scan did not see. */
type Losses = {
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

/**
 * Compares the records of a page, or one alone, with those that are stored; nothing is written.
 */
export function comparePage(
  state: HarvestState,
  pass: HarvestPass,
  page: Pick<ListPage<OaiRecord>, 'document' | 'items'>,
): Sightings {
  const sightings = new Map<string, Sighting>();
  // A record that the service empties on purpose is not missing. Its earlier version stays in the
  // output.
  const fault = t`the service sent it without content`;
  for (const { header, lacksContent } of page.items) {
    if (!lacksContent) continue;
    const before = state.findSeen(header.identifier);
    const now = makeUnstored(before, { scan: pass.scan, skipped: true });
    sightings.set(header.identifier, { before, now, fault });
  }
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = sightings.get(identifier);
    const before = earlier === undefined ? state.findSeen(identifier) : earlier.before;
    const rival = earlier?.now ?? (before?.scan === pass.scan ? before : undefined);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs)
      sightings.set(identifier, earlier ?? { before, now: rival });
    // A request has whole seconds, so an answer may exceed its window.
    else if (datestampMs > (pass.window.untilMs ?? datestampMs))
      sightings.set(identifier, {
        before,
        now: makeUnstored(before, { scan: pass.scan, skipped: false }),
      });
    else {
      const digest = digestRecord(getSourceBytes(page.document, record.element));
      const now = { datestampMs, digest, scan: pass.scan, skipped: false };
      sightings.set(identifier, { before, now, record });
    }
  }
  return sightings;
}

/** Makes the record of a page whose version is not stored: the version before stays. */
function makeUnstored(
  before: SeenRecord | undefined,
  seen: Pick<SeenRecord, 'scan' | 'skipped'>,
): SeenRecord {
  const { datestampMs, digest } = before ?? { datestampMs: 0, digest: '' };
  return { datestampMs, digest, ...seen };
}

/**
 * Stores new and changed records of a page, and commits all its records in one transaction with the
 * pass after it: after a kill, the page is either complete or read again.
 * @param sightings of the page, by {@link comparePage}
 * @param pass the pass after the page
 * @returns the new and changed records, and the faults of those that the store cannot use
 * @throws errors of the store
 */
export async function storePage(
  store: RecordStore,
  document: XmlDocument,
  sightings: Sightings,
  pass: HarvestPass,
): Promise<{ readonly records: readonly OaiRecord[]; readonly faults: RecordFaults }> {
  const { state } = store;
  const seenRecords: OaiRecord[] = [];
  const records: OaiRecord[] = [];
  for (const { before, now, record } of sightings.values()) {
    if (record === undefined) continue;
    seenRecords.push(record);
    const isSame = before?.datestampMs === now.datestampMs && before.digest === now.digest;
    if (!isSame) records.push(record);
  }
  const page = { document, records, seenRecords };
  await store.write?.(page);
  const faults = state.change(() => {
    const found = store.commit(page);
    for (const [identifier, { now }] of sightings)
      state.markSeen(identifier, found.has(identifier) ? { ...now, skipped: true } : now);
    state.savePass(pass);
    return found;
  });
  return { records, faults };
}
