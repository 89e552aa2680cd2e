import { hash } from 'node:crypto';
import { t } from '../base/language.ts';
import {
  createRowParser,
  isNumber,
  isText,
  orNull,
  parseTexts,
  parseValue,
  type Statement,
} from '../store/database.ts';
import { getSourceBytes, type XmlDocument } from '../xml/element.ts';
import type { ListPage } from './client.ts';
import { getWatermark, type HarvestPass, type HarvestWindow } from './pass.ts';
import { isDay, type OaiRecord } from './protocol.ts';

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
type ObservedLosses = {
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

/** Makes a state in memory, for a harvest that cannot be resumed by another process. */
export function makeMemoryState(): HarvestState {
  let pass: HarvestPass | undefined;
  let watermarkMs: number | null = null;
  let lastScan = 0;
  let fullScan = 0;
  let losses: ObservedLosses | undefined;
  let isByDay = false;
  const records = new Map<string, SeenRecord>();
  return {
    getWatermarkMs: () => watermarkMs,
    getPass: () => pass,
    savePass: (next) => {
      pass = next;
      lastScan = next.scan.number;
    },
    complete: () => {
      watermarkMs = pass === undefined ? null : getWatermark(pass);
      fullScan = pass?.kind === 'full' ? pass.scan.number : fullScan;
      [pass, losses] = [undefined, undefined];
    },
    getObservedLosses: () => losses,
    endUnconfirmed: (next) => {
      [watermarkMs, pass, losses] = [null, undefined, next];
    },
    countListed: () =>
      [...records.values()].filter(({ scan }) => scan > 0 && scan >= fullScan).length,
    isStampedByDay: () => isByDay,
    markDayGranularity: () => {
      isByDay = true;
    },
    getLastScan: () => lastScan,
    findSeen: (identifier) => records.get(identifier),
    markSeen: (identifier, { datestampMs, digest, scan, skipped }) =>
      records.set(identifier, { datestampMs, digest, scan, skipped }),
    listSkipped: () =>
      [...records].flatMap(([identifier, { skipped }]) => (skipped ? [identifier] : [])),
    listSeenIn: (scan) =>
      [...records].flatMap(([identifier, seenRecord]) =>
        seenRecord.scan === scan ? [identifier] : [],
      ),
    listUnseenIn: (scan) =>
      [...records].flatMap(([identifier, seenRecord]) =>
        isUnseen(seenRecord, scan) ? [identifier] : [],
      ),
    change: (work) => work(),
  };
}

function isUnseen({ scan, digest, skipped }: SeenRecord, currentScan: number): boolean {
  return scan > 0 && scan < currentScan && digest.length > 0 && !skipped;
}

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
        pass.scan.number,
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

type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** A destination for the records of a harvest. */
export type RecordSink = {
  /**
   * Writes the records of a page, before the page is committed. Must be repeatable after a crash.
   */
  write(page: RecordPage): Promise<void>;
  /**
   * Commits the written page as part of the output; runs in the transaction that commits its
   * records.
   */
  notePage(): void;
};

export type PageResult = {
  /** New or changed records that the sink has written. */
  readonly written: readonly OaiRecord[];
  /** Number of records that this scan had not seen before. */
  readonly newInScan: number;
  /** Reasons for which records were skipped, by identifier. */
  readonly faults: ReadonlyMap<string, string>;
  /** Identifiers of records of which this scan saw two versions with one datestamp. */
  readonly disputed: readonly string[];
};

type Occurrence = SeenRecord & {
  /** Undefined for a skipped record. */
  readonly record: OaiRecord | undefined;
  readonly isNews: boolean;
  readonly knownRecord: SeenRecord | undefined;
  readonly isDisputed: boolean;
};

/**
 * Writes new and changed records of a page to the sink, and commits all records of the page in one
 * transaction with `note`: after a kill, the page is either complete or read again.
 * @param note gets the datestamps of records that the scan had seen before
 */
export async function applyPage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  note: (pass: HarvestPass, againMs: readonly number[]) => HarvestPass = (noted) => noted,
): Promise<PageResult> {
  const { occurrences, againMs } = collectOccurrences(state, pass, page);
  const faults = new Map<string, string>();
  // A record that the service empties on purpose is not missing. Its earlier version stays in the
  // output.
  const empty = page.items.filter(({ lacksContent }) => lacksContent);
  const broken = [
    ...page.broken,
    ...empty.map(({ header }) => ({ identifier: header.identifier, reason: withoutContent() })),
  ];
  broken.forEach(({ identifier, reason }, index) => {
    const name = identifier ?? `${NAMELESS}${page.cursor ?? pass.walk.pages} ${index}`;
    // The page has the record with content, too.
    if (identifier !== undefined && occurrences.has(identifier)) return;
    occurrences.set(name, {
      ...makeLeftOut(state.findSeen(name), pass.scan.number),
      record: undefined,
      skipped: true,
    });
    faults.set(name, reason);
  });
  const { written, seenRecords, disputed, newInScan, newInPass, overlooked, changed } =
    sortOccurrences(pass, occurrences);
  const isByDay =
    page.items.some(({ header }) => isDay(header.datestamp)) && !state.isStampedByDay();
  await sink.write({ document: page.document, records: written, seenRecords });
  state.change(() => {
    sink.notePage();
    if (isByDay) state.markDayGranularity();
    for (const [identifier, occurrence] of occurrences) state.markSeen(identifier, occurrence);
    const { scan } = pass;
    const counted = {
      seen: scan.seen + newInScan,
      newRecords: scan.newRecords + newInPass,
      overlooked: scan.overlooked + overlooked,
      changed: scan.changed + changed,
    };
    state.savePass(
      note({ ...pass, seen: pass.seen + newInPass, scan: { ...scan, ...counted } }, againMs),
    );
  });
  return { written, newInScan, faults, disputed };
}

