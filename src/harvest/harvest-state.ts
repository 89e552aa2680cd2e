import { hash } from 'node:crypto';
import { join } from 'node:path';
import {
  createRowParser,
  guardDatabase,
  isNumber,
  isText,
  migrateDatabase,
  openDatabase,
  orNull,
  parseTexts,
  parseValue,
  type Statement,
} from '../base/disk/database.ts';
import { packageRoot } from '../base/own-files.ts';
import { getSourceBytes, type XmlDocument } from '../base/xml/element.ts';
import type { ListPage } from './client.ts';
import { DAY_MS, getEndOfDatestampMs, type OaiRecord } from './protocol.ts';

/**
 * Progress of a harvest of one list, stored with each page. A pass scans the list until a scan is
 * complete; a scan reads it from beginning to end, by its tokens. Times are by the server's clock,
 * in milliseconds since 1970 UTC.
 */
export type HarvestPass = {
  readonly kind: 'full' | 'changes';
  /** Earliest server time that was read: a clock that was ahead must hide no change. */
  readonly beganMs: number;
  /** This machine's clock when the pass began. */
  readonly localMs: number;
  /** Last count of the list by the service; null where it does not count. */
  readonly listSize: number | null;

  /** Number of the scan; each seen record is stored with it. */
  readonly scan: number;
  /** Number of different records that the scan saw. */
  readonly seen: number;
  /** Each record so far, unless it is new, was seen by the scan before, which reached its end. */
  readonly agrees: boolean;
  /** A record moved, left the list or may be new, so that the scan may have skipped another one. */
  readonly moved: boolean;

  /** Token of the next page; null before the first page and after the last. */
  readonly token: string | null;
  readonly pages: number;
  /** Datestamp at which the list was continued without its token; null: it is read as a whole. */
  readonly cutMs: number | null;
};

type ScanProgress = Pick<
  HarvestPass,
  'scan' | 'seen' | 'agrees' | 'moved' | 'token' | 'pages' | 'cutMs'
>;

/**
 * Makes the part of a pass that begins anew with each scan.
 * @param agrees the scan before reached its end, so that this one is compared with it
 */
export function makeScanProgress(scan: number, agrees: boolean): ScanProgress {
  return { scan, seen: 0, agrees, moved: false, token: null, pages: 0, cutMs: null };
}

/** The list of a scan, or that of the changes since the pass began. */
export type ListKind = 'whole' | 'changes';

/**
 * Returns the pass with the records of a page counted. `moved` is set where a record has changed,
 * comes a second time in the list (not at its cut), is as new as the pass and not on the first
 * page, or only the list of changes has it; `agrees` becomes false where the scan before lacked a
 * record older than the pass.
 * @param overlapMs time before the pass in which a record may have appeared late in the index
 */
export function addSightings(
  pass: HarvestPass,
  sightings: Sightings,
  list: ListKind,
  overlapMs: number,
): HarvestPass {
  const { scan, beganMs, pages, cutMs } = pass;
  // A rest begins with records of the datestamp at which it was cut.
  const repeatsFromMs = list === 'changes' ? 0 : (cutMs ?? Number.POSITIVE_INFINITY);
  let { seen: seenCount, agrees, moved } = pass;
  for (const sighting of sightings.values()) {
    const { before, listedMs } = sighting;
    if (before?.scan === scan) {
      moved ||= listedMs < repeatsFromMs || !isSameVersion(sighting);
      continue;
    }
    seenCount++;
    const isNew = pages > 1 && getEndOfDatestampMs(listedMs) >= beganMs - overlapMs;
    moved ||= list === 'changes' || isNew;
    agrees &&= before?.scan === scan - 1 || listedMs >= beganMs;
  }
  return { ...pass, seen: seenCount, agrees, moved };
}

function isSameVersion({ before, now }: Sighting): boolean {
  return before?.datestampMs === now.datestampMs && before.digest === now.digest;
}

/** Returns the pass after a page of its list, with the count of the service and the next token. */
export function advancePass(
  pass: HarvestPass,
  { completeListSize, next, responseDateMs }: ListPage<OaiRecord>,
): HarvestPass {
  // The count of a rest is not that of the window.
  const counted = pass.cutMs === null ? recountPass(pass, completeListSize) : pass;
  const beganMs = Math.min(pass.beganMs, responseDateMs);
  return { ...counted, beganMs, token: next ?? null, pages: pass.pages + 1 };
}

/** Returns the pass with a new count, if any; `moved` is set where the list became shorter. */
export function recountPass(pass: HarvestPass, size: number | undefined): HarvestPass {
  if (size === undefined) return pass;
  const hasShrunk = pass.pages > 0 && size < (pass.listSize ?? 0);
  return { ...pass, listSize: size, moved: pass.moved || hasShrunk };
}

/** A clock that is further behind is ignored: the machine may have lost its time. */
const MAX_BEHIND_MS = 7 * DAY_MS;

