import { hash } from 'node:crypto';
import { t } from '../base/language.ts';
import { createRowParser, isBytes, isNumber, isText, orNull, parseTexts, parseValue, type Statement } from '../store/database.ts';
import { getSourceBytes, type XmlDocument } from '../xml/element.ts';
import type { ListPage } from './client.ts';
import { getWatermark, type HarvestPass, type HarvestWindow } from './pass.ts';
import { isDay, type OaiRecord } from './protocol.ts';

/** A record as it was met last. */
export type SeenRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Digest of the record's source; empty where none was stored. */
  readonly digest: Buffer;
  /** The last look that met it; 0 where it was marked as vanished since. */
  readonly look: number;
  /** It was left out since it could not be read. */
  readonly skipped: boolean;
};

/** Losses that were not believed at once. */
type Doubt = {
  /** When a list was first met without them, by the server's clock. */
  readonly sinceMs: number;
  /** Digest of the missing identifiers; empty where the list was empty and nothing is stored. */
  readonly digest: string;
};

/** State of a harvest between pages, and between runs where it is stored. Functions that write must run inside `change`. */
export type HarvestState = {
  /** When the last complete pass began, by the server's clock: what changed since is still to be asked for. */
  getWatermarkMs(): number | null;
  /** The pass under way; undefined when there is none. */
  getPass(): HarvestPass | undefined;
  savePass(pass: HarvestPass): void;
  /** Ends the pass: what is kept is complete as of the moment at which it began. */
  complete(): void;
  /** Returns the losses that the last pass did not believe; undefined where there are none. */
  getDoubt(): Doubt | undefined;
  /** Ends the pass without believing it: the next one reads everything again. */
  endInDoubt(doubt: Doubt): void;
  /** Counts the records that the service should list: those of the last full pass, and later ones. */
  countListed(): number;
  /** A datestamp that was met is a day, whatever the service says of its datestamps. */
  isStampedByDay(): boolean;
  markDayGranularity(): void;
  /** Number of the last look of all. */
  getLastLook(): number;
  findSeen(identifier: string): SeenRecord | undefined;
  markSeen(identifier: string, seenRecord: SeenRecord): void;
  /** Identifiers of what was left out and not read since. */
  listSkipped(): string[];
  /** Identifiers of all that a look met. */
  listMetIn(look: number): Iterable<string>;
  /** Identifiers of what is kept, was met before that look and not in it, nor left out, nor marked as vanished. */
  listUnmetIn(look: number): readonly string[];
  /** All of `work` or nothing. */
  change<T>(work: () => T): T;
};

/** Remembers for as long as it is held. */
export function makeMemoryState(): HarvestState {
  let pass: HarvestPass | undefined;
  let watermarkMs: number | null = null;
  let [lastLook, fullLook] = [0, 0];
  let doubt: Doubt | undefined;
  let isByDay = false;
  const records = new Map<string, SeenRecord>();
  return {
    getWatermarkMs: () => watermarkMs,
    getPass: () => pass,
    savePass: (next) => {
      pass = next;
      lastLook = next.look.number;
    },
    complete: () => {
      watermarkMs = pass === undefined ? null : getWatermark(pass);
      fullLook = pass?.kind === 'full' ? pass.look.number : fullLook;
      [pass, doubt] = [undefined, undefined];
    },
    getDoubt: () => doubt,
    endInDoubt: (next) => {
      [watermarkMs, pass, doubt] = [null, undefined, next];
    },
    countListed: () => [...records.values()].filter(({ look }) => look > 0 && look >= fullLook).length,
    isStampedByDay: () => isByDay,
    markDayGranularity: () => {
      isByDay = true;
    },
    getLastLook: () => lastLook,
    findSeen: (identifier) => records.get(identifier),
    markSeen: (identifier, { datestampMs, digest, look, skipped }) =>
      records.set(identifier, { datestampMs, digest, look, skipped }),
    listSkipped: () => [...records].flatMap(([identifier, { skipped }]) => (skipped ? [identifier] : [])),
    listMetIn: (look) => [...records].flatMap(([identifier, seenRecord]) => (seenRecord.look === look ? [identifier] : [])),
    listUnmetIn: (look) => [...records].flatMap(([identifier, seenRecord]) => (isUnmet(seenRecord, look) ? [identifier] : [])),
    change: (work) => work(),
  };
}

function isUnmet({ look, digest, skipped }: SeenRecord, inLook: number): boolean {
  return look > 0 && look < inLook && digest.length > 0 && !skipped;
}

/** A database with the tables `harvests` and `met_records`, as schemas/harvest and schemas/vocabulary have them. */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

const parseSeen = createRowParser({ datestampMs: isNumber, digest: isBytes, look: isNumber, skipped: isNumber });

