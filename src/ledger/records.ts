import type { Ledger } from './ledger.ts';

/** A record as it was met last. */
type MetRecord = {
  /** The server's time of the record's last change. */
  readonly datestampMs: number;
  /** Of the record's text; empty where it could not be read and so is not in the output. */
  readonly digest: Buffer;
  readonly walk: number;
};

export function metRecord(ledger: Ledger, identifier: string): MetRecord | undefined {
  return ledger.sql('select datestamp_at as datestampMs, digest, walk from met_records where identifier = ?').get(identifier) as
    | MetRecord
    | undefined;
}

/** Expects to run inside {@link Ledger.change}. */
export function noteMet(ledger: Ledger, identifier: string, { datestampMs, digest, walk }: MetRecord): void {
  ledger
    .sql('insert or replace into met_records (identifier, datestamp_at, digest, walk) values (?, ?, ?, ?)')
    .run(identifier, datestampMs, digest, walk);
}

/** Adds to the number of different records that the pass has met. Expects to run inside {@link Ledger.change}. */
export function countMet(ledger: Ledger, more: number): void {
  ledger.sql('update harvest set met = met + ?').run(more);
}

/** How many records the output holds. */
export function countHeld(ledger: Ledger): number {
  return Number(ledger.sql('select count(*) from met_records where length(digest) > 0').pluck().get());
}
