import type { Ledger } from './ledger.ts';

/** A row of `records`; see schemas/harvest. */
export type StoredRecord = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: string;
  readonly deleted: 0 | 1;
  readonly masked: 0 | 1;
  readonly metadata: string | null;
  readonly xml: string;
};

/** Expects to run inside {@link Ledger.change}. */
export function putRecord(ledger: Ledger, record: StoredRecord): void {
  ledger
    .sql(
      `insert into records (identifier, datestamp, sets, deleted, masked, metadata, xml)
       values (:identifier, :datestamp, :sets, :deleted, :masked, :metadata, :xml)
       on conflict (identifier) do update set datestamp = excluded.datestamp, sets = excluded.sets,
         deleted = excluded.deleted, masked = excluded.masked, metadata = excluded.metadata, xml = excluded.xml`,
    )
    .run(record);
}

/** The one row of `harvests`. */
export const LEDGER_HARVEST = 1;

/** How many records the output holds. */
export function countHeld(ledger: Ledger): number {
  return Number(ledger.sql('select count(*) from met_records where length(digest) > 0').pluck().get());
}