/** Remembers in one row of `harvests`. @param nowMs this machine's clock */
export function makeStoredState({ sql, change }: HarvestTables, harvest: number, nowMs: () => number): HarvestState {
  const getColumn = (column: string): unknown => sql(`select ${column} from harvests where id = ?`).pluck().get(harvest);
  const getPass = (): HarvestPass | undefined => {
    const text = getColumn('pass');
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  return {
    change,
    getWatermarkMs: () => parseValue(orNull(isNumber), getColumn('watermark_at')),
    getPass,
    savePass: (pass) =>
      sql('update harvests set pass = ?, looks = ? where id = ?').run(JSON.stringify(pass), pass.look.number, harvest),
    complete: () => {
      const done = getPass();
      sql(
        `update harvests set watermark_at = ?, completed_at = ?, pass = null, doubt = null,
           full_look = case when pass ->> '$.kind' = 'full' then looks else full_look end where id = ?`,
      ).run(done === undefined ? null : getWatermark(done), Math.floor(nowMs()), harvest);
    },
    getDoubt: () => {
      const text = getColumn('doubt');
      return typeof text === 'string' ? JSON.parse(text) : undefined;
    },
    endInDoubt: (doubt) =>
      sql('update harvests set watermark_at = null, pass = null, doubt = ? where id = ?').run(JSON.stringify(doubt), harvest),
    countListed: () =>
      Number(
        sql(
          `select count(*) from met_records where harvest = :harvest and look > 0
             and look >= (select full_look from harvests where id = :harvest)`,
        )
          .pluck()
          .get({ harvest }),
      ),
    isStampedByDay: () => getColumn('by_day') === 1,
    markDayGranularity: () => sql('update harvests set by_day = 1 where id = ?').run(harvest),
    getLastLook: () => Number(getColumn('looks')),
    findSeen: (identifier) => {
      const row = sql(
        'select datestamp_at as datestampMs, digest, look, skipped from met_records where harvest = ? and identifier = ?',
      ).get(harvest, identifier);
      if (row === undefined) return undefined;
      const seen = parseSeen(row);
      return { ...seen, skipped: seen.skipped === 1 };
    },
    markSeen: (identifier, { datestampMs, digest, look, skipped }) =>
      sql(
        'insert or replace into met_records (harvest, identifier, datestamp_at, digest, look, skipped) values (?, ?, ?, ?, ?, ?)',
      ).run(harvest, identifier, datestampMs, digest, look, skipped ? 1 : 0),
    listSkipped: () =>
      parseTexts(sql('select identifier from met_records where harvest = ? and skipped = 1').pluck().all(harvest)),
    *listMetIn(look) {
      const identifiers = sql('select identifier from met_records where harvest = ? and look = ?').pluck();
      for (const identifier of identifiers.iterate(harvest, look)) yield parseValue(isText, identifier);
    },
    listUnmetIn: (look) => {
      const identifiers = sql(
        `select identifier from met_records where harvest = ? and look > 0 and look < ? and length(digest) > 0 and skipped = 0`,
      );
      return parseTexts(identifiers.pluck().all(harvest, look));
    },
  };
}

/** The records of a page for a sink. */
type RecordPage = {
  readonly document: XmlDocument;
  /** New, or otherwise than it was met before. */
  readonly records: readonly OaiRecord[];
  /** Those, and the unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** A destination for the records of a harvest. */
export type RecordSink = {
  /** Writes the records of a page before the page is noted. A repetition after a crash must do no harm. */
  write(page: RecordPage): Promise<void>;
  /** Notes that the written page is part of the output, in the change of the ledger that notes its records. */
  notePage(): void;
};

export type PageResult = {
  /** New or changed records, which went into the sink. */
  readonly written: readonly OaiRecord[];
  /** Records that this look had not met before. */
  readonly newInLook: number;
  /** Reasons for which records were left out, by identifier. */
  readonly faults: ReadonlyMap<string, string>;
  /** Identifiers of records of which this look met two versions with one datestamp. */
  readonly disputed: readonly string[];
};

type Occurrence = SeenRecord & {
  /** The record to keep; undefined where nothing of it is kept. */
  readonly record: OaiRecord | undefined;
  readonly isNews: boolean;
  readonly knownRecord: SeenRecord | undefined;
  readonly isDisputed: boolean;
};

/**
 * Puts what is new or changed on a page into the sink and notes every record of it, in one step with `note`: a kill at
 * any moment leaves the page either done or to be read again.
 * @param note told the datestamps of the records that the look had met before
 */
export async function applyPage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  note: (pass: HarvestPass, againMs: readonly number[]) => HarvestPass = (noted) => noted,
): Promise<PageResult> {
  const { occurrences, againMs } = collectOccurrences(state, pass, page);
  const faults = new Map<string, string>();
  // Left out on purpose is not missing. What the output holds of such a record from before, it keeps.
  const empty = page.items.filter(({ lacksContent }) => lacksContent);
  const broken = [...page.broken, ...empty.map(({ header }) => ({ identifier: header.identifier, reason: withoutContent() }))];
  broken.forEach(({ identifier, reason }, index) => {
    const name = identifier ?? `${NAMELESS}${page.cursor ?? ''} ${index}`;
    // It stands on the page with its content as well.
    if (identifier !== undefined && occurrences.has(identifier)) return;
    occurrences.set(name, { ...makeLeftOut(state.findSeen(name), pass.look.number), record: undefined, skipped: true });
    faults.set(name, reason);
  });
  const { written, seenRecords, disputed, newInLook, newInPass, overlooked, changed } = sortOccurrences(pass, occurrences);
  const isByDay = page.items.some(({ header }) => isDay(header.datestamp)) && !state.isStampedByDay();
  await sink.write({ document: page.document, records: written, seenRecords });
  state.change(() => {
    sink.notePage();
    if (isByDay) state.markDayGranularity();
    for (const [identifier, occurrence] of occurrences) state.markSeen(identifier, occurrence);
    const { look } = pass;
    const counted = {
      met: look.met + newInLook,
      isNew: look.isNew + newInPass,
      overlooked: look.overlooked + overlooked,
      changed: look.changed + changed,
    };
    state.savePass(note({ ...pass, met: pass.met + newInPass, look: { ...look, ...counted } }, againMs));
  });
  return { written, newInLook, faults, disputed };
}

/**
 * Collects the records of a page by identifier, so that one that is listed twice counts once.
 * @returns `againMs` the datestamps of those that the look had met before
 */
function collectOccurrences(state: HarvestState, pass: HarvestPass, page: ListPage<OaiRecord>) {
  const occurrences = new Map<string, Occurrence>();
  const againMs: number[] = [];
  const look = pass.look.number;
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = occurrences.get(identifier);
    const knownRecord = earlier === undefined ? state.findSeen(identifier) : earlier.knownRecord;
    const rival = earlier ?? (knownRecord?.look === look ? knownRecord : undefined);
    if (rival !== undefined) againMs.push(datestampMs);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs) continue;
    if (!isWithin(pass.window, datestampMs)) {
      occurrences.set(identifier, { ...makeLeftOut(knownRecord, look), record: undefined, skipped: false });
      continue;
    }
    const digest = digestRecord(getSourceBytes(page.document, record.element));
    const isNews = knownRecord?.datestampMs !== datestampMs || !knownRecord.digest.equals(digest);
    const isDisputed = rival?.datestampMs === datestampMs && !rival.digest.equals(digest);
    occurrences.set(identifier, { record, datestampMs, digest, look, isNews, isDisputed, knownRecord, skipped: false });
  }
  return { occurrences, againMs };
}

