import { DatabaseError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { createRowParser, isNumber, isText, orNull } from '../store/row.ts';
import type { Vocabulary } from './term.ts';
import { isInSet, saveTombstone } from './terms.ts';

/** State of the harvest of each set. Functions that write must run inside {@link Vocabulary.change}. */

type Harvest = {
  readonly id: number;
  readonly setSpec: string;
  /** Start of the last complete pass by the server's clock; later changes are not stored yet. */
  readonly watermarkMs: number | null;
  /** End of the last complete pass by this machine's clock. */
  readonly completedAtMs: number | null;
  readonly unfinished: boolean;
};

const parseHarvest = createRowParser({
  ...{ id: isNumber, setSpec: isText, watermarkMs: orNull(isNumber), completedAtMs: orNull(isNumber), unfinished: isNumber },
});

const COLUMNS = `id, set_spec as setSpec, watermark_at as watermarkMs, completed_at as completedAtMs,
  pass is not null as unfinished`;

/** Returns the id of the harvest of a set, created on first use. */
export function getOrCreateVocabularyHarvest({ sql, source }: Vocabulary, setSpec: string): number {
  sql('insert into harvests (source, set_spec) values (?, ?) on conflict do nothing').run(source, setSpec);
  return Number(sql('select id from harvests where source = ? and set_spec = ?').pluck().get(source, setSpec));
}

export function allHarvests({ sql, source }: Vocabulary): Harvest[] {
  const rows = sql(`select ${COLUMNS} from harvests where source = ? order by set_spec`).all(source);
  return rows.map(parseHarvest).map((row) => ({ ...row, unfinished: row.unfinished === 1 }));
}

/** Tells if a set was completely harvested once, itself or as part of its family. */
export function isHarvested(vocabulary: Vocabulary, setSpec: string): boolean {
  return allHarvests(vocabulary).some((harvest) => harvest.completedAtMs !== null && isInSet(setSpec, harvest.setSpec));
}

/** `subject`: `{version} {account} {format}` of the harvest; `rights`: the account's role and organisation, if known. */
type HarvestSubject = { readonly subject: string; readonly rights: string | undefined };

/**
 * Resets the watermark where the harvest was made by another account, with other rights, or from another endpoint: these see
 * other records, and the list of changes does not show the difference.
 * @returns true if the rights changed
 */
export function updateSubject({ sql }: Vocabulary, harvest: number, { subject, rights }: HarvestSubject): boolean {
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

/** Returns the account of the last complete harvest that is still kept up to date; undefined where there is none. */
export function accountOfHarvest({ sql, source }: Vocabulary, setSpec: string): string | undefined {
  const subject = sql('select subject from harvests where source = ? and set_spec = ? and watermark_at is not null')
    .pluck()
    .get(source, setSpec);
  return typeof subject === 'string' ? subject.split(' ').slice(1, -1).join(' ') : undefined;
}

/** Begins a run of a harvest. @returns the number of the run */
export function beginRun(vocabulary: Vocabulary, harvest: number): number {
  return Number(vocabulary.sql('update harvests set runs = runs + 1 where id = ? returning runs').pluck().get(harvest));
}

/**
 * @throws DatabaseError when another process began a run meanwhile: two runs would overwrite each other's position in the list
 */
export function assertLatestRun(vocabulary: Vocabulary, harvest: number, run: number): void {
  if (vocabulary.sql('select runs from harvests where id = ?').pluck().get(harvest) === run) return;
  throw new DatabaseError(msg`${vocabulary.path}: another pas has taken over this harvest.`, {
    hint: msg`Nothing is lost: the other one continues it.`,
  });
}

const parseKept = createRowParser({ ident: isText, setSpec: isText, datestampMs: isNumber });
type KeptTerm = ReturnType<typeof parseKept>;

/** Returns the stored terms of a set that a full pass did not see. */
export function unmetTerms(vocabulary: Vocabulary, setSpec: string, seenIdents: ReadonlySet<string>): KeptTerm[] {
  const rows = vocabulary
    .sql(
      `select ident, set_spec as setSpec, datestamp_at as datestampMs from terms
       where source = :source and (set_spec = :set or set_spec glob :set || ':*') and gone is null`,
    )
    .all({ source: vocabulary.source, set: setSpec });
  return rows.map(parseKept).filter(({ ident }) => !seenIdents.has(ident));
}

/** Writes tombstones for terms that a full pass did not see. */
export function tombstoneMissingTerms(vocabulary: Vocabulary, vanished: readonly KeptTerm[], beganMs: number): void {
  for (const { ident, setSpec, datestampMs } of vanished) {
    // A tombstone is not older than the term's own last change.
    saveTombstone(vocabulary, { ident, setSpec, goneAtMs: Math.max(datestampMs, beganMs), why: 'vanished' });
  }
}
