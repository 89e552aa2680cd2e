import { DatabaseError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { isInSet } from './term.ts';
import { putTombstone } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** How far each set is harvested. Every function that writes expects to run inside {@link Vocabulary.change}. */

export type PassKind = 'full' | 'changes';

/** One walk over a set's list, perhaps over several runs of pas. Times are the server's. */
type Pass = {
  readonly kind: PassKind;
  /** It asks for what changed since then; null for everything. */
  readonly fromMs: number | null;
  /** When the service answered the first page; null before that. */
  readonly beganMs: number | null;
  /** Where the list goes on. */
  readonly token: string | null;
  readonly tokenExpiresMs: number | null;
  /** As the service counted last. */
  readonly listSize: number | null;
};

export type Harvest = {
  readonly id: number;
  readonly setSpec: string;
  /** When the last complete pass began, by the server's clock: what changed since is not here yet. */
  readonly watermarkMs: number | null;
  /** When it was complete, by this machine's clock. */
  readonly completedAtMs: number | null;
  readonly pass: Pass | null;
};

type HarvestRow = Omit<Harvest, 'pass'> & { readonly kind: PassKind | null } & Omit<Pass, 'kind'>;

const COLUMNS = `id, set_spec as setSpec, watermark_at as watermarkMs, completed_at as completedAtMs, pass as kind,
  window_from_at as fromMs, pass_began_at as beganMs, token, token_expires_at as tokenExpiresMs, list_size as listSize`;

/** The state of a set, made on first use. */
export function harvestOf(vocabulary: Vocabulary, setSpec: string): Harvest {
  vocabulary.sql('insert into harvests (source, set_spec) values (?, ?) on conflict do nothing').run(vocabulary.source, setSpec);
  const row = vocabulary.sql(`select ${COLUMNS} from harvests where source = ? and set_spec = ?`).get(vocabulary.source, setSpec);
  return toHarvest(row as HarvestRow);
}

export function allHarvests(vocabulary: Vocabulary): Harvest[] {
  const rows = vocabulary.sql(`select ${COLUMNS} from harvests where source = ? order by set_spec`).all(vocabulary.source);
  return (rows as HarvestRow[]).map(toHarvest);
}

/** Whether everything of a set was harvested once: itself, or the family that it belongs to. */
export function isHarvested(vocabulary: Vocabulary, setSpec: string): boolean {
  return allHarvests(vocabulary).some((harvest) => harvest.completedAtMs !== null && isInSet(setSpec, harvest.setSpec));
}

function toHarvest({ kind, fromMs, beganMs, token, tokenExpiresMs, listSize, ...row }: HarvestRow): Harvest {
  return { ...row, pass: kind === null ? null : { kind, fromMs, beganMs, token, tokenExpiresMs, listSize } };
}

/**
 * Takes a harvest up for one run of pas.
 * @returns the number of the run
 */
export function takeUp(vocabulary: Vocabulary, harvest: number): number {
  return Number(vocabulary.sql('update harvests set runs = runs + 1 where id = ? returning runs').pluck().get(harvest));
}

/** @throws DatabaseError when another run took the harvest up meanwhile: two would undo each other's way through the list */
export function requireLatestRun(vocabulary: Vocabulary, harvest: number, run: number): void {
  if (vocabulary.sql('select runs from harvests where id = ?').pluck().get(harvest) === run) return;
  throw new DatabaseError(t`${vocabulary.path}: another pas has taken this harvest over.`, {
    hint: t`Nothing is lost: the other one goes on from here.`,
  });
}

/** Forgets an unfinished pass, if any, and begins a new one. */
export function beginPass(vocabulary: Vocabulary, harvest: number, kind: PassKind, fromMs: number | null): void {
  vocabulary.sql('delete from pass_records where harvest = ?').run(harvest);
  vocabulary
    .sql(
      `update harvests set pass = ?, window_from_at = ?, pass_began_at = null, token = null, token_expires_at = null,
         list_size = null where id = ?`,
    )
    .run(kind, fromMs, harvest);
}

/** Goes back to the first page of the same window; what was met and stored so far is kept. */
export function rewindPass(vocabulary: Vocabulary, harvest: number): void {
  vocabulary.sql('update harvests set token = null, token_expires_at = null where id = ?').run(harvest);
}

type PageOutcome = {
  readonly idents: readonly string[];
  readonly token: string | undefined;
  readonly tokenExpiresMs: number | undefined;
  readonly listSize: number | undefined;
  readonly responseDateMs: number;
};

/** Notes a page together with the terms that it brought, so that a kill leaves both or neither. */
export function notePage(vocabulary: Vocabulary, harvest: number, page: PageOutcome): void {
  noteMet(vocabulary, harvest, page.idents);
  vocabulary
    .sql(
      `update harvests set token = :token, token_expires_at = :expires, list_size = coalesce(:size, list_size),
         pass_began_at = coalesce(pass_began_at, :began) where id = :harvest`,
    )
    .run({
      harvest,
      token: page.token ?? null,
      expires: page.tokenExpiresMs ?? null,
      size: page.listSize ?? null,
      began: page.responseDateMs,
    });
}

export function noteMet(vocabulary: Vocabulary, harvest: number, idents: readonly string[]): void {
  const insert = vocabulary.sql('insert or ignore into pass_records (harvest, ident) values (?, ?)');
  for (const ident of idents) insert.run(harvest, ident);
}

/** How many different records the pass under way has met. */
export function countMet(vocabulary: Vocabulary, harvest: number): number {
  return Number(vocabulary.sql('select count(*) from pass_records where harvest = ?').pluck().get(harvest));
}

/** Ends the pass: the set is complete as of the moment at which the pass began. */
export function completePass(vocabulary: Vocabulary, harvest: number): void {
  vocabulary
    .sql(
      `update harvests set watermark_at = pass_began_at, completed_at = ?, pass = null, window_from_at = null,
         pass_began_at = null, token = null, token_expires_at = null where id = ?`,
    )
    .run(Math.floor(vocabulary.clock.now()), harvest);
  vocabulary.sql('delete from pass_records where harvest = ?').run(harvest);
}

/** Stands for a record that was left out and that nobody can name: it may be any of those that were not met. */
export function namelessRecord(page: number | undefined, index: number): string {
  return `broken ${page ?? ''} ${index}`;
}

/**
 * Marks what the store has of a set and a full pass did not meet; nothing where it left out records that have no name.
 * @returns how many
 */
export function markVanished(vocabulary: Vocabulary, { id, setSpec, pass }: Harvest): number {
  const nameless = vocabulary.sql(`select 1 from pass_records where harvest = ? and ident glob 'broken *'`).get(id);
  if (nameless !== undefined) return 0;
  const idents = vocabulary
    .sql(
      `select ident, set_spec as setSpec, datestamp_at as datestampMs from terms
       where source = :source and (set_spec = :set or set_spec glob :set || ':*') and gone is null
         and ident not in (select ident from pass_records where harvest = :harvest)`,
    )
    .all({ source: vocabulary.source, set: setSpec, harvest: id }) as { ident: string; setSpec: string; datestampMs: number }[];
  for (const { ident, setSpec: termSet, datestampMs } of idents) {
    // Not before the term's own last change, or the tombstone would look older than the term.
    const goneAtMs = Math.max(datestampMs, pass?.beganMs ?? 0);
    putTombstone(vocabulary, { ident, setSpec: termSet, goneAtMs, why: 'vanished' });
  }
  return idents.length;
}
