import type { Extent } from '../store/append-file.ts';
import type { Ledger } from './ledger.ts';

/** How the output stands by the notes. What writes expects to run inside {@link Ledger.change}. */

/** Bytes of a growing file that belong to committed pages. */
export function committedExtent(ledger: Ledger): Extent {
  const row = ledger.sql('select length_bytes as lengthBytes, digest from outputs').get() as
    | { readonly lengthBytes: number; readonly digest: string | null }
    | undefined;
  return { lengthBytes: row?.lengthBytes ?? 0, digest: JSON.parse(row?.digest ?? 'null') as Extent['digest'] };
}

export function commitExtent(ledger: Ledger, { lengthBytes, digest }: Extent): void {
  ledger.sql('update outputs set length_bytes = ?, digest = ?').run(lengthBytes, JSON.stringify(digest));
}

/** How the last run left the output; undefined where it did not come to note that. */
export function sealOf<Seal>(ledger: Ledger): Seal | undefined {
  const text = ledger.sql('select seal from outputs').pluck().get() as string | null | undefined;
  return text == null ? undefined : (JSON.parse(text) as Seal);
}

export function putSeal(ledger: Ledger, seal: unknown): void {
  ledger.sql('update outputs set seal = ?').run(JSON.stringify(seal));
}

/**
 * From now on what stands in the output and not in the notes is pas's own work. That must outlast a power cut, which
 * takes the last notes away: it is on disk when this returns. Stands outside of any change.
 */
export function breakSeal(ledger: Ledger): void {
  ledger.change(() => ledger.sql('update outputs set seal = null').run());
  ledger.sql('pragma wal_checkpoint(full)').all();
}

/** All that was ever written is gone: so is what was noted of it. */
export function beginAnew(ledger: Ledger): void {
  ledger.sql('delete from met_records').run();
  ledger.sql('delete from files').run();
  readAgain(ledger);
  ownWrites(ledger, () => ledger.sql('delete from records').run());
  ledger.sql('update outputs set length_bytes = 0, digest = null, seal = null, edited = 0').run();
}

/** The next pass of each set is a whole one, from its beginning. */
function readAgain(ledger: Ledger): void {
  ledger.sql('update harvests set watermark_at = null, pass = null').run();
}

/**
 * Holds what the account may see against what it might see before; where that differs, no list of changes tells what is shown
 * now, and all is read again.
 * @returns whether it differs
 */
export function settleRights(ledger: Ledger, rights: string): boolean {
  const before = ledger.sql('select rights from outputs').pluck().get() as string | null;
  const differs = before !== null && before !== rights;
  if (differs) readAgain(ledger);
  ledger.sql('update outputs set rights = ?').run(rights);
  return differs;
}

/**
 * Whether all that is kept is compared with the service. A pass that did not do so from its first page is of no use for that:
 * the next one begins anew.
 */
export function setVerifying(ledger: Ledger, verify: boolean): void {
  const is = verify ? 1 : 0;
  if (verify) ledger.sql('update harvests set pass = null where (select verifying from outputs) = 0').run();
  ledger.sql('update outputs set verifying = ?').run(is);
}

/** What is written into the table of records otherwise leaves a mark; see schemas/harvest. */
export function ownWrites(ledger: Ledger, work: () => void): void {
  ledger.sql('update outputs set writing = 1').run();
  work();
  ledger.sql('update outputs set writing = 0').run();
}
