import type { Statement } from '../store/database.ts';
import { createRowParser, isBytes, isNumber, isText, orNull, parseTexts, parseValue } from '../store/row.ts';
import { getWatermark, type HarvestPass } from './pass.ts';

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
  watermarkMs(): number | null;
  /** The pass under way; undefined when there is none. */
  pass(): HarvestPass | undefined;
  savePass(pass: HarvestPass): void;
  /** Ends the pass: what is kept is complete as of the moment at which it began. */
  complete(): void;
  /** Returns the losses that the last pass did not believe; undefined where there are none. */
  doubt(): Doubt | undefined;
  /** Ends the pass without believing it: the next one reads everything again. */
  endInDoubt(doubt: Doubt): void;
  /** Counts the records that the service should list: those of the last full pass, and later ones. */
  listed(): number;
  /** A datestamp that was met is a day, whatever the service says of its datestamps. */
  isStampedByDay(): boolean;
  markDayGranularity(): void;
  /** Number of the last look of all. */
  lastLook(): number;
  findSeen(identifier: string): SeenRecord | undefined;
  markSeen(identifier: string, seenRecord: SeenRecord): void;
  /** Identifiers of what was left out and not read since. */
  skipped(): string[];
  /** Identifiers of all that a look met. */
  metIn(look: number): Iterable<string>;
  /** Identifiers of what is kept, was met before that look and not in it, nor left out, nor marked as vanished. */
  unmetIn(look: number): readonly string[];
  /** All of `work` or nothing. */
  change<T>(work: () => T): T;
};

/** Remembers for as long as it is held. */
export function memoryState(): HarvestState {
  let pass: HarvestPass | undefined;
  let watermarkMs: number | null = null;
  let [lastLook, fullLook] = [0, 0];
  let doubt: Doubt | undefined;
  let isByDay = false;
  const records = new Map<string, SeenRecord>();
  return {
    watermarkMs: () => watermarkMs,
    pass: () => pass,
    savePass: (next) => {
      pass = next;
      lastLook = next.look.number;
    },
    complete: () => {
      watermarkMs = pass === undefined ? null : getWatermark(pass);
      fullLook = pass?.kind === 'full' ? pass.look.number : fullLook;
      [pass, doubt] = [undefined, undefined];
    },
    doubt: () => doubt,
    endInDoubt: (next) => {
      [watermarkMs, pass, doubt] = [null, undefined, next];
    },
    listed: () => [...records.values()].filter(({ look }) => look > 0 && look >= fullLook).length,
    isStampedByDay: () => isByDay,
    markDayGranularity: () => {
      isByDay = true;
    },
    lastLook: () => lastLook,
    findSeen: (identifier) => records.get(identifier),
    markSeen: (identifier, seenRecord) => records.set(identifier, seenRecord),
    skipped: () => [...records].flatMap(([identifier, { skipped }]) => (skipped ? [identifier] : [])),
    metIn: (look) => [...records].flatMap(([identifier, seenRecord]) => (seenRecord.look === look ? [identifier] : [])),
    unmetIn: (look) => [...records].flatMap(([identifier, seenRecord]) => (isUnmet(seenRecord, look) ? [identifier] : [])),
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
export function storedState({ sql, change }: HarvestTables, harvest: number, nowMs: () => number): HarvestState {
  const getColumn = (column: string): unknown => sql(`select ${column} from harvests where id = ?`).pluck().get(harvest);
  const pass = (): HarvestPass | undefined => {
    const text = getColumn('pass');
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  return {
    change,
    watermarkMs: () => parseValue(orNull(isNumber), getColumn('watermark_at')),
    pass,
    savePass: (pass) =>
      sql('update harvests set pass = ?, looks = ? where id = ?').run(JSON.stringify(pass), pass.look.number, harvest),
    complete: () => {
      const done = pass();
      sql(
        `update harvests set watermark_at = ?, completed_at = ?, pass = null, doubt = null,
           full_look = case when pass ->> '$.kind' = 'full' then looks else full_look end where id = ?`,
      ).run(done === undefined ? null : getWatermark(done), Math.floor(nowMs()), harvest);
    },
    doubt: () => {
      const text = getColumn('doubt');
      return typeof text === 'string' ? JSON.parse(text) : undefined;
    },
    endInDoubt: (doubt) =>
      sql('update harvests set watermark_at = null, pass = null, doubt = ? where id = ?').run(JSON.stringify(doubt), harvest),
    listed: () =>
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
    lastLook: () => Number(getColumn('looks')),
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
    skipped: () => parseTexts(sql('select identifier from met_records where harvest = ? and skipped = 1').pluck().all(harvest)),
    *metIn(look) {
      const identifiers = sql('select identifier from met_records where harvest = ? and look = ?').pluck();
      for (const identifier of identifiers.iterate(harvest, look)) yield parseValue(isText, identifier);
    },
    unmetIn: (look) => {
      const identifiers = sql(
        `select identifier from met_records where harvest = ? and look > 0 and look < ? and length(digest) > 0 and skipped = 0`,
      );
      return parseTexts(identifiers.pluck().all(harvest, look));
    },
  };
}
