import type { Extent } from '../store/append-file.ts';
import { createRowParser, isNumber, isText, orNull } from '../store/row.ts';
import type { Ledger } from './ledger.ts';

/** State of the output in the ledger. Functions that write must run inside {@link Ledger.change}. */

const parseExtent = createRowParser({ lengthBytes: isNumber, digest: orNull(isText) });

/** Returns the committed extent of an append-only file. */
export function committedExtent(ledger: Ledger): Extent {
  const row = ledger.sql('select length_bytes as lengthBytes, digest from outputs').get();
  if (row === undefined) return { lengthBytes: 0, digest: null };
  const { lengthBytes, digest } = parseExtent(row);
  return { lengthBytes, digest: JSON.parse(digest ?? 'null') };
}

export function commitExtent(ledger: Ledger, { lengthBytes, digest }: Extent): void {
  ledger.sql('update outputs set length_bytes = ?, digest = ?').run(lengthBytes, JSON.stringify(digest));
}

/** Returns the checkpoint that the last run saved; undefined where it did not finish. */
export function readCheckpoint(ledger: Ledger): unknown {
  const text = ledger.sql('select seal from outputs').pluck().get();
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}

export function saveCheckpoint(ledger: Ledger, checkpoint: unknown): void {
  ledger.sql('update outputs set seal = ?').run(JSON.stringify(checkpoint));
}

/**
 * Deletes the checkpoint of the last run: from now on, output that the ledger lacks counts as pas's own. The flush of the WAL makes this survive a
 * power cut, which loses the last commits. Must run outside {@link Ledger.change}.
 */
export function deleteCheckpoint(ledger: Ledger): void {
  ledger.change(() => ledger.sql('update outputs set seal = null').run());
  ledger.sql('pragma wal_checkpoint(full)').all();
}

/** Deletes the records of a lost output. */
export function resetOutput(ledger: Ledger): void {
  ledger.sql('delete from met_records').run();
  ledger.sql('delete from files').run();
  readAgain(ledger);
  withTrackingSuspended(ledger, () => ledger.sql('delete from records').run());
  ledger.sql('update outputs set length_bytes = 0, digest = null, seal = null, edited = 0').run();
}

/** Makes the next pass of each set a complete one. */
function readAgain(ledger: Ledger): void {
  ledger.sql('update harvests set watermark_at = null, pass = null').run();
}

/**
 * Compares the rights of the account with the previous ones; where they differ, no list of changes contains the difference, so
 * all is read again.
 * @returns true if they differ
 */
export function updateRights(ledger: Ledger, rights: string): boolean {
  const before = ledger.sql('select rights from outputs').pluck().get();
  const differs = typeof before === 'string' && before !== rights;
  if (differs) readAgain(ledger);
  ledger.sql('update outputs set rights = ?').run(rights);
  return differs;
}

/** Sets whether stored records are verified against the service. A pass that did not verify from its first page begins again. */
export function setVerifying(ledger: Ledger, verify: boolean): void {
  const is = verify ? 1 : 0;
  if (verify) ledger.sql('update harvests set pass = null where (select verifying from outputs) = 0').run();
  ledger.sql('update outputs set verifying = ?').run(is);
}

/** Runs writes of pas; any other write into the table of records is marked by a trigger (see schemas/harvest). */
export function withTrackingSuspended(ledger: Ledger, work: () => void): void {
  ledger.sql('update outputs set writing = 1').run();
  work();
  ledger.sql('update outputs set writing = 0').run();
}