/**
 * Groups the records of a page by identifier, so that a record that is listed twice counts once.
 * @returns `againMs` datestamps of records that the scan had seen before
 */
function collectOccurrences(state: HarvestState, pass: HarvestPass, page: ListPage<OaiRecord>) {
  const occurrences = new Map<string, Occurrence>();
  const againMs: number[] = [];
  const scan = pass.scan.number;
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = occurrences.get(identifier);
    const knownRecord = earlier === undefined ? state.findSeen(identifier) : earlier.knownRecord;
    const rival = earlier ?? (knownRecord?.scan === scan ? knownRecord : undefined);
    if (rival !== undefined) againMs.push(datestampMs);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs) continue;
    if (!isWithin(pass.window, datestampMs)) {
      occurrences.set(identifier, {
        ...makeLeftOut(knownRecord, scan),
        record: undefined,
        skipped: false,
      });
      continue;
    }
    const digest = digestRecord(getSourceBytes(page.document, record.element));
    const isNews = knownRecord?.datestampMs !== datestampMs || knownRecord.digest !== digest;
    const isDisputed = rival?.datestampMs === datestampMs && rival.digest !== digest;
    occurrences.set(identifier, {
      record,
      datestampMs,
      digest,
      scan,
      isNews,
      isDisputed,
      knownRecord,
      skipped: false,
    });
  }
  return { occurrences, againMs };
}

/** Counts the records of a page by their relation to the pass and the scan. */
function sortOccurrences(
  { scan, firstScan, beganMs }: HarvestPass,
  occurrences: ReadonlyMap<string, Occurrence>,
) {
  const written: OaiRecord[] = [];
  const seenRecords: OaiRecord[] = [];
  const disputed: string[] = [];
  let newInScan = 0;
  let newInPass = 0;
  let overlooked = 0;
  let changed = 0;
  for (const [
    identifier,
    { record, datestampMs, knownRecord, isNews, isDisputed },
  ] of occurrences) {
    if (record !== undefined) seenRecords.push(record);
    if (record !== undefined && isNews) written.push(record);
    // Two versions with one datestamp are written, but count as no change.
    if (isDisputed) disputed.push(identifier);
    else if (isNews) changed++;
    const lastScan = knownRecord?.scan ?? 0;
    if (lastScan < scan.number) newInScan++;
    if (lastScan >= firstScan) continue;
    newInPass++;
    if (datestampMs < beganMs) overlooked++;
  }
  return { written, seenRecords, disputed, newInScan, newInPass, overlooked, changed };
}

/** Returns the reason for which a live record without content is skipped. */
function withoutContent(): string {
  return t`the service sent it without content`;
}

function makeLeftOut(knownRecord: SeenRecord | undefined, scan: number) {
  const { datestampMs, digest } = knownRecord ?? { datestampMs: 0, digest: '' };
  return { datestampMs, digest, scan, knownRecord, isNews: false, isDisputed: false };
}

/**
 * Tells if a datestamp is in the window: a request has whole seconds, so an answer may exceed it.
 */
function isWithin({ untilMs }: HarvestWindow, datestampMs: number): boolean {
  return untilMs === null || datestampMs <= untilMs;
}

/** Prefix of the generated key of a skipped record without a readable identifier. */
const NAMELESS = 'broken ';

/** Tells if a key of the state is a skipped record without an identifier. */
export function isUnidentified(name: string): boolean {
  return name.startsWith(NAMELESS);
}

const DIGEST_CHARACTERS = 16;

/** Returns the digest that change detection compares. */
export function digestRecord(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64').slice(0, DIGEST_CHARACTERS);
}
