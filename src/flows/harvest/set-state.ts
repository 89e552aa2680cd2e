import type { Ledger } from '../../ledger/ledger.ts';
import { harvestOf } from '../../ledger/subject.ts';
import { type HarvestState, type SeenRecord, storedState } from '../../oai/harvest-state.ts';

/** Where an output holds several sets, a record that is no longer in one of them may well be in another. */
type SetState = HarvestState & {
  /** What changed before that stood in the output, or should have: all of it, where the output was lost. */
  settledMs(): number;
  /** Identifiers of all that was met before that look and not in it, other sets' records among them. */
  absentIn(look: number): readonly string[];
  /** Those that were met in another set as well are not of this one any more. */
  leave(look: number): void;
};

/**
 * What is remembered of one set of an output. What the output holds of a record is the same for all of its sets, whichever
 * brought it.
 * @param nowMs this machine's clock
 */
export function setState(ledger: Ledger, setSpec: string, nowMs: () => number): SetState {
  const { sql, change } = ledger;
  const harvest = change(() => harvestOf(ledger, setSpec));
  const stored = storedState(ledger, harvest, nowMs);
  const settledMs = (): number => {
    const wasComplete = sql('select completed_at is not null from harvests where id = ?').pluck().get(harvest) === 1;
    return stored.watermarkMs() ?? (wasComplete ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  };
  const own = { ...stored, settledMs };
  if (sql('select count(*) from harvests').pluck().get() === 1) return { ...own, absentIn: own.unmetIn, leave: () => {} };
  const elsewhere = sql('select 1 from met_records where identifier = ? and harvest <> ? and look > 0').pluck();
  const isElsewhere = (identifier: string): boolean => elsewhere.get(identifier, harvest) === 1;
  return {
    ...own,
    met: (identifier) => own.met(identifier) ?? metElsewhere(ledger, identifier),
    noteMet: (identifier, met) => {
      own.noteMet(identifier, met);
      sql('update met_records set datestamp_at = ?, digest = ? where identifier = ? and harvest <> ?').run(
        met.datestampMs,
        met.digest,
        identifier,
        harvest,
      );
    },
    unmetIn: (look) => own.unmetIn(look).filter((identifier) => !isElsewhere(identifier)),
    absentIn: own.unmetIn,
    leave: (look) => {
      for (const identifier of own.unmetIn(look).filter(isElsewhere)) {
        sql('update met_records set look = 0 where harvest = ? and identifier = ?').run(harvest, identifier);
      }
    },
  };
}

function metElsewhere({ sql }: Ledger, identifier: string): SeenRecord | undefined {
  const held = sql('select datestamp_at as datestampMs, digest from met_records where identifier = ? limit 1').get(identifier);
  return held === undefined ? undefined : { ...(held as Pick<SeenRecord, 'datestampMs' | 'digest'>), look: 0, skipped: false };
}
