import type { Ledger } from '../../ledger/ledger.ts';
import { harvestOf } from '../../ledger/subject.ts';
import { type HarvestState, type SeenRecord, storedState } from '../../oai/harvest-state.ts';
import { createRowParser, isBytes, isNumber } from '../../store/row.ts';

/** State of one set of an output. A record that left this set may be in another one. */
type SetState = HarvestState & {
  /** Returns the time before which all changes are in the output, or were before it was lost. */
  settledMs(): number;
  /** Identifiers of all that was met before that look and not in it, other sets' records among them. */
  absentIn(look: number): readonly string[];
  /** Removes unseen records from this set that are in another one. */
  leave(look: number): void;
};

/**
 * Opens the state of one set of an output. All sets share the stored version of a record.
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

const parseVersion = createRowParser({ datestampMs: isNumber, digest: isBytes });

function metElsewhere({ sql }: Ledger, identifier: string): SeenRecord | undefined {
  const held = sql('select datestamp_at as datestampMs, digest from met_records where identifier = ? limit 1').get(identifier);
  return held === undefined ? undefined : { ...parseVersion(held), look: 0, skipped: false };
}
