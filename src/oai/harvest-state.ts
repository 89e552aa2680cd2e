import type { Statement } from '../store/database.ts';
import type { Pass } from './pass.ts';

/** A record as it was met last. */
export type MetRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Of the record's text; empty where no text of it was taken. */
  readonly digest: Buffer;
  /** The last look that met it; 0 where it was marked as vanished since. */
  readonly look: number;
  /** It was left out since it could not be read. */
  readonly skipped: boolean;
};

/** What a harvest remembers from page to page, and perhaps from run to run. What writes expects to run inside `change`. */
export type HarvestState = {
  /** When the last complete pass began, by the server's clock: what changed since is still to be asked for. */
  watermarkMs(): number | null;
  /** The pass under way; undefined when there is none. */
  pass(): Pass | undefined;
  putPass(pass: Pass): void;
  /** Ends the pass: what is kept is complete as of the moment at which it began. */
  complete(): void;
  /** Number of the last look of all. */
  lastLook(): number;
  met(identifier: string): MetRecord | undefined;
  noteMet(identifier: string, met: MetRecord): void;
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
  let pass: Pass | undefined;
  let watermarkMs: number | null = null;
  let lastLook = 0;
  const records = new Map<string, MetRecord>();
  return {
    watermarkMs: () => watermarkMs,
    pass: () => pass,
    putPass: (next) => {
      pass = next;
      lastLook = next.look.number;
    },
    complete: () => {
      watermarkMs = pass?.beganMs ?? null;
      pass = undefined;
    },
    lastLook: () => lastLook,
    met: (identifier) => records.get(identifier),
    noteMet: (identifier, met) => records.set(identifier, met),
    skipped: () => [...records].flatMap(([identifier, { skipped }]) => (skipped ? [identifier] : [])),
    metIn: (look) => [...records].flatMap(([identifier, met]) => (met.look === look ? [identifier] : [])),
    unmetIn: (look) => [...records].flatMap(([identifier, met]) => (isUnmet(met, look) ? [identifier] : [])),
    change: (work) => work(),
  };
}

function isUnmet({ look, digest, skipped }: MetRecord, inLook: number): boolean {
  return look > 0 && look < inLook && digest.length > 0 && !skipped;
}

/** A database with the tables `harvests` and `met_records`, as schemas/harvest and schemas/vocabulary have them. */
type HarvestTables = {
  sql(text: string): Statement;
  change<T>(work: () => T): T;
};

type MetRow = Omit<MetRecord, 'skipped'> & { readonly skipped: 0 | 1 };

/** Remembers in one row of `harvests`. @param nowMs this machine's clock */
export function storedState({ sql, change }: HarvestTables, harvest: number, nowMs: () => number): HarvestState {
  const columnOf = (column: string): unknown => sql(`select ${column} from harvests where id = ?`).pluck().get(harvest);
  return {
    change,
    watermarkMs: () => columnOf('watermark_at') as number | null,
    pass: () => {
      const text = columnOf('pass') as string | null;
      return text === null ? undefined : (JSON.parse(text) as Pass);
    },
    putPass: (pass) =>
      sql('update harvests set pass = ?, looks = ? where id = ?').run(JSON.stringify(pass), pass.look.number, harvest),
    complete: () =>
      sql(`update harvests set watermark_at = json_extract(pass, '$.beganMs'), completed_at = ?, pass = null where id = ?`).run(
        Math.floor(nowMs()),
        harvest,
      ),
    lastLook: () => Number(columnOf('looks')),
    met: (identifier) => {
      const row = sql(
        'select datestamp_at as datestampMs, digest, look, skipped from met_records where harvest = ? and identifier = ?',
      ).get(harvest, identifier) as MetRow | undefined;
      return row === undefined ? undefined : { ...row, skipped: row.skipped === 1 };
    },
    noteMet: (identifier, { datestampMs, digest, look, skipped }) =>
      sql(
        'insert or replace into met_records (harvest, identifier, datestamp_at, digest, look, skipped) values (?, ?, ?, ?, ?, ?)',
      ).run(harvest, identifier, datestampMs, digest, look, skipped ? 1 : 0),
    skipped: () => sql('select identifier from met_records where harvest = ? and skipped = 1').pluck().all(harvest) as string[],
    metIn: (look) =>
      sql('select identifier from met_records where harvest = ? and look = ?').pluck().iterate(harvest, look) as Iterable<string>,
    unmetIn: (look) =>
      sql(`select identifier from met_records
           where harvest = ? and look > 0 and look < ? and length(digest) > 0 and skipped = 0`)
        .pluck()
        .all(harvest, look) as string[],
  };
}