/**
 * Returns the time from which the next pass must request changes: the earlier of both clocks when
 * this pass began, since a server's clock that was ahead would hide changes. A clock of this
 * machine that is over 7 days behind is ignored.
 */
export function computeWatermarkMs({ beganMs, localMs }: HarvestPass): number {
  return beganMs - localMs > MAX_BEHIND_MS ? beganMs : Math.min(beganMs, localMs);
}

/** Last seen version of a record. */
export type SeenRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Digest of the record's source; empty where none was stored. */
  readonly digest: string;
  /** Number of the last scan that saw it; {@link UNLISTED} where it is not on the list. */
  readonly scan: number;
  /** It could not be read. */
  readonly skipped: boolean;
};

/** Number in place of that of a scan, for a record that is not on the list; scans begin at 1. */
export const UNLISTED = 0;

/** State of one list between two runs. */
type HarvestProgress = {
  /** Time since which changes must be requested; null: all must be. */
  readonly watermarkMs: number | null;
  /** Rights of the account in the last run that knew them. */
  readonly rights: string | null;
  /** When the last complete pass ended, by this machine's clock. */
  readonly completedMs: number | null;
  /** The pass under way. */
  readonly pass: HarvestPass | null;
  /** Losses that the last pass found, and that are not confirmed; null for none. */
  readonly losses: UnconfirmedLosses | null;
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
 * Database with the tables `harvests` and `seen_records` of schemas/harvest or schemas/vocabulary.
 */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

const parseProgress = createRowParser({
  rights: orNull(isText),
  watermarkMs: orNull(isNumber),
  completedMs: orNull(isNumber),
  pass: orNull(isText),
  losses: orNull(isText),
});

const parseSeen = createRowParser({
  datestampMs: isNumber,
  digest: isText,
  scan: isNumber,
  skipped: isNumber,
});

/** State of a harvest of one list, between pages and between runs; written inside `change`. */
export type HarvestState = ReturnType<typeof makeStoredState>;

/**
 * Makes the state of one list in the tables of a store. What changes the state must run inside its
 * `change`; what reads throws DatabaseError where a stored value is damaged.
 * @param harvest id of the list's row in `harvests`
 */
export function makeStoredState(tables: HarvestTables, harvest: number) {
  return {
    ...makeStoredProgress(tables, harvest),
    ...makeStoredRecords(tables, harvest),
    /** Runs `work` in a transaction. */
    change: tables.change,
  };
}

/** Makes the part of a state in `harvests`; `saveProgress` leaves what it is not given. */
function makeStoredProgress({ sql }: HarvestTables, harvest: number) {
  const getProgress = (): HarvestProgress => {
    const select = sql(
      `select rights, watermark_at as watermarkMs, completed_at as completedMs, pass,
         observed_losses as losses from harvests where id = ?`,
    );
    const { pass, losses, ...columns } = parseProgress(select.get(harvest));
    return { ...columns, pass: JSON.parse(pass ?? 'null'), losses: JSON.parse(losses ?? 'null') };
  };
  return {
    getProgress,
    saveProgress: (changes: Partial<HarvestProgress>): void => {
      const { pass, losses, ...columns } = { ...getProgress(), ...changes };
      const update = sql(
        `update harvests set rights = :rights, watermark_at = :watermarkMs, completed_at = :completedMs,
           pass = :pass, observed_losses = :losses where id = :harvest`,
      );
      const passText = pass && JSON.stringify(pass);
      const lossesText = losses && JSON.stringify(losses);
      update.run({ ...columns, pass: passText, losses: lossesText, harvest });
    },
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
    /** Stores that what a complete scan did not see is not on the list. */
    markUnlisted: (scan: number) => {
      const update = sql('update seen_records set scan = 0 where harvest = ? and scan < ?');
      update.run(harvest, scan);
    },
    countListed: () =>
      compute('select count(*) from seen_records where harvest = :harvest and scan > 0'),
    /** Returns the number of the last scan that saw a record that is still listed. */
    getLastScan: () =>
      compute('select max(scan) from seen_records where harvest = :harvest') ?? UNLISTED,
    /** Returns the earliest datestamp of the stored records that a scan saw; null without any. */
    findOldestSeenMs: (scan: number) =>
      compute(
        `select min(datestamp_at) from seen_records
           where harvest = :harvest and scan = :scan and length(digest) > 0`,
        scan,
      ),
    listSeenIn: (scan: number) =>
      list('select identifier from seen_records where harvest = :harvest and scan = :scan', scan),
    /** Returns what a scan did not see of the stored records on the list. */
    listUnseenIn: (scan: number) =>
      list(
        `select identifier from seen_records where harvest = :harvest and scan > 0 and scan < :scan
           and length(digest) > 0`,
        scan,
      ),
    /** Returns the records on the list that could not be read. */
    listSkipped: () =>
      list(
        `select identifier from seen_records
           where harvest = :harvest and scan > 0 and skipped = 1`,
      ),
  };
}

/**
 * Opens an empty state that ends with this process.
 * @throws DatabaseError where SQLite cannot be loaded
 */
export function openStateInMemory(): HarvestState {
  const database = openDatabase(':memory:', { synchronous: 'normal' });
  migrateDatabase(database, join(packageRoot, 'schemas', 'harvest'));
  const { sql } = guardDatabase(database, (thrown) => thrown);
  const id = Number(sql("insert into harvests (set_spec) values ('')").run().lastInsertRowid);
  return makeStoredState({ sql, change: (work) => database.transaction(work)() }, id);
}

/** Records of a page, without those that are skipped. */
export type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** Where the records of a list are stored: a file, the vocabulary, or the memory of one pull. */
export type RecordStore = {
  readonly state: HarvestState;
  /** Writes records outside the database of the state. Must be repeatable after a crash. */
  write?(page: RecordPage): Promise<void>;
  /**
   * Stores records, or that those written belong to the output; runs in the transaction that
   * commits the page.
   * @returns identifiers of records that it cannot use, also of unchanged ones
   */
  commit(page: RecordPage): readonly string[];
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

/** A record as a page has it; several copies on one page count as one. */
type Sighting = {
  /** Datestamp in the list, also of a record that is not stored. */
  readonly listedMs: number;
  readonly before: SeenRecord | undefined;
  readonly now: SeenRecord;
  /** Undefined for a record that is not stored. */
  readonly record?: OaiRecord;
};

/** Records of a page by identifier. */
type Sightings = ReadonlyMap<string, Sighting>;

/** Records of one answer, and what they are compared with. */
export type ReadPage = {
  readonly document: XmlDocument;
  readonly items: readonly OaiRecord[];
  readonly scan: number;
  /** Later versions are not stored. */
  readonly untilMs: number | null;
};

/**
 * Stores the new and changed records of a page, and in one transaction marks all its records as
 * seen and saves the pass after it: after a kill, the page is either complete or read again. A
 * file's store groups pages, so a kill may undo the last ones.
 * @param advance makes the pass after the page from its records
 * @returns the new and changed records, and the pass after the page
 * @throws errors of the store
 */
export async function storePage(
  store: RecordStore,
  read: ReadPage,
  advance: (sightings: Sightings) => HarvestPass,
): Promise<{ readonly records: readonly OaiRecord[]; readonly pass: HarvestPass }> {
  const { state } = store;
  const sightings = comparePage(state, read);
  const seenRecords: OaiRecord[] = [];
  const records: OaiRecord[] = [];
  for (const sighting of sightings.values()) {
    const { record } = sighting;
    if (record === undefined) continue;
    seenRecords.push(record);
    if (!isSameVersion(sighting)) records.push(record);
  }
  const page = { document: read.document, records, seenRecords };
  await store.write?.(page);
  const pass = state.change(() => {
    const unusable = new Set(store.commit(page));
    for (const [identifier, { now }] of sightings)
      state.markSeen(identifier, unusable.has(identifier) ? { ...now, skipped: true } : now);
    const next = advance(sightings);
    state.saveProgress({ pass: next });
    return next;
  });
  return { records, pass };
}

const NOTHING_STORED = { datestampMs: 0, digest: '' };

/** Returns the records of a page by identifier, each beside the version that was seen before. */
function comparePage(state: HarvestState, { document, items, scan, untilMs }: ReadPage): Sightings {
  const sightings = new Map<string, Sighting>();
  for (const record of items) {
    const { identifier, datestampMs: listedMs, deleted } = record.header;
    const lacksContent = record.metadata === undefined && !deleted;
    const earlier = sightings.get(identifier);
    const before = earlier === undefined ? state.findSeen(identifier) : earlier.before;
    const rival = earlier?.now ?? before;
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival?.scan === scan && rival.datestampMs > listedMs)
      sightings.set(identifier, earlier ?? { listedMs, before, now: rival });
    // A record that the service empties on purpose is not missing. Its earlier version stays in the
    // output. And a request has whole seconds, so an answer may exceed its window.
    else if (lacksContent || listedMs > (untilMs ?? listedMs)) {
      const now = { ...NOTHING_STORED, ...before, scan, skipped: lacksContent };
      if (earlier?.record === undefined) sightings.set(identifier, { listedMs, before, now });
    } else {
      const digest = digestRecord(getSourceBytes(document, record.element));
      const now = { datestampMs: listedMs, digest, scan, skipped: false };
      sightings.set(identifier, { listedMs, before, now, record });
    }
  }
  return sightings;
}

const DIGEST_CHARACTERS = 16;

/** Returns the digest that change detection compares: 16 characters of the SHA-256 in base64. */
function digestRecord(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64').slice(0, DIGEST_CHARACTERS);
}
