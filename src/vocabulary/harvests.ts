import { DatabaseError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { isInSet } from './term.ts';
import { putTombstone } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** How far each set is harvested. Every function that writes expects to run inside {@link Vocabulary.change}. */

type Harvest = {
  readonly id: number;
  readonly setSpec: string;
  /** When the last complete pass began, by the server's clock: what changed since is not here yet. */
  readonly watermarkMs: number | null;
  /** When it was complete, by this machine's clock. */
  readonly completedAtMs: number | null;
  readonly unfinished: boolean;
};

const COLUMNS = `id, set_spec as setSpec, watermark_at as watermarkMs, completed_at as completedAtMs,
  pass is not null as unfinished`;

/** Number of the harvest of a set, made on first use. */
export function harvestOf({ sql, source }: Vocabulary, setSpec: string): number {
  sql('insert into harvests (source, set_spec) values (?, ?) on conflict do nothing').run(source, setSpec);
  return Number(sql('select id from harvests where source = ? and set_spec = ?').pluck().get(source, setSpec));
}

export function allHarvests({ sql, source }: Vocabulary): Harvest[] {
  const rows = sql(`select ${COLUMNS} from harvests where source = ? order by set_spec`).all(source);
  return (rows as (Omit<Harvest, 'unfinished'> & { unfinished: 0 | 1 })[]).map((row) => ({
    ...row,
    unfinished: row.unfinished === 1,
  }));
}

/** Whether everything of a set was harvested once: itself, or the family that it belongs to. */
export function isHarvested(vocabulary: Vocabulary, setSpec: string): boolean {
  return allHarvests(vocabulary).some((harvest) => harvest.completedAtMs !== null && isInSet(setSpec, harvest.setSpec));
}

/** `{version} {account} {format}`, as whom and from which endpoint a set is harvested; and the account's role and organisation, if known. */
type HarvestSubject = { readonly subject: string; readonly rights: string | undefined };

/**
 * Forgets how far the harvest is where it was made as another account, with other rights, or from another endpoint: what these are shown
 * differs, and no list of changes tells it.
 * @returns whether the rights are others
 */
export function settleSubject({ sql }: Vocabulary, harvest: number, { subject, rights }: HarvestSubject): boolean {
  sql(
    'update harvests set subject = :subject, rights = null, watermark_at = null, pass = null where id = :harvest and subject <> :subject',
  ).run({
    harvest,
    subject,
  });
  if (rights === undefined) return false;
  const hasOthers =
    sql(
      'update harvests set watermark_at = null, pass = null where id = :harvest and rights is not null and rights <> :rights',
    ).run({
      harvest,
      rights,
    }).changes > 0;
  sql('update harvests set rights = :rights where id = :harvest').run({ harvest, rights });
  return hasOthers;
}

/** As whom a set was harvested last in full, and kept up to date since; undefined where it was not. */
export function accountOfHarvest({ sql, source }: Vocabulary, setSpec: string): string | undefined {
  const subject = sql('select subject from harvests where source = ? and set_spec = ? and watermark_at is not null')
    .pluck()
    .get(source, setSpec);
  return typeof subject === 'string' ? subject.split(' ').slice(1, -1).join(' ') : undefined;
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
  throw new DatabaseError(msg`${vocabulary.path}: another pas has taken this harvest over.`, {
    hint: msg`Nothing is lost: the other one goes on from here.`,
  });
}

type KeptTerm = { readonly ident: string; readonly setSpec: string; readonly datestampMs: number };

/** What the store has of a set and a full pass did not meet. */
export function unmetTerms(vocabulary: Vocabulary, setSpec: string, met: ReadonlySet<string>): KeptTerm[] {
  const kept = vocabulary
    .sql(
      `select ident, set_spec as setSpec, datestamp_at as datestampMs from terms
       where source = :source and (set_spec = :set or set_spec glob :set || ':*') and gone is null`,
    )
    .all({ source: vocabulary.source, set: setSpec }) as KeptTerm[];
  return kept.filter(({ ident }) => !met.has(ident));
}

export function markVanished(vocabulary: Vocabulary, vanished: readonly KeptTerm[], beganMs: number): void {
  for (const { ident, setSpec, datestampMs } of vanished) {
    // Not before the term's own last change, or the tombstone would look older than the term.
    putTombstone(vocabulary, { ident, setSpec, goneAtMs: Math.max(datestampMs, beganMs), why: 'vanished' });
  }
}
