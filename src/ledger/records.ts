import type { Ledger } from './ledger.ts';

/** The one row of `harvests`. */
export const LEDGER_HARVEST = 1;

/** How many records the output holds. */
export function countHeld(ledger: Ledger): number {
  return Number(ledger.sql('select count(*) from met_records where length(digest) > 0').pluck().get());
}