/** Sorts and counts the records of a page by what they are to the pass and its look. */
function sortOccurrences({ look, firstLook, beganMs }: HarvestPass, occurrences: ReadonlyMap<string, Occurrence>) {
  const [written, seenRecords]: [OaiRecord[], OaiRecord[]] = [[], []];
  const disputed: string[] = [];
  let [newInLook, newInPass, overlooked, changed] = [0, 0, 0, 0];
  for (const [identifier, { record, datestampMs, knownRecord, isNews, isDisputed }] of occurrences) {
    if (record !== undefined) seenRecords.push(record);
    if (record !== undefined && isNews) written.push(record);
    // Two versions of one record with one datestamp each count as news; that is no change.
    if (isDisputed) disputed.push(identifier);
    else if (isNews) changed++;
    const lastLook = knownRecord?.look ?? 0;
    if (lastLook < look.number) newInLook++;
    if (lastLook >= firstLook) continue;
    newInPass++;
    if (datestampMs < beganMs) overlooked++;
  }
  return { written, seenRecords, disputed, newInLook, newInPass, overlooked, changed };
}

/** Why a live record that comes without content is left out. */
function withoutContent(): string {
  return t`the service sent it without content`;
}

function makeLeftOut(knownRecord: SeenRecord | undefined, look: number) {
  const { datestampMs, digest } = knownRecord ?? { datestampMs: 0, digest: Buffer.alloc(0) };
  return { datestampMs, digest, look, knownRecord, isNews: false, isDisputed: false };
}

/** A service is asked for whole seconds, and answers a little more than was wanted. */
function isWithin({ untilMs }: HarvestWindow, datestampMs: number): boolean {
  return untilMs === null || datestampMs <= untilMs;
}

/** Prefix of the generated key for a skipped record without a readable identifier. */
const NAMELESS = 'broken ';

/** Tells if a key of the state is a skipped record without an identifier. */
export function isUnidentified(name: string): boolean {
  return name.startsWith(NAMELESS);
}

const DIGEST_BYTES = 12;

/** Returns the digest that change detection compares. */
export function digestRecord(bytes: Buffer): Buffer {
  return Buffer.from(hash('sha256', bytes, 'hex').slice(0, 2 * DIGEST_BYTES), 'hex');
}
